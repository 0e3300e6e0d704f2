//! What weights mean, and their sum.
//!
//! The total weight w = Σ wᵢ, stored as the sum of two numbers: its value, and the rounding error
//! of that value.
//!
//! A split subtracts weights, w₁ = w₃ − w₂. If the weight of the part is much larger than that of
//! the rest, the first number has few correct digits of the rest, or none; the second has them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::linalg::{two_product, two_sum};
use crate::rows::element::LARGEST_MAGNITUDE;

/// What the weights of rows mean.
///
/// ```text
/// Frequency      λ = s² / (w − 1)              a weight of 3 stands for three equal rows
/// Reliability    λ = s² / (w − Σw² / w)        only ratios of weights matter; w = 1 gives 1 − Σw²
/// ```
///
/// Both are the same if every weight is 1. Each divisor makes the variance unbiased (ddof = 1) for
/// its kind of weights. For any ddof, the divisors are w − ddof and w − ddof Σw² / w.
///
/// ```
/// use eigenspace::{Block, FitOptions, WeightKind};
/// use ndarray::array;
///
/// let rows = array![[1.0], [2.0], [4.0]];
/// let block = Block::from(&rows).weighted(&[0.25, 0.5, 0.25]);           // sum to one
/// let model = FitOptions::new().weight_kind(WeightKind::Reliability).fit(block)?;
/// let variance = model.explained_variance(1.0)?[0];
/// assert!((variance - 1.1875 / (1.0 - 0.375)).abs() < 1e-12);
/// assert!(model.with_weight_kind(WeightKind::Frequency).explained_variance(1.0).is_err());
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum WeightKind {
    /// How often a row occurs.
    #[default]
    Frequency,
    /// How reliable a row is compared with the others.
    Reliability,
}

/// `frequency` or `reliability`.
impl fmt::Display for WeightKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Frequency => "frequency",
            Self::Reliability => "reliability",
        })
    }
}

impl FromStr for WeightKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "frequency" => Ok(Self::Frequency),
            "reliability" => Ok(Self::Reliability),
            _ => Err(Error::unknown_word("kind of weights", text, "`frequency` or `reliability`")),
        }
    }
}

/// A sum of weights in doubled precision.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Weight {
    value: f64,
    low: f64,
}

impl Weight {
    /// From the two numbers in a file.
    pub(crate) fn from_words(value: f64, low: f64) -> Self {
        Self { value, low }
    }

    /// The weight of `count` rows of weight 1.
    pub(crate) fn of_rows(rows: usize) -> Self {
        Self { value: rows as f64, low: 0.0 }
    }

    /// The weight of rows with these weights.
    pub(crate) fn of(weights: &[f64]) -> Self {
        weights.iter().fold(Self::default(), |sum, weight| sum.plus(Self { value: *weight, low: 0.0 }))
    }

    /// The nearest f64.
    pub(crate) fn value(self) -> f64 {
        self.value
    }

    /// The rounding error of `value`.
    pub(crate) fn low(self) -> f64 {
        self.low
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.value, other.value);
        let (value, low) = two_sum(sum, error + (self.low + other.low));
        Self { value, low }
    }

    /// The sum, unless it is above the limit.
    pub(crate) fn checked_plus(self, other: Self) -> Result<Self, Error> {
        let sum = self.plus(other);
        sum.check().map(|()| sum)
    }

    /// Refuses a total weight above the limit, which is that of a single weight.
    fn check(self) -> Result<(), Error> {
        if self.value <= LARGEST_MAGNITUDE {
            return Ok(());
        }
        Err(Error::TotalWeightTooLarge { total: self.value, limit: LARGEST_MAGNITUDE })
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self { value: -other.value, low: -other.low })
    }

    pub(crate) fn times(self, factor: f64) -> Self {
        let (product, error) = two_product(self.value, factor);
        let (value, low) = two_sum(product, error + self.low * factor);
        Self { value, low }
    }

    /// Whether both numbers are finite, and the second is below the last digit of the first.
    pub(crate) fn is_normal(self) -> bool {
        self.value.is_finite() && self.value + self.low == self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_heavy_whole_has_its_digits() {
        let (light, heavy) = ([0.1, 0.7], [1e17, 3e17, 0.3]);
        let whole = Weight::of(&[heavy.as_slice(), light.as_slice()].concat());
        let left = whole.minus(Weight::of(&heavy)).value();
        assert!((left - 0.8).abs() <= 1e-15, "{left}");
    }

    #[test]
    fn a_forgotten_weight_is_a_product_with_all_its_digits() {
        let weight = Weight::of(&[1.0, 1e-17]).times(0.1);
        assert_eq!(weight.value(), 0.1);
        // 0.1 itself is exact here, so the rest is 1e-18.
        assert!((weight.low() - 1e-18).abs() < 1e-33, "{:e}", weight.low());
        assert!(weight.is_normal());
    }

    #[test]
    fn the_second_word_is_below_the_last_digit_of_the_first() {
        // Numbers below 1 are twice as dense as those above.
        let share = 0.75 * f64::EPSILON / 2.0;
        assert!(Weight::from_words(1.0, share).is_normal());
        assert!(!Weight::from_words(1.0, -share).is_normal());
        assert!(!Weight::from_words(f64::INFINITY, 0.0).is_normal());
    }
}
