//! Rows of numbers in doubled precision.

use ndarray::{Array1, ArrayView1};

use crate::linalg::{two_sum, vectorized};

/// Numbers in doubled precision: their values, and the rounding errors of these values.
pub(crate) struct TwoWords {
    pub(crate) high: Vec<f64>,
    pub(crate) low: Vec<f64>,
}

impl TwoWords {
    /// `sum += weight (row − self)`.
    pub(crate) fn add_difference(&self, sum: &mut [f64], row: &[f64], weight: f64) {
        vectorized(
            #[inline(always)]
            || {
                for (((sum, x), high), low) in sum.iter_mut().zip(row).zip(&self.high).zip(&self.low) {
                    *sum += weight * ((x - high) - low);
                }
            },
        );
    }

    /// `row = root (row − self)`, adding the squares.
    pub(crate) fn subtract(&self, row: &mut [f64], root: f64, squares: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                for (((x, high), low), square) in row.iter_mut().zip(&self.high).zip(&self.low).zip(squares) {
                    let difference = root * ((*x - high) - low);
                    *square += difference * difference;
                    *x = difference;
                }
            },
        );
    }

    /// `to = root (from − self)`, adding the squares.
    pub(crate) fn subtract_from(&self, from: &[f64], to: &mut [f64], root: f64, squares: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                let point = self.high.iter().zip(&self.low);
                for (((to, x), (high, low)), square) in to.iter_mut().zip(from).zip(point).zip(squares) {
                    let difference = root * ((*x - high) - low);
                    *square += difference * difference;
                    *to = difference;
                }
            },
        );
    }

    /// These numbers minus others.
    pub(crate) fn less(&self, other: &Self) -> Array1<f64> {
        let high = self.high.iter().zip(&other.high).map(|(a, b)| a - b);
        let low = self.low.iter().zip(&other.low).map(|(a, b)| a - b);
        high.zip(low).map(|(high, low)| high + low).collect()
    }

    /// These numbers plus a share of a step.
    pub(crate) fn moved(&self, step: ArrayView1<'_, f64>, share: f64) -> Self {
        let each = self.high.iter().zip(&self.low).zip(step).map(|((high, low), step)| {
            let (sum, error) = two_sum(*high, share * step);
            two_sum(sum, error + low)
        });
        let (high, low) = each.unzip();
        Self { high, low }
    }
}
