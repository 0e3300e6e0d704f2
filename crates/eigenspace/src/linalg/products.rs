//! Matrix products, divided along D into panels of fixed width.
//!
//! ```text
//! G = A Aᵀ = Σ_p A_p A_pᵀ          A = [ A_0 | A_1 | … ]   panels of PANEL columns
//! ```
//!
//! A factor has few rows (q, at most some hundreds) and many columns (D). A panel fits in the cache
//! of a core. Each panel is multiplied by one core, and partial sums are added in a fixed order, so
//! the bytes of a result do not depend on the number of threads. This is at least as fast as
//! letting faer divide the product, which suits such thin shapes less.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice};
use pulp::{Arch, Simd, WithSimd};

use super::real::Real;
use super::slices::{add_in_two_words, columns_of, rows_of, vectorized};

/// A multiple of the width of faer's kernels, which is 48 columns in f64 and 96 in f32.
const KERNEL: usize = 96;
/// Columns of a panel.
pub(crate) const PANEL: usize = 5 * KERNEL;
/// Number of partial Gram matrices that are computed in parallel; half as many if they are larger
/// than a cache.
const PARTIAL_SUMS: usize = 8;
const LARGE_SUM: usize = 1 << 17;
/// Number of rows whose products are summed before the sum is added to a scatter.
pub(crate) const SCATTER_SUMMED_ROWS: usize = 256;
/// Width and height of a tile of the D x D scatter.
const TILE_SIZE: usize = 208;
/// Below this number of multiplications, a product runs on one thread.
const PARALLEL_WORK: usize = 1 << 18;

/// Runs `work` on fixed column panels of `a`, in parallel if the product is large enough.
pub(crate) fn for_each_panel(
    mut a: ArrayViewMut2<'_, f64>,
    multiplications: usize,
    work: impl Fn(usize, ArrayViewMut2<'_, f64>) + Send + Sync,
) {
    let panels = a.axis_chunks_iter_mut(Axis(1), PANEL);
    if multiplications < PARALLEL_WORK {
        panels.into_iter().enumerate().for_each(|(p, panel)| work(p * PANEL, panel));
    } else {
        panels.into_par_iter().enumerate().for_each(|(p, panel)| work(p * PANEL, panel));
    }
}

/// `A Aᵀ`, both triangles, in f64.
pub(crate) fn gram(a: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut g = Array2::zeros((a.nrows(), a.nrows()));
    add_inner(g.view_mut(), a, rows_of(a, 0..0), true);
    mirror(&mut g);
    g
}

/// Copies the lower triangle of a square matrix to the upper one.
pub(crate) fn mirror(g: &mut Array2<f64>) {
    for i in 0..g.nrows() {
        for j in i + 1..g.ncols() {
            g[[i, j]] = g[[j, i]];
        }
    }
}

/// The largest entry of |V Vᵀ − I|; NaN if any entry is NaN.
pub(crate) fn orthogonality_loss(rows: ArrayView2<'_, f64>) -> f64 {
    gram(rows)
        .indexed_iter()
        .map(|((i, j), value)| (value - f64::from(u8::from(i == j))).abs())
        .fold(0.0, |worst, loss| if loss > worst || loss.is_nan() { loss } else { worst })
}

/// The lower triangle of `A Aᵀ` in f64. `A` begins with groups of rows; the rows of a group are
/// orthogonal to each other, so their products are not computed. `groups` holds the number of rows
/// of each group.
pub(crate) fn gram_with_orthogonal_groups(a: ArrayView2<'_, f64>, groups: &[usize]) -> Array2<f64> {
    let mut g = Array2::zeros((a.nrows(), a.nrows()));
    let mut start = 0;
    for size in groups {
        let (earlier, group) = (rows_of(a, 0..start), rows_of(a, start..start + size));
        let mut beside = g.slice_axis_mut(Axis(0), Slice::from(start..start + size));
        if start > 0 {
            add_inner(beside.slice_axis_mut(Axis(1), Slice::from(..start)), group, earlier, false);
        }
        let own = beside.slice_axis_mut(Axis(1), Slice::from(start..start + size));
        own.into_diag().assign(&squared_lengths(group));
        start += size;
    }
    let (earlier, rest) = a.split_at(Axis(0), start);
    add_inner(g.slice_axis_mut(Axis(0), Slice::from(start..)), rest, earlier, true);
    g
}

/// The squared length of each row.
pub(crate) fn squared_lengths(rows: ArrayView2<'_, f64>) -> Array1<f64> {
    let mut lengths = Array1::zeros(rows.nrows());
    let each = lengths.axis_iter_mut(Axis(0)).into_par_iter().zip(rows.axis_iter(Axis(0)).into_par_iter());
    each.for_each(|(mut length, row)| length.fill(squared_length(row)));
    lengths
}

/// The sum of the squares of a row, in f64.
pub(crate) fn squared_length(row: ArrayView1<'_, f64>) -> f64 {
    let mut sums = [0.0; 16];
    let Some(row) = row.to_slice() else { return row.iter().map(|x| x * x).sum() };
    let (chunks, rest) = row.as_chunks::<16>();
    vectorized(
        #[inline(always)]
        || {
            for chunk in chunks {
                sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x * x);
            }
        },
    );
    sums.iter().sum::<f64>() + rest.iter().map(|x| x * x).sum::<f64>()
}

