//! Computes basis and spectrum from any factor of a scatter.
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
//! A Gram matrix squares the condition number, so it does not determine singular values below √ε
//! s₁. Here it only provides a rotation. F = U_r A involves no division and keeps every digit of A,
//! and its rows are orthogonal up to ε s₁² and sorted by length. The second, *scaled* Gram matrix N
//! Nᵀ is close to the identity, so its Cholesky factor restores orthogonality, and Δ C gives the
//! singular values up to ε s₁, as an SVD of A would, with four matrix products. If N is orthonormal
//! up to rounding (no direction is weak), then V = N and Δ = diag(s). Only if N is far from
//! orthogonal (several directions are below √ε s₁), the rows of F are made orthogonal by Jacobi
//! rotations (`jacobi.rs`).
//!
//! Rotations mix rows, never columns. So the rounding of a column is relative to its own length
//! √q_j, even if features have different units and the shortest column is ε² of the longest. A row
//! of F is left out as rounding if it is rounding in every column. (The SVD of small problems mixes
//! columns. It is used if no feature is much smaller than the largest direction.)
//!
//! Rows of A that come from a model, or from the factor of a stream, are already orthogonal to each
//! other ([`Stacked`]), so their products are not computed. The rows of two models that are merged
//! are not even written down (`combined.rs`).
//!
//! Cost: O(D q²), all of it in products that run in parallel.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Slice};

use crate::linalg::jacobi;
use crate::linalg::{self, Eigen, PANEL};
use crate::model::basis::Basis;
use crate::model::bound::{Rounding, UNIT};
use crate::model::moments::Moments;
use crate::model::spectrum::Spectrum;
use crate::model::truncation::{Rank, Truncation};

/// Up to this number of features, an SVD of the factor is as fast as the other methods.
pub(crate) const SVD_FEATURES: usize = 128;
/// If the scatter of a feature is this many times smaller than the largest eigenvalue, the feature
/// would lose digits in an SVD.
pub(crate) const DIFFERENT_SCALES: f64 = 4096.0;
/// Up to this factor, the loss of digits of small features is accepted and counted; above it, a
/// slower method avoids it.
const VERY_DIFFERENT_SCALES: f64 = 65_536.0;
/// Singular values below this count as zero, because their squares underflow.
pub(crate) const SMALLEST_SINGULAR_VALUE: f64 = 1e-150;
/// A pivot of the Cholesky factor of N Nᵀ below this means that N is far from orthogonal.
const MIN_PIVOT: f64 = 0.5;

/// Rows count as orthonormal if no entry of their Gram matrix differs from the identity by more
/// than this.
pub(crate) const ORTHONORMALITY_TOLERANCE: f64 = 1e-13;

/// A: any rows with AᵀA = M. It begins with groups of rows that are orthogonal within each group;
/// `groups` holds their sizes.
pub(crate) struct Stacked<'a> {
    pub(crate) rows: Array2<f64>,
    pub(crate) groups: &'a [usize],
}

impl From<Array2<f64>> for Stacked<'_> {
    fn from(rows: Array2<f64>) -> Self {
        Self { rows, groups: &[] }
    }
}

/// A basis, its spectrum, the largest dropped squared singular value, and the rounding.
pub(crate) struct Reduced {
    pub(crate) basis: Basis,
    pub(crate) spectrum: Spectrum,
    pub(crate) lost: f64,
    /// Whether the dropped direction is more than the rows can span: then it is rounding, unless
    /// something was truncated before.
    pub(crate) beyond_rows: bool,
    pub(crate) rounding: Rounding,
}

/// How a factor is decomposed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Route {
    /// Whichever is faster; both are equally accurate.
    Auto,
    /// The singular value decomposition of the factor itself.
    Svd,
    /// The products described above.
    Products,
}

