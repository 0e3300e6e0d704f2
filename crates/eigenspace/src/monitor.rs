//! Limits for T² and Q: is this row like those before?
//!
//! ```text
//! T²_α = k (n − 1)(n + 1) / (n (n − k)) · F_α(k, n − k)
//! Q_α  = θ₁ ( 1 + z_α √(2 θ₂ h²) / θ₁ + θ₂ h (h − 1) / θ₁² )^(1/h),     h = 1 − 2 θ₁ θ₃ / (3 θ₂²)
//! θ_p  = Σ_{i>k} λ_i^p
//! ```
//!
//! T² is Hotelling's for a new row; Q_α is Jackson and Mudholkar's (*Control procedures for residuals
//! associated with principal component analysis*, Technometrics 21(3), 1979). θ₁ is exact, from the
//! feature scatter; eigenvalues beyond the kept ones are taken as equal, which is where their sum
//! gives the least θ₂ and θ₃. n is the weight, so a stream that forgets has the limits of what it
//! remembers. Both assume rows that are roughly normal.

use ndarray::{Array1, ArrayView2};
use statrs::distribution::{ContinuousCDF, FisherSnedecor, Normal};

use crate::element::Element;
use crate::error::Error;
use crate::model::EigenspaceModel;

/// Values of T² and Q that a share of good rows stays below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Limit of T²: unusual inside the subspace.
    pub hotelling: f64,
    /// Limit of Q: unusual outside of it.
    pub squared_distance: f64,
}

/// T² and Q of the rows of a block, against limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Readings {
    /// T² of each row.
    pub hotelling: Array1<f64>,
    /// Q of each row.
    pub squared_distance: Array1<f64>,
    limits: Limits,
}

impl EigenspaceModel {
    /// The limits that this share of good rows stays below, for example 0.99. Needs a weight above k + 1.
    pub fn limits(&self, confidence: f64) -> Result<Limits, Error> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(Error::InvalidConfidence { value: confidence });
        }
        let (n, k) = (self.weight(), self.n_components() as f64);
        if n - k <= 1.0 {
            return Err(Error::TooLittleWeight { needed: k + 2.0, weight: n });
        }
        let hotelling = match FisherSnedecor::new(k, n - k) {
            Ok(f) if k > 0.0 => k * (n - 1.0) * (n + 1.0) / (n * (n - k)) * f.inverse_cdf(confidence),
            _ => 0.0,
        };
        Ok(Limits { hotelling, squared_distance: self.residual_limit(confidence)? })
    }

    /// T² and Q of rows, to be held against limits: a signal for outliers and for drift.
    pub fn monitor<E: Element>(&self, rows: ArrayView2<'_, E>, limits: Limits) -> Result<Readings, Error> {
        let (squared_distance, hotelling) = self.distances_and_hotelling(rows)?;
        Ok(Readings { hotelling, squared_distance, limits })
    }

    /// Jackson and Mudholkar's Q_α.
    fn residual_limit(&self, confidence: f64) -> Result<f64, Error> {
        let divisor = self.divisor(1.0)?;
        let k = self.n_components();
        let hidden: Vec<f64> = self.spectrum.squared().iter().skip(k).map(|s| s / divisor).collect();
        let rest = self.moments.total() / divisor - self.spectrum.squared().iter().sum::<f64>() / divisor;
        let beyond = (self.features() - self.rank()) as f64;
        // Beyond the kept directions only the sum is known, and only if something is there at all.
        let equal = if self.certificate().is_exact() || beyond == 0.0 { 0.0 } else { rest.max(0.0) / beyond };
        let theta = |p: i32| hidden.iter().map(|value| value.powi(p)).sum::<f64>() + beyond * equal.powi(p);
        let (one, two, three) = (theta(1), theta(2), theta(3));
        if one <= 0.0 {
            return Ok(0.0);
        }
        let z = Normal::standard().inverse_cdf(confidence);
        let h = 1.0 - 2.0 * one * three / (3.0 * two * two);
        // With a few dominant hidden directions h can reach zero, where the power becomes an exponential.
        let h = if h.abs() < 1e-6 { 1e-6 } else { h };
        let inner = 1.0 + z * (2.0 * two * h * h).sqrt() / one + two * h * (h - 1.0) / (one * one);
        Ok(one * inner.max(f64::MIN_POSITIVE).powf(1.0 / h))
    }
}

impl Readings {
    /// The rows beyond a limit, by number.
    pub fn outliers(&self) -> Vec<usize> {
        let beyond = |i: &usize| {
            self.hotelling[*i] > self.limits.hotelling || self.squared_distance[*i] > self.limits.squared_distance
        };
        (0..self.hotelling.len()).filter(beyond).collect()
    }

    /// The share of rows beyond a limit: far above 2 (1 − confidence) it says that the rows have changed.
    pub fn share_beyond(&self) -> f64 {
        if self.hotelling.is_empty() { 0.0 } else { self.outliers().len() as f64 / self.hotelling.len() as f64 }
    }
}
