//! From any factor of a scatter to its basis and spectrum.
//!
//! | symbol | in the code | shape |
//! |---|---|---|
//! | A | `a` | q × D, any rows with Aᵀ A = M |
//! | U, λ | `u`, `lambda` | eigenvectors and -values of A Aᵀ |
//! | F | `f` | r × D, = U_r A |
//! | C | `c` | r × r, lower triangular |
//!
//! ```text
//! A Aᵀ = Uᵀ diag(λ) U,   F = U_r A = Δ N   (Δ lengths, N unit rows),   N Nᵀ = C Cᵀ
//! Δ C = Z diag(s) Wᵀ   ⇒   A_r = Z diag(s) V   with   V = Wᵀ C⁻¹ Δ⁻¹ F
//! ```
//!
//! A Gram matrix squares the condition number, so by itself it says nothing of singular values
//! below √ε s₁. Here it only picks a rotation. F = U_r A involves no division and keeps every digit
//! of A, its rows are orthogonal up to ε s₁² and graded, and the second, *scaled* Gram matrix N Nᵀ is
//! close to the identity, so its Cholesky factor repairs orthogonality and Δ C gives the singular
//! values to ε s₁, as an SVD of A would, from four matrix products. Where N is orthonormal to rounding
//! (no direction is weak) it is V, and Δ is diag(s). Only when N is far from orthogonal (several directions
//! below √ε s₁) the SVD of F itself is taken.
//!
//! Rows of A that come from a model, or from the factor of a stream, are orthogonal to each other
//! already ([`Stacked`]): their products are zeros that need not be found.
//!
//! Cost: O(D q²), all of it in products that run in parallel.

use ndarray::{Array1, Array2, Axis, Slice};

use crate::basis::Basis;
use crate::error::Error;
use crate::linalg::{self, Eigen};
use crate::moments::Moments;
use crate::spectrum::Spectrum;
use crate::truncation::Truncation;

/// Up to this many features an SVD of the factor is as fast as anything else.
const SMALL: usize = 128;
/// Singular values below this have squares without digits, and count as none.
pub(crate) const SMALLEST: f64 = 1e-150;
/// A pivot of the Cholesky factor of N Nᵀ below this means that N is far from orthogonal.
const SAFE_PIVOT: f64 = 0.5;

/// Rows whose Gram matrix is nowhere further than this from the identity are orthonormal.
pub(crate) const DRIFT: f64 = 1e-13;

/// A: any rows with AᵀA = M, beginning with groups of so many rows that are orthogonal within their group.
pub(crate) struct Stacked<'a> {
    pub(crate) rows: Array2<f64>,
    pub(crate) groups: &'a [usize],
}

impl From<Array2<f64>> for Stacked<'_> {
    fn from(rows: Array2<f64>) -> Self {
        Self { rows, groups: &[] }
    }
}

/// A basis, its spectrum, and the largest squared singular value that was dropped.
pub(crate) struct Reduced {
    pub(crate) basis: Basis,
    pub(crate) spectrum: Spectrum,
    pub(crate) lost: f64,
}

/// How a factor is decomposed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Route {
    /// Whichever is faster; both see the same digits.
    Auto,
    /// The singular value decomposition of the factor itself.
    Svd,
    /// The products described above.
    Products,
}

/// The eigenspace of the scatter `aᵀ a` of rows with these moments, whose factor is known to a
/// relative `epsilon`.
pub(crate) fn reduce<'a>(
    a: impl Into<Stacked<'a>>,
    route: Route,
    truncation: Truncation,
    moments: &Moments,
    epsilon: f64,
) -> Result<Reduced, Error> {
    let a = a.into();
    let (rows, features) = a.rows.dim();
    let small = features <= SMALL || rows > features;
    let decomposed = if route == Route::Svd || (route == Route::Auto && small) {
        let (values, directions) = linalg::thin_svd(a.rows.view())?;
        Decomposed { values, directions, beyond: 0.0 }
    } else {
        linalg::inside(|| by_products(a, truncation.rank_limit()))?
    };
    let largest = decomposed.values.first().copied().unwrap_or(0.0);
    let rounding = moments.rounding(rows.min(features), largest, epsilon);
    Ok(decomposed.cut(truncation, rounding, moments))
}

/// Singular values and directions, before anything is dropped.
pub(crate) struct Decomposed {
    /// Non-increasing singular values.
    pub(crate) values: Array1<f64>,
    /// One direction per row, for each value.
    pub(crate) directions: Array2<f64>,
    /// The squared singular value after the last of them, when not all were computed.
    pub(crate) beyond: f64,
}