/// The eigenspace of the scatter `aᵀ a` of rows with these moments.
pub(crate) fn reduce<'a>(
    a: impl Into<Stacked<'a>>,
    route: Route,
    truncation: Truncation,
    moments: &Moments,
) -> Reduced {
    let mut a = a.into();
    let (rows, features) = a.rows.dim();
    fill_constant(&mut a.rows, moments.scatter().view());
    let decomposed = if route == Route::Svd || (route == Route::Auto && is_small(rows, features)) {
        let largest = moments.scatter().iter().fold(0.0, |a: f64, b| a.max(*b));
        if have_different_scales(moments.scatter().view(), largest, DIFFERENT_SCALES) {
            turned(a.rows.view(), moments.scatter().view())
        } else {
            by_svd_of_varying(a.rows.view(), moments.scatter().view())
        }
    } else {
        linalg::inside(|| by_products(a, truncation.rank_limit(), moments.scatter().view()))
    };
    decomposed.cut(truncation, moments)
}

/// Whether an SVD of the factor is as fast as the other methods, or the only one.
pub(crate) fn is_small(rows: usize, features: usize) -> bool {
    features <= SVD_FEATURES || rows > features
}

/// Whether the scatter of some feature is this many times smaller than the largest eigenvalue.
pub(crate) fn have_different_scales(q: ArrayView1<'_, f64>, largest: f64, ratio: f64) -> bool {
    q.iter().any(|q| *q > 0.0 && *q * ratio < largest)
}

/// Singular values and directions, before anything is dropped.
pub(crate) struct Decomposed {
    /// Non-increasing singular values.
    pub(crate) values: Array1<f64>,
    /// One direction per row, for each value.
    pub(crate) directions: Array2<f64>,
    /// The next squared singular value, if not all were computed.
    pub(crate) beyond: f64,
    /// Singular values up to this one are rounding.
    pub(crate) floor: f64,
    pub(crate) rounding: Rounding,
}

impl Decomposed {
    /// Drops singular values that are rounding, applies the rule, orients the basis.
    pub(crate) fn cut(self, truncation: Truncation, moments: &Moments) -> Reduced {
        let floor = self.floor.max(SMALLEST_SINGULAR_VALUE);
        let mut squared: Vec<f64> = self.values.iter().take_while(|s| **s > floor).map(|s| s * s).collect();
        let live = squared.len();
        if live == self.values.len() && self.beyond > floor * floor {
            squared.push(self.beyond);
        }
        let cut = truncation.cut(&squared, moments.total(), live);
        // The largest number of directions that the rows can span.
        let beyond_rows = moments.rank_limit() < cut.keep;
        let cut = if beyond_rows { truncation.cut(&squared, moments.total(), moments.rank_limit()) } else { cut };
        let keep = squared[..cut.keep].iter().take_while(|&&value| value > cut.shrink).count();
        let values = self.values.slice_axis(Axis(0), Slice::from(..keep));
        let values = if cut.shrink > 0.0 { values.mapv(|s| (s * s - cut.shrink).sqrt()) } else { values.to_owned() };
        let whole = keep == self.directions.nrows() && self.directions.is_standard_layout();
        let directions =
            if whole { self.directions } else { linalg::rows_of(self.directions.view(), 0..keep).to_owned() };
        let first_dropped = self.values.get(live).map_or(0.0, |s| s * s);
        // Rows too short to be squared were not made orthogonal to each other.
        let dropped = if self.floor < SMALLEST_SINGULAR_VALUE {
            self.values.iter().skip(live).map(|s| s * s).sum()
        } else {
            first_dropped
        };
        let rounding = self.rounding.plus_whole_error(dropped);
        Reduced {
            basis: Basis::oriented(directions),
            spectrum: Spectrum::sorted(values),
            lost: cut.lost,
            beyond_rows,
            rounding,
        }
    }
}

/// The rounding of a rotation of `rows` rows.
pub(crate) fn rotation(rows: usize) -> Rounding {
    Rounding::of_columns(2.0 * (rows as f64 + 16.0) * UNIT, rows)
}

/// By the singular value decomposition, which `decomposes` in `linalg/` has checked.
pub(crate) fn by_svd(a: ArrayView2<'_, f64>) -> Decomposed {
    let (values, directions) = linalg::thin_svd(a);
    let (size, largest) = (values.len() as f64, values.first().copied().unwrap_or(0.0));
    let whole = 4.0 * (size + 16.0) * UNIT * largest * largest;
    let floor = 2.0 * UNIT * (16.0 + 4.0 * size.sqrt()) * largest;
    Decomposed { values, directions, beyond: 0.0, floor, rounding: Rounding::whole(whole) }
}

