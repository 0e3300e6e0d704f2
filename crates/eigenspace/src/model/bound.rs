//! Bounds on the error of a model: on what was dropped, and on rounding.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | E = M − L | | the true scatter minus that of the model |
//! | ℓ, σ | `lost`, `surplus` | D, −diag(σ) ≤ E − R ≤ diag(ℓ): the effect of truncations and splits |
//! | R | | rounding of sums, products and decompositions |
//! | ρ | `noise` | −ρ I ≤ R ≤ ρ I |
//! | ν | `feature_noise` | D, −diag(ν) ≤ R ≤ diag(ν) |
//! | τ | `mean_noise` | D, τ_j ≥ √w \|δμ_j\| |
//! | κ | `scatter_noise` | D, κ_j ≥ \|δq_j\| |
//!
//! Both bounds on the rounding hold. ρ is smaller in the units of the rows, and ν in other units,
//! because the rounding of a feature is relative to its own spread. With q the scatter of each
//! feature and d = √q, an operation rounds in one of four ways:
//!
//! ```text
//! sums        |δM_ij| ≤ γ d_i d_j                    ρ += γ Σq          ν += γ D q
//! rotations   |δA_·j| ≤ η d_j, M = AᵀA               ρ += 2 η s₁ √Σq    ν += 2 η √(D r) q
//! directions  |δA_·j| ≤ μ κ d_j,  ‖δA‖ ≤ μ s₁        ρ += 2 μ s₁²       ν += 2 μ κ √(D r) q
//! others      ‖δM‖ ≤ ε                               ρ += ε             ν += ε
//! ```
//!
//! The first three follow from the inequality of Cauchy and Schwarz: |xᵀ δM x| ≤ γ (Σ d_j |x_j|)² ≤ γ
//! D Σ q_j x_j². An error δc of a difference of means changes the scatter by c δcᵀ + δc cᵀ + δc
//! δcᵀ.

use ndarray::{Array1, ArrayView1};
use serde::{Deserialize, Serialize};

/// The unit roundoff u: half the distance from 1 to the next number.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// A mean counts as known if its error is below this share of the spread of its feature.
const KNOWN_MEAN_TOLERANCE: f64 = 1e-6;

/// Bounds on the error of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    lost: Array1<f64>,
    surplus: Array1<f64>,
    noise: f64,
    feature_noise: Array1<f64>,
    mean_noise: Array1<f64>,
    scatter_noise: Array1<f64>,
    /// Probability that `lost` is too small, over the random vectors of an iterative fit; 0 if it
    /// is proven.
    #[serde(default)]
    failure_probability: f64,
}

impl Bound {
    /// No error.
    pub(crate) fn exact(features: usize) -> Self {
        let zeros = Array1::zeros(features);
        Self {
            lost: zeros.clone(),
            surplus: zeros.clone(),
            noise: 0.0,
            feature_noise: zeros.clone(),
            mean_noise: zeros.clone(),
            scatter_noise: zeros,
            failure_probability: 0.0,
        }
    }

    /// A bound without a probability of failure, restored from the values that its fields have by
    /// name.
    pub(crate) fn restored<E>(
        limits: impl Fn(&'static str) -> Result<Array1<f64>, E>,
        limit: impl Fn(&'static str) -> Result<f64, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            lost: limits("lost")?,
            surplus: limits("surplus")?,
            noise: limit("noise")?,
            feature_noise: limits("feature_noise")?,
            mean_noise: limits("mean_noise")?,
            scatter_noise: limits("scatter_noise")?,
            failure_probability: 0.0,
        })
    }

    /// The error of the moments alone, for directions that are computed again from the rows.
    pub(crate) fn of_moments(&self) -> Self {
        let (mean_noise, scatter_noise) = (self.mean_noise.clone(), self.scatter_noise.clone());
        Self { mean_noise, scatter_noise, ..Self::exact(self.lost.len()) }
    }

    pub(crate) fn lost(&self) -> &Array1<f64> {
        &self.lost
    }

    pub(crate) fn surplus(&self) -> &Array1<f64> {
        &self.surplus
    }

