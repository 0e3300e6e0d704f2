//! A few vectors stored side by side, and products of a matrix with them.
//!
//! ```text
//! Q = [ q₁ … q_W ]   one number of each vector after the other        A Q,   Aᵀ (A Q)
//! ```
//!
//! Each cell of A is multiplied by one or two vector registers. [`ROWS`] rows of A are multiplied
//! at a time, whose sums stay in registers. General matrix products reach a third of this rate or
//! less if one side is as thin as this.

use std::ops::{Deref, DerefMut};

use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayView2, Axis};
use pulp::{Arch, Simd, WithSimd};
use rayon::slice::ParallelSliceMut;

/// Rows that are multiplied at a time.
const ROWS: usize = 6;

/// Numbers in a line of a cache.
const LINE: usize = 8;

/// W vectors of the same length: entry j has the j-th number of each.
///
/// The first entry begins a line of a cache. Sparse rows need entries in any order, and an entry
/// that is in two lines takes twice the time to load.
#[derive(Debug)]
pub(crate) struct Lanes<const W: usize> {
    cells: Vec<f64>,
    /// The first number in use, and how many are.
    start: usize,
    length: usize,
}

impl<const W: usize> Lanes<W> {
    pub(crate) fn zeros(length: usize) -> Self {
        let cells = vec![0.0; length * W + LINE];
        let start = cells.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        Self { cells, start, length: length * W }
    }
}

impl<const W: usize> Default for Lanes<W> {
    fn default() -> Self {
        Self { cells: Vec::new(), start: 0, length: 0 }
    }
}

impl<const W: usize> Clone for Lanes<W> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<const W: usize> Deref for Lanes<W> {
    type Target = [[f64; W]];

    fn deref(&self) -> &Self::Target {
        self.cells[self.start..][..self.length].as_chunks().0
    }
}

impl<const W: usize> DerefMut for Lanes<W> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.cells[self.start..][..self.length].as_chunks_mut().0
    }
}

impl<const W: usize> FromIterator<[f64; W]> for Lanes<W> {
    fn from_iter<I: IntoIterator<Item = [f64; W]>>(entries: I) -> Self {
        let entries: Vec<[f64; W]> = entries.into_iter().collect();
        let mut lanes = Self::zeros(entries.len());
        lanes.copy_from_slice(&entries);
        lanes
    }
}

/// At most W rows as lanes; the lanes beyond them are zero.
pub(crate) fn by_columns<const W: usize>(rows: ArrayView2<'_, f64>) -> Lanes<W> {
    let mut lanes = Lanes::zeros(rows.ncols());
    for (k, row) in rows.rows().into_iter().enumerate() {
        lanes.iter_mut().zip(row).for_each(|(lanes, x)| lanes[k] = *x);
    }
    lanes
}

/// The first `count` lanes as rows.
pub(crate) fn by_rows<const W: usize>(lanes: &[[f64; W]], count: usize) -> Array2<f64> {
    let mut rows = Array2::zeros((count, lanes.len()));
    for (k, mut row) in rows.rows_mut().into_iter().enumerate() {
        row.iter_mut().zip(lanes).for_each(|(x, lanes)| *x = lanes[k]);
    }
    rows
}

/// Adds `factor` times other lanes.
pub(crate) fn add<const W: usize>(sum: &mut [[f64; W]], factor: f64, more: &[[f64; W]]) {
    super::slices::vectorized(
        #[inline(always)]
        || {
            for (sum, more) in sum.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
                *sum += factor * more;
            }
        },
    );
}

/// The W × W Gram matrix of lanes.
pub(crate) fn gram_of_lanes<const W: usize>(lanes: &[[f64; W]]) -> Array2<f64> {
    let mut gram = [[0.0; W]; W];
    super::slices::vectorized(
        #[inline(always)]
        || {
            for x in lanes {
                for (sums, a) in gram.iter_mut().zip(x) {
                    sums.iter_mut().zip(x).for_each(|(sum, b)| *sum += a * b);
                }
            }
        },
    );
    Array2::from_shape_fn((W, W), |(i, j)| gram[i][j])
}

/// Replaces lane k by the sum of turn[k, i] times lane i.
pub(crate) fn turn_lanes<const W: usize>(turn: ArrayView2<'_, f64>, lanes: &mut [[f64; W]]) {
    let columns: [[f64; W]; W] = std::array::from_fn(|i| std::array::from_fn(|k| turn[[k, i]]));
    super::slices::vectorized(
        #[inline(always)]
        || {
            for x in lanes {
                let mut turned = [0.0; W];
                for (x, column) in x.iter().zip(&columns) {
                    turned.iter_mut().zip(column).for_each(|(sum, c)| *sum += x * c);
                }
                *x = turned;
            }
        },
    );
}