/// The same for the features that vary, so that weak directions are not mixed with constant
/// features.
fn by_svd_of_varying(a: ArrayView2<'_, f64>, q: ArrayView1<'_, f64>) -> Decomposed {
    let varying = varying(q);
    if varying.len() == q.len() {
        return by_svd(a);
    }
    let decomposed = by_svd(a.select(Axis(1), &varying).view());
    Decomposed { directions: among_all(decomposed.directions.view(), &varying, q.len()), ..decomposed }
}

/// The features that vary.
pub(crate) fn varying(q: ArrayView1<'_, f64>) -> Vec<usize> {
    (0..q.len()).filter(|&j| q[j] > 0.0).collect()
}

/// Expands rows of some features to all features, with zeros in the others.
pub(crate) fn among_all(rows: ArrayView2<'_, f64>, some: &[usize], features: usize) -> Array2<f64> {
    let mut all = Array2::zeros((rows.nrows(), features));
    some.iter().zip(rows.columns()).for_each(|(&j, column)| all.column_mut(j).assign(&column));
    all
}

/// By rotations of the rows, which keep the digits of every feature.
fn turned(a: ArrayView2<'_, f64>, q: ArrayView1<'_, f64>) -> Decomposed {
    let rows = a.nrows();
    let mut f = linalg::no_more_rows_than_columns(a);
    jacobi::orthogonalize(&mut f);
    let significant_rows = significant_rows(f.view(), q, rows.min(a.ncols()));
    directions_of(f.select(Axis(0), &significant_rows), rotation(4 * rows.min(2 * a.ncols())))
}

/// Orthogonal rows, sorted by length, as directions and singular values.
fn directions_of(mut f: Array2<f64>, rounding: Rounding) -> Decomposed {
    let mut values = linalg::squared_lengths(f.view()).mapv(f64::sqrt);
    // Lengths that are equal up to rounding keep their order.
    (1..values.len()).for_each(|i| values[i] = values[i].min(values[i - 1]));
    f.rows_mut().into_iter().zip(&values).for_each(|(mut row, value)| row /= *value);
    Decomposed { values, directions: f, beyond: 0.0, floor: 0.0, rounding }
}

/// The indices of the rows of a factor that are more than rounding in some feature.
pub(crate) fn significant_rows(f: ArrayView2<'_, f64>, q: ArrayView1<'_, f64>, rows: usize) -> Vec<usize> {
    let limits = rounding_limits(q, rows);
    (0..f.nrows()).filter(|&i| f.row(i).iter().zip(&limits).any(|(x, limit)| x.abs() > *limit)).collect()
}

/// Cells of a factor up to these limits, one for each feature, are rounding.
pub(crate) fn rounding_limits(q: ArrayView1<'_, f64>, rows: usize) -> Vec<f64> {
    let relative = 16.0 * (rows as f64 + 4.0).sqrt() * UNIT;
    q.iter().map(|q| relative * q.sqrt()).collect()
}

/// The leading `limit` directions, as described above.
fn by_products(a: Stacked<'_>, limit: Rank, q: ArrayView1<'_, f64>) -> Decomposed {
    let Stacked { rows: mut f, groups } = a;
    let turn = Turn::of(linalg::gram_with_orthogonal_groups(f.view(), groups).view(), limit);
    // F overwrites A, which may be large.
    linalg::rotate_in_place(turn.u.view(), f.view_mut());
    f.slice_axis_inplace(Axis(0), Slice::from(..turn.u.nrows()));
    turn.decomposed(f, q)
}

/// A constant feature is zero in every direction, without rounding.
pub(crate) fn fill_constant(rows: &mut Array2<f64>, q: ArrayView1<'_, f64>) {
    for (j, _) in q.iter().enumerate().filter(|(_, q)| **q == 0.0) {
        rows.column_mut(j).fill(0.0);
    }
}

/// What the Gram matrix of A provides.
pub(crate) struct Turn {
    /// U_r, with rows divided by `scales`.
    pub(crate) u: Array2<f64>,
    /// The lengths of the rows of U A according to λ, as far as λ is accurate, so that strong rows
    /// become unit rows.
    pub(crate) scales: Array1<f64>,
    /// λ₁.
    pub(crate) largest: f64,
    /// The next eigenvalue, if not all rows of U are there.
    pub(crate) beyond: f64,
    pub(crate) rounding: Rounding,
}

