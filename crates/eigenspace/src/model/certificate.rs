//! How exact a model is.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | M | | the scatter of all rows ever absorbed |
//! | L | `s²`, the basis | what the model says |
//! | E = M − L | | −surplus ≤ E ≤ lost, as quadratic forms |
//! | e | [`Certificate::error_bound`] | max(lost, surplus) ≥ ‖E‖₂ |
//!
//! Every truncation adds the largest s² it dropped to `lost`; only a split can add to `surplus`; rounding is counted
//! on both sides (`bound.rs`). So
//!
//! ```text
//! s_i² − surplus ≤ λ_i(M) ≤ s_i² + lost                                       (Weyl)
//! sin ∠(span V[..k], true top-k space) ≤ h / (s_k² − s_{k+1}² − h)            (Davis–Kahan)
//!                                        h = (lost + surplus) / 2
//! Σ_{i≤j} s_i² − j surplus ≤ Σ_{i≤j} λ_i(M) ≤ Σ_{i≤j} s_i² + min(j lost, Σq − Σs²)      (Ky Fan)
//! ```
//!
//! The trace of M is Σq, which is never truncated; while no split has left a surplus, what truncations have dropped is
//! positive semi-definite and so at most its trace, Σq − Σs² up to rounding. `lost` is the smaller of the two.
//!
//! Davis and Kahan's theorem is often used with e in the place of h. Subtracting a multiple of the
//! identity from M moves no eigenvector, and (lost − surplus)/2 · I centers E, so that half the
//! width is enough: the angle bound here is less than half of the usual one.

use serde::{Deserialize, Serialize};

use crate::model::bound::{UNIT, largest};
use crate::model::eigenspace_model::EigenspaceModel;

/// A model is called exact while its error bound is at most this share of its largest eigenvalue.
const EXACT_TOLERANCE: f64 = 1e-10;

/// How far a model can be from the batch model of the same rows.
///
/// With M the true scatter, L = Vᵀ diag(s²) V what the model says, and E = M − L:
///
/// ```text
/// −surplus ≤ E ≤ lost
/// s_i² − surplus ≤ λ_i(M) ≤ s_i² + lost
/// sin ∠(span V[..k], true top-k space) ≤ h / (s_k² − s_{k+1}² − h),    h = (lost + surplus) / 2
/// ```
///
/// ```
/// use eigenspace::{EigenspaceModel, Truncation};
/// use ndarray::array;
///
/// let rows = array![[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.1]];
/// let whole = EigenspaceModel::fit(rows.view())?;
/// assert!(whole.certificate().is_exact());
///
/// let cut = whole.truncate(Truncation::Rank(1))?;
/// let certificate = cut.certificate();
/// assert!(!certificate.is_exact());
/// let (low, high) = certificate.eigenvalue_bound(1);   // the eigenvalue that was dropped
/// assert!(low == 0.0 && high >= 2.0);
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Of truncations and splits.
    lost: f64,
    surplus: f64,
    /// Of rounding, to be added to both.
    noise: f64,
    truncated: bool,
    squared: Vec<f64>,
    /// k: number of reported components.
    components: usize,
    /// Σq, and what it can be off by.
    total: f64,
    total_noise: f64,
    /// What rounding can have done to the trace of the model.
    trace_noise: f64,
}

impl EigenspaceModel {
    /// How exact this model is.
    pub fn certificate(&self) -> Certificate {
        Certificate::of(self)
    }
}

