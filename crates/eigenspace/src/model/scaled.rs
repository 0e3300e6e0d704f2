//! Standardized (correlation) PCA, and features in other units, computed from a model.
//!
//! ```text
//! M_σ = diag(σ) M diag(σ)         σ_j = 1 / √(q_j / w), or given;      A = s V diag(σ)
//! ```
//!
//! The scales are computed from the exact feature scatter, which is known at any time. So nothing
//! has to be fixed in advance, and the model itself keeps the units of the rows: it can be merged
//! and split as before, and standardized afterward. A constant feature keeps scale 1.
//!
//! In the new units, E_σ = diag(σ) E diag(σ), so a bound on E for each feature (`bound.rs`) gives a
//! bound on E_σ. As long as the surplus is zero, the dropped part is positive semi-definite with a
//! known diagonal, (q_j − Σ_i s_i² V_ij²) σ_j² up to rounding, and its trace also bounds its norm.
//!
//! If a feature varies less than the rounding of its scatter, for example after a split, it cannot
//! be distinguished from a constant. Standardized, it would count as much as any other feature. So
//! it is not scaled, and the bound includes the possible error. The same holds for a feature that
//! varies so little, because its rows are forgotten, that no number in the range of rows is its
//! standardized mean.

use ndarray::{Array1, ArrayView1};

use crate::error::Error;
use crate::model::bound::{Bound, UNIT};
use crate::model::decompose::{Route, reduce};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::truncation::{Components, Truncation};
use crate::rows::element::LARGEST_MAGNITUDE;

/// A model with its features multiplied by scales.
#[derive(Debug, Clone)]
pub(crate) struct Scaled {
    scales: Array1<f64>,
    model: EigenspaceModel,
}

impl EigenspaceModel {
    /// The model of the standardized rows: every feature is divided by its standard deviation (ddof
    /// = 0); constant features are not scaled.
    pub(crate) fn standardized_model(&self) -> Result<Scaled, Error> {
        let divisor = self.divisor(0.0)?;
        // Nor is a feature scaled whose values would leave the range of rows: all rows in which it
        // varied are forgotten.
        let known = |((q, noise), mean): ((&f64, &f64), &f64)| {
            let scale = (divisor / q).sqrt();
            q > noise && scale <= LARGEST_MAGNITUDE && mean.abs() * scale <= LARGEST_MAGNITUDE
        };
        let scatter = self.moments.scatter();
        let varying: Vec<bool> = scatter.iter().zip(self.bound.scatter_noise()).zip(self.mean()).map(known).collect();
        let may_vary = |(noise, q): (&f64, &f64)| *noise > 0.0 || *q > 0.0;
        let unknown = self.bound.scatter_noise().iter().zip(scatter).zip(&varying);
        let unknown = unknown.filter(|(feature, varies)| may_vary(*feature) && !**varies).count();
        let scale = |(q, varies): (&f64, &bool)| if *varies { (divisor / q).sqrt() } else { 1.0 };
        let scales: Array1<f64> = scatter.iter().zip(&varying).map(scale).collect();
        if unknown == 0 {
            return self.scaled_model(scales.view());
        }
        let mut view = self.without(&varying)?.scaled_model(scales.view())?;
        // Each of them could have variance 1 and be correlated with all others. The weight and sums
        // of it are rounded.
        let most = divisor * (1.0 + 64.0 * UNIT);
        let missing = unknown as f64 * most;
        let beside = (missing * (view.model.spectrum.largest().powi(2) + view.model.bound.noise())).sqrt();
        view.model.bound.add_unknown_features(&varying, most, missing + beside, beside);
        Ok(view)
    }

    /// The model with only these features varying; the others count as constant.
    fn without(&self, varying: &[bool]) -> Result<Self, Error> {
        let scatter = self.moments.scatter().iter().zip(varying).map(|(q, varies)| if *varies { *q } else { 0.0 });
        let moments = self.moments.clone().with_scatter(scatter.collect());
        let bound = self.bound.of_features(varying);
        let reduced = reduce(self.factor(), Route::Auto, Truncation::None, &moments);
        Ok(Self::from_reduced(moments, reduced, bound, self.components).carrying(&self.metadata))
    }

    /// The model of the rows with each feature multiplied by a scale, for example a unit
    /// conversion.
    pub(crate) fn scaled_model(&self, scales: ArrayView1<'_, f64>) -> Result<Scaled, Error> {
        if scales.len() != self.features() {
            return Err(Error::WidthMismatch { expected: self.features(), found: scales.len() });
        }
        let bad = |j: &usize| {
            let scale = scales[*j];
            let (mean, q) = (self.mean()[*j] * scale, self.feature_scatter()[*j] * scale * scale);
            !(1.0 / LARGEST_MAGNITUDE..=LARGEST_MAGNITUDE).contains(&scale)
                || mean.abs() > LARGEST_MAGNITUDE
                || q > LARGEST_MAGNITUDE * LARGEST_MAGNITUDE
        };
        if let Some(column) = (0..scales.len()).find(bad) {
            return Err(Error::InvalidScale { column, value: scales[column] });
        }
        let moments = self.moments.rescaled(scales);
        let a = self.factor() * scales;
        let reduced = reduce(a, Route::Auto, Truncation::None, &moments);
        let bound = self.scaled_bound(scales);
        // The model of scaled rows is a raw model of its own.
        let metadata = self.metadata.clone().with_standardize(false);
        let model = Self::from_reduced(moments, reduced, bound, self.components).carrying(&metadata);
        Ok(Scaled { scales: scales.to_owned(), model })
    }

    fn scaled_bound(&self, scales: ArrayView1<'_, f64>) -> Bound {
        let mut bound = self.bound.rescaled(scales, self.moments.scatter());
        // The rounding of scales and of products with them.
        let q = &self.feature_scatter() * &scales * scales;
        bound = bound.summed(8.0 * UNIT, &q);
        if bound.surplus().iter().all(|surplus| *surplus == 0.0) && bound.is_truncated() {
            let mut missing = self.feature_scatter().to_owned() + self.bound.feature_noise() * 2.0;
            for row in self.factor().rows() {
                missing.zip_mut_with(&row, |missing, x| *missing -= x * x);
            }
            let trace: f64 = missing.iter().zip(scales).map(|(gap, scale)| gap.max(0.0) * scale * scale).sum();
            bound.limit_lost(trace);
        }
        bound
    }
}

impl Scaled {
    /// Reports another number of components.
    pub(crate) fn set_components(&mut self, components: Components) {
        self.model.set_components(components);
    }

    /// The model of the scaled rows: its variances, components and certificate are in their metric.
    pub(crate) fn model(&self) -> &EigenspaceModel {
        &self.model
    }

    /// The factor of each feature.
    pub(crate) fn scales(&self) -> ArrayView1<'_, f64> {
        self.scales.view()
    }
}
