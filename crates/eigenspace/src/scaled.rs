//! Standardised (correlation) PCA, and features in other units: a view of a raw model.
//!
//! ```text
//! M_σ = diag(σ) M diag(σ)         σ_j = 1 / √(q_j / w), or given;      A = s V diag(σ)
//! ```
//!
//! The scales come from the exact feature scatter, at any time, so nothing has to be fixed in advance and
//! the model itself stays raw: it merges and splits as before, and the view is taken afterwards. A
//! constant feature keeps scale 1.
//!
//! In the new metric E_σ = diag(σ) E diag(σ), which is at most lost · max σ². While surplus = 0 its
//! diagonal is known exactly too, (q_j − Σ_i s_i² V_ij²) σ_j², and the trace bounds the norm: the
//! smaller of the two is the bound of the view. Scaling can make much of what was rounding before; the
//! diagonal shows that, and it counts.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use crate::block::{self, Block, LARGEST};
use crate::certificate::Bound;
use crate::element::Element;
use crate::error::Error;
use crate::model::EigenspaceModel;
use crate::moments::Moments;
use crate::project::{combinations, products, sparse_products};
use crate::reduce::{Route, reduce};
use crate::sparse::SparseRows;
use crate::truncation::Truncation;

/// The norm of a rounding error against the sum of the magnitudes on its diagonal.
const BESIDE: f64 = 4.0;

/// A model seen with its features multiplied by scales.
///
/// ```
/// use eigenspace::EigenspaceModel;
/// use ndarray::array;
///
/// let raw = EigenspaceModel::batch(array![[4.0, 900.0], [7.0, 1200.0], [10.0, 1500.0], [7.0, 900.0]].view())?;
/// let view = raw.standardize()?;
/// let total = view.model().total_variance(0.0)?;
/// assert!((total - 2.0).abs() < 1e-14);             // two features of variance 1 each
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    scales: Array1<f64>,
    /// The mean in the units of the rows, exactly as the raw model has it.
    mean: Array1<f64>,
    model: EigenspaceModel,
}

impl EigenspaceModel {
    /// The model of the standardised rows: every feature divided by its standard deviation (ddof =
    /// 0), constant features left alone.
    pub fn standardize(&self) -> Result<Scaled, Error> {
        let deviations = self.feature_variance(0.0)?.mapv(f64::sqrt);
        self.scale_by(deviations.mapv(|sd| if sd > 0.0 { 1.0 / sd } else { 1.0 }).view())
    }

    /// The model of the rows with each feature multiplied by a scale, for example a unit conversion.
    pub fn scale_by(&self, scales: ArrayView1<'_, f64>) -> Result<Scaled, Error> {
        if scales.len() != self.features() {
            return Err(Error::WidthMismatch { expected: self.features(), found: scales.len() });
        }
        let bad = |j: &usize| {
            let scale = scales[*j];
            let (mean, q) = (self.mean()[*j] * scale, self.feature_scatter()[*j] * scale * scale);
            !(1.0 / LARGEST..=LARGEST).contains(&scale) || mean.abs() > LARGEST || q > LARGEST * LARGEST
        };
        if let Some(column) = (0..scales.len()).find(bad) {
            return Err(Error::InvalidScale { column, value: scales[column] });
        }
        let moments = Moments {
            mean: &self.mean() * &scales,
            scatter: &self.feature_scatter() * &scales * scales,
            ..self.moments.clone()
        };
        let a = self.factor() * scales;
        let reduced = reduce(a, Route::Auto, Truncation::None, &moments, f64::EPSILON)?;
        let bound = self.scaled_bound(scales);
        let model = Self::from_reduced(moments, reduced, bound, self.components);
        Ok(Scaled { scales: scales.to_owned(), mean: self.moments.mean.clone(), model })
    }

    fn scaled_bound(&self, scales: ArrayView1<'_, f64>) -> Bound {
        let largest = scales.iter().fold(0.0_f64, |a, b| a.max(b * b));
        let bound = self.bound.scaled(largest);
        if bound.surplus > 0.0 || bound.noise > 0.0 {
            return bound;
        }
        // What each feature lacks: by truncation, or because a direction was rounding before it was scaled.
        let mut missing = self.feature_scatter().to_owned();
        for row in self.factor().rows() {
            missing.zip_mut_with(&row, |missing, x| *missing -= x * x);
        }
        let scaled = |sign: f64| -> f64 {
            missing.iter().zip(scales).map(|(gap, scale)| (sign * gap).max(0.0) * scale * scale).sum()
        };
        let (lacking, excess) = (scaled(1.0), scaled(-1.0));
        let turned = self.turning(scales);
        if bound.lost == 0.0 {
            // Nothing was dropped, so that the gaps are rounding, of either sign. What they are on the diagonal they
            // are beside it.
            return bound.noisier(BESIDE * (lacking + excess) + turned);
        }
        let rounding = 4.0 * f64::EPSILON * (self.features() as f64 + 16.0) * self.spectrum.largest().powi(2);
        let lost = (bound.lost + rounding * largest).min(lacking + excess);
        Bound { lost, ..bound }.noisier(BESIDE * excess + turned)
    }

    /// What the rounding of s V can be in M_σ: |δ| ≤ c ε s₁ in every column, also where the feature is small, so that
    /// ‖(Aᵀδ + δᵀA)_σ‖ ≤ 2 ‖A_σ‖ c ε s₁ max σ.
    fn turning(&self, scales: ArrayView1<'_, f64>) -> f64 {
        let live = || self.feature_scatter().into_iter().zip(scales).filter(|(q, _)| **q > 0.0);
        let largest = live().fold(0.0_f64, |a, (_, scale)| a.max(*scale));
        let total: f64 = live().map(|(q, scale)| q * scale * scale).sum();
        8.0 * f64::EPSILON * self.spectrum.largest() * largest * total.sqrt()
    }
}

impl Scaled {
    /// The model of the scaled rows: its variances, components and certificate are in their metric.
    pub fn model(&self) -> &EigenspaceModel {
        &self.model
    }

    /// What each feature is multiplied by.
    pub fn scales(&self) -> ArrayView1<'_, f64> {
        self.scales.view()
    }

    /// The k coordinates of rows in their own units.
    pub fn project<E: Element>(&self, rows: ArrayView2<'_, E>) -> Result<Array2<E::Work>, Error> {
        let basis = &self.model.components() * &self.scales;
        products(rows, self.mean.view(), basis.view(), self.model.near_origin())
    }

    /// The k coordinates of sparse rows in their own units, which are not made dense.
    pub fn project_sparse(&self, rows: SparseRows<'_>) -> Result<Array2<f64>, Error> {
        Block::from(rows).check(self.scales.len())?;
        let basis = &self.model.components() * &self.scales;
        Ok(sparse_products(rows, self.mean.view(), basis.view()))
    }

    /// The rows, in their own units, that have these coordinates.
    pub fn reconstruct<E: Element>(&self, coordinates: ArrayView2<'_, E>) -> Result<Array2<E::Work>, Error> {
        let found = coordinates.ncols();
        if found > self.model.rank() {
            return Err(Error::TooManyCoordinates { available: self.model.rank(), found });
        }
        if found > 0 {
            block::check(coordinates, found)?;
        }
        let basis = &self.model.basis.first(found) / &self.scales;
        combinations(coordinates, self.mean.view(), basis.view())
    }
}
