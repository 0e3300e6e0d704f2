//! What the features have to do with some components.
//!
//! ```text
//! cos²_j = Σ_i λ_i V_ij² / var_j        contribution_j = Σ_i λ_i V_ij² / Σ_i λ_i        i: the chosen components
//! ```
//!
//! cos²_j is the share of the feature's variance that lies along the components, the squared length
//! of its arrow in a correlation circle. The contributions of all features sum to 1.

use ndarray::Array1;

use crate::error::Error;
use crate::model::view::View;

/// Mean and standard deviation of each feature, and its relation to some components.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FeatureSummary {
    /// The mean, in the units of the rows.
    pub mean: Array1<f64>,
    /// The standard deviation (ddof = 1), in the units of the rows; 0 if there is only one row.
    pub deviation: Array1<f64>,
    /// The share of the feature's variance along the components; 0 for a constant feature.
    pub squared_cosine: Array1<f64>,
    /// The feature's share in the variance along the components.
    pub contribution: Array1<f64>,
}

impl View {
    /// A summary of each feature and of its part in these components, counted from 0. Components
    /// that the view does not have are left out.
    pub fn feature_summary(&self, components: &[usize]) -> Result<FeatureSummary, Error> {
        let (model, features) = (self.model(), self.features());
        let variances = model.explained_variance(0.0)?;
        let (rows, total) = (model.components(), model.feature_variance(0.0)?);
        let mut along = Array1::<f64>::zeros(features);
        let mut sum = 0.0;
        for &i in components.iter().filter(|i| **i < variances.len()) {
            along.zip_mut_with(&rows.row(i), |along, v| *along += variances[i] * v * v);
            sum += variances[i];
        }
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let squared_cosine = along.iter().zip(&total).map(|(part, whole)| share(*part, *whole).min(1.0)).collect();
        let raw = self.raw_model();
        let variance = if raw.count() > 1 { raw.feature_variance(1.0)? } else { Array1::zeros(features) };
        Ok(FeatureSummary {
            mean: raw.mean().to_owned(),
            deviation: variance.mapv(f64::sqrt),
            squared_cosine,
            contribution: along.mapv(|part| share(part, sum)),
        })
    }
}
