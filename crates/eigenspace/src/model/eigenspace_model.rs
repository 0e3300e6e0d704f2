//! The eigenspace model: what is remembered of a set of rows.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | n | [`count`](EigenspaceModel::count) | number of rows absorbed |
//! | w | [`weight`](EigenspaceModel::weight) | effective number of rows |
//! | μ | [`mean`](EigenspaceModel::mean) | D |
//! | V | [`basis`](EigenspaceModel::basis) | r × D, orthonormal rows |
//! | s | [`all_singular_values`](EigenspaceModel::all_singular_values) | r, of the centered rows |
//! | q | [`feature_scatter`](EigenspaceModel::feature_scatter) | D, exact |
//! | e | [`certificate`](EigenspaceModel::certificate) | bounds on the error caused by dropping and rounding |
//!
//! ```text
//! M = Σ (x − μ)(x − μ)ᵀ = Vᵀ diag(s²) V + E,     −surplus ≤ E ≤ lost
//! ```
//!
//! A model is a value: its operations take references and return a new model. It keeps r directions
//! and reports k of them ([`Components`]); projections and plots use k, merging and splitting use
//! all r.

use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};

use crate::error::Error;
use crate::model::basis::Basis;
use crate::model::bound::Bound;
use crate::model::decompose::Reduced;
use crate::model::metadata::Metadata;
use crate::model::moments::Moments;
use crate::model::spectrum::Spectrum;
use crate::model::truncation::{Components, Truncation};

/// A PCA model that can absorb rows, be merged and split, and bound its own error.
///
/// ```
/// use eigenspace::{EigenspaceModel, Truncation};
/// use ndarray::array;
///
/// let monday = EigenspaceModel::fit(array![[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]].view())?;
/// let tuesday = EigenspaceModel::fit(array![[0.0, 1.0], [9.0, 7.0]].view())?;
/// let both = monday.merge(&tuesday, Truncation::None)?;
/// assert_eq!(both.count(), 5);
/// let monday_again = both.split(&tuesday)?;
/// assert!((monday_again.mean()[0] - monday.mean()[0]).abs() < 1e-14);
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EigenspaceModel {
    pub(crate) moments: Moments,
    pub(crate) basis: Basis,
    pub(crate) spectrum: Spectrum,
    pub(crate) bound: Bound,
    pub(crate) components: Components,
    pub(crate) metadata: Metadata,
}

impl EigenspaceModel {
    /// The model of zero rows, the neutral element of [`merge`](Self::merge).
    pub fn empty(features: usize) -> Self {
        Self {
            moments: Moments::empty(features),
            basis: Basis::empty(features),
            spectrum: Spectrum::empty(),
            bound: Bound::exact(features),
            components: Components::All,
            metadata: Metadata::new(),
        }
    }

    pub(crate) fn from_reduced(moments: Moments, reduced: Reduced, bound: Bound, components: Components) -> Self {
        let Reduced { basis, spectrum, mut lost, beyond_rows, mut rounding } = reduced;
        // What remains of truncated parts after a split counts as lost; what remains of rounding
        // does not.
        if beyond_rows && !bound.is_truncated() {
            rounding = rounding.plus_whole_error(std::mem::take(&mut lost));
        }
        let bound = bound.losing(lost).rounded(rounding, moments.scatter(), spectrum.largest().powi(2));
        Self { moments, basis, spectrum, bound, components, metadata: Metadata::new() }
    }

    /// The same model with the metadata of the one it was made from.
    pub(crate) fn carrying(self, metadata: &Metadata) -> Self {
        Self { metadata: metadata.clone(), ..self }
    }

    /// n: number of rows absorbed.
    pub fn count(&self) -> u64 {
        self.moments.count()
    }

    /// w: the effective number of rows, equal to the count unless rows have weights or were
    /// forgotten.
    pub fn weight(&self) -> f64 {
        self.moments.weight().value()
    }

    /// D: number of features.
    pub fn features(&self) -> usize {
        self.moments.features()
    }

    /// r: number of directions kept.
    pub fn rank(&self) -> usize {
        self.basis.rank()
    }

