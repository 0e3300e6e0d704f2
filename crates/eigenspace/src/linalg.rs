//! The one file that knows faer: products in parallel panels, decompositions on one core.
//!
//! ```text
//! G = A Aᵀ = Σ_p A_p A_pᵀ          A = [ A_0 | A_1 | … ]   panels of PANEL columns
//! ```
//!
//! A factor has few rows (q, at most some hundreds) and many columns (D), so every product here is
//! cut along D into panels of fixed width. A panel fits in a core's cache, each is multiplied by
//! one core, and partial sums are added in a fixed order: the bytes of a result do not depend on
//! the number of threads. Measured on two cores this is as fast as, or faster than, letting faer
//! split the product (65 against 50 GFLOP/s for the Gram matrix of 114 rows, D = 10,304).
//!
//! The elements of a factor are f32 or f64; whatever is q x q is f64 always.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{cholesky, evd, matmul::matmul, svd, triangular_solve};
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
const TILE: usize = 192;
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
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn widen(self) -> f64 {
        self
    }
    fn narrow(value: f64) -> Self {
        value
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
        let mut narrow = Array2::<T>::zeros((rows, columns));
        for panel in p * panels / parts..(p + 1) * panels / parts {
            let range = panel * PANEL..width.min((panel + 1) * PANEL);
            let left = columns_of(a, range.clone()).into_faer();
            match &b {
                None => triangular::matmul(
                    narrow.view_mut().into_faer(),
                    BlockStructure::TriangularLower,
                    Accum::Replace,
                    left,
                    BlockStructure::Rectangular,
                    left.transpose(),
                    BlockStructure::Rectangular,
                    T::one(),
                    Par::Seq,
                ),
                Some(b) => matmul(
                    narrow.view_mut().into_faer(),
                    Accum::Replace,
                    left,
                    columns_of(*b, range).into_faer().transpose(),
                    T::one(),
                    Par::Seq,
                ),
            }
            sum.zip_mut_with(&narrow, |sum, value| *sum += value.widen());
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
        multiply(panel, Accum::Replace, u.view(), a);
    });
    out
}

/// `A[..r] = U A` in place, for `U` of r rows; the rows of `A` below r are left undefined.
pub(crate) fn rotate_in_place<T: Real>(u: ArrayView2<'_, f64>, a: ArrayViewMut2<'_, T>) {
    let u = u.mapv(T::narrow);
    let work = u.len() * a.ncols();
    for_each_panel(a, work, |_, mut panel| {
        let mut out = Array2::zeros((u.nrows(), panel.ncols()));
        multiply(out.view_mut(), Accum::Replace, u.view(), panel.view());
        panel.slice_axis_mut(Axis(0), Slice::from(..u.nrows())).assign(&out);
    });
}

/// `out = A B` or `out += A B` on one core.
pub(crate) fn multiply<T: Real>(
    out: ArrayViewMut2<'_, T>,
    accumulate: Accum,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
) {
    matmul(out.into_faer(), accumulate, a.into_faer(), b.into_faer(), T::one(), Par::Seq);
}

/// Adds `A B` to `out` on one core.
pub(crate) fn multiply_add<T: Real>(out: ArrayViewMut2<'_, T>, a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) {
    multiply(out, Accum::Add, a, b);
}

/// `M += Xᵀ X` in the lower triangle of a D x D scatter, tile by tile; products in the precision of
/// `X`, the sum in f64.
pub(crate) fn add_scatter<T: Real>(m: &mut Array2<f64>, x: ArrayView2<'_, T>) {
    let width = m.ncols();
    let bands = m.axis_chunks_iter_mut(Axis(0), TILE);
    let tiles: Vec<_> = bands
        .into_iter()
        .enumerate()
        .flat_map(|(i, band)| {
            let mut rest = band;
            let mut tiles = Vec::new();
            for j in 0..=i {
                let edge = TILE.min(rest.ncols());
                let (tile, tail) = rest.split_at(Axis(1), edge);
                tiles.push((i * TILE, j * TILE, tile));
                rest = tail;
            }
            tiles
        })
        .collect();
    let add = |(i, j, mut tile): (usize, usize, ArrayViewMut2<'_, f64>)| {
        let (rows, columns) = tile.dim();
        let left = columns_of(x, i..i + rows).into_faer().transpose();
        let right = columns_of(x, j..j + columns).into_faer();
        let mut product = Array2::<T>::zeros((rows, columns));
        let shape = if i == j { BlockStructure::TriangularLower } else { BlockStructure::Rectangular };
        triangular::matmul(
            product.view_mut().into_faer(),
            shape,
            Accum::Replace,
            left,
            BlockStructure::Rectangular,
            right,
            BlockStructure::Rectangular,
            T::one(),
            Par::Seq,
        );
        tile.zip_mut_with(&product, |sum, value| *sum += value.widen());
    };
    if x.len() * width < PARALLEL_WORK {
        tiles.into_iter().for_each(add);
    } else {
        tiles.into_par_iter().for_each(add);
    }
}

/// Eigenvalues, non-increasing, and eigenvectors (one per row) of a symmetric matrix given by its
/// lower triangle.
pub(crate) fn eigh(g: ArrayView2<'_, f64>) -> Result<(Array1<f64>, Array2<f64>), Error> {
    let n = g.nrows();
    let mut values = Array1::<f64>::zeros(n);
    let mut vectors = Array2::<f64>::zeros((n, n));
    if n == 0 {
        return Ok((values, vectors));
    }
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, Par::Seq, Default::default());
    evd::self_adjoint_evd(
        g.into_faer(),
        DiagMut::from_slice_mut(values.as_slice_mut().unwrap_or_default()),
        Some(vectors.view_mut().reversed_axes().into_faer()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence { what: "symmetric eigendecomposition", rows: n, columns: n })?;
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
    let scratch = svd::svd_scratch::<f64>(rows, columns, No, Thin, Par::Seq, Default::default());
    svd::svd(
        a.into_faer(),
        DiagMut::from_slice_mut(values.as_slice_mut().unwrap_or_default()),
        None,
        Some(right.view_mut().reversed_axes().into_faer()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence { what: "singular value decomposition", rows, columns })?;
    Ok((values, right))
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