impl Turn {
    /// From the lower triangle of A Aᵀ.
    pub(crate) fn of(gram: ArrayView2<'_, f64>, limit: Rank) -> Self {
        let rows = gram.nrows();
        let keep = limit.of(rows);
        let eigen = Eigen::of(gram, keep + 1);
        // Bound on the error of an eigenvalue of the Gram matrix.
        let largest = eigen.values.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let doubt = 8.0 * (rows as f64 + 16.0) * UNIT * largest;
        let beyond = eigen.values.get(keep).map_or(0.0, |value| value.max(0.0));
        let rounding = rotation(3 * rows).with_whole_error(if keep < rows { doubt } else { 0.0 });
        let scales = eigen.values.mapv(|value| value.max(f64::EPSILON * largest).sqrt());
        let mut u = eigen.vectors(0..keep);
        u.rows_mut().into_iter().zip(&scales).for_each(|(mut row, scale)| row /= *scale);
        Self { u, scales, largest, beyond, rounding }
    }

    /// Directions and singular values of F = U A.
    pub(crate) fn decomposed(self, mut f: Array2<f64>, q: ArrayView1<'_, f64>) -> Decomposed {
        let Self { u, scales, largest, beyond, rounding } = self;
        let (keep, rows) = u.dim();
        // Rows of F that are only rounding have no direction. This is decided by their cells, not
        // by λ: below √ε s₁, the eigenvectors of A Aᵀ mix weak directions with empty ones, and each
        // row may contain a part of a weak direction.
        let squares = linalg::gram(f.view());
        let lengths: Vec<f64> =
            squares.diag().iter().zip(&scales).map(|(square, scale)| square.sqrt() * scale).collect();
        let weak = f64::EPSILON.sqrt() * largest.sqrt();
        let significant_rows: Vec<usize> = {
            let doubtful: Vec<usize> = (0..keep).filter(|&i| lengths[i] <= weak).collect();
            let mut some = f.select(Axis(0), &doubtful);
            some.rows_mut().into_iter().zip(&doubtful).for_each(|(mut row, &i)| row *= scales[i]);
            let real: Vec<usize> = significant_rows(some.view(), q, rows).into_iter().map(|i| doubtful[i]).collect();
            (0..keep).filter(|i| lengths[*i] > weak || real.contains(i)).collect()
        };
        keep_rows(&mut f, &significant_rows);
        let squares = squares.select(Axis(0), &significant_rows).select(Axis(1), &significant_rows);
        let lengths = Array1::from_iter(significant_rows.iter().map(|&i| lengths[i]));
        let orthonormal = squares
            .indexed_iter()
            .all(|((i, j), x)| (x - f64::from(u8::from(i == j))).abs() <= ORTHONORMALITY_TOLERANCE);
        if orthonormal && lengths.windows(2).into_iter().all(|pair| pair[0] >= pair[1]) {
            // A direction is longer or shorter than 1 by this, and so is its row of the factor.
            let off = squares.diag().iter().fold(0.0_f64, |off, square| off.max((square - 1.0).abs()));
            let rounding = rounding.plus_column_error(off);
            return Decomposed { values: lengths, directions: f, beyond, floor: 0.0, rounding };
        }
        let norms = squares.diag().mapv(f64::sqrt);
        let scaled = Array2::from_shape_fn(squares.raw_dim(), |(i, j)| squares[[i, j]] / (norms[i] * norms[j]));
        let safe = linalg::cholesky(scaled.view()).filter(|c| c.diag().iter().all(|&pivot| pivot > MIN_PIVOT));
        // The SVD of the small problem mixes rows with an error of ε, which is too much for a
        // feature with a small spread. In that case, rows are rotated instead.
        let amplified = amplification(f.view(), &norms, lengths.first().copied().unwrap_or(0.0), q);
        let Some(c) = safe.filter(|_| amplified <= VERY_DIFFERENT_SCALES) else {
            let greatest = q.iter().fold(0.0, |a: f64, b| a.max(*b));
            if !have_different_scales(q, greatest, DIFFERENT_SCALES) {
                // No feature is much smaller than the others, so columns may be mixed, which is
                // faster.
                f.rows_mut().into_iter().zip(&significant_rows).for_each(|(mut row, &i)| row *= scales[i]);
                let decomposed = by_svd_of_varying(f.view(), q);
                let rounding = rounding.plus_whole_error(decomposed.rounding.whole_error());
                return Decomposed { beyond, rounding, ..decomposed };
            }
            f.rows_mut().into_iter().zip(&significant_rows).for_each(|(mut row, &i)| row *= scales[i]);
            jacobi::orthogonalize(&mut f);
            let significant_rows = self::significant_rows(f.view(), q, rows);
            return Decomposed { beyond, ..directions_of(f.select(Axis(0), &significant_rows), rounding) };
        };
        let mut core = c.clone();
        for (mut row, length) in core.rows_mut().into_iter().zip(&lengths) {
            row *= *length;
        }
        let (values, mut turn) = linalg::thin_svd(core.view());
        linalg::solve_lower_on_the_right(c.view(), turn.view_mut());
        for (mut column, norm) in turn.columns_mut().into_iter().zip(&norms) {
            column /= *norm;
        }
        let directions = linalg::rotate(turn.view(), f.view());
        // An error of ΔC with the norm μ s₁ changes column j of the factor by at most μ s₁ |v_j|,
        // where v_j is that column of V. The SVD and C⁻¹ have an error of 4 (r + 16) u s₁ together.
        let mixed = 4.0 * (values.len() as f64 + 16.0) * UNIT;
        let rounding = rounding.with_mixed_rows(mixed, largest_share(directions.view(), &values, q));
        Decomposed { values, directions, beyond, floor: 0.0, rounding }
    }
}

