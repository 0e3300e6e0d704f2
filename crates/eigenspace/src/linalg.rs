//! The one file that knows faer: products in parallel panels, decompositions in a fixed number of parts.
//!
//! ```text
//! G = A Aᵀ = Σ_p A_p A_pᵀ          A = [ A_0 | A_1 | … ]   panels of PANEL columns
//! ```
//!
//! A factor has few rows (q, at most some hundreds) and many columns (D), so every product here is
//! cut along D into panels of fixed width. A panel fits in a core's cache, each is multiplied by
//! one core, and partial sums are added in a fixed order: the bytes of a result do not depend on
//! the number of threads. It is at least as fast as letting faer
//! split the product, whose thin shapes suit it less.
//!
//! Everything is f64 but the products of rows that are projected in f32.
//!
//! No answer of a decomposition is believed: each is checked by what defines it, and found again by a slower
//! and surer method where the check fails ([`Eigen`], [`thin_svd`]).

use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::linalg::{cholesky, evd, householder, qr, svd, triangular_solve};
use faer::{Accum, Conj, Mat, Par};
use faer_ext::IntoFaer;
use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice};
use std::borrow::Cow;
use std::ops::Range;

use crate::jacobi;
use crate::tridiagonal::Tridiagonal;

/// Columns that are a whole number of the product's kernels, which are 48 wide in f64 and 96 in f32.
const KERNEL: usize = 96;
/// Columns of a panel.
pub(crate) const PANEL: usize = 5 * KERNEL;
/// Partial Gram matrices that are summed in parallel; half as many when they are larger than a cache.
const PARTS: usize = 8;
const LARGE_SUM: usize = 1 << 17;
/// Rows whose products are summed before they are added to a scatter.
pub(crate) const SUMMED_ROWS: usize = 256;
/// Edge of a tile of the D x D scatter.
const TILE: usize = 208;
/// Below this many multiplications a product is not worth a second thread.
const PARALLEL_WORK: usize = 1 << 18;

/// A precision that rows are projected in: f32 or f64.
pub trait Real: faer::traits::RealField + ndarray::LinalgScalar + PartialOrd + Send + Sync {
    /// Widens without loss.
    fn widen(self) -> f64;
    /// Rounds to this precision.
    fn narrow(value: f64) -> Self;
}

impl Real for f64 {
    fn widen(self) -> f64 {
        self
    }
    fn narrow(value: f64) -> Self {
        value
    }
}

impl Real for f32 {
    fn widen(self) -> f64 {
        f64::from(self)
    }
    fn narrow(value: f64) -> Self {
        value as f32
    }
}

fn multiply_into<T: Real>(
    out: ArrayViewMut2<'_, T>,
    accumulate: Accum,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    symmetric: bool,
) {
    let whole = BlockStructure::Rectangular;
    let shape = if symmetric { BlockStructure::TriangularLower } else { whole };
    let (out, a, b) = (out.into_faer(), a.into_faer(), b.into_faer());
    triangular::matmul(out, shape, accumulate, a, whole, b, whole, T::one(), Par::Seq);
}

