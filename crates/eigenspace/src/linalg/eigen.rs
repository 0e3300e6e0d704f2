//! Symmetric eigenproblems: G = Q T Qᵀ with T tridiagonal, T = W diag(λ) Wᵀ. Every result is
//! checked.

use std::ops::Range;

use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd;
use faer::linalg::householder;
use faer::{Conj, Mat, Par};
use faer_ext::IntoFaer;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Slice};

use super::cholesky::{cholesky, solve_lower};
use super::jacobi;
use super::products::{gram, mirror, orthogonality_loss};
use super::reduction::Reduction;
use super::slices::{rows_of, scale_to_one};
use super::tridiagonal::Tridiagonal;

/// From this size on, the eigenvectors of a tridiagonal matrix are computed in parallel, in this
/// number of parts.
const PARALLEL_SOLVE_ROWS: usize = 384;
const PARALLEL_SOLVE_PARTS: usize = 4;
/// From this size on, computing only some of the eigenvectors is faster than computing all.
const PARTIAL_SOLVE_ROWS: usize = 64;
/// Vectors whose Gram matrix is further than this from the identity, in the Frobenius norm, are too
/// close to parallel to be orthonormalized. Below it, the condition number of the Cholesky factor
/// is at most √3.
const MAX_GRAM_DEVIATION: f64 = 0.5;
/// Largest accepted difference between an entry of the Gram matrix of eigenvectors and the
/// identity.
const EIGENVECTOR_ORTHONORMALITY_TOLERANCE: f64 = 1e-13;

/// Eigenvalues, non-increasing, and eigenvectors (one per row) of a symmetric matrix given by its
/// lower triangle.
pub(crate) fn eigh(g: ArrayView2<'_, f64>) -> (Array1<f64>, Array2<f64>) {
    let eigen = Eigen::of(g, g.nrows());
    let vectors = eigen.vectors(0..g.nrows());
    (eigen.values, vectors)
}

/// The eigenvalues of a symmetric matrix G = Q T Qᵀ, where T = W diag(λ) Wᵀ is tridiagonal. The
/// eigenvectors Q W are computed on request.
///
/// faer 0.24.4 deflates by an absolute threshold if there are 129 or more rows, so the matrix is
/// scaled first. A large problem is divided into a fixed number of parts, so its bytes do not
/// depend on the number of threads.
pub(crate) struct Eigen {
    /// Non-increasing.
    pub(crate) values: Array1<f64>,
    /// Wᵀ, one row per value.
    tridiagonal_vectors: Array2<f64>,
    /// Reflections whose product is Q.
    reflectors: Mat<f64>,
    factors: Mat<f64>,
    par: Par,
    /// What the matrix was multiplied by.
    scale: f64,
}

impl Eigen {
    /// Decomposes a matrix given by its lower triangle, and computes at least the `wanted` largest
    /// values.
    pub(crate) fn of(g: ArrayView2<'_, f64>, wanted: usize) -> Self {
        let n = g.nrows();
        let par = if n < PARALLEL_SOLVE_ROWS { Par::Seq } else { Par::rayon(PARALLEL_SOLVE_PARTS) };
        let scale = scale_to_one(g);
        let mut scaled = g.as_standard_layout().mapv(|x| x * scale);
        mirror(&mut scaled);
        let Reduction { reflectors, factors } = Reduction::of(scaled);
        if n == 0 {
            let (values, tridiagonal_vectors) = (Array1::zeros(0), Array2::zeros((0, 0)));
            return Self { values, tridiagonal_vectors, reflectors, factors, par, scale };
        }
        let (diagonal, off_diagonal) = diagonals(&reflectors);
        let t = Tridiagonal { diagonal: &diagonal, off_diagonal: &off_diagonal };
        let few = n >= PARTIAL_SOLVE_ROWS && wanted <= n / 8 * 5;
        let part = if few { leading(&t, wanted) } else { None };
        let (values, tridiagonal_vectors) = part.unwrap_or_else(|| all_pairs(&t, par));
        Self { values: values / scale, tridiagonal_vectors, reflectors, factors, par, scale }
    }

    /// Rows of the matrix.
    pub(crate) fn size(&self) -> usize {
        self.reflectors.nrows()
    }

    /// The smallest eigenvalue, also if only the largest were computed; zero if there is none.
    pub(crate) fn smallest(&self) -> f64 {
        if self.values.len() == self.size() {
            return self.values.last().copied().unwrap_or(0.0);
        }
        let (diagonal, off_diagonal) = diagonals(&self.reflectors);
        Tridiagonal { diagonal: &diagonal, off_diagonal: &off_diagonal }.smallest() / self.scale
    }