/// Keeps only these rows, in order, without copying the others.
fn keep_rows(f: &mut Array2<f64>, rows: &[usize]) {
    for (to, &from) in rows.iter().enumerate().filter(|(to, from)| to != *from) {
        let (mut before, after) = f.view_mut().split_at(Axis(0), from);
        before.row_mut(to).assign(&after.row(0));
    }
    f.slice_axis_inplace(Axis(0), Slice::from(..rows.len()));
}

/// The largest s₁ |v_j| / √q_j: how much an error of ε s₁ can change a feature.
fn largest_share(directions: ArrayView2<'_, f64>, values: &Array1<f64>, q: ArrayView1<'_, f64>) -> f64 {
    let largest = values.first().copied().unwrap_or(0.0);
    let panels = directions.axis_chunks_iter(Axis(1), PANEL).into_par_iter().zip(q.axis_chunks_iter(Axis(0), PANEL));
    let of_panel = |(directions, q): (ArrayView2<'_, f64>, ArrayView1<'_, f64>)| {
        let mut squares = Array1::<f64>::zeros(q.len());
        directions.rows().into_iter().for_each(|row| squares.zip_mut_with(&row, |sum, x| *sum += x * x));
        squares
            .iter()
            .zip(q)
            .fold(0.0_f64, |worst, (v, q)| if *q > 0.0 { worst.max(v.sqrt() / q.sqrt()) } else { worst })
    };
    largest * panels.map(of_panel).reduce(|| 0.0, f64::max)
}

/// The largest entry of a direction, times s₁, relative to the spread of its feature: how much an
/// error of ε can change the feature.
fn amplification(f: ArrayView2<'_, f64>, norms: &Array1<f64>, largest: f64, q: ArrayView1<'_, f64>) -> f64 {
    let reciprocals: Vec<f64> = q.iter().map(|q| if *q > 0.0 { largest / q.sqrt() } else { 0.0 }).collect();
    let each = f.axis_iter(Axis(0)).into_par_iter().zip(norms.as_slice().expect("a new array is contiguous"));
    let worst = |(row, norm): (ArrayView1<'_, f64>, &f64)| {
        row.iter().zip(&reciprocals).fold(0.0_f64, |worst, (x, spread)| worst.max(x.abs() * spread)) / norm
    };
    each.map(worst).reduce(|| 0.0, f64::max)
}
