//! Products with M = AᵀA or A Aᵀ for A = B − r μᵀ, where B is sparse. A is never formed.
//!
//! ```text
//! M = AᵀA, slices are rows of B:       y_i = b_i · q − r_i (μ · q)      M q = Σ_i b_i y_i − μ (r · y)
//! M = A Aᵀ, slices are columns of B:   y_j = b_j · q − μ_j (r · q)      M q = Σ_j b_j y_j − r (μ · y)
//! ```
//!
//! Both have the same form. A slice is used for both products while the numbers it needs are in a
//! cache.

use std::ops::Range;

use ndarray::Array2;
use ndarray::parallel::prelude::*;
use pulp::{Arch, Simd, WithSimd};
use rayon::slice::ParallelSliceMut;

use super::implicit::Operator;
use super::lanes::{Lanes, add, by_rows};

/// Slices with fewer cells than this for each number of a vector are not divided into parts.
const PART_CELLS: usize = 16;
const MAX_PARTS: usize = 8;
/// Slices that one task multiplies if there are no sums.
const SLICES: usize = 4096;
/// Numbers that are summed before the sum is added to the others, which keeps long sums precise.
pub(crate) const SUMMED: usize = 256;

/// Rows or columns of a sparse matrix, and the two vectors of the product that is subtracted from
/// it.
pub(crate) struct Slices {
    /// Slice s has the cells `offsets[s]..offsets[s + 1]`.
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

    /// The positions and the numbers of a slice.
    #[inline(always)]
    fn cells(&self, s: usize) -> (&[u32], &[f64]) {
        let cells = self.offsets[s]..self.offsets[s + 1];
        (&self.indices[cells.clone()], &self.values[cells])
    }

    /// A slice times lanes of R registers. A function, because a closure would be compiled without
    /// vector instructions and call a function for each of them.
    #[inline(always)]
    fn product<S: Simd, const R: usize>(
        &self,
        simd: S,
        s: usize,
        lanes: &[[S::f64s; R]],
        shift: &[S::f64s],
    ) -> [S::f64s; R] {
        let (indices, values) = self.cells(s);
        let across = simd.splat_f64s(-self.across[s]);
        let mut y = [simd.splat_f64s(0.0); R];
        for k in 0..R {
            y[k] = simd.mul_f64s(across, shift[k]);
        }
        for (&i, &value) in indices.iter().zip(values) {
            let (lanes, value) = (&lanes[i as usize], simd.splat_f64s(value));
            for k in 0..R {
                y[k] = simd.mul_add_e_f64s(value, lanes[k], y[k]);
            }
        }
        y
    }

    /// The slices times lanes, one row for each of the first `count` lanes: U A for the columns of
    /// A.
    pub(crate) fn times<const W: usize>(&self, lanes: &[[f64; W]], count: usize) -> Array2<f64> {
        let shift = Self::shift(&self.within, lanes);
        let mut products = Lanes::<W>::zeros(self.count());
        products.par_chunks_mut(SLICES).enumerate().for_each(|(p, products)| {
            let range = p * SLICES..p * SLICES + products.len();
            Arch::new().dispatch(Pass {
                slices: self,
                range,
                lanes,
                shift: &shift,
                result: Result::Products(products),
            });
        });
        by_rows(&products, count)
    }
}

/// What is computed of the slices.
enum Result<'a, const W: usize> {
    /// y, one for each slice.
    Products(&'a mut [[f64; W]]),
    /// Σ b y, and the sum of y weighted by `across`.
    Sums(&'a mut [[f64; W]], &'a mut [f64; W]),
}

/// The products of a range of slices with lanes.
struct Pass<'a, const W: usize> {
    slices: &'a Slices,
    range: Range<usize>,
    lanes: &'a [[f64; W]],
    shift: &'a [f64; W],
    result: Result<'a, W>,
}

impl<const W: usize> WithSimd for Pass<'_, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match W / S::F64_LANES {
            1 => self.multiply::<S, 1>(simd),
            2 => self.multiply::<S, 2>(simd),
            4 => self.multiply::<S, 4>(simd),
            8 => self.multiply::<S, 8>(simd),
            16 => self.multiply::<S, 16>(simd),
            _ => unreachable!("lanes fill whole registers"),
        }
    }
}

impl<const W: usize> Pass<'_, W> {
    /// The same with R registers for the lanes of a position.
    #[inline(always)]
    fn multiply<S: Simd, const R: usize>(self, simd: S) {
        let Self { slices, range, lanes, shift, result } = self;
        let lanes = S::as_simd_f64s(lanes.as_flattened()).0.as_chunks::<R>().0;
        let shift = S::as_simd_f64s(shift).0;
        match result {
            Result::Products(products) => {
                let products = S::as_mut_simd_f64s(products.as_flattened_mut()).0.as_chunks_mut::<R>().0;
                for (s, out) in range.zip(products) {
                    *out = slices.product::<S, R>(simd, s, lanes, shift);
                }
            }
            Result::Sums(sum, back) => {
                let sum = S::as_mut_simd_f64s(sum.as_flattened_mut()).0.as_chunks_mut::<R>().0;
                let back = S::as_mut_simd_f64s(back).0;
                let mut few = [simd.splat_f64s(0.0); R];
                let last = range.end;
                for s in range {
                    let y = slices.product::<S, R>(simd, s, lanes, shift);
                    let across = simd.splat_f64s(slices.across[s]);
                    for k in 0..R {
                        few[k] = simd.mul_add_e_f64s(across, y[k], few[k]);
                    }
                    if s % SUMMED == SUMMED - 1 || s + 1 == last {
                        for k in 0..R {
                            back[k] = simd.add_f64s(back[k], few[k]);
                            few[k] = simd.splat_f64s(0.0);
                        }
                    }
                    let (indices, values) = slices.cells(s);
                    for (&i, &value) in indices.iter().zip(values) {
                        let (sum, value) = (&mut sum[i as usize], simd.splat_f64s(value));
                        for k in 0..R {
                            sum[k] = simd.mul_add_e_f64s(value, y[k], sum[k]);
                        }
                    }
                }
            }
        }
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
            let (mut sum, mut back) = (Lanes::zeros(lanes.len()), [0.0; W]);
            let (range, result) = (starts[p]..starts[p + 1], Result::Sums(&mut sum, &mut back));
            Arch::new().dispatch(Pass { slices: self, range, lanes, shift: &shift, result });
            (sum, back)
        };
        let sums: Vec<(Lanes<W>, [f64; W])> = (0..parts).into_par_iter().map(part).collect();
        let (mut sum, mut back) = (Lanes::zeros(lanes.len()), [0.0; W]);
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