impl Decomposed {
    /// Drops singular values that are rounding, applies the rule, orients the basis.
    pub(crate) fn cut(self, truncation: Truncation, rounding: f64, moments: &Moments) -> Reduced {
        let above = |s: &&f64| **s > rounding.max(SMALLEST);
        let mut squared: Vec<f64> = self.values.iter().take_while(above).map(|s| s * s).collect();
        let live = squared.len();
        if live == self.values.len() && self.beyond > rounding * rounding {
            squared.push(self.beyond);
        }
        // The rows of the model cannot span more directions than this. What lies beyond and is more
        // than rounding was left by a truncated part that was split off, and counts as lost.
        let cut = truncation.cut(&squared, moments.total(), live.min(moments.rank_limit()));
        let keep = squared[..cut.keep].iter().take_while(|&&value| value > cut.shrink).count();
        let values = self.values.slice_axis(Axis(0), Slice::from(..keep));
        let values = if cut.shrink > 0.0 { values.mapv(|s| (s * s - cut.shrink).sqrt()) } else { values.to_owned() };
        let whole = keep == self.directions.nrows() && self.directions.is_standard_layout();
        let directions =
            if whole { self.directions } else { linalg::rows_of(self.directions.view(), 0..keep).to_owned() };
        Reduced { basis: Basis::oriented(directions), spectrum: Spectrum::sorted(values), lost: cut.lost }
    }
}

/// The leading `limit` directions, as described above.
fn by_products(a: Stacked<'_>, limit: usize) -> Result<Decomposed, Error> {
    let Stacked { rows: mut f, groups } = a;
    let rows = f.nrows();
    let eigen = Eigen::of(linalg::gram_beside(f.view(), groups).view(), limit.saturating_add(1))?;
    let keep = limit.min(rows);
    let beyond = eigen.values.get(keep).map_or(0.0, |value| value.max(0.0));
    // Rows of F are divided by what λ says of their lengths, or can say: strong ones come out as directions.
    let largest = eigen.values.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
    let scales = eigen.values.mapv(|value| value.max(f64::EPSILON * largest).sqrt());
    let mut u = eigen.vectors(0..keep);
    u.rows_mut().into_iter().zip(&scales).for_each(|(mut row, scale)| row /= *scale);
    // F takes the place of A, which may be large.
    linalg::rotate_in_place(u.view(), f.view_mut());
    f.slice_axis_inplace(Axis(0), Slice::from(..keep));

    // Rows of F that are rounding carry no direction. Their true length tells, not λ: below √ε s₁ the
    // eigenvectors of A Aᵀ mix weak directions with empty ones, and each row may hold a share.
    let squares = linalg::gram(f.view());
    let lengths: Vec<f64> = squares.diag().iter().zip(&scales).map(|(square, scale)| square.sqrt() * scale).collect();
    let floor = lengths.iter().fold(0.0_f64, |a, &b| a.max(b)) * f64::EPSILON * 4.0 * (rows as f64).sqrt();
    let alive: Vec<usize> = (0..keep).filter(|&i| lengths[i] > floor).collect();
    if alive.len() < keep {
        f = f.select(Axis(0), &alive);
    }
    let squares = squares.select(Axis(0), &alive).select(Axis(1), &alive);
    let lengths = Array1::from_iter(alive.iter().map(|&i| lengths[i]));
    let orthonormal = squares.indexed_iter().all(|((i, j), x)| (x - f64::from(u8::from(i == j))).abs() <= DRIFT);
    if orthonormal && lengths.windows(2).into_iter().all(|pair| pair[0] >= pair[1]) {
        return Ok(Decomposed { values: lengths, directions: f, beyond });
    }
    let norms = squares.diag().mapv(f64::sqrt);
    let scaled = Array2::from_shape_fn(squares.raw_dim(), |(i, j)| squares[[i, j]] / (norms[i] * norms[j]));
    let safe = linalg::cholesky(scaled.view()).filter(|c| c.diag().iter().all(|&pivot| pivot > SAFE_PIVOT));
    let Some(c) = safe else {
        f.rows_mut().into_iter().zip(&alive).for_each(|(mut row, &i)| row *= scales[i]);
        let (values, directions) = linalg::thin_svd(f.view())?;
        return Ok(Decomposed { values, directions, beyond });
    };
    let mut core = c.clone();
    for (mut row, length) in core.rows_mut().into_iter().zip(&lengths) {
        row *= *length;
    }
    let (values, mut turn) = linalg::thin_svd(core.view())?;
    linalg::solve_lower_on_the_right(c.view(), turn.view_mut());
    for (mut column, norm) in turn.columns_mut().into_iter().zip(&norms) {
        column /= *norm;
    }
    let directions = linalg::rotate(turn.view(), f.view());
    Ok(Decomposed { values, directions, beyond })
}
