//! The singular values of the centered rows.
//!
//! ```text
//! s₁ ≥ s₂ ≥ … ≥ s_r > 0        L = Vᵀ diag(s²) V
//! ```

use ndarray::{Array1, ArrayView1};

/// Singular values: finite, positive, non-increasing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spectrum(Array1<f64>);

impl Spectrum {
    pub(crate) fn empty() -> Self {
        Self(Array1::zeros(0))
    }

    /// Takes values that are already sorted.
    pub(crate) fn sorted(values: Array1<f64>) -> Self {
        debug_assert!(values.windows(2).into_iter().all(|pair| pair[0] >= pair[1]));
        Self(values)
    }

    pub(crate) fn view(&self) -> ArrayView1<'_, f64> {
        self.0.view()
    }

    pub(crate) fn squared(&self) -> Vec<f64> {
        self.0.iter().map(|s| s * s).collect()
    }

    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self(&self.0 * factor)
    }

    pub(crate) fn largest(&self) -> f64 {
        self.0.first().copied().unwrap_or(0.0)
    }
}
