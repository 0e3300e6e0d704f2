//! Orthonormal directions, one per row.
//!
//! ```text
//! V Vᵀ = I        V ∈ ℝ^(r × D)
//! ```
//!
//! Copies of a model share one basis, so that a model which only reports another number of
//! components costs no memory.

use ndarray::parallel::prelude::*;
use ndarray::{ArcArray2, Array2, ArrayView2, Axis, Slice};

use crate::linalg;

/// Number of entries compared at a time.
const LANES: usize = 16;

/// Entries whose magnitudes differ by less than this share count as equal, so that rounding does
/// not decide signs.
const TIE_TOLERANCE: f64 = 1e-6;

/// Orthonormal rows. In each, the entry of largest magnitude is positive (the first, if there are
/// several).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Basis(ArcArray2<f64>);

impl Basis {
    /// No directions in a space of `features` dimensions.
    pub(crate) fn empty(features: usize) -> Self {
        Self(ArcArray2::zeros((0, features)))
    }

    /// Takes orthonormal rows and applies the sign rule.
    pub(crate) fn oriented(mut rows: Array2<f64>) -> Self {
        rows.axis_iter_mut(Axis(0)).into_par_iter().for_each(|mut row| {
            let largest = match row.as_slice() {
                Some(row) => linalg::vectorized(|| largest_magnitude(row)),
                None => row.iter().fold(0.0, |best: f64, x| best.max(x.abs())),
            };
            if row.iter().find(|x| x.abs() >= largest * (1.0 - TIE_TOLERANCE)).is_some_and(|x| *x < 0.0) {
                row.mapv_inplace(|x| -x);
            }
        });
        Self(rows.into_shared())
    }

    /// Takes rows unchanged, for readers that have checked them.
    pub(crate) fn trusted(rows: Array2<f64>) -> Self {
        Self(rows.into_shared())
    }

    pub(crate) fn rank(&self) -> usize {
        self.0.nrows()
    }

    pub(crate) fn view(&self) -> ArrayView2<'_, f64> {
        self.0.view()
    }

    /// The first `k` directions.
    pub(crate) fn first(&self, k: usize) -> ArrayView2<'_, f64> {
        linalg::rows_of(self.0.view(), 0..k)
    }

    pub(crate) fn truncate(mut self, k: usize) -> Self {
        if k < self.rank() {
            self.0.slice_axis_inplace(Axis(0), Slice::from(..k));
            self.0 = self.0.to_owned().into_shared();
        }
        self
    }

    /// The largest entry of |V Vᵀ − I|.
    pub(crate) fn orthogonality_loss(&self) -> f64 {
        linalg::orthogonality_loss(self.view())
    }
}

/// The largest magnitude, computed in independent lanes.
fn largest_magnitude(row: &[f64]) -> f64 {
    let mut best = [0.0_f64; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (best, x) in best.iter_mut().zip(chunk) {
            let magnitude = x.abs();
            *best = if magnitude > *best { magnitude } else { *best };
        }
    }
    best.iter().chain(rest).fold(0.0, |best, x| best.max(x.abs()))
}