/// The products of a vector with four others of the same length, in f64. Four at a time, because
/// reading from memory in four places at once is faster.
pub(crate) fn inner_products(x: &[f64], others: [&[f64]; 4]) -> [f64; 4] {
    Arch::new().dispatch(InnerProducts { x, others: others.map(|other| &other[..x.len()]) })
}

struct InnerProducts<'a> {
    x: &'a [f64],
    others: [&'a [f64]; 4],
}

impl WithSimd for InnerProducts<'_> {
    type Output = [f64; 4];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 4] {
        four_products(simd, self.x, self.others)
    }
}

/// [`inner_products`] inside of vectorized code.
#[inline(always)]
pub(super) fn four_products<S: Simd>(simd: S, x: &[f64], others: [&[f64]; 4]) -> [f64; 4] {
    let (x, x_rest) = S::as_simd_f64s(x);
    let [(a, a_rest), (b, b_rest), (c, c_rest), (d, d_rest)] = others.map(|other| S::as_simd_f64s(other));
    let mut sums = [simd.splat_f64s(0.0); 4];
    for ((((x, a), b), c), d) in x.iter().zip(a).zip(b).zip(c).zip(d) {
        sums[0] = simd.mul_add_f64s(*x, *a, sums[0]);
        sums[1] = simd.mul_add_f64s(*x, *b, sums[1]);
        sums[2] = simd.mul_add_f64s(*x, *c, sums[2]);
        sums[3] = simd.mul_add_f64s(*x, *d, sums[3]);
    }
    let rest = [a_rest, b_rest, c_rest, d_rest];
    let last = |other: &[f64]| x_rest.iter().zip(other).map(|(x, y)| x * y).sum::<f64>();
    // A loop, because a closure would not be compiled with the instructions of the vectors.
    let mut products = [0.0; 4];
    for ((product, sum), rest) in products.iter_mut().zip(sums).zip(rest) {
        *product = simd.reduce_sum_f64s(sum) + last(rest);
    }
    products
}

/// `A Bᵀ` for two matrices with few rows and the same large number of columns, in f64.
pub(crate) fn cross(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut product = Array2::zeros((a.nrows(), b.nrows()));
    add_inner(product.view_mut(), a, b, false);
    product
}

