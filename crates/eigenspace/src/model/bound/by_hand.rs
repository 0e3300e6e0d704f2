//! Bounds written by hand, for tests.

use ndarray::Array1;

use super::Bound;

impl Bound {
    pub(crate) fn with_lost(self, lost: Array1<f64>) -> Self {
        Self { lost, ..self }
    }

    pub(crate) fn with_surplus(self, surplus: Array1<f64>) -> Self {
        Self { surplus, ..self }
    }

    pub(crate) fn with_noise(self, noise: f64) -> Self {
        Self { noise, ..self }
    }

    pub(crate) fn with_feature_noise(self, feature_noise: Array1<f64>) -> Self {
        Self { feature_noise, ..self }
    }

    pub(crate) fn with_mean_noise(self, mean_noise: Array1<f64>) -> Self {
        Self { mean_noise, ..self }
    }

    pub(crate) fn with_scatter_noise(self, scatter_noise: Array1<f64>) -> Self {
        Self { scatter_noise, ..self }
    }

    pub(crate) fn with_failure_probability(self, failure_probability: f64) -> Self {
        Self { failure_probability, ..self }
    }
}