    /// The eigenvectors, one per row, of a range of the values.
    pub(crate) fn vectors(&self, range: Range<usize>) -> Array2<f64> {
        let n = self.reflectors.nrows();
        let mut vectors = rows_of(self.tridiagonal_vectors.view(), range.clone()).to_owned();
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

/// The diagonal of T, and the entries next to it.
fn diagonals(reflectors: &Mat<f64>) -> (Vec<f64>, Vec<f64>) {
    let n = reflectors.nrows();
    ((0..n).map(|i| reflectors[(i, i)]).collect(), (1..n).map(|i| reflectors[(i, i - 1)]).collect())
}

/// All eigenvalues, non-increasing, and eigenvectors, one per row, of a tridiagonal matrix, by the
/// fastest method whose result passes the check.
///
/// faer 0.24.4 uses divide and conquer. For clustered or vanishing spectra it sometimes does not
/// converge, or returns wrong pairs. QL iteration is slower and has never failed in our tests;
/// Jacobi rotations cannot fail.
pub(super) fn all_pairs(t: &Tridiagonal<'_>, par: Par) -> (Array1<f64>, Array2<f64>) {
    let right = |pairs: &(Array1<f64>, Array2<f64>)| are_eigenpairs(t, pairs.0.view(), pairs.1.view());
    divide_and_conquer(t, par).filter(right).or_else(|| t.all().filter(right)).unwrap_or_else(|| by_rotations(t))
}

/// Whether these are all the eigenpairs: sorted, orthonormal, with the residual of a backward
/// stable method.
pub(super) fn are_eigenpairs(t: &Tridiagonal<'_>, values: ArrayView1<'_, f64>, vectors: ArrayView2<'_, f64>) -> bool {
    let sorted = values.windows(2).into_iter().all(|pair| pair[0] >= pair[1]); // false for NaN
    sorted
        && t.residual(values, vectors) <= t.allowed_residual()
        && orthogonality_loss(vectors) <= EIGENVECTOR_ORTHONORMALITY_TOLERANCE
}

/// The eigenpairs by Jacobi rotations of T + ‖T‖ I, which has no negative eigenvalue.
pub(super) fn by_rotations(t: &Tridiagonal<'_>) -> (Array1<f64>, Array2<f64>) {
    let (n, norm) = (t.diagonal.len(), t.norm());
    let mut shifted = Array2::from_diag(&Array1::from_iter(t.diagonal.iter().map(|d| d + norm)));
    for (i, e) in t.off_diagonal.iter().enumerate() {
        (shifted[[i, i + 1]], shifted[[i + 1, i]]) = (*e, *e);
    }
    let (values, mut vectors) = jacobi::svd(shifted.view());
    // A zero eigenvalue of the shifted matrix has no direction; any one that is orthogonal to the
    // others is right.
    replace_zero_rows(&mut vectors);
    debug_assert_eq!(values.len(), n);
    (values - norm, vectors)
}

/// Replaces rows of zeros, which come last, by unit rows orthogonal to all before them. The other
/// rows are orthonormal, so the part of the unit vector e_j that is orthogonal to them has the
/// squared length 1 − Σ_i r_ij². The longest one is taken; it is at least 1/√width long.
pub(crate) fn replace_zero_rows(rows: &mut Array2<f64>) {
    let (count, width) = rows.dim();
    let mut squares = Array1::<f64>::zeros(width);
    rows.rows().into_iter().for_each(|row| squares += &(&row * &row));
    for i in (0..count).filter(|&i| rows.row(i).iter().all(|x| *x == 0.0)).collect::<Vec<_>>() {
        let shortest = squares.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        let (j, _) = shortest.expect("a matrix that has rows has columns");
        let mut unit = Array1::<f64>::zeros(width);
        unit[j] = 1.0;
        for _ in 0..2 {
            let along = rows.dot(&unit);
            unit -= &rows.t().dot(&along);
        }
        unit /= unit.dot(&unit).sqrt();
        squares += &(&unit * &unit);
        rows.row_mut(i).assign(&unit);
    }
}

/// All eigenvalues, non-increasing, and eigenvectors, one per row, of a tridiagonal matrix; `None`
/// if faer fails.
fn divide_and_conquer(t: &Tridiagonal<'_>, par: Par) -> Option<(Array1<f64>, Array2<f64>)> {
    let n = t.diagonal.len();
    let (mut values, mut vectors) = (Array1::<f64>::zeros(n), Array2::<f64>::zeros((n, n)));
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, par, Default::default());
    let off_diagonal: Vec<f64> = t.off_diagonal.iter().copied().chain([0.0]).collect();
    evd::tridiagonal_self_adjoint_evd(
        DiagRef::from_slice(t.diagonal),
        DiagRef::from_slice(&off_diagonal),
        DiagMut::from_slice_mut(values.as_slice_mut().expect("a new array is contiguous")),
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

/// The leading eigenpairs of a tridiagonal matrix, or `None` if they are too close together to be
/// separated.
fn leading(t: &Tridiagonal<'_>, wanted: usize) -> Option<(Array1<f64>, Array2<f64>)> {
    let (values, mut vectors) = t.leading(wanted);
    let g = gram(vectors.view());
    let skew = &g - &Array2::<f64>::eye(wanted);
    let separated = skew.iter().map(|x| x * x).sum::<f64>().sqrt() <= MAX_GRAM_DEVIATION;
    let c = cholesky(g.view()).filter(|_| separated)?;
    solve_lower(c.view(), vectors.view_mut());
    (t.residual(values.view(), vectors.view()) <= t.allowed_residual()).then_some((values, vectors))
}