    pub(crate) fn noise(&self) -> f64 {
        self.noise
    }

    pub(crate) fn feature_noise(&self) -> &Array1<f64> {
        &self.feature_noise
    }

    pub(crate) fn mean_noise(&self) -> &Array1<f64> {
        &self.mean_noise
    }

    pub(crate) fn scatter_noise(&self) -> &Array1<f64> {
        &self.scatter_noise
    }

    /// Probability that `lost` is too small.
    pub(crate) fn failure_probability(&self) -> f64 {
        self.failure_probability
    }

    /// Whether a restored bound is consistent.
    pub(crate) fn is_consistent(&self, features: usize) -> bool {
        let Self { lost, surplus, feature_noise, mean_noise, scatter_noise, .. } = self;
        [lost, surplus, feature_noise, mean_noise, scatter_noise].iter().all(|limits| limits.len() == features)
    }

    /// Whether a truncation or a split has ever been counted.
    pub(crate) fn is_truncated(&self) -> bool {
        self.lost.iter().chain(&self.surplus).any(|limit| *limit > 0.0)
    }

    /// Adds a truncation whose largest dropped eigenvalue is `lost`, in the units of the rows.
    pub(crate) fn losing(mut self, lost: f64) -> Self {
        self.lost += lost;
        self
    }

    /// The same for rows that were multiplied by these units: the eigenvalue is in their units.
    pub(crate) fn losing_in(mut self, units: &Array1<f64>, lost: f64) -> Self {
        self.lost.zip_mut_with(units, |own, unit| *own += lost * unit * unit);
        self
    }

    /// Limits what was lost to the trace of the missing scatter.
    pub(crate) fn limit_lost(&mut self, trace: f64) {
        self.lost.mapv_inplace(|lost| lost.min(trace));
    }

    /// The bound of these features, if the others are constant.
    pub(crate) fn of_features(&self, chosen: &[bool]) -> Self {
        let only = |values: &Array1<f64>| {
            values.iter().zip(chosen).map(|(x, chosen)| if *chosen { *x } else { 0.0 }).collect()
        };
        Self {
            lost: only(&self.lost),
            surplus: only(&self.surplus),
            feature_noise: only(&self.feature_noise),
            scatter_noise: only(&self.scatter_noise),
            ..self.clone()
        }
    }

    /// Adds what features may hold that are not known: a scatter of at most `most` each, and this
    /// much lost and surplus with all features.
    pub(crate) fn add_unknown_features(&mut self, known: &[bool], most: f64, lost: f64, surplus: f64) {
        self.lost += lost;
        self.surplus += surplus;
        for (noise, _) in self.scatter_noise.iter_mut().zip(known).filter(|(_, known)| !**known) {
            *noise = most;
        }
    }