    /// Whether the model has no rows.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// μ: the mean row.
    pub fn mean(&self) -> ArrayView1<'_, f64> {
        self.moments.mean().view()
    }

    /// V: all r directions, one per row. In each, the entry of largest magnitude is positive.
    pub fn basis(&self) -> ArrayView2<'_, f64> {
        self.basis.view()
    }

    /// The singular values of the centered rows along the k reported components, non-increasing.
    pub fn singular_values(&self) -> ArrayView1<'_, f64> {
        self.all_singular_values().split_at(Axis(0), self.n_components()).0
    }

    /// s: all r singular values of the centered rows.
    pub fn all_singular_values(&self) -> ArrayView1<'_, f64> {
        self.spectrum.view()
    }

    /// q: the exact sum of (x_j − μ_j)² of each feature, whatever was truncated.
    pub fn feature_scatter(&self) -> ArrayView1<'_, f64> {
        self.moments.scatter().view()
    }

    /// Whether the rows are centered. If not, the mean is zero and the scatter is Σ x xᵀ.
    pub fn is_centered(&self) -> bool {
        !self.moments.is_about_origin()
    }

    /// Number of missing cells that were filled with estimates.
    pub fn imputed(&self) -> u64 {
        self.moments.imputed()
    }

    /// The setting for the number of reported components.
    pub fn n_components_setting(&self) -> Components {
        self.components
    }

    /// k: number of reported components.
    pub fn n_components(&self) -> usize {
        match self.components {
            Components::All => self.rank(),
            Components::Number(number) => number.min(self.rank()),
            // Only a share needs the sum over all features.
            share => share.resolve(&self.spectrum.squared(), self.moments.total()),
        }
    }

    /// The k reported components, one per row.
    pub fn components(&self) -> ArrayView2<'_, f64> {
        self.basis.first(self.n_components())
    }

    /// Reports another number of components, which was checked.
    pub(crate) fn set_components(&mut self, components: Components) {
        self.components = components;
    }

    /// The same model reporting another number of components: a number, a share such as 0.95, or
    /// [`Components::All`]. Nothing is dropped, so this can be changed back at any time.
    pub fn with_components(&self, components: impl Into<Components>) -> Result<Self, Error> {
        Ok(Self { components: components.into().check()?, ..self.clone() })
    }

    /// What is known about the rows besides their values: names, standardization, image shape,
    /// labels, values.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The same model with other metadata, which must fit its features.
    pub fn with_metadata(self, metadata: Metadata) -> Result<Self, Error> {
        metadata.check(self.features())?;
        Ok(Self { metadata, ..self })
    }

    /// The same model with fewer directions; the certificate bounds the error that this causes.
    pub fn truncate(&self, truncation: Truncation) -> Result<Self, Error> {
        let squared = self.spectrum.squared();
        let cut = truncation.check()?.cut(&squared, self.moments.total(), self.rank());
        if cut.lost == 0.0 {
            return Ok(self.clone());
        }
        let keep = squared[..cut.keep].iter().take_while(|&&value| value > cut.shrink).count();
        let values = squared[..keep].iter().map(|value| (value - cut.shrink).sqrt()).collect();
        Ok(Self {
            basis: self.basis.clone().truncate(keep),
            spectrum: Spectrum::sorted(values),
            bound: self.bound.clone().losing(cut.lost),
            ..self.clone()
        })
    }

    /// The largest entry of |V Vᵀ − I|, the loss of orthonormality by rounding.
    pub fn orthogonality_loss(&self) -> f64 {
        self.basis.orthogonality_loss()
    }

    /// The rows s V, a factor of the model's scatter.
    pub(crate) fn factor(&self) -> Array2<f64> {
        let mut rows = Array2::zeros(self.basis.view().raw_dim());
        self.write_factor(rows.view_mut());
        rows
    }

    /// Writes that factor to a matrix with r rows.
    pub(crate) fn write_factor(&self, mut rows: ArrayViewMut2<'_, f64>) {
        let directions = self.basis.view();
        let each = rows.axis_iter_mut(Axis(0)).into_par_iter().zip(directions.axis_iter(Axis(0)).into_par_iter());
        each.zip(self.spectrum.view().to_vec()).for_each(|((mut row, direction), s)| {
            row.zip_mut_with(&direction, |x, along| *x = s * along);
        });
    }

    pub(crate) fn same_kind(&self, other: &Self) -> Result<(), Error> {
        if self.features() != other.features() {
            return Err(Error::FeatureMismatch { left: self.features(), right: other.features() });
        }
        self.metadata.check_feature_names(other.metadata.feature_names().unwrap_or_default())?;
        let empty = self.is_empty() || other.is_empty();
        if empty || self.is_centered() == other.is_centered() { Ok(()) } else { Err(Error::CenteringDiffers) }
    }
}
