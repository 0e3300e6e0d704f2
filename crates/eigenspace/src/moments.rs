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
//! Weighted rows count by their weight in n, m, b and every sum, and are multiplied by its root.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, ArrayViewMut2, Axis};

use crate::error::Error;
use crate::linalg::{Real, contiguous, vectorised};

/// Columns centred by one task: narrow enough for a block to stay in a core's cache between its two passes.
const PANEL: usize = 128;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments {
    pub(crate) count: u64,
    pub(crate) weight: f64,
    pub(crate) mean: Array1<f64>,
    pub(crate) scatter: Array1<f64>,
    /// Cells of those rows that were missing and filled.
    pub(crate) imputed: u64,
    /// True if nothing is centred: the mean stays zero and the scatter is Σ x xᵀ.
    pub(crate) about_origin: bool,
}

impl Moments {
    /// The moments of no rows at all.
    pub(crate) fn empty(features: usize) -> Self {
        Self {
            count: 0,
            weight: 0.0,
            mean: Array1::zeros(features),
            scatter: Array1::zeros(features),
            imputed: 0,
            about_origin: false,
        }
    }

    /// The same, about the origin or about the mean.
    pub(crate) fn about(self, origin: bool) -> Self {
        Self { about_origin: origin, ..self }
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
        let taken = u64::from(!self.about_origin);
        usize::try_from(self.count.saturating_sub(taken)).unwrap_or(usize::MAX)
    }

    /// Singular values below this are rounding: of `rows` stacked rows with largest singular value
    /// `largest`, and of the mean that was subtracted from them.
    pub(crate) fn rounding(&self, rows: usize, largest: f64, epsilon: f64) -> f64 {
        // The mean of a feature rounds, but moves nothing further than the feature varies.
        let rounded = |mean: &f64, q: &f64| ((f64::EPSILON * mean).powi(2) * self.weight).min(*q);
        let offset: f64 = self.mean.iter().zip(&self.scatter).map(|(mean, q)| rounded(mean, q)).sum();
        epsilon * (16.0 + 4.0 * (rows as f64).sqrt()) * largest + offset.sqrt()
    }

    /// The length of the mean along the features that vary.
    pub(crate) fn varying_mean(&self) -> f64 {
        let squared: f64 =
            self.mean.iter().zip(&self.scatter).filter(|(_, q)| **q > 0.0).map(|(mean, _)| mean * mean).sum();
        squared.sqrt()
    }

    /// Centres a block at t and multiplies each row by the root of its weight, in place; returns the
    /// moments of the earlier rows and these.
    pub(crate) fn absorb<T: Real>(
        &self,
        mut rows: ArrayViewMut2<'_, T>,
        weights: Option<&[f64]>,
    ) -> Result<Self, Error> {
        let Some(first) = rows.rows().into_iter().next() else {
            return Ok(self.clone());
        };
        let count = self.count.checked_add(rows.nrows() as u64).ok_or(Error::CountOverflow)?;
        let added = weights.map_or(rows.nrows() as f64, |weights| weights.iter().sum());
        let weight = self.weight + added;
        let weight_of = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let beta = 1.0 - (self.weight / weight).sqrt();
        // Sums are taken of differences from a point near the rows, so a mean far from zero costs no digits.
        let first_block = self.count == 0 && !self.about_origin;
        let near = if first_block { first.mapv(Real::widen) } else { self.mean.clone() };
        let mut mean = near;
        let mut scatter = self.scatter.clone();
        rows.axis_chunks_iter_mut(Axis(1), PANEL)
            .into_par_iter()
            .zip(mean.axis_chunks_iter_mut(Axis(0), PANEL))
            .zip(scatter.axis_chunks_iter_mut(Axis(0), PANEL))
            .for_each(|((mut rows, mut mean), mut scatter)| {
                let mut step = vec![0.0; mean.len()];
                for (i, row) in rows.rows().into_iter().enumerate().filter(|_| !self.about_origin) {
                    add_difference(&mut step, &contiguous(row), &contiguous(mean.view()), weight_of(i));
                }
                let step = Array1::from(step) / added;
                let centre = (&mean + &(&step * beta)).to_vec();
                let mut squares = vec![0.0; centre.len()];
                for (i, mut row) in rows.rows_mut().into_iter().enumerate() {
                    let root = weight_of(i).sqrt();
                    match row.as_slice_mut() {
                        Some(row) => subtract(row, &centre, root, &mut squares),
                        None => {
                            let mut copy = row.to_vec();
                            subtract(&mut copy, &centre, root, &mut squares);
                            row.assign(&Array1::from(copy));
                        }
                    }
                }
                scatter += &Array1::from(squares);
                mean.scaled_add(added / weight, &step);
            });
        Ok(Self { count, weight, mean, scatter, imputed: self.imputed, about_origin: self.about_origin })
    }

    /// The same rows, each weighing `factor` as much.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self { weight: self.weight * factor, scatter: &self.scatter * factor, ..self.clone() }
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
        Ok((
            Self {
                count,
                weight,
                mean,
                scatter,
                imputed: self.imputed.saturating_add(other.imputed),
                about_origin: self.about_origin,
            },
            c,
        ))
    }

    /// The moments of the rows that remain when `part` is taken out, and the row c. The scatter may
    /// come out negative; the caller decides what that means.
    pub(crate) fn split(&self, part: &Self) -> (Self, Array1<f64>) {
        let weight = self.weight - part.weight;
        let step = &self.mean - &part.mean;
        let mean = &self.mean + &(&step * (part.weight / weight));
        let c = &step * (part.weight * (self.weight / weight)).sqrt();
        let scatter = &self.scatter - &part.scatter - &(&c * &c);
        let imputed = self.imputed.saturating_sub(part.imputed);
        (Self { count: self.count - part.count, weight, mean, scatter, imputed, about_origin: self.about_origin }, c)
    }
}

/// `sum += weight (row − near)`.
fn add_difference<T: Real>(sum: &mut [f64], row: &[T], near: &[f64], weight: f64) {
    vectorised(
        #[inline(always)]
        || sum.iter_mut().zip(row).zip(near).for_each(|((sum, x), near)| *sum += weight * (x.widen() - near)),
    );
}

/// `row = root (row − centre)`, adding the squares.
fn subtract<T: Real>(row: &mut [T], centre: &[f64], root: f64, squares: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            for ((x, centre), square) in row.iter_mut().zip(centre).zip(squares) {
                let difference = root * (x.widen() - centre);
                *square += difference * difference;
                *x = T::narrow(difference);
            }
        },
    );
}
