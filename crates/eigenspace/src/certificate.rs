//! How exact a model is.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | M | | the scatter of all rows ever absorbed |
//! | L | `s²`, the basis | what the model says |
//! | E = M − L | | −surplus ≤ E ≤ lost, as quadratic forms |
//! | e | [`Certificate::error_bound`] | max(lost, surplus) ≥ ‖E‖₂ |
//!
//! Every truncation adds the largest s² it dropped to `lost`; only a split can add to `surplus`. So
//!
//! ```text
//! s_i² − surplus ≤ λ_i(M) ≤ s_i² + lost                                       (Weyl)
//! sin ∠(span V[..k], true top-k space) ≤ h / (s_k² − s_{k+1}² − h)            (Davis–Kahan)
//!                                        h = (lost + surplus) / 2
//! Σ_{i≤j} s_i² − j surplus ≤ Σ_{i≤j} λ_i(M) ≤ Σ_{i≤j} s_i² + min(j lost, Σq − Σs²)
//! ```
//!
//! The trace of M is Σq, which is never truncated; while surplus = 0, E ≥ 0 and so
//! ‖E‖ ≤ trace E = Σq − Σs² as well, and `lost` is the smaller of the two.
//!
//! Splitting subtracts, and the rounding of what was there before stays behind; products of f32 rows
//! round to f32. That `noise` is counted apart, is added to both sides, and goes on with the model, so
//! that a later split allows for it. Rounding of f64 products, some ε s₁², is not counted.
//!
//! Davis and Kahan's theorem is often used with e in the place of h. Subtracting a multiple of the
//! identity from M moves no eigenvector, and (lost − surplus)/2 · I centres E, so that half the
//! width is enough: the angle bound here is less than half of the usual one.

use crate::model::EigenspaceModel;

/// Below this share of the total, Σq − Σs² is a difference of roundings.
const SUMMED: f64 = 1e-6;
/// Up to this share of the largest eigenvalue the leavings of splits are called rounding.
const LEFT_BEHIND: f64 = 1e-10;

/// Limits on what truncation and splitting can have done: −surplus − noise ≤ M − L ≤ lost + noise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Bound {
    pub(crate) lost: f64,
    pub(crate) surplus: f64,
    /// Rounding that counts: of larger scatters that splits have left behind, and of f32 products.
    pub(crate) noise: f64,
}

impl Bound {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { lost: self.lost + other.lost, surplus: self.surplus + other.surplus, noise: self.noise + other.noise }
    }

    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { lost: self.lost * factor, surplus: self.surplus * factor, noise: self.noise * factor }
    }

    pub(crate) fn noisier(self, noise: f64) -> Self {
        Self { noise: self.noise + noise, ..self }
    }

    pub(crate) fn losing(self, lost: f64) -> Self {
        Self { lost: self.lost + lost, ..self }
    }
}

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
/// let whole = EigenspaceModel::batch(rows.view())?;
/// assert!(whole.certificate().is_exact());
///
/// let cut = whole.truncate(Truncation::Rank(1))?;
/// let certificate = cut.certificate();
/// assert!(!certificate.is_exact());
/// let (low, high) = certificate.eigenvalue_bounds(1);   // the eigenvalue that was dropped
/// assert!(low == 0.0 && high >= 2.0);
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    bound: Bound,
    squared: Vec<f64>,
    total: f64,
}

impl Certificate {
    pub(crate) fn of(model: &EigenspaceModel) -> Self {
        let squared = model.spectrum.squared();
        let total = model.moments.total();
        let mut certificate = Self { bound: model.bound, squared, total };
        if let Some(missing) = certificate.missing() {
            certificate.bound.lost = certificate.bound.lost.min(missing);
        }
        certificate
    }

    /// Σq − Σs², which bounds what is lost: while it is more than the rounding of a sum of f32 products,
    /// and nothing can be too much.
    fn missing(&self) -> Option<f64> {
        let missing = self.total - self.squared.iter().sum::<f64>();
        (self.bound.surplus == 0.0 && self.bound.noise == 0.0 && missing > SUMMED * self.total).then_some(missing)
    }

    fn largest(&self) -> f64 {
        self.squared.first().copied().unwrap_or(0.0)
    }

    /// e: an upper bound on the spectral norm of the scatter that the model lacks or has too much.
    pub fn error_bound(&self) -> f64 {
        self.bound.lost.max(self.bound.surplus) + self.bound.noise
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
        self.bound.lost + self.bound.noise
    }

    /// Upper bound on the scatter along any direction that the model has too much, after a split.
    pub fn surplus(&self) -> f64 {
        self.bound.surplus + self.bound.noise
    }

    /// True when nothing above rounding was ever dropped, so that the model equals batch PCA: no
    /// truncation has cut a direction, and what splits and f32 products have left behind is below 1e-10
    /// of the largest eigenvalue. (A stream of f32 rows that has been compressed is off by some 1e-6
    /// of it, says so, and is not called exact.)
    pub fn is_exact(&self) -> bool {
        self.bound.lost == 0.0 && self.bound.surplus == 0.0 && self.bound.noise <= LEFT_BEHIND * self.largest()
    }

    /// The interval that holds the i-th largest eigenvalue (from 0) of the true scatter. Divide by
    /// `weight - ddof` for variances.
    pub fn eigenvalue_bounds(&self, i: usize) -> (f64, f64) {
        let value = self.squared.get(i).copied().unwrap_or(0.0);
        ((value - self.surplus()).max(0.0), value + self.lost())
    }

    /// Upper bound on the sine of the largest angle between the model's first k directions and the
    /// true ones. It is 1, nothing is certain, when the gap after the k-th eigenvalue is too small, and
    /// some ε over the relative gap when the model is exact.
    pub fn angle_bound(&self, k: usize) -> f64 {
        if k == 0 {
            return 0.0;
        }
        let Some(last) = self.squared.get(k - 1) else {
            return 1.0;
        };
        let rounding = 64.0 * f64::EPSILON * self.largest();
        let half = (0.5 * (self.lost() + self.surplus())).max(rounding);
        let gap = last - self.squared.get(k).copied().unwrap_or(0.0) - half;
        if gap > half { half / gap } else { 1.0 }
    }

    /// The interval that holds the true share of the variance in the best j directions.
    pub fn captured_bounds(&self, j: usize) -> (f64, f64) {
        if self.total <= 0.0 {
            return (1.0, 1.0);
        }
        let held: f64 = self.squared.iter().take(j).sum();
        let more = j as f64 * self.lost();
        let more = self.missing().map_or(more, |missing| more.min(missing));
        let low = (held - j as f64 * self.surplus()) / self.total;
        let high = (held + more) / self.total;
        (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
    }
}
