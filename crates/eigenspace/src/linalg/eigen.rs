//! Symmetric eigenproblems, each answer checked: G = Q T Qᵀ, T = W diag(λ) Wᵀ.

use std::ops::Range;

use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, tridiag};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Conj, Mat, Par};
use faer_ext::IntoFaer;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Slice};

use super::cholesky::{cholesky, solve_lower};
use super::jacobi;
use super::products::{gram, orthogonality_loss};
use super::slices::{near_one, rows_of};
use super::tridiagonal::Tridiagonal;

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
pub(super) fn all_pairs(t: &Tridiagonal<'_>, par: Par) -> (Array1<f64>, Array2<f64>) {
    let right = |pairs: &(Array1<f64>, Array2<f64>)| are_eigenpairs(t, pairs.0.view(), pairs.1.view());
    divide_and_conquer(t, par).filter(right).or_else(|| t.all().filter(right)).unwrap_or_else(|| by_rotations(t))
}

/// Whether these are all the eigenpairs: sorted, orthonormal, with the residual of a backward stable method.
pub(super) fn are_eigenpairs(t: &Tridiagonal<'_>, values: ArrayView1<'_, f64>, vectors: ArrayView2<'_, f64>) -> bool {
    let sorted = values.windows(2).into_iter().all(|pair| pair[0] >= pair[1]); // false for NaN
    sorted && t.residual(values, vectors) <= t.allowed_residual() && orthogonality_loss(vectors) <= SKEW
}

/// The eigenpairs by Jacobi's rotations of T + ‖T‖ I, which has no negative eigenvalue.
pub(super) fn by_rotations(t: &Tridiagonal<'_>) -> (Array1<f64>, Array2<f64>) {
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
pub(crate) fn complete(rows: &mut Array2<f64>) {
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
    solve_lower(c.view(), vectors.view_mut());
    (t.residual(values.view(), vectors.view()) <= t.allowed_residual()).then_some((values, vectors))
}
