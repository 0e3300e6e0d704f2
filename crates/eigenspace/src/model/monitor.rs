//! Limits for T² and Q, to detect rows that differ from those of the model.
//!
//! ```text
//! T²_α = k (n − 1)(n + 1) / (n (n − k)) · F_α(k, n − k)
//! Q_α  = θ₁ ( 1 + z_α h √(2 θ₂) / θ₁ + θ₂ h (h − 1) / θ₁² )^(1/h),     h = 1 − 2 θ₁ θ₃ / (3 θ₂²)
//! θ_p  = Σ_{i>k} λ_i^p
//! ```
//!
//! T² is Hotelling's for a new row; Q_α is Jackson and Mudholkar's (*Control procedures for
//! residuals associated with principal component analysis*, Technometrics 21(3), 1979). θ₁ is
//! exact, because it is computed from the feature scatter. The eigenvalues of dropped directions
//! are assumed to be equal, which gives the smallest θ₂ and θ₃ for their sum. If h is not clearly
//! positive (one unreported direction far above many others), Box's approximation is used instead:
//! θ₂/θ₁ times the quantile of χ² with θ₁²/θ₂ degrees of freedom. n is the weight, so a stream that
//! forgets has limits for the rows that it remembers. Both limits assume that the rows are roughly
//! normally distributed.

use ndarray::Array1;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, Normal};

use crate::error::Error;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::rows::block::Block;

/// From this number of degrees of freedom on, the quantile of the F distribution is computed by its
/// expansion.
const EXPANSION_DEGREES: f64 = 1e5;
/// Below this power h, the approximation of Jackson and Mudholkar is not used.
const MIN_POWER: f64 = 0.05;

/// Accepted confidences; beyond them, rounding would dominate the quantiles.
const CONFIDENCES: std::ops::RangeInclusive<f64> = 1e-3..=1.0 - 1e-9;

/// Limits of T² and Q: a given share of normally distributed rows stays below each.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Limit of T², the distance inside the subspace.
    pub hotelling: f64,
    /// Limit of Q, the squared distance to the subspace.
    pub squared_distance: f64,
}

/// T² and Q of rows, and their limits.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Readings {
    /// T² of each row.
    pub hotelling: Array1<f64>,
    /// Q of each row.
    pub squared_distance: Array1<f64>,
    limits: Limits,
}

impl EigenspaceModel {
    /// The limits of T² and Q. If the rows are normally distributed, this share of them stays below
    /// each limit. `confidence` is a share from 0.001 to 0.999999999, for example 0.99. Needs a
    /// weight above k + 1.
    pub fn limits(&self, confidence: f64) -> Result<Limits, Error> {
        if !CONFIDENCES.contains(&confidence) {
            return Err(Error::InvalidConfidence { value: confidence });
        }
        let (n, k) = (self.weight(), self.n_components() as f64);
        if n - k <= 1.0 {
            return Err(Error::TooLittleWeight { needed: k + 1.0, weight: n });
        }
        let hotelling =
            if k > 0.0 { k * (n - 1.0) * (n + 1.0) / (n * (n - k)) * fisher(k, n - k, confidence) } else { 0.0 };
        let squared_distance = self.residual_limit(confidence)?.max(self.residual_rounding()?);
        Ok(Limits { hotelling, squared_distance })
    }

    /// Q caused by rounding alone. If all directions are reported, this is all that is left.
    fn residual_rounding(&self) -> Result<f64, Error> {
        let length = self.mean().dot(&self.mean()) + self.total_variance(0.0)?;
        Ok((64.0 * f64::EPSILON).powi(2) * length)
    }

