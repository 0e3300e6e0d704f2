//! Products with M = AᵀA or A Aᵀ for A = B − r μᵀ, where B is sparse. A is never formed.
//!
//! ```text
//! M = AᵀA, slices are rows of B:       y_i = b_i · q − r_i (μ · q)      M q = Σ_i b_i y_i − μ (r · y)
//! M = A Aᵀ, slices are columns of B:   y_j = b_j · q − μ_j (r · q)      M q = Σ_j b_j y_j − r (μ · y)
//! ```
//!
//! Both have the same form. A slice is used for both products while the numbers it needs are in a cache.

use ndarray::Array2;
use ndarray::parallel::prelude::*;
use rayon::slice::ParallelSliceMut;

use super::implicit::Operator;
use super::lanes::{Lanes, add};
use super::slices::vectorized;

/// Slices with fewer cells than this for each number of a vector are not divided into parts.
const PART_CELLS: usize = 16;
const MAX_PARTS: usize = 8;
/// Numbers that are summed before the sum is added to the others, which keeps long sums precise.
pub(crate) const SUMMED: usize = 256;

/// Rows or columns of a sparse matrix, and the two vectors of the product that is subtracted from it.
pub(crate) struct Slices {
    /// Slice s has the cells offsets[s]..offsets[s + 1].
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f64>,
    /// One number for each slice, and one for each position in a slice.
    pub(crate) across: Vec<f64>,
    pub(crate) within: Vec<f64>,
}

impl Slices {
    /// Number of slices.
    pub(crate) fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The weighted sum of lanes.
    fn shift<const W: usize>(weights: &[f64], lanes: &[[f64; W]]) -> [f64; W] {
        let mut total = [0.0; W];
        // Short sums first, so that long ones keep their digits.
        for (weights, lanes) in weights.chunks(SUMMED).zip(lanes.chunks(SUMMED)) {
            let mut sum = [0.0; W];
            for (weight, lanes) in weights.iter().zip(lanes) {
                sum.iter_mut().zip(lanes).for_each(|(sum, x)| *sum += weight * x);
            }
            total.iter_mut().zip(sum).for_each(|(total, x)| *total += x);
        }
        total
    }

    /// The products of the slices in a range, and `found` for each.
    #[inline(always)]
    fn multiply<const W: usize>(
        &self,
        range: std::ops::Range<usize>,
        lanes: &[[f64; W]],
        shift: &[f64; W],
        mut found: impl FnMut(usize, &[u32], &[f64], [f64; W]),
    ) {
        for s in range {
            let cells = self.offsets[s]..self.offsets[s + 1];
            let (indices, values) = (&self.indices[cells.clone()], &self.values[cells]);
            let mut y = shift.map(|x| -self.across[s] * x);
            for (&i, &value) in indices.iter().zip(values) {
                let lanes = &lanes[i as usize];
                for k in 0..W {
                    y[k] = value.mul_add(lanes[k], y[k]);
                }
            }
            found(s, indices, values, y);
        }
    }

    /// The slices times lanes, one row for each of the first `count` lanes: U A for the columns of A.
    pub(crate) fn times<const W: usize>(&self, lanes: &[[f64; W]], count: usize) -> Array2<f64> {
        let shift = Self::shift(&self.within, lanes);
        let mut products = vec![[0.0; W]; self.count()];
        products.par_chunks_mut(4096).enumerate().for_each(|(p, part)| {
            let start = p * 4096;
            vectorized(
                #[inline(always)]
                || self.multiply(start..start + part.len(), lanes, &shift, |s, _, _, y| part[s - start] = y),
            );
        });
        super::lanes::by_rows(&products, count)
    }
}

impl<const W: usize> Operator<W> for Slices {
    fn size(&self) -> usize {
        self.within.len()
    }

    fn apply(&self, lanes: &[[f64; W]]) -> Lanes<W> {
        let parts = (self.values.len() / (PART_CELLS * self.within.len()).max(1)).clamp(1, MAX_PARTS);
        // Parts with about the same number of cells.
        let starts: Vec<usize> = (0..=parts)
            .map(|p| match p {
                0 => 0,
                p if p == parts => self.count(),
                p => self.offsets.partition_point(|&offset| offset < self.values.len() / parts * p).min(self.count()),
            })
            .collect();
        let shift = Self::shift(&self.within, lanes);
        let part = |p: usize| {
            let (mut sum, mut back, mut few) = (vec![[0.0; W]; lanes.len()], [0.0; W], [0.0; W]);
            vectorized(
                #[inline(always)]
                || {
                    self.multiply(starts[p]..starts[p + 1], lanes, &shift, |s, indices, values, y| {
                        few.iter_mut().zip(y).for_each(|(few, y)| *few += self.across[s] * y);
                        if s % SUMMED == SUMMED - 1 {
                            back.iter_mut().zip(&mut few).for_each(|(back, few)| *back += std::mem::take(few));
                        }
                        for (&i, &value) in indices.iter().zip(values) {
                            let sum = &mut sum[i as usize];
                            for k in 0..W {
                                sum[k] = value.mul_add(y[k], sum[k]);
                            }
                        }
                    });
                },
            );
            back.iter_mut().zip(few).for_each(|(back, few)| *back += few);
            (sum, back)
        };
        let sums: Vec<(Lanes<W>, [f64; W])> = (0..parts).into_par_iter().map(part).collect();
        let (mut sum, mut back) = (vec![[0.0; W]; lanes.len()], [0.0; W]);
        for (part, more) in &sums {
            add(&mut sum, 1.0, part);
            back.iter_mut().zip(more).for_each(|(back, more)| *back += more);
        }
        for (sum, within) in sum.iter_mut().zip(&self.within) {
            sum.iter_mut().zip(&back).for_each(|(sum, back)| *sum -= within * back);
        }
        sum
    }
}
