//! Products of pairs of rows, each summed in one fixed order.
//!
//! ```text
//! p_ij = Σ_panels Σ_lanes (a_i − r)(b_j − r)        a panel has PAIR_PANEL columns
//! ```
//!
//! Matrix products add in an order that depends on the shapes, so the product of two rows can
//! differ in its last bits from one block of rows to another. Here it depends only on the two rows,
//! and products that were computed for a few rows at a time are the same numbers as those computed
//! at once. Rows are long, so two loads and one product of vectors are enough work for each core;
//! the rows of a tile stay in the cache.

use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};
use pulp::{Arch, Simd, WithSimd};

use super::slices::vectorized;

/// Columns of a panel, a multiple of every vector width.
const PAIR_PANEL: usize = 512;
/// Numbers from the panel of one row to that of the next: one cache line more than the panel, since
/// addresses a power of two apart compete for the same lines of the cache.
const STRIDE: usize = PAIR_PANEL + LINE;
/// Numbers in a cache line.
const LINE: usize = 8;
/// Rows on the left that are multiplied before the next ones: their panels stay in the cache of a
/// core.
const LEFT_ROWS: usize = 192;
/// Below this number of products, one thread is faster.
const PARALLEL_PRODUCTS: usize = 1 << 18;

/// Number of roundings of a term in a sum over this many columns, at most: of its two differences
/// and its product, in a lane, between lanes, and between panels.
pub(crate) fn pair_roundings(columns: usize) -> f64 {
    (PAIR_PANEL / 2 + 16 + columns.div_ceil(PAIR_PANEL)) as f64
}

/// Rows, and the point in two words that is subtracted from each of them.
#[derive(Clone, Copy)]
pub(crate) struct Shifted<'a> {
    pub(crate) rows: ArrayView2<'a, f64>,
    pub(crate) point: Option<(ArrayView1<'a, f64>, ArrayView1<'a, f64>)>,
}

impl Shifted<'_> {
    /// Columns of a row, from which the point is not yet subtracted.
    #[inline(always)]
    fn part(&self, row: usize, columns: std::ops::Range<usize>) -> &[f64] {
        self.rows.row(row).to_slice().map_or(&[], |row| &row[columns])
    }

    /// Writes columns of a row minus the point, and zeros after them.
    fn pack(&self, row: usize, columns: std::ops::Range<usize>, to: &mut [f64]) {
        let (to, rest) = to.split_at_mut(columns.len());
        rest.fill(0.0);
        let Some(row) = self.rows.row(row).to_slice().map(|row| &row[columns.clone()]) else {
            unreachable!("rows of a buffer are contiguous")
        };
        let Some((high, low)) = self.point.and_then(|(high, low)| Some((high.to_slice()?, low.to_slice()?))) else {
            to.copy_from_slice(row);
            return;
        };
        let (high, low) = (&high[columns.clone()], &low[columns]);
        vectorized(
            #[inline(always)]
            || {
                for (((to, x), high), low) in to.iter_mut().zip(row).zip(high).zip(low) {
                    *to = (x - high) - low;
                }
            },
        );
    }
}

/// The products of rows on the left with rows on the right, one row of the result for each row on
/// the right. Row i on the left is multiplied only by the first `limits[i]` rows on the right;
/// limits are non-decreasing, and entries beyond them are undefined.
pub(crate) fn pair_products<'a>(left: Shifted<'a>, right: Shifted<'a>, limits: &[usize]) -> Array2<f64> {
    let (lefts, rights, width) = (left.rows.nrows(), right.rows.nrows(), left.rows.ncols());
    let mut out = Array2::zeros((rights, lefts));
    if out.is_empty() {
        return out;
    }
    let multiply = |first: usize, out: ArrayViewMut2<'_, f64>| {
        Arch::new().dispatch(Products { left, right, limits, first, out });
    };
    if lefts * rights * width < PARALLEL_PRODUCTS || rayon::current_num_threads() == 1 {
        multiply(0, out.view_mut());
    } else {
        // The division has no effect on any sum. Twelve rows are whole tiles of either size.
        let part = rights.div_ceil(2 * rayon::current_num_threads()).next_multiple_of(12);
        out.axis_chunks_iter_mut(Axis(0), part)
            .into_par_iter()
            .enumerate()
            .for_each(|(task, out)| multiply(task * part, out));
    }
    out
}

/// Room for the panels of some rows.
fn panels(rows: usize) -> Vec<f64> {
    vec![0.0; rows * STRIDE + LINE]
}

/// The part that begins with a cache line: a vector that is in two lines takes twice the time to
/// load.
fn aligned(panels: &mut [f64]) -> &mut [f64] {
    let offset = panels.as_ptr().align_offset(LINE * size_of::<f64>());
    &mut panels[offset.min(LINE)..]
}

/// The panel of one of these rows.
fn panel(panels: &[f64], row: usize) -> &[f64] {
    &panels[row * STRIDE..][..PAIR_PANEL]
}