impl Certificate {
    pub(crate) fn of(model: &EigenspaceModel) -> Self {
        let (bound, squared) = (&model.bound, model.spectrum.squared());
        let first = squared.first().copied().unwrap_or(0.0);
        // Squares of singular values, and directions that are orthonormal to rounding.
        let last_digits = 64.0 * UNIT * first;
        let features = model.features() as f64;
        let mut certificate = Self {
            lost: largest(&bound.lost),
            surplus: largest(&bound.surplus),
            noise: if first > 0.0 || bound.noise > 0.0 { bound.noise + last_digits } else { 0.0 },
            truncated: bound.is_truncated(),
            total: model.moments.total(),
            total_noise: bound.scatter_noise.sum() + 4.0 * UNIT * features * first,
            trace_noise: bound.feature_noise.sum().min(features * bound.noise),
            squared,
            components: model.n_components(),
        };
        certificate.lost = certificate.lost.min(certificate.missing());
        certificate
    }

    /// Σq − Σs², which bounds what is lost while nothing can be too much.
    fn missing(&self) -> f64 {
        if self.surplus > 0.0 {
            return f64::INFINITY;
        }
        (self.total - self.squared.iter().sum::<f64>()).max(0.0) + self.total_noise + self.trace_noise
    }

    fn largest(&self) -> f64 {
        self.squared.first().copied().unwrap_or(0.0)
    }

    /// e: an upper bound on the spectral norm of the scatter that the model lacks or has too much.
    pub fn error_bound(&self) -> f64 {
        self.lost.max(self.surplus) + self.noise
    }

    /// e as a share of the largest eigenvalue; 1 when nothing is certain.
    pub fn relative_error_bound(&self) -> f64 {
        match self.largest() {
            _ if self.error_bound() == 0.0 => 0.0,
            0.0 => 1.0,
            largest => (self.error_bound() / largest).min(1.0),
        }
    }

    /// Upper bound on the scatter along any direction that the model lacks.
    pub fn lost(&self) -> f64 {
        self.lost + self.noise
    }

    /// Upper bound on the scatter along any direction that the model has too much: after a split, and by rounding.
    pub fn surplus(&self) -> f64 {
        self.surplus + self.noise
    }

    /// True when the model equals batch PCA: no truncation has cut a direction above rounding, and all rounding
    /// together, that of splits included, is at most 1e-10 of the largest eigenvalue.
    pub fn is_exact(&self) -> bool {
        !self.truncated && self.noise <= EXACT_TOLERANCE * self.largest()
    }

    /// The interval that holds the i-th largest eigenvalue (from 0) of the true scatter. Divide by
    /// `weight - ddof` for variances.
    pub fn eigenvalue_bound(&self, i: usize) -> (f64, f64) {
        let value = self.squared.get(i).copied().unwrap_or(0.0);
        ((value - self.surplus()).max(0.0), value + self.lost())
    }

    /// The same intervals for the k reported components, largest first.
    pub fn eigenvalue_bounds(&self) -> Vec<(f64, f64)> {
        (0..self.components).map(|i| self.eigenvalue_bound(i)).collect()
    }

    /// Upper bound on the sine of the largest angle between the model's first k directions and the
    /// true ones. It is 1, nothing is certain, when the gap after the k-th eigenvalue is too small.
    pub fn angle_bound(&self, k: usize) -> f64 {
        if k == 0 {
            return 0.0;
        }
        let Some(last) = self.squared.get(k - 1) else {
            return 1.0;
        };
        let half = 0.5 * (self.lost() + self.surplus());
        let gap = last - self.squared.get(k).copied().unwrap_or(0.0) - half;
        if gap > half { half / gap + 64.0 * UNIT } else { 1.0 }
    }

    /// The interval that holds the true share of the variance in the best j directions.
    pub fn captured_bounds(&self, j: usize) -> (f64, f64) {
        if self.total <= 0.0 {
            return if self.total_noise > 0.0 { (0.0, 1.0) } else { (1.0, 1.0) };
        }
        let held: f64 = self.squared.iter().take(j).sum();
        let more = (j as f64 * self.lost()).min(self.missing());
        let low = (held - j as f64 * self.surplus()) / (self.total + self.total_noise);
        let high = (held + more) / (self.total - self.total_noise).max(f64::MIN_POSITIVE);
        (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
    }
}