/// Does work of several parallel steps in a thread of the pool: a step that is begun there wakes the other
/// threads, one that is begun outside wakes them all and waits, up to 0.3 ms each time.
pub(crate) fn inside<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// Runs a loop over slices with the widest vector instructions the machine has.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The elements side by side: as they are in every buffer of ours, copied otherwise.
pub(crate) fn contiguous<T: Copy>(row: ArrayView1<'_, T>) -> Cow<'_, [T]> {
    row.to_slice().map_or_else(|| Cow::Owned(row.to_vec()), Cow::Borrowed)
}

/// A range of columns. (`ndarray::s!` would do, but expands to `unsafe`, which this crate forbids.)
pub(crate) fn columns_of<T>(mut a: ArrayView2<'_, T>, range: Range<usize>) -> ArrayView2<'_, T> {
    a.slice_axis_inplace(Axis(1), Slice::from(range));
    a
}

/// A range of rows.
pub(crate) fn rows_of<T>(mut a: ArrayView2<'_, T>, range: Range<usize>) -> ArrayView2<'_, T> {
    a.slice_axis_inplace(Axis(0), Slice::from(range));
    a
}

/// Runs `work` over fixed column panels of `a`, in parallel when the product is worth it.
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
    for i in 0..g.nrows() {
        for j in i + 1..g.ncols() {
            g[[i, j]] = g[[j, i]];
        }
    }
    g
}

/// The largest entry of |V Vᵀ − I|; not a number when an entry is not.
pub(crate) fn orthogonality_loss(rows: ArrayView2<'_, f64>) -> f64 {
    gram(rows)
        .indexed_iter()
        .map(|((i, j), value)| (value - f64::from(u8::from(i == j))).abs())
        .fold(0.0, |worst, loss| if loss > worst || loss.is_nan() { loss } else { worst })
}

/// The lower triangle of `A Aᵀ` in f64, where `A` begins with groups of so many rows that are orthogonal to
/// the others of their group.
pub(crate) fn gram_beside(a: ArrayView2<'_, f64>, groups: &[usize]) -> Array2<f64> {
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

/// `A Bᵀ` for two matrices of few rows and the same long width, in f64.
pub(crate) fn cross(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut product = Array2::zeros((a.nrows(), b.nrows()));
    add_inner(product.view_mut(), a, b, false);
    product
}

/// `sum += [ A Bᵀ | A Aᵀ ]`, the latter only if asked, and then its lower triangle: one partial sum for each of
/// some equal shares of the columns, added in order.
fn add_inner(mut sum: ArrayViewMut2<'_, f64>, a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, own: bool) {
    let width = a.ncols();
    let most = if sum.len() > LARGE_SUM { PARTS / 2 } else { PARTS };
    let share = width.div_ceil(width.div_ceil(PANEL).clamp(1, most)).next_multiple_of(KERNEL);
    let panel = share.div_ceil(share.div_ceil(PANEL).max(1)).next_multiple_of(KERNEL);
    let add = |p: usize, sum: &mut ArrayViewMut2<'_, f64>| {
        let end = width.min((p + 1) * share);
        for start in (p * share..end).step_by(panel) {
            let range = start..end.min(start + panel);
            let left = columns_of(a, range.clone());
            let (other, same) = sum.view_mut().split_at(Axis(1), b.nrows());
            if !other.is_empty() {
                multiply_into(other, Accum::Add, left, columns_of(b, range).reversed_axes(), false);
            }
            if own {
                multiply_into(same, Accum::Add, left, left.reversed_axes(), true);
            }
        }
    };
    let (shape, parts) = (sum.raw_dim(), width.div_ceil(share.max(1)));
    let apart = |p: usize| {
        let mut part = Array2::zeros(shape);
        add(p, &mut part.view_mut());
        part
    };
    if sum.len() * width < PARALLEL_WORK {
        // The same sums in the same order.
        (0..parts).for_each(|p| if p == 0 { add(0, &mut sum) } else { sum += &apart(p) });
        return;
    }
    let ((), others) = rayon::join(|| add(0, &mut sum), || (1..parts).into_par_iter().map(apart).collect::<Vec<_>>());
    sum.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(i, mut row)| {
        others.iter().for_each(|other| row += &other.row(i));
    });
}

/// `U A` for a small `U` (r x q) and a long `A` (q x D).
pub(crate) fn rotate(u: ArrayView2<'_, f64>, a: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut out = Array2::zeros((u.nrows(), a.ncols()));
    let work = u.len() * a.ncols();
    for_each_panel(out.view_mut(), work, |start, panel| {
        let columns = panel.ncols();
        let a = columns_of(a, start..start + columns);
        multiply_into(panel, Accum::Replace, u, a, false);
    });
    out
}

/// `A[..r] = U A` in place, for `U` of r rows; the rows of `A` below r are left undefined.
pub(crate) fn rotate_in_place(u: ArrayView2<'_, f64>, mut a: ArrayViewMut2<'_, f64>) {
    let rows = u.nrows();
    let room = || Array2::zeros((rows, PANEL));
    let turn = |out: &mut Array2<f64>, mut panel: ArrayViewMut2<'_, f64>| {
        let mut out = out.slice_axis_mut(Axis(1), Slice::from(..panel.ncols()));
        multiply_into(out.view_mut(), Accum::Replace, u, panel.view(), false);
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
    multiply_into(out, Accum::Replace, a, b, false);
}

/// `out += A B` on one core.
pub(crate) fn multiply_add<T: Real>(out: ArrayViewMut2<'_, T>, a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) {
    multiply_into(out, Accum::Add, a, b, false);
}

/// `M + δ += Xᵀ X` in the lower triangle of a D x D scatter, tile by tile. The sum is kept in two words, M and
/// what it rounds off, δ: an entry is off by the products of [`SUMMED_ROWS`] rows at most, however many there are.
pub(crate) fn add_scatter(m: &mut Array2<f64>, low: &mut Array2<f64>, x: ArrayView2<'_, f64>) {
    let width = m.ncols();
    // Bands of equal height, a whole number of kernel rows each.
    let edge = width.div_ceil(width.div_ceil(TILE).max(1)).next_multiple_of(16);
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
        for start in (0..x.nrows()).step_by(SUMMED_ROWS) {
            let x = rows_of(x, start..x.nrows().min(start + SUMMED_ROWS));
            let left = columns_of(x, i * edge..i * edge + rows).reversed_axes();
            let right = columns_of(x, j * edge..j * edge + columns);
            multiply_into(product.view_mut(), Accum::Replace, left, right, i == j);
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

/// `sum + low += more`, where `low` is what `sum` rounds off.
pub(crate) fn add_in_two_words(sum: &mut [f64], low: &mut [f64], more: &[f64]) {
    vectorized(
        #[inline(always)]
        || {
            for ((sum, low), more) in sum.iter_mut().zip(low).zip(more) {
                let (rounded, error) = two_sum(*sum, *more);
                *sum = rounded;
                *low += error;
            }
        },
    );
}

/// The sum of two numbers as it rounds, and exactly what it is off by.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// From this size on the eigenvectors of a tridiagonal matrix are shared out, in this number of parts.
/// (Reaching tridiagonal form waits for memory, and is no faster on two cores.)
const SPLIT_ROWS: usize = 384;
const SPLIT_PARTS: usize = 4;
/// From this size on a part of the eigenvectors is found faster than all.
const PART_ROWS: usize = 192;
/// Vectors whose Gram matrix is further than this from the identity are too nearly parallel; below it the
/// condition number of its Cholesky factor is at most √3.
const PARALLEL: f64 = 0.5;
/// Vectors of a tridiagonal matrix are orthonormal when no entry of their Gram matrix is further than this from
/// the identity.
const SKEW: f64 = 1e-13;

/// A power of two that brings the largest entry near 1, so that scaling loses nothing.
fn near_one(a: ArrayView2<'_, f64>) -> f64 {
    let largest = a.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest > 0.0 && largest.is_finite() { (-largest.log2().round()).clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}

/// Eigenvalues, non-increasing, and eigenvectors (one per row) of a symmetric matrix given by its
/// lower triangle.
pub(crate) fn eigh(g: ArrayView2<'_, f64>) -> (Array1<f64>, Array2<f64>) {
    let eigen = Eigen::of(g, g.nrows());
    let vectors = eigen.vectors(0..g.nrows());
    (eigen.values, vectors)
}

/// A symmetric matrix G = Q T Qᵀ with T = W diag(λ) Wᵀ tridiagonal: its eigenvalues, and those
/// eigenvectors Q W that somebody asks for.
///
/// faer 0.24.4 deflates by an absolute threshold from 129 rows on, so the matrix is scaled first.
/// A large problem is cut into a fixed number of parts, whatever the number of threads, so that its
/// bytes do not depend on them.
pub(crate) struct Eigen {
    /// Non-increasing.
    pub(crate) values: Array1<f64>,
    /// Wᵀ, one row per value.
    turned: Array2<f64>,
    /// Reflections whose product is Q.
    reflectors: Mat<f64>,
    factors: Mat<f64>,
    par: Par,
}

impl Eigen {
    /// Decomposes a matrix given by its lower triangle; at least the `wanted` largest values, or all.
    pub(crate) fn of(g: ArrayView2<'_, f64>, wanted: usize) -> Self {
        let n = g.nrows();
        let par = if n < SPLIT_ROWS { Par::Seq } else { Par::rayon(SPLIT_PARTS) };
        let mut reflectors = Mat::zeros(n, n);
        let mut factors = Mat::zeros(recommended_block_size::<f64>(n, n), n.saturating_sub(1));
        if n == 0 {
            return Self { values: Array1::zeros(0), turned: Array2::zeros((0, 0)), reflectors, factors, par };
        }
        let scale = near_one(g);
        reflectors.copy_from_triangular_lower((&g * scale).view().into_faer());
        let scratch = tridiag::tridiag_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        tridiag::tridiag_in_place(reflectors.as_mut(), factors.as_mut(), Par::Seq, stack, Default::default());
        let diagonal: Vec<f64> = (0..n).map(|i| reflectors[(i, i)]).collect();
        let beside: Vec<f64> = (1..n).map(|i| reflectors[(i, i - 1)]).collect();
        let t = Tridiagonal { diagonal: &diagonal, beside: &beside };
        let few = n >= PART_ROWS && wanted <= n / 8 * 5;
        let part = if few { leading(&t, wanted) } else { None };
        let (values, turned) = part.unwrap_or_else(|| all_pairs(&t, par));
        Self { values: values / scale, turned, reflectors, factors, par }
    }

    /// Rows of the matrix.
    pub(crate) fn size(&self) -> usize {
        self.reflectors.nrows()
    }

    /// The eigenvectors, one per row, of a range of the values.
    pub(crate) fn vectors(&self, range: Range<usize>) -> Array2<f64> {
        let n = self.reflectors.nrows();
        let mut vectors = rows_of(self.turned.view(), range.clone()).to_owned();
        if n > 1 {
            let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
                n - 1,
                self.factors.nrows(),
                range.len(),
            );
            householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                self.reflectors.get(1.., ..n - 1),
                self.factors.as_ref(),
                Conj::No,
                vectors.slice_axis_mut(Axis(1), Slice::from(1..)).reversed_axes().into_faer(),
                self.par,
                MemStack::new(&mut MemBuffer::new(scratch)),
            );
        }
        vectors
    }
}

/// All eigenvalues, non-increasing, and eigenvectors, one per row, of a tridiagonal matrix: by the fastest method
/// whose answer passes the check.
///
/// faer 0.24.4 divides and conquers, which on clustered or vanishing spectra does not always converge, or
/// returns pairs that are none. The QR iteration is slower and was never seen to fail; Jacobi's rotations cannot.
fn all_pairs(t: &Tridiagonal<'_>, par: Par) -> (Array1<f64>, Array2<f64>) {
    let right = |pairs: &(Array1<f64>, Array2<f64>)| are_eigenpairs(t, pairs.0.view(), pairs.1.view());
    divide_and_conquer(t, par).filter(right).or_else(|| t.all().filter(right)).unwrap_or_else(|| by_rotations(t))
}

/// Whether these are all the eigenpairs: sorted, orthonormal, with the residual of a backward stable method.
fn are_eigenpairs(t: &Tridiagonal<'_>, values: ArrayView1<'_, f64>, vectors: ArrayView2<'_, f64>) -> bool {
    let sorted = values.windows(2).into_iter().all(|pair| pair[0] >= pair[1]); // false for NaN
    sorted && t.residual(values, vectors) <= t.allowed_residual() && orthogonality_loss(vectors) <= SKEW
}

/// The eigenpairs by Jacobi's rotations of T + ‖T‖ I, which has no negative eigenvalue.
fn by_rotations(t: &Tridiagonal<'_>) -> (Array1<f64>, Array2<f64>) {
    let (n, norm) = (t.diagonal.len(), t.norm());
    let mut shifted = Array2::from_diag(&Array1::from_iter(t.diagonal.iter().map(|d| d + norm)));
    for (i, e) in t.beside.iter().enumerate() {
        (shifted[[i, i + 1]], shifted[[i + 1, i]]) = (*e, *e);
    }
    let (values, mut vectors) = jacobi::svd(shifted.view());
    // A zero eigenvalue of the shifted matrix leaves no direction: any that is orthogonal to the others will do.
    complete(&mut vectors);
    debug_assert_eq!(values.len(), n);
    (values - norm, vectors)
}

/// Replaces rows of zeros, which come last, by unit rows orthogonal to all before them.
fn complete(rows: &mut Array2<f64>) {
    let (count, width) = rows.dim();
    for i in (0..count).filter(|&i| rows.row(i).iter().all(|x| *x == 0.0)).collect::<Vec<_>>() {
        let best = (0..width).map(|j| {
            let mut unit = Array1::<f64>::zeros(width);
            unit[j] = 1.0;
            for _ in 0..2 {
                let along = rows.dot(&unit);
                unit -= &rows.t().dot(&along);
            }
            unit
        });
        let long = best.max_by(|a, b| a.dot(a).total_cmp(&b.dot(b)));
        let unit = long.expect("a matrix that has rows has columns");
        rows.row_mut(i).assign(&(&unit / unit.dot(&unit).sqrt()));
    }
}

/// All eigenvalues, non-increasing, and eigenvectors, one per row, of a tridiagonal matrix, unless it fails.
fn divide_and_conquer(t: &Tridiagonal<'_>, par: Par) -> Option<(Array1<f64>, Array2<f64>)> {
    let n = t.diagonal.len();
    let (mut values, mut vectors) = (Array1::<f64>::zeros(n), Array2::<f64>::zeros((n, n)));
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, par, Default::default());
    let beside: Vec<f64> = t.beside.iter().copied().chain([0.0]).collect();
    evd::tridiagonal_self_adjoint_evd(
        DiagRef::from_slice(t.diagonal),
        DiagRef::from_slice(&beside),
        DiagMut::from_slice_mut(values.as_slice_mut().unwrap_or_default()),
        Some(vectors.view_mut().reversed_axes().into_faer()),
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    values.invert_axis(Axis(0));
    vectors.invert_axis(Axis(0));
    Some((values.as_standard_layout().into_owned(), vectors.as_standard_layout().into_owned()))
}

/// The leading eigenpairs of a tridiagonal matrix, or nothing when they are too close to be told apart.
fn leading(t: &Tridiagonal<'_>, wanted: usize) -> Option<(Array1<f64>, Array2<f64>)> {
    let (values, mut vectors) = t.leading(wanted);
    let g = gram(vectors.view());
    let skew = &g - &Array2::<f64>::eye(wanted);
    let apart = skew.iter().map(|x| x * x).sum::<f64>().sqrt() <= PARALLEL;
    let c = cholesky(g.view()).filter(|_| apart)?;
    triangular_solve::solve_lower_triangular_in_place(c.view().into_faer(), vectors.view_mut().into_faer(), Par::Seq);
    (t.residual(values.view(), vectors.view()) <= t.allowed_residual()).then_some((values, vectors))
}

/// Singular values, non-increasing, and right singular vectors (one per row) of any matrix.
///
/// faer 0.24.4 finds values that are not there where many are equal or zero, and at times none. So its answer is
/// checked, and where it is wrong found again by Jacobi's rotations.
pub(crate) fn thin_svd(a: ArrayView2<'_, f64>) -> (Array1<f64>, Array2<f64>) {
    if a.is_empty() {
        return (Array1::zeros(0), Array2::zeros((0, a.ncols())));
    }
    let scale = near_one(a);
    let scaled = &a * scale;
    let right = |pairs: &(Array1<f64>, Array2<f64>)| decomposes(scaled.view(), pairs.0.view(), pairs.1.view());
    let (values, right) = svd_by_faer(scaled.view()).filter(right).unwrap_or_else(|| {
        let (values, mut right) = jacobi::svd(no_more_rows_than_columns(scaled.view()).view());
        complete(&mut right);
        (values, right)
    });
    (values / scale, right)
}

/// Rows with the same AᵀA, no more than columns: turned by reflections, so that each column keeps its digits.
pub(crate) fn no_more_rows_than_columns(a: ArrayView2<'_, f64>) -> Array2<f64> {
    let (rows, columns) = a.dim();
    if rows <= columns {
        return a.to_owned();
    }
    let block = recommended_block_size::<f64>(rows, columns);
    let mut r = Mat::<f64>::zeros(rows, columns);
    r.copy_from(a.into_faer());
    let mut factors = Mat::<f64>::zeros(block, columns);
    let scratch =
        qr::no_pivoting::factor::qr_in_place_scratch::<f64>(rows, columns, block, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    qr::no_pivoting::factor::qr_in_place(r.as_mut(), factors.as_mut(), Par::Seq, stack, Default::default());
    Array2::from_shape_fn((columns, columns), |(i, j)| if i <= j { r[(i, j)] } else { 0.0 })
}

fn svd_by_faer(a: ArrayView2<'_, f64>) -> Option<(Array1<f64>, Array2<f64>)> {
    use svd::ComputeSvdVectors::{No, Thin};
    let (rows, columns) = a.dim();
    let size = rows.min(columns);
    let (mut values, mut right) = (Array1::<f64>::zeros(size), Array2::<f64>::zeros((size, columns)));
    let scratch = svd::svd_scratch::<f64>(rows, columns, No, Thin, Par::Seq, Default::default());
    svd::svd(
        a.into_faer(),
        DiagMut::from_slice_mut(values.as_slice_mut().expect("a new array is contiguous")),
        None,
        Some(right.view_mut().reversed_axes().into_faer()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    Some((values, right))
}

/// Whether V Vᵀ = I and the columns of A Vᵀ are orthogonal with these lengths, to rounding: then A = U S V.
fn decomposes(a: ArrayView2<'_, f64>, values: ArrayView1<'_, f64>, v: ArrayView2<'_, f64>) -> bool {
    let (size, largest) = (values.len(), values[0]);
    let rounding = f64::EPSILON * (size as f64).max(16.0);
    let sorted = largest >= 0.0 && values.windows(2).into_iter().all(|pair| pair[0] >= pair[1]);
    let orthonormal = orthogonality_loss(v) <= rounding; // false for NaN
    if !sorted || !orthonormal {
        return false;
    }
    let along = gram(cross(v, a).view());
    let allowed = |i: usize, j: usize| 2.0 * rounding * largest * (values[i] + values[j] + rounding * largest);
    let held: f64 = values.iter().map(|s| s * s).sum();
    let total: f64 = squared_lengths(a).sum();
    let complete = (total - held).abs() <= 2.0 * rounding * total;
    complete
        && along.indexed_iter().all(|((i, j), x)| {
            let expected = if i == j { values[i] * values[i] } else { 0.0 };
            (x - expected).abs() <= allowed(i, j)
        })
}

/// The lower triangular `C` with `S = C Cᵀ`, or `None` when `S` is not safely positive definite.
pub(crate) fn cholesky(s: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
    let n = s.nrows();
    let mut c = s.to_owned();
    let scratch = cholesky::llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
    cholesky::llt::factor::cholesky_in_place(
        c.view_mut().into_faer(),
        Default::default(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    for i in 0..n {
        c.row_mut(i).slice_axis_mut(Axis(0), Slice::from(i + 1..)).fill(0.0);
    }
    Some(c)
}

/// Solves `X C = B` for a lower triangular `C`, in place of `B`.
pub(crate) fn solve_lower_on_the_right(c: ArrayView2<'_, f64>, b: ArrayViewMut2<'_, f64>) {
    triangular_solve::solve_upper_triangular_in_place(
        c.into_faer().transpose(),
        b.reversed_axes().into_faer(),
        Par::Seq,
    );
}

#[cfg(test)]
mod tests;
