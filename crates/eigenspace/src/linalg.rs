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
//! The elements of a factor are f32 or f64; whatever is q x q is f64 always.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{cholesky, evd, svd, triangular_solve};
use faer::{Accum, Par};
use faer_ext::IntoFaer;
use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Slice};
use std::ops::Range;

use crate::error::Error;

/// Columns of a panel.
pub(crate) const PANEL: usize = 512;
/// Partial Gram matrices that are summed in parallel.
const PARTS: usize = 8;
/// Edge of a tile of the D x D scatter.
const TILE: usize = 208;
/// Below this many multiplications a product is not worth a second thread.
const PARALLEL_WORK: usize = 1 << 18;

/// A working precision: f32 or f64.
pub trait Real: faer::traits::RealField + ndarray::LinalgScalar + PartialOrd + Send + Sync {
    /// Unit roundoff times two, as for [`f64::EPSILON`].
    const EPSILON: f64;
    /// Widens without loss.
    fn widen(self) -> f64;
    /// Rounds to this precision.
    fn narrow(value: f64) -> Self;
    /// `sum += a b`, the product in this precision and the sum in f64, on one core; of a symmetric
    /// product only the lower triangle.
    #[doc(hidden)]
    fn accumulate(sum: ArrayViewMut2<'_, f64>, a: ArrayView2<'_, Self>, b: ArrayView2<'_, Self>, symmetric: bool);
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn widen(self) -> f64 {
        self
    }
    fn narrow(value: f64) -> Self {
        value
    }
    fn accumulate(sum: ArrayViewMut2<'_, f64>, a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, symmetric: bool) {
        multiply_into(sum, Accum::Add, a, b, symmetric);
    }
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn widen(self) -> f64 {
        f64::from(self)
    }
    fn narrow(value: f64) -> Self {
        value as f32
    }
    fn accumulate(mut sum: ArrayViewMut2<'_, f64>, a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, symmetric: bool) {
        let mut product = Array2::<f32>::zeros(sum.dim());
        multiply_into(product.view_mut(), Accum::Replace, a, b, symmetric);
        for (mut sum, product) in sum.rows_mut().into_iter().zip(product.rows()) {
            if let (Some(sum), Some(product)) = (sum.as_slice_mut(), product.to_slice()) {
                vectorised(|| sum.iter_mut().zip(product).for_each(|(sum, value)| *sum += f64::from(*value)));
            } else {
                sum.zip_mut_with(&product, |sum, value| *sum += f64::from(*value));
            }
        }
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

/// Runs a loop over slices with the widest vector instructions the machine has.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
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
pub(crate) fn for_each_panel<T: Real>(
    mut a: ArrayViewMut2<'_, T>,
    multiplications: usize,
    work: impl Fn(usize, ArrayViewMut2<'_, T>) + Send + Sync,
) {
    let panels = a.axis_chunks_iter_mut(Axis(1), PANEL);
    if multiplications < PARALLEL_WORK {
        panels.into_iter().enumerate().for_each(|(p, panel)| work(p * PANEL, panel));
    } else {
        panels.into_par_iter().enumerate().for_each(|(p, panel)| work(p * PANEL, panel));
    }
}

/// `A Aᵀ`, both triangles, in f64.
pub(crate) fn gram<T: Real>(a: ArrayView2<'_, T>) -> Array2<f64> {
    let mut g = inner(a, None);
    for i in 0..g.nrows() {
        for j in i + 1..g.ncols() {
            g[[i, j]] = g[[j, i]];
        }
    }
    g
}

/// `A Bᵀ` for two matrices of few rows and the same long width, in f64.
pub(crate) fn cross<T: Real>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<f64> {
    inner(a, Some(b))
}

/// `A Bᵀ`, or the lower triangle of `A Aᵀ`: one partial sum per group of panels, added in order.
fn inner<T: Real>(a: ArrayView2<'_, T>, b: Option<ArrayView2<'_, T>>) -> Array2<f64> {
    let (rows, width) = a.dim();
    let columns = b.as_ref().map_or(rows, |b| b.nrows());
    let panels = width.div_ceil(PANEL);
    let parts = panels.clamp(1, PARTS);
    let part = |p: usize| {
        let mut sum = Array2::<f64>::zeros((rows, columns));
        for panel in p * panels / parts..(p + 1) * panels / parts {
            let range = panel * PANEL..width.min((panel + 1) * PANEL);
            let left = columns_of(a, range.clone());
            let right = b.map_or(left, |b| columns_of(b, range)).reversed_axes();
            T::accumulate(sum.view_mut(), left, right, b.is_none());
        }
        sum
    };
    let sums: Vec<_> = if rows * columns * width < PARALLEL_WORK {
        (0..parts).map(part).collect()
    } else {
        (0..parts).into_par_iter().map(part).collect()
    };
    sums.into_iter().reduce(|a, b| a + b).unwrap_or_else(|| Array2::zeros((rows, columns)))
}

/// `U A` for a small `U` (r x q) and a long `A` (q x D).
pub(crate) fn rotate<T: Real>(u: ArrayView2<'_, f64>, a: ArrayView2<'_, T>) -> Array2<T> {
    let mut out = Array2::zeros((u.nrows(), a.ncols()));
    let u = u.mapv(T::narrow);
    let work = u.len() * a.ncols();
    for_each_panel(out.view_mut(), work, |start, panel| {
        let columns = panel.ncols();
        let a = columns_of(a, start..start + columns);
        multiply_into(panel, Accum::Replace, u.view(), a, false);
    });
    out
}

/// `A[..r] = U A` in place, for `U` of r rows; the rows of `A` below r are left undefined.
pub(crate) fn rotate_in_place<T: Real>(u: ArrayView2<'_, f64>, a: ArrayViewMut2<'_, T>) {
    let u = u.mapv(T::narrow);
    let work = u.len() * a.ncols();
    for_each_panel(a, work, |_, mut panel| {
        let mut out = Array2::zeros((u.nrows(), panel.ncols()));
        multiply_into(out.view_mut(), Accum::Replace, u.view(), panel.view(), false);
        panel.slice_axis_mut(Axis(0), Slice::from(..u.nrows())).assign(&out);
    });
}

/// `out += A B` on one core.
pub(crate) fn multiply_add<T: Real>(out: ArrayViewMut2<'_, T>, a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) {
    multiply_into(out, Accum::Add, a, b, false);
}

/// `M += Xᵀ X` in the lower triangle of a D x D scatter, tile by tile; products in the precision of
/// `X`, the sum in f64.
pub(crate) fn add_scatter<T: Real>(m: &mut Array2<f64>, x: ArrayView2<'_, T>) {
    let width = m.ncols();
    // Bands of equal height, a whole number of kernel rows each.
    let edge = width.div_ceil(width.div_ceil(TILE).max(1)).next_multiple_of(16);
    let mut tiles = Vec::new();
    for (i, mut rest) in m.axis_chunks_iter_mut(Axis(0), edge).enumerate() {
        for j in 0..=i {
            let columns = edge.min(rest.ncols());
            let (tile, tail) = rest.split_at(Axis(1), columns);
            tiles.push((i, j, tile));
            rest = tail;
        }
    }
    let add = |(i, j, tile): (usize, usize, ArrayViewMut2<'_, f64>)| {
        let (rows, columns) = tile.dim();
        let left = columns_of(x, i * edge..i * edge + rows).reversed_axes();
        let right = columns_of(x, j * edge..j * edge + columns);
        T::accumulate(tile, left, right, i == j);
    };
    if x.len() * width < PARALLEL_WORK {
        tiles.into_iter().for_each(add);
    } else {
        tiles.into_par_iter().for_each(add);
    }
}

/// From this size on an eigenproblem is shared out, in this number of parts.
const SPLIT_ROWS: usize = 384;
const SPLIT_PARTS: usize = 4;

/// A power of two that brings the largest entry near 1, so that scaling loses nothing.
fn near_one(a: ArrayView2<'_, f64>) -> f64 {
    let largest = a.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest > 0.0 && largest.is_finite() { (-largest.log2().round()).clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}

/// Eigenvalues, non-increasing, and eigenvectors (one per row) of a symmetric matrix given by its
/// lower triangle.
///
/// faer 0.24.4 deflates by an absolute threshold from 129 rows on, so the matrix is scaled first.
/// A large problem is cut into a fixed number of parts, whatever the number of threads, so that its
/// bytes do not depend on them.
pub(crate) fn eigh(g: ArrayView2<'_, f64>) -> Result<(Array1<f64>, Array2<f64>), Error> {
    let n = g.nrows();
    let mut values = Array1::<f64>::zeros(n);
    let mut vectors = Array2::<f64>::zeros((n, n));
    if n == 0 {
        return Ok((values, vectors));
    }
    let scale = near_one(g);
    let scaled = &g * scale;
    let par = if n < SPLIT_ROWS { Par::Seq } else { Par::rayon(SPLIT_PARTS) };
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, par, Default::default());
    evd::self_adjoint_evd(
        scaled.view().into_faer(),
        DiagMut::from_slice_mut(values.as_slice_mut().unwrap_or_default()),
        Some(vectors.view_mut().reversed_axes().into_faer()),
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence { what: "symmetric eigendecomposition", rows: n, columns: n })?;
    values /= scale;
    values.invert_axis(Axis(0));
    vectors.invert_axis(Axis(0));
    Ok((values.as_standard_layout().into_owned(), vectors.as_standard_layout().into_owned()))
}

/// Singular values, non-increasing, and right singular vectors (one per row) of any matrix.
pub(crate) fn thin_svd(a: ArrayView2<'_, f64>) -> Result<(Array1<f64>, Array2<f64>), Error> {
    let (rows, columns) = a.dim();
    let size = rows.min(columns);
    let mut values = Array1::<f64>::zeros(size);
    let mut right = Array2::<f64>::zeros((size, columns));
    if size == 0 {
        return Ok((values, right));
    }
    use svd::ComputeSvdVectors::{No, Thin};
    let scale = near_one(a);
    let scaled = &a * scale;
    let scratch = svd::svd_scratch::<f64>(rows, columns, No, Thin, Par::Seq, Default::default());
    svd::svd(
        scaled.view().into_faer(),
        DiagMut::from_slice_mut(values.as_slice_mut().unwrap_or_default()),
        None,
        Some(right.view_mut().reversed_axes().into_faer()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence { what: "singular value decomposition", rows, columns })?;
    Ok((values / scale, right))
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
