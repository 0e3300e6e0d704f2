//! Sums of differences that are computed as rows arrive, before the block is absorbed.

use crate::linalg::{SUMMED_ROWS, vectorized};

/// The sums of the differences of rows from a point, to which rows are added one at a time: the
/// same numbers, to the last bit, as [`Moments::absorb`](super::Moments::absorb) computes of the same rows without weights.
#[derive(Debug, Clone, Default)]
pub(crate) struct DifferenceSums {
    total: Vec<f64>,
    part: Vec<f64>,
    count: usize,
}

impl DifferenceSums {
    /// Adds a row minus the point (high + low).
    pub(crate) fn add(&mut self, row: &[f64], high: &[f64], low: &[f64]) {
        if self.count == 0 {
            (self.total, self.part) = (vec![0.0; row.len()], vec![0.0; row.len()]);
        }
        let part = &mut self.part;
        vectorized(
            #[inline(always)]
            || {
                for (((sum, x), high), low) in part.iter_mut().zip(row).zip(high).zip(low) {
                    *sum += (x - high) - low;
                }
            },
        );
        self.count += 1;
        if self.count.is_multiple_of(SUMMED_ROWS) {
            self.total = self.sums();
            self.part.fill(0.0);
        }
    }

    /// Number of rows so far.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The sums over all rows so far.
    pub(crate) fn sums(&self) -> Vec<f64> {
        self.total.iter().zip(&self.part).map(|(total, part)| total + part).collect()
    }
}
