//! What rows weigh together, w = Σ wᵢ, as the sum of two numbers: its value, and what that rounds off.
//!
//! A split subtracts weights, w₁ = w₃ − w₂. Where the part outweighs the rest by far, the first word of the sum has few
//! digits of the rest, or none; the second has them.

use serde::{Deserialize, Serialize};

use crate::linalg::{two_product, two_sum};

/// A sum of weights in two words.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Weight {
    value: f64,
    low: f64,
}

impl Weight {
    /// From two words, as a file has them.
    pub(crate) fn from_words(value: f64, low: f64) -> Self {
        Self { value, low }
    }

    /// Of so many rows that weigh 1 each.
    pub(crate) fn of_rows(rows: usize) -> Self {
        Self { value: rows as f64, low: 0.0 }
    }

    /// Of rows with these weights.
    pub(crate) fn of(weights: &[f64]) -> Self {
        weights.iter().fold(Self::default(), |sum, weight| sum.plus(Self { value: *weight, low: 0.0 }))
    }

    /// The number nearest to it.
    pub(crate) fn value(self) -> f64 {
        self.value
    }

    /// What `value` rounds off.
    pub(crate) fn low(self) -> f64 {
        self.low
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.value, other.value);
        let (value, low) = two_sum(sum, error + (self.low + other.low));
        Self { value, low }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self { value: -other.value, low: -other.low })
    }

    pub(crate) fn times(self, factor: f64) -> Self {
        let (product, error) = two_product(self.value, factor);
        let (value, low) = two_sum(product, error + self.low * factor);
        Self { value, low }
    }

    /// Whether both words are finite, and the second is less than the last digit of the first.
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
}