/// Adds the products of rows on the left with some rows on the right, of which the first has this
/// number.
struct Products<'a, 'b> {
    left: Shifted<'a>,
    right: Shifted<'a>,
    limits: &'b [usize],
    first: usize,
    out: ArrayViewMut2<'b, f64>,
}

impl WithSimd for Products<'_, '_> {
    type Output = ();

    /// As many sums as fit in the registers, besides the factors.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 { self.in_tiles::<S, 4, 6>(simd) } else { self.in_tiles::<S, 2, 4>(simd) }
    }
}

impl Products<'_, '_> {
    #[inline(always)]
    fn in_tiles<S: Simd, const LEFT: usize, const RIGHT: usize>(self, simd: S) {
        if self.left.rows.nrows() <= LEFT {
            return self.row_by_row::<S, RIGHT>(simd);
        }
        let Self { left, right, limits, first, mut out } = self;
        let (lefts, width) = left.rows.dim();
        let (mut packed, mut few) = (panels(lefts.min(LEFT_ROWS)), panels(RIGHT));
        let (packed, few) = (aligned(&mut packed), aligned(&mut few));
        // Rows on the left before this one are multiplied by none of the rows on the right after
        // `at`.
        let needed = |at: usize| limits.partition_point(|limit| *limit <= at);
        for start in (0..width).step_by(PAIR_PANEL) {
            let columns = start..width.min(start + PAIR_PANEL);
            for block in (needed(first)..lefts).step_by(LEFT_ROWS) {
                let end = lefts.min(block + LEFT_ROWS);
                for (i, to) in (block..end).zip(packed.chunks_exact_mut(STRIDE)) {
                    left.pack(i, columns.clone(), &mut to[..PAIR_PANEL]);
                }
                for (number, mut out) in out.axis_chunks_iter_mut(Axis(0), RIGHT).enumerate() {
                    let at = first + number * RIGHT;
                    let from = needed(at).max(block);
                    if from >= end {
                        break;
                    }
                    let height = out.nrows();
                    let sums = out.as_slice_mut().expect("whole rows of a new matrix are contiguous");
                    let mut add = |i: usize, products: [f64; RIGHT]| {
                        sums.chunks_exact_mut(lefts).zip(products).for_each(|(sums, product)| sums[i] += product);
                    };
                    for (j, to) in few.chunks_exact_mut(STRIDE).enumerate().take(height) {
                        right.pack(at + j, columns.clone(), &mut to[..PAIR_PANEL]);
                    }
                    let others: [&[f64]; RIGHT] = std::array::from_fn(|j| panel(few, j));
                    let mut i = from;
                    while i + LEFT <= end {
                        let rows = std::array::from_fn(|k| panel(packed, i + k - block));
                        let products = tile::<S, LEFT, RIGHT>(simd, rows, others);
                        products.into_iter().enumerate().for_each(|(k, products)| add(i + k, products));
                        i += LEFT;
                    }
                    for i in i..end {
                        let [products] = tile::<S, 1, RIGHT>(simd, [panel(packed, i - block)], others);
                        add(i, products);
                    }
                }
            }
        }
    }
}

impl Products<'_, '_> {
    /// The same sums for a few rows on the left, whose panels all stay in the cache. The rows on
    /// the right are so many more that reading them takes the time: each is read once, from end to
    /// end.
    #[inline(always)]
    fn row_by_row<S: Simd, const RIGHT: usize>(self, simd: S) {
        let Self { left, right, limits, first, mut out } = self;
        let (lefts, width) = left.rows.dim();
        let count = width.div_ceil(PAIR_PANEL);
        let (mut packed, mut few) = (panels(lefts * count), panels(RIGHT));
        let (packed, few) = (aligned(&mut packed), aligned(&mut few));
        let part = |p: usize| p * PAIR_PANEL..width.min((p + 1) * PAIR_PANEL);
        for (at, to) in packed.chunks_exact_mut(STRIDE).enumerate().take(lefts * count) {
            left.pack(at / count, part(at % count), &mut to[..PAIR_PANEL]);
        }
        for (number, mut out) in out.axis_chunks_iter_mut(Axis(0), RIGHT).enumerate() {
            let at = first + number * RIGHT;
            let from = limits.partition_point(|limit| *limit <= at);
            let height = out.nrows();
            let sums = out.as_slice_mut().expect("whole rows of a new matrix are contiguous");
            for p in 0..count {
                let columns = part(p);
                let whole = height == RIGHT && columns.len() == PAIR_PANEL;
                if !whole {
                    for (j, to) in few.chunks_exact_mut(STRIDE).enumerate().take(height) {
                        right.pack(at + j, columns.clone(), &mut to[..PAIR_PANEL]);
                    }
                }
                for i in from..lefts {
                    let own = panel(packed, i * count + p);
                    let products = if whole {
                        // Each panel on the right is used so rarely that it is not worth writing it
                        // down.
                        let rows = std::array::from_fn(|j| right.part(at + j, columns.clone()));
                        let point = right.point.and_then(|(high, low)| {
                            Some((&high.to_slice()?[columns.clone()], &low.to_slice()?[columns.clone()]))
                        });
                        shifted_tile::<S, RIGHT>(simd, own, rows, point)
                    } else {
                        let [products] = tile::<S, 1, RIGHT>(simd, [own], std::array::from_fn(|j| panel(few, j)));
                        products
                    };
                    sums.chunks_exact_mut(lefts).zip(products).for_each(|(sums, product)| sums[i] += product);
                }
            }
        }
    }
}