/// Some rows of A and the lanes that they are multiplied with; a missing row is empty.
struct Rows<'a, const W: usize> {
    rows: [&'a [f64]; ROWS],
    lanes: &'a [[f64; W]],
    /// A Q.
    products: &'a mut [[f64; W]; ROWS],
    /// The products multiply these rows again, and are added here.
    sum: &'a mut [[f64; W]],
}

impl<const W: usize> WithSimd for Rows<'_, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, lanes, products, sum } = self;
        let registers = W / S::F64_LANES;
        for group in (0..registers).step_by(2) {
            if group + 1 < registers {
                multiply::<S, W, 2>(simd, rows, lanes, products, &mut *sum, group);
            } else {
                multiply::<S, W, 1>(simd, rows, lanes, products, &mut *sum, group);
            }
        }
    }
}

/// The products of the lanes in R registers.
#[inline(always)]
fn multiply<S: Simd, const W: usize, const R: usize>(
    simd: S,
    rows: [&[f64]; ROWS],
    lanes: &[[f64; W]],
    products: &mut [[f64; W]; ROWS],
    sum: &mut [[f64; W]],
    group: usize,
) {
    let (registers, length) = (W / S::F64_LANES, lanes.len());
    let [a, b, c, d, e, f] = rows;
    let (a, b, c, d, e, f) = (&a[..length], &b[..length], &c[..length], &d[..length], &e[..length], &f[..length]);
    let mut y = [[simd.splat_f64s(0.0); R]; ROWS];
    let lanes = S::as_simd_f64s(lanes.as_flattened()).0;
    for (j, lanes) in lanes.chunks_exact(registers).enumerate() {
        let cells = [a[j], b[j], c[j], d[j], e[j], f[j]];
        let lanes = &lanes[group..group + R];
        for i in 0..ROWS {
            let x = simd.splat_f64s(cells[i]);
            for k in 0..R {
                y[i][k] = simd.mul_add_e_f64s(x, lanes[k], y[i][k]);
            }
        }
    }
    for (product, y) in products.iter_mut().zip(&y) {
        let product = S::as_mut_simd_f64s(product).0;
        product[group..group + R].copy_from_slice(y);
    }
    let sum = S::as_mut_simd_f64s(sum.as_flattened_mut()).0;
    for (j, sum) in sum.chunks_exact_mut(registers).enumerate() {
        let cells = [a[j], b[j], c[j], d[j], e[j], f[j]];
        let sum = &mut sum[group..group + R];
        for i in 0..ROWS {
            let x = simd.splat_f64s(cells[i]);
            for k in 0..R {
                sum[k] = simd.mul_add_e_f64s(x, y[i][k], sum[k]);
            }
        }
    }
}

/// Multiplies all rows of A, whose memory is in row order, in groups.
fn each_group<const W: usize>(
    a: ArrayView2<'_, f64>,
    lanes: &[[f64; W]],
    sum: &mut [[f64; W]],
    mut found: impl FnMut(usize, &[[f64; W]]),
) {
    let zeros = vec![0.0; lanes.len()];
    let mut products = [[0.0; W]; ROWS];
    for (number, group) in a.axis_chunks_iter(Axis(0), ROWS).enumerate() {
        let owned: Vec<std::borrow::Cow<'_, [f64]>> = group
            .axis_iter(Axis(0))
            .map(|row| row.to_slice().map_or_else(|| row.to_vec().into(), Into::into))
            .collect();
        let rows = std::array::from_fn(|i| owned.get(i).map_or(&zeros[..], |row| row));
        Arch::new().dispatch(Rows { rows, lanes, products: &mut products, sum });
        found(number * ROWS, &products[..group.nrows()]);
    }
}

/// A Q, and Aᵀ A Q. The rows of A are divided into at most this number of parts that are multiplied
/// in parallel. Their sums are added in order, so the bytes do not depend on the number of threads.
pub(crate) fn there_and_back<const W: usize>(
    a: ArrayView2<'_, f64>,
    lanes: &[[f64; W]],
    parts: usize,
) -> (Lanes<W>, Lanes<W>) {
    let share = a.nrows().div_ceil(parts).next_multiple_of(ROWS).max(ROWS);
    let mut along = Lanes::zeros(a.nrows());
    let part = |(part, along): (ArrayView2<'_, f64>, &mut [[f64; W]])| {
        let mut sum = Lanes::zeros(lanes.len());
        each_group(part, lanes, &mut sum, |start, found| {
            along[start..start + found.len()].copy_from_slice(found);
        });
        sum
    };
    let shares = a.axis_chunks_iter(Axis(0), share).into_par_iter();
    let sums: Vec<Lanes<W>> = shares.zip(along.par_chunks_mut(share)).map(part).collect();
    let together = |mut sum: Lanes<W>, part: Lanes<W>| {
        add(&mut sum, 1.0, &part);
        sum
    };
    let back = sums.into_iter().reduce(together).unwrap_or_else(|| Lanes::zeros(lanes.len()));
    (along, back)
}
