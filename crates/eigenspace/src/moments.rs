//! Count, weight, mean and per-feature scatter: what is exact at all times.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | n, w | `count`, `weight` | rows, and what they weigh |
//! | μ | `mean` | D |
//! | q | `scatter` | D, Σ (x_j − μ_j)² per feature |
//! | c | returned by [`Moments::merge`] and [`Moments::split`] | D, the row that the distance of two means adds |
//!
//! Merging two sets of rows adds one rank-one term to the sum of their scatters:
//!
//! ```text
//! M₃ = M₁ + M₂ + c cᵀ        c = √(w₁ w₂ / w₃) (μ₁ − μ₂)
//! ```
//!
//! For a block of m rows with mean b that is stacked under n earlier rows, the extra row is not
//! needed. Centre the block at a point t between the two means, and its own rows carry the term:
//!
//! ```text
//! Σ (x − t)(x − t)ᵀ = M_b + c cᵀ     for   t = μ + β (b − μ),   β = 1 − √(n / (n + m))
//! ```
//!
//! because Σ (x − t)(x − t)ᵀ = M_b + m (1 − β)² (b − μ)(b − μ)ᵀ and m (1 − β)² = n m / (n + m).
//! (The specification centres at the *new* mean, β = m / (n + m): that loses the shift of the old
//! rows.) For the first block β = 1; for one row 1 − β = √(n / (n + 1)), Brand's rank-one update.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, ArrayView1, ArrayViewMut2, Axis};
use std::borrow::Cow;

use crate::error::Error;
use crate::linalg::{Real, vectorised};

/// Columns centred by one task: narrow enough for a block to stay in a core's cache between its two passes.
const PANEL: usize = 128;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments {
    pub(crate) count: u64,
    pub(crate) weight: f64,
    pub(crate) mean: Array1<f64>,
    pub(crate) scatter: Array1<f64>,
}

impl Moments {
    /// The moments of no rows at all.
    pub(crate) fn empty(features: usize) -> Self {
        Self { count: 0, weight: 0.0, mean: Array1::zeros(features), scatter: Array1::zeros(features) }
    }

    pub(crate) fn features(&self) -> usize {
        self.mean.len()
    }

    /// The trace of the scatter, exact whatever was truncated.
    pub(crate) fn total(&self) -> f64 {
        self.scatter.sum()
    }

    /// n centred rows span at most n − 1 directions; what lies beyond is the rounding of their mean.
    pub(crate) fn rank_limit(&self) -> usize {
        usize::try_from(self.count.saturating_sub(1)).unwrap_or(usize::MAX)
    }

    /// Singular values below this are rounding: of `rows` stacked rows with largest singular value
    /// `largest`, and of the mean that was subtracted from them.
    pub(crate) fn rounding(&self, rows: usize, largest: f64, epsilon: f64) -> f64 {
        let offset = self.weight.sqrt() * self.mean.dot(&self.mean).sqrt();
        epsilon * (16.0 + 4.0 * (rows as f64).sqrt()) * largest + f64::EPSILON * offset
    }

    /// Centres a block at t, in place, and returns the moments of the earlier rows and these.
    pub(crate) fn absorb<T: Real>(&self, mut rows: ArrayViewMut2<'_, T>) -> Result<Self, Error> {
        let added = rows.nrows();
        let Some(first) = rows.rows().into_iter().next() else {
            return Ok(self.clone());
        };
        let weight = self.weight + added as f64;
        let count = self.count.checked_add(added as u64).ok_or(Error::CountOverflow)?;
        let beta = 1.0 - (self.weight / weight).sqrt();
        // Sums are taken of differences from a point near the rows, so a mean far from zero costs no digits.
        let near = if self.count == 0 { first.mapv(Real::widen) } else { self.mean.clone() };
        let mut mean = near;
        let mut scatter = self.scatter.clone();
        rows.axis_chunks_iter_mut(Axis(1), PANEL)
            .into_par_iter()
            .zip(mean.axis_chunks_iter_mut(Axis(0), PANEL))
            .zip(scatter.axis_chunks_iter_mut(Axis(0), PANEL))
            .for_each(|((mut rows, mut mean), mut scatter)| {
                let mut step = vec![0.0; mean.len()];
                for row in rows.rows() {
                    add_difference(&mut step, &contiguous(row), &contiguous(mean.view()));
                }
                let step = Array1::from(step) / added as f64;
                let centre = (&mean + &(&step * beta)).to_vec();
                let mut squares = vec![0.0; centre.len()];
                for mut row in rows.rows_mut() {
                    match row.as_slice_mut() {
                        Some(row) => subtract(row, &centre, &mut squares),
                        None => {
                            let mut copy = row.to_vec();
                            subtract(&mut copy, &centre, &mut squares);
                            row.assign(&Array1::from(copy));
                        }
                    }
                }
                scatter += &Array1::from(squares);
                mean.scaled_add(added as f64 / weight, &step);
            });
        Ok(Self { count, weight, mean, scatter })
    }

    /// The moments of both sets of rows, and the row c. Most precise when `self` is the heavier.
    pub(crate) fn merge(&self, other: &Self) -> Result<(Self, Array1<f64>), Error> {
        let count = self.count.checked_add(other.count).ok_or(Error::CountOverflow)?;
        if other.count == 0 {
            return Ok((self.clone(), Array1::zeros(self.features())));
        }
        if self.count == 0 {
            return Ok((other.clone(), Array1::zeros(self.features())));
        }
        let weight = self.weight + other.weight;
        let step = &other.mean - &self.mean;
        let mean = &self.mean + &(&step * (other.weight / weight));
        let c = &step * (self.weight / weight * other.weight).sqrt();
        let scatter = &self.scatter + &other.scatter + &(&c * &c);
        Ok((Self { count, weight, mean, scatter }, c))
    }

    /// The moments of the rows that remain when `part` is taken out, and the row c. The scatter may
    /// come out negative; the caller decides what that means.
    pub(crate) fn split(&self, part: &Self) -> (Self, Array1<f64>) {
        let weight = self.weight - part.weight;
        let step = &self.mean - &part.mean;
        let mean = &self.mean + &(&step * (part.weight / weight));
        let c = &step * (part.weight * (self.weight / weight)).sqrt();
        let scatter = &self.scatter - &part.scatter - &(&c * &c);
        (Self { count: self.count - part.count, weight, mean, scatter }, c)
    }
}

/// The elements side by side: as they are in every buffer of ours, copied otherwise.
fn contiguous<T: Copy>(row: ArrayView1<'_, T>) -> Cow<'_, [T]> {
    row.to_slice().map_or_else(|| Cow::Owned(row.to_vec()), Cow::Borrowed)
}

/// `sum += row − near`.
fn add_difference<T: Real>(sum: &mut [f64], row: &[T], near: &[f64]) {
    vectorised(
        #[inline(always)]
        || sum.iter_mut().zip(row).zip(near).for_each(|((sum, x), near)| *sum += x.widen() - near),
    );
}

/// `row −= centre`, adding the squares of the differences.
fn subtract<T: Real>(row: &mut [T], centre: &[f64], squares: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            for ((x, centre), square) in row.iter_mut().zip(centre).zip(squares) {
                let difference = x.widen() - centre;
                *square += difference * difference;
                *x = T::narrow(difference);
            }
        },
    );
}