/// `sum += [ A Bᵀ | A Aᵀ ]`. `A Aᵀ` is added only if `own` is set, and only its lower triangle.
/// Columns are divided into equal shares; their partial sums are added in order.
fn add_inner(mut sum: ArrayViewMut2<'_, f64>, a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, own: bool) {
    let width = a.ncols();
    let most = if sum.len() > LARGE_SUM { PARTIAL_SUMS / 2 } else { PARTIAL_SUMS };
    let share = width.div_ceil(width.div_ceil(PANEL).clamp(1, most)).next_multiple_of(KERNEL);
    let panel = share.div_ceil(share.div_ceil(PANEL).max(1)).next_multiple_of(KERNEL);
    let add = |p: usize, sum: &mut ArrayViewMut2<'_, f64>| {
        let end = width.min((p + 1) * share);
        for start in (p * share..end).step_by(panel) {
            let range = start..end.min(start + panel);
            let left = columns_of(a, range.clone());
            let (other, same) = sum.view_mut().split_at(Axis(1), b.nrows());
            if !other.is_empty() {
                f64::multiply_into(other, true, left, columns_of(b, range).reversed_axes(), false);
            }
            if own {
                f64::multiply_into(same, true, left, left.reversed_axes(), true);
            }
        }
    };
    let (shape, parts) = (sum.raw_dim(), width.div_ceil(share.max(1)));
    let partial_sum = |p: usize| {
        let mut part = Array2::zeros(shape);
        add(p, &mut part.view_mut());
        part
    };
    if sum.len() * width < PARALLEL_WORK {
        // The same sums in the same order as in parallel.
        (0..parts).for_each(|p| if p == 0 { add(0, &mut sum) } else { sum += &partial_sum(p) });
        return;
    }
    let ((), others) =
        rayon::join(|| add(0, &mut sum), || (1..parts).into_par_iter().map(partial_sum).collect::<Vec<_>>());
    sum.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(i, mut row)| {
        others.iter().for_each(|other| row += &other.row(i));
    });
}

/// `U A` for a small `U` (r x q) and a wide `A` (q x D).
pub(crate) fn rotate(u: ArrayView2<'_, f64>, a: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut out = Array2::zeros((u.nrows(), a.ncols()));
    let work = u.len() * a.ncols();
    for_each_panel(out.view_mut(), work, |start, panel| {
        let columns = panel.ncols();
        let a = columns_of(a, start..start + columns);
        f64::multiply_into(panel, false, u, a, false);
    });
    out
}

/// `U₁ A₁ + U₂ A₂ + …` for small `U` with the same rows and wide `A` with the same columns: one
/// product of stacked matrices that lie apart.
pub(crate) fn rotate_stacked(u: &[ArrayView2<'_, f64>], a: &[ArrayView2<'_, f64>]) -> Array2<f64> {
    let mut out = Array2::zeros((u[0].nrows(), a[0].ncols()));
    let work = u.iter().map(|u| u.len()).sum::<usize>() * a[0].ncols();
    for_each_panel(out.view_mut(), work, |start, mut panel| {
        let columns = start..start + panel.ncols();
        for (i, (u, a)) in u.iter().zip(a).enumerate().filter(|(i, (u, _))| *i == 0 || !u.is_empty()) {
            f64::multiply_into(panel.view_mut(), i > 0, *u, columns_of(*a, columns.clone()), false);
        }
    });
    out
}

/// The squared length of each row of `A − U B`, panel by panel, without storing the difference.
pub(crate) fn squared_lengths_of_difference(
    a: ArrayView2<'_, f64>,
    u: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
) -> Array1<f64> {
    let width = a.ncols();
    let of_panel = |p: usize| {
        let range = p * PANEL..width.min((p + 1) * PANEL);
        let mut difference = columns_of(a, range.clone()).to_owned();
        f64::multiply_into(difference.view_mut(), true, (-&u).view(), columns_of(b, range), false);
        Array1::from_iter(difference.rows().into_iter().map(squared_length))
    };
    let each: Vec<Array1<f64>> = (0..width.div_ceil(PANEL)).into_par_iter().map(of_panel).collect();
    each.iter().fold(Array1::zeros(a.nrows()), |sum, part| sum + part)
}

/// `A[..r] = U A` in place, for `U` with r rows; the other rows of `A` are undefined afterward.
pub(crate) fn rotate_in_place(u: ArrayView2<'_, f64>, mut a: ArrayViewMut2<'_, f64>) {
    let rows = u.nrows();
    let room = || Array2::zeros((rows, PANEL));
    let turn = |out: &mut Array2<f64>, mut panel: ArrayViewMut2<'_, f64>| {
        let mut out = out.slice_axis_mut(Axis(1), Slice::from(..panel.ncols()));
        f64::multiply_into(out.view_mut(), false, u, panel.view(), false);
        panel.slice_axis_mut(Axis(0), Slice::from(..rows)).assign(&out);
    };
    let work = u.len() * a.ncols();
    let panels = a.axis_chunks_iter_mut(Axis(1), PANEL);
    if work < PARALLEL_WORK {
        let mut out = room();
        panels.into_iter().for_each(|panel| turn(&mut out, panel));
    } else {
        panels.into_par_iter().for_each_init(room, turn);
    }
}

