//! Moments of two sets of rows together, and of the rest if one is removed.

use ndarray::Array1;

use super::{Moments, TwoWords};
use crate::error::Error;
use crate::model::weight::WeightKind;

impl Moments {
    /// μ₂ − μ₁, precise even if both are far from zero.
    pub(crate) fn step_to(&self, other: &Self) -> Array1<f64> {
        (&other.mean - &self.mean) + (&other.mean_low - &self.mean_low)
    }

    /// The mean plus a share of a step.
    fn moved(&self, step: &Array1<f64>, share: f64) -> (Array1<f64>, Array1<f64>) {
        let near = TwoWords { high: self.mean.to_vec(), low: self.mean_low.to_vec() };
        let TwoWords { high, low } = near.moved(step.view(), share);
        (Array1::from(high), Array1::from(low))
    }

    /// The moments of the same rows, where these are of their differences from the mean of others.
    #[cfg(any(feature = "faces", test))]
    pub(crate) fn relative_to(self, others: &Self) -> Self {
        let (mean, mean_low) = others.moved(&self.mean, 1.0);
        Self { mean, mean_low: mean_low + &self.mean_low, ..self }
    }

    /// The moments of both sets of rows, and the row c. Most precise if `self` has the larger
    /// weight.
    pub(crate) fn merge(&self, other: &Self) -> Result<(Self, Array1<f64>), Error> {
        let count = self.count.checked_add(other.count).ok_or(Error::CountOverflow)?;
        if other.count == 0 {
            return Ok((self.clone(), Array1::zeros(self.features())));
        }
        if self.count == 0 {
            return Ok((other.clone(), Array1::zeros(self.features())));
        }
        let weight = self.weight.checked_plus(other.weight)?;
        let step = self.step_to(other);
        let share = other.weight.value() / weight.value();
        let (mean, mean_low) = self.moved(&step, share);
        let c = &step * (self.weight.value() * share).sqrt();
        let scatter = &self.scatter + &other.scatter + &(&c * &c);
        let squared_weight = self.squared_weight + other.squared_weight;
        let imputed = self.imputed.saturating_add(other.imputed);
        // If all weights are 1, both kinds are the same.
        let weights = if self.weights == other.weights { self.weights } else { WeightKind::Reliability };
        Ok((Self { count, weight, squared_weight, mean, mean_low, scatter, imputed, weights, ..self.clone_flags() }, c))
    }

    /// The moments of the remaining rows after `part` is removed, and the row c. The scatter may be
    /// negative; the caller decides what that means.
    pub(crate) fn split(&self, part: &Self) -> (Self, Array1<f64>) {
        let weight = self.weight.minus(part.weight);
        let step = part.step_to(self);
        let (mean, mean_low) = self.moved(&step, part.weight.value() / weight.value());
        let c = &step * (part.weight.value() * (self.weight.value() / weight.value())).sqrt();
        let scatter = &self.scatter - &part.scatter - &(&c * &c);
        let count = self.count - part.count;
        // Limited to what is possible, between equal weights and all weight on one row, because the
        // subtraction rounds.
        let most = weight.value() * weight.value();
        let squared_weight = (self.squared_weight - part.squared_weight).min(most).max(most / (count as f64).max(1.0));
        let imputed = self.imputed.saturating_sub(part.imputed);
        (Self { count, weight, squared_weight, mean, mean_low, scatter, imputed, ..self.clone_flags() }, c)
    }
}
