//! The certificate: bounds on the error of a model.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | M | | the scatter of all rows ever absorbed |
//! | L | `s²`, the basis | the scatter of the model |
//! | E = M − L | | −surplus ≤ E ≤ lost, as quadratic forms |
//! | e | [`Certificate::error_bound`] | max(lost, surplus) ≥ ‖E‖₂ |
//!
//! Every truncation adds the largest dropped s² to `lost`; only a split can add to `surplus`;
//! rounding is counted in both (`bound.rs`). So
//!
//! ```text
//! s_i² − surplus ≤ λ_i(M) ≤ s_i² + lost                                       (Weyl)
//! sin ∠(span V[..k], true top-k space) ≤ h / (s_k² − s_{k+1}² − h)            (Davis–Kahan)
//!                                        h = (lost + surplus) / 2
//! Σ_{i≤j} s_i² − j surplus ≤ Σ_{i≤j} λ_i(M) ≤ Σ_{i≤j} s_i² + min(j lost, Σq − Σs²)      (Ky Fan)
//! ```
//!
//! The trace of M is Σq, which is never truncated. As long as the surplus is zero, the dropped part
//! is positive semi-definite, so its norm is at most its trace, Σq − Σs² up to rounding. `lost` is
//! the smaller of the two bounds.
//!
//! The theorem of Davis and Kahan is often used with e instead of h. Subtracting a multiple of the
//! identity from M does not change its eigenvectors, and subtracting (lost − surplus)/2 · I makes
//! the interval of E symmetric about zero. So half of its width is enough, and the angle bound is
//! less than half of the usual one.

use serde::{Deserialize, Serialize};

use crate::model::bound::{UNIT, largest};
use crate::model::eigenspace_model::EigenspaceModel;

/// A model is exact if its rounding is at most this share of its largest eigenvalue.
const EXACT_TOLERANCE: f64 = 1e-10;

/// Bounds on the difference between a model and the batch model of the same rows.
///
/// With the true scatter M, the scatter of the model L = Vᵀ diag(s²) V, and E = M − L:
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
    /// From truncations and splits.
    lost: f64,
    surplus: f64,
    /// From rounding; added to both.
    noise: f64,
    truncated: bool,
    squared: Vec<f64>,
    /// k: number of reported components.
    components: usize,
    /// Σq, and a bound on its error.
    total: f64,
    total_noise: f64,
    /// Bound on the rounding error of the trace of the model.
    trace_noise: f64,
    /// Probability that `lost` is too small.
    #[serde(default)]
    failure_probability: f64,
}

impl EigenspaceModel {
    /// Bounds on the error of this model.
    pub fn certificate(&self) -> Certificate {
        Certificate::of(self)
    }
}

impl Certificate {
    pub(crate) fn of(model: &EigenspaceModel) -> Self {
        Self::of_spectrum(model, model.spectrum.squared(), largest(model.bound.lost()))
    }

    /// The certificate of a model with more directions, of which only the squared singular values
    /// are known. The model counts the first of them, `dropped`, as lost; with all of them, `next`
    /// is lost instead.
    pub(crate) fn of_more(model: &EigenspaceModel, more: &[f64], dropped: f64, next: f64) -> Self {
        let mut squared = model.spectrum.squared();
        squared.extend(more);
        let lost = (largest(model.bound.lost()) - dropped).max(0.0) + next + 4.0 * UNIT * dropped;
        Self::of_spectrum(model, squared, lost)
    }

    fn of_spectrum(model: &EigenspaceModel, squared: Vec<f64>, lost: f64) -> Self {
        let bound = &model.bound;
        let first = squared.first().copied().unwrap_or(0.0);
        // The rounding of squared singular values and of directions.
        let last_digits = 64.0 * UNIT * first;
        let features = model.features() as f64;
        let mut certificate = Self {
            lost,
            surplus: largest(bound.surplus()),
            noise: if first > 0.0 || bound.noise() > 0.0 { bound.noise() + last_digits } else { 0.0 },
            truncated: bound.is_truncated(),
            total: model.moments.total(),
            total_noise: bound.scatter_noise().sum() + 4.0 * UNIT * features * first,
            trace_noise: bound.feature_noise().sum().min(features * bound.noise()),
            components: model.n_components(),
            squared,
            failure_probability: bound.failure_probability(),
        };
        certificate.lost = certificate.lost.min(certificate.missing());
        certificate
    }

    /// Σq − Σs², an upper bound on `lost` as long as the surplus is zero.
    fn missing(&self) -> f64 {
        if self.surplus > 0.0 {
            return f64::INFINITY;
        }
        (self.total - self.squared.iter().sum::<f64>()).max(0.0) + self.total_noise + self.trace_noise
    }

    fn largest(&self) -> f64 {
        self.squared.first().copied().unwrap_or(0.0)
    }

    /// e: an upper bound on the spectral norm of the difference between the true scatter and that
    /// of the model.
    pub fn error_bound(&self) -> f64 {
        self.lost.max(self.surplus) + self.noise
    }

    /// e as a share of the largest eigenvalue; 1 if nothing is known.
    pub fn relative_error_bound(&self) -> f64 {
        match self.largest() {
            _ if self.error_bound() == 0.0 => 0.0,
            0.0 => 1.0,
            largest => (self.error_bound() / largest).min(1.0),
        }
    }

    /// Upper bound on the scatter that is missing from the model along any direction.
    pub fn lost(&self) -> f64 {
        self.lost + self.noise
    }

    /// Upper bound on the scatter that the model has in excess along any direction, from splits and
    /// rounding.
    pub fn surplus(&self) -> f64 {
        self.surplus + self.noise
    }

    /// The probability that all bounds hold. It is 1, which means that they are proven, unless the
    /// model or a part of it was fitted iteratively
    /// ([`Method::Iterative`](crate::Method::Iterative)). What such a fit left out is bounded with
    /// random vectors. For each such fit, the bound fails for at most a share of 1e-12 of the
    /// possible vectors.
    pub fn confidence(&self) -> f64 {
        1.0 - self.failure_probability
    }

    /// Whether all bounds are proven: the [confidence](Self::confidence) is 1. The bounds include
    /// rounding errors.
    pub fn is_proven(&self) -> bool {
        self.failure_probability == 0.0
    }

    /// Whether the model equals batch PCA: no direction above rounding was dropped, and all
    /// rounding together, including that of splits, is at most 1e-10 of the largest eigenvalue.
    pub fn is_exact(&self) -> bool {
        !self.truncated && self.noise <= EXACT_TOLERANCE * self.largest()
    }

    /// An interval that contains the i-th largest eigenvalue (from 0) of the true scatter. For
    /// variances, divide by their divisor (see [`WeightKind`](crate::WeightKind)).
    pub fn eigenvalue_bound(&self, i: usize) -> (f64, f64) {
        let value = self.squared.get(i).copied().unwrap_or(0.0);
        ((value - self.surplus()).max(0.0), value + self.lost())
    }

    /// The same intervals for the k reported components, largest first.
    pub fn eigenvalue_bounds(&self) -> Vec<(f64, f64)> {
        (0..self.components).map(|i| self.eigenvalue_bound(i)).collect()
    }

    /// Upper bound on the sine of the largest angle between the model's first k directions and the
    /// true ones. It is 1, which means that nothing is known, if the gap after the k-th eigenvalue
    /// is too small.
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

    /// An interval that contains the true share of variance along the best j directions.
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

#[cfg(test)]
mod tests;