/// `out = A B` on one core.
pub(crate) fn multiply<T: Real>(out: ArrayViewMut2<'_, T>, a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) {
    T::multiply_into(out, false, a, b, false);
}

/// `out += A B` on one core.
pub(crate) fn multiply_add<T: Real>(out: ArrayViewMut2<'_, T>, a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) {
    T::multiply_into(out, true, a, b, false);
}

/// `M + δ += Xᵀ X` in the lower triangle of a D x D scatter, tile by tile. δ holds the rounding
/// errors of M, so the error of an entry is at most that of a sum over [`SCATTER_SUMMED_ROWS`]
/// rows, whatever the number of rows.
pub(crate) fn add_scatter(m: &mut Array2<f64>, low: &mut Array2<f64>, x: ArrayView2<'_, f64>) {
    let width = m.ncols();
    // Bands of equal height, each a multiple of the kernel height.
    let edge = width.div_ceil(width.div_ceil(TILE_SIZE).max(1)).next_multiple_of(16);
    let mut tiles = Vec::new();
    let bands = m.axis_chunks_iter_mut(Axis(0), edge).zip(low.axis_chunks_iter_mut(Axis(0), edge));
    for (i, (mut rest, mut low_rest)) in bands.enumerate() {
        for j in 0..=i {
            let columns = edge.min(rest.ncols());
            let (tile, tail) = rest.split_at(Axis(1), columns);
            let (low_tile, low_tail) = low_rest.split_at(Axis(1), columns);
            tiles.push((i, j, tile, low_tile));
            (rest, low_rest) = (tail, low_tail);
        }
    }
    let add = |(i, j, mut tile, mut low): (usize, usize, ArrayViewMut2<'_, f64>, ArrayViewMut2<'_, f64>)| {
        let (rows, columns) = tile.dim();
        let mut product = Array2::<f64>::zeros((rows, columns));
        for start in (0..x.nrows()).step_by(SCATTER_SUMMED_ROWS) {
            let x = rows_of(x, start..x.nrows().min(start + SCATTER_SUMMED_ROWS));
            let left = columns_of(x, i * edge..i * edge + rows).reversed_axes();
            let right = columns_of(x, j * edge..j * edge + columns);
            f64::multiply_into(product.view_mut(), false, left, right, i == j);
            for ((mut tile, mut low), product) in tile.rows_mut().into_iter().zip(low.rows_mut()).zip(product.rows()) {
                let parts = (tile.as_slice_mut(), low.as_slice_mut(), product.to_slice());
                let (Some(tile), Some(low), Some(product)) = parts else { unreachable!("tiles have whole rows") };
                add_in_two_words(tile, low, product);
            }
        }
    };
    if x.len() * width < PARALLEL_WORK {
        tiles.into_iter().for_each(add);
    } else {
        tiles.into_par_iter().for_each(add);
    }
}

/// `M + δ += N + ν` in the lower triangle of D x D scatters, where δ and ν hold the rounding errors
/// of M and N.
pub(crate) fn add_lower_triangle(
    m: &mut Array2<f64>,
    low: &mut Array2<f64>,
    more: ArrayView2<'_, f64>,
    more_low: ArrayView2<'_, f64>,
) {
    let least = if m.len() < PARALLEL_WORK { usize::MAX } else { 1 };
    let own = m.axis_iter_mut(Axis(0)).into_par_iter().zip(low.axis_iter_mut(Axis(0)));
    let rows = own.zip(more.axis_iter(Axis(0))).zip(more_low.axis_iter(Axis(0))).enumerate();
    rows.with_min_len(least).for_each(|(i, (((mut m, mut low), more), more_low))| {
        let parts = (m.as_slice_mut(), low.as_slice_mut(), more.to_slice(), more_low.to_slice());
        let (Some(m), Some(low), Some(more), Some(more_low)) = parts else { unreachable!("scatters have whole rows") };
        add_in_two_words(&mut m[..=i], &mut low[..=i], &more[..=i]);
        low[..=i].iter_mut().zip(more_low).for_each(|(low, more)| *low += more);
    });
}