/// The products of a panel of some rows with each other. Each has its own lanes, so it does not
/// depend on the others.
#[inline(always)]
fn tile<S: Simd, const LEFT: usize, const RIGHT: usize>(
    simd: S,
    left: [&[f64]; LEFT],
    right: [&[f64]; RIGHT],
) -> [[f64; RIGHT]; LEFT] {
    let vectors = PAIR_PANEL / S::F64_LANES;
    let left = left.map(|row| &S::as_simd_f64s(row).0[..vectors]);
    let right = right.map(|row| &S::as_simd_f64s(row).0[..vectors]);
    let mut sums = [[simd.splat_f64s(0.0); RIGHT]; LEFT];
    for c in 0..vectors {
        let factors: [S::f64s; RIGHT] = std::array::from_fn(|j| right[j][c]);
        for (sums, row) in sums.iter_mut().zip(&left) {
            let factor = row[c];
            for (sum, other) in sums.iter_mut().zip(factors) {
                *sum = simd.mul_add_e_f64s(factor, other, *sum);
            }
        }
    }
    // Loops, because closures for `map` would not be compiled with the instructions of the vectors.
    let mut products = [[0.0; RIGHT]; LEFT];
    for (products, sums) in products.iter_mut().zip(&sums) {
        for (product, sum) in products.iter_mut().zip(sums) {
            *product = simd.reduce_sum_f64s(*sum);
        }
    }
    products
}

/// The same for one row on the left, and rows on the right from which the point is not yet
/// subtracted.
#[inline(always)]
fn shifted_tile<S: Simd, const RIGHT: usize>(
    simd: S,
    left: &[f64],
    right: [&[f64]; RIGHT],
    point: Option<(&[f64], &[f64])>,
) -> [f64; RIGHT] {
    let vectors = PAIR_PANEL / S::F64_LANES;
    let left = &S::as_simd_f64s(left).0[..vectors];
    let right = right.map(|row| &S::as_simd_f64s(row).0[..vectors]);
    let mut sums = [simd.splat_f64s(0.0); RIGHT];
    if let Some((high, low)) = point {
        let (high, low) = (&S::as_simd_f64s(high).0[..vectors], &S::as_simd_f64s(low).0[..vectors]);
        for c in 0..vectors {
            for (sum, row) in sums.iter_mut().zip(&right) {
                let other = simd.sub_f64s(simd.sub_f64s(row[c], high[c]), low[c]);
                *sum = simd.mul_add_e_f64s(left[c], other, *sum);
            }
        }
    } else {
        for c in 0..vectors {
            for (sum, row) in sums.iter_mut().zip(&right) {
                *sum = simd.mul_add_e_f64s(left[c], row[c], *sum);
            }
        }
    }
    let mut products = [0.0; RIGHT];
    for (product, sum) in products.iter_mut().zip(&sums) {
        *product = simd.reduce_sum_f64s(*sum);
    }
    products
}

#[cfg(test)]
mod tests {
    use ndarray::Array1;

    use super::*;

    fn rows(n: usize, d: usize, seed: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, d), |(i, j)| ((i * 7919 + j * 104_729 + i * j + seed) % 9973) as f64 / 9973.0 + 1e3)
    }

    #[test]
    fn products_do_not_depend_on_the_other_rows_and_are_those_of_the_definition() {
        for (n, d) in [(1, 3), (7, 511), (10, 512), (13, 1025), (33, 2000)] {
            let a = rows(n, d, 5);
            let point = (a.row(0).to_owned(), Array1::from_elem(d, 1e-14));
            let shifted = |rows| Shifted { rows, point: Some((point.0.view(), point.1.view())) };
            let limits: Vec<usize> = (1..=n).collect();
            let all = pair_products(shifted(a.view()), shifted(a.view()), &limits);
            for i in 0..n {
                let one = pair_products(shifted(super::super::rows_of(a.view(), i..i + 1)), shifted(a.view()), &[n]);
                let centered = |k: usize| (&a.row(k) - &point.0) - &point.1;
                for j in 0..n {
                    let exact: f64 = centered(i).dot(&centered(j));
                    let largest = (centered(i).dot(&centered(i)) * centered(j).dot(&centered(j))).sqrt();
                    let rounding = pair_roundings(d) * f64::EPSILON * largest;
                    assert!((one[[j, 0]] - exact).abs() <= rounding, "{n} {d} {i} {j}");
                    if j <= i {
                        assert_eq!(one[[j, 0]].to_bits(), all[[j, i]].to_bits(), "{n} {d} {i} {j}");
                    }
                }
            }
        }
    }
}