    /// Counts a probability that the bound so far does not hold.
    pub(crate) fn failing_with(mut self, probability: f64) -> Self {
        self.failure_probability = (self.failure_probability + probability).min(1.0);
        self
    }

    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        for values in [&mut self.lost, &mut self.surplus, &mut self.feature_noise, &mut self.scatter_noise] {
            *values *= factor;
        }
        self.mean_noise *= factor.sqrt();
        self.noise *= factor;
        self
    }

    /// The bound after multiplying the features by these scales.
    pub(crate) fn rescaled(&self, scales: ArrayView1<'_, f64>, q: &Array1<f64>) -> Self {
        let squares = scales.mapv(|scale| scale * scale);
        let feature_noise = &self.feature_noise * &squares;
        let live =
            |largest: f64, (noise, square): (&f64, &f64)| if *noise > 0.0 { largest.max(*square) } else { largest };
        let uniform = self.noise * self.feature_noise.iter().zip(&squares).fold(0.0, live);
        Self {
            lost: &self.lost * &squares,
            surplus: &self.surplus * &squares,
            noise: uniform.min(largest(&feature_noise)),
            feature_noise,
            mean_noise: &self.mean_noise * &scales,
            scatter_noise: &self.scatter_noise * &squares + &(q * &squares * (4.0 * UNIT)),
            failure_probability: self.failure_probability,
        }
    }

    /// Adds rounding of the scatter as a whole, in features that vary.
    pub(crate) fn noisier(mut self, noise: f64, q: &Array1<f64>) -> Self {
        self.noise += noise;
        self.feature_noise.zip_mut_with(q, |own, q| *own += if *q > 0.0 { noise } else { 0.0 });
        self
    }

    /// Adds rounding of sums of products, relative to the features.
    pub(crate) fn summed(mut self, relative: f64, q: &Array1<f64>) -> Self {
        let features = varying(q);
        self.noise += relative * q.sum();
        self.feature_noise.scaled_add(relative * features, q);
        self
    }

    /// Adds the rounding of the scatter of each feature, where it is computed as a sum of its own.
    pub(crate) fn summed_by_feature(mut self) -> Self {
        self.feature_noise += &self.scatter_noise;
        self
    }

    /// Adds what setting negative eigenvalues to zero changes, if none is below −`clamped`; in these
    /// units, if they are of rows that were divided by their roots.
    pub(crate) fn clamped(mut self, clamped: f64, units: Option<&Array1<f64>>) -> Self {
        let noise = match units {
            None => self.noise,
            Some(units) => self.feature_noise.iter().zip(units).map(|(noise, unit)| noise / unit).fold(0.0, f64::max),
        };
        match (clamped > noise, units) {
            (true, None) => self.surplus += clamped,
            (true, Some(units)) => self.surplus.scaled_add(clamped, units),
            (false, None) => {
                let everywhere = Array1::ones(self.lost.len());
                return self.noisier(clamped, &everywhere);
            }
            (false, Some(units)) => {
                self.noise += clamped * largest(units);
                self.feature_noise.scaled_add(clamped, units);
            }
        }
        self
    }

    /// Adds the rounding of means and of the scatter of each feature by a rotation of the rows.
    #[cfg(feature = "faces")]
    pub(crate) fn rotated(mut self, rounding: Rounding, q: &Array1<f64>) -> Self {
        self.scatter_noise.scaled_add(2.0 * rounding.column_error(), q);
        self.mean_noise += &q.mapv(|q| rounding.column_error() * q.sqrt());
        self
    }

    /// Adds the rounding of a decomposition with this largest eigenvalue.
    pub(crate) fn rounded(mut self, rounding: Rounding, q: &Array1<f64>, largest: f64) -> Self {
        let features = varying(q);
        let together = (features * features.min(rounding.rows() as f64)).sqrt();
        self.noise += 2.0 * rounding.column_error() * largest.sqrt() * q.sum().sqrt()
            + 2.0 * rounding.mixing_error() * largest
            + rounding.feature_error() * self::largest(q);
        let columns = rounding.column_error() + rounding.mixing_error_of_columns();
        self.feature_noise.scaled_add(2.0 * columns * together + rounding.feature_error(), q);
        self.noisier(rounding.whole_error(), q)
    }

    /// The squares of deviations below 1e-154 are rounded to a multiple of the smallest number, or
    /// to zero: a feature of such deviations seems to vary less than it does, or not at all. Small
    /// weights make deviations small, but not this step.
    pub(crate) fn underflowed(&mut self, squares: &Array1<f64>, step: &Array1<f64>, weight: f64) {
        let vanished = weight.max(1.0) * f64::MIN_POSITIVE;
        let features = squares.len() as f64;
        for (j, (square, step)) in squares.iter().zip(step).enumerate() {
            if *square < vanished / UNIT && (*square > 0.0 || *step != 0.0) {
                self.scatter_noise[j] += vanished;
                self.feature_noise[j] += features * vanished;
                self.noise += features * vanished;
            }
        }
    }
}

/// The number of features that vary.
fn varying(q: &Array1<f64>) -> f64 {
    q.iter().filter(|q| **q > 0.0).count() as f64
}

/// The largest of non-negative numbers.
pub(crate) fn largest(values: &Array1<f64>) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(*value))
}

#[cfg(test)]
mod by_hand;
mod rounding;
mod rows;
pub(crate) use rounding::Rounding;
#[cfg(test)]
mod tests;