    /// T² and Q of rows, to compare with limits, for detecting outliers and drift.
    pub fn monitor<'a>(&self, rows: impl Into<Block<'a>>, limits: Limits) -> Result<Readings, Error> {
        let (squared_distance, hotelling) = self.distances_and_hotelling(rows.into(), self.center(), None)?;
        Ok(Readings::new(hotelling, squared_distance, limits))
    }

    /// Jackson and Mudholkar's Q_α.
    fn residual_limit(&self, confidence: f64) -> Result<f64, Error> {
        let divisor = self.divisor(1.0)?;
        let k = self.n_components();
        let squared = self.spectrum.squared();
        let rest = (self.moments.total() - squared.iter().sum::<f64>()).max(0.0);
        let beyond = (self.features() - self.rank()) as f64;
        // Of the dropped directions only the sum is known, if there are any.
        let equal = if self.certificate().is_exact() || beyond == 0.0 { 0.0 } else { rest / beyond };
        let one = squared.iter().skip(k).sum::<f64>() + beyond * equal;
        if one <= 0.0 {
            return Ok(0.0);
        }
        // In units of θ₁, so that no power overflows.
        let theta = |p: i32| {
            squared.iter().skip(k).map(|value| (value / one).powi(p)).sum::<f64>() + beyond * (equal / one).powi(p)
        };
        let (two, three) = (theta(2), theta(3));
        let h = 1.0 - 2.0 * three / (3.0 * two * two);
        let z = Normal::standard().inverse_cdf(confidence);
        let inner = 1.0 + z * h * (2.0 * two).sqrt() + two * h * (h - 1.0);
        let quantile =
            if h > MIN_POWER && inner > 0.0 { inner.powf(1.0 / h) } else { two * chi_squared(1.0 / two, confidence) };
        Ok(quantile * one / divisor)
    }
}

/// The quantile of F(k, ν); for large ν by its expansion about χ²_k / k.
fn fisher(k: f64, nu: f64, confidence: f64) -> f64 {
    if nu > EXPANSION_DEGREES {
        let x = chi_squared(k, confidence);
        return x / k * (1.0 + (x - k + 2.0) / (2.0 * nu));
    }
    FisherSnedecor::new(k, nu).expect("k and ν are positive and finite").inverse_cdf(confidence)
}

fn chi_squared(freedom: f64, confidence: f64) -> f64 {
    ChiSquared::new(freedom).expect("the degrees of freedom are positive and finite").inverse_cdf(confidence)
}

impl Limits {
    /// How far a row is from its limits: the larger of T² and Q, each divided by its limit. It is
    /// above 1 if the row is beyond a limit, and NaN for a row without readings.
    pub fn excess(&self, hotelling: f64, squared_distance: f64) -> f64 {
        let over = |value: f64, limit: f64| if value == 0.0 { 0.0 } else { value / limit };
        over(hotelling, self.hotelling).max(over(squared_distance, self.squared_distance))
    }

    /// The share of rows with T² above its limit, and the share with Q above its limit; 0 without
    /// rows.
    pub fn shares_beyond(&self, hotelling: &[f64], squared_distance: &[f64]) -> (f64, f64) {
        let share = |values: &[f64], limit: f64| {
            values.iter().filter(|value| **value > limit).count() as f64 / values.len().max(1) as f64
        };
        (share(hotelling, self.hotelling), share(squared_distance, self.squared_distance))
    }
}

impl Readings {
    pub(crate) fn new(hotelling: Array1<f64>, squared_distance: Array1<f64>, limits: Limits) -> Self {
        Self { hotelling, squared_distance, limits }
    }

    /// The rows beyond a limit, by number.
    pub fn outliers(&self) -> Vec<usize> {
        let beyond = |i: &usize| {
            self.hotelling[*i] > self.limits.hotelling || self.squared_distance[*i] > self.limits.squared_distance
        };
        (0..self.hotelling.len()).filter(beyond).collect()
    }

    /// The share of rows above a limit. If it is far above 2 (1 − confidence), the rows have
    /// changed.
    pub fn share_beyond(&self) -> f64 {
        if self.hotelling.is_empty() { 0.0 } else { self.outliers().len() as f64 / self.hotelling.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_confidence_that_is_accepted_has_limits_that_rise_with_it() {
        let confidences = [*CONFIDENCES.start(), 0.01, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-6, *CONFIDENCES.end()];
        let rising = |name: &str, quantile: &dyn Fn(f64) -> f64| {
            let found = confidences.map(quantile);
            assert!(found.iter().all(|q| q.is_finite() && *q > 0.0), "{name}: {found:?}");
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{name}: {found:?}");
        };
        for k in [1.0, 2.0, 7.0, 50.0, 1e3, 1e5] {
            rising(&format!("chi squared {k}"), &|confidence| chi_squared(k, confidence));
            for nu in [1.5, 2.0, 10.0, 1e3, 9e4, 2e5, 1e9] {
                rising(&format!("F {k} {nu}"), &|confidence| fisher(k, nu, confidence));
            }
        }
    }
}
