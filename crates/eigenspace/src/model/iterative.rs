//! Batch PCA of few components, from products with the centered rows.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | A | | n × D, the centered rows, each multiplied by the root of its weight; M = AᵀA |
//! | V, θ | `leading` | the leading approximate eigenpairs of M (D ≤ n) or of A Aᵀ (n < D) |
//! | F | `factor` | r × D, the kept part of A |
//!
//! ```text
//! D ≤ n    V M = Θ V + R,   F = Θ^(−1/2) V M        M − FᵀF = (I − P) M (I − P) − RᵀΘ⁻¹R,   P = VᵀV
//! n < D    F = V A                                  M − FᵀF = Aᵀ (I − P) A
//! ```
//!
//! In both cases F = U A for some orthonormal rows U, so 0 ≤ M − FᵀF ≤ lost, where `lost` bounds
//! the largest eigenvalue of what V leaves out. That holds however far the iteration has converged;
//! `linalg/remainder.rs` computes the bound. It holds with a stated probability, unless the trace
//! of what is left out is as small.
//!
//! Cost: 4 n D operations for each multiplied vector (4 z for z non-zeros), a few times k of them.

use ndarray::{Array1, Array2, ArrayView2};

use crate::error::Error;
use crate::linalg::krylov::{Krylov, Leading, Request};
use crate::linalg::remainder::{FAILURE, remainder};
use crate::linalg::{self, Implicit, Operator, SUMMED, Slices};
use crate::model::bound::{Bound, Rounding, UNIT, largest};
use crate::model::decompose::{Route, have_different_scales, reduce};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::moments::{Absorbed, Moments};
use crate::model::sparse_columns::SparseColumns;
use crate::model::truncation::{Components, Truncation};
use crate::rows::block::Block;

/// Vectors that are multiplied together with dense rows: more of them take less time each.
const DENSE_WIDTH: usize = 16;
/// The same for sparse rows, whose cells need entries of the vectors in any order: so few that most
/// entries are still in a cache. An iteration with fewer vectors at a time also converges after
/// fewer products.
const SPARSE_WIDTH: usize = 4;
/// If the scatter of a feature is this many times smaller than that of another, the rows are
/// decomposed directly, which keeps the digits of every feature.
const MAX_SCATTER_RATIO: f64 = 1_048_576.0;
/// Directions with less than this share of the largest eigenvalue need a direct method.
const MIN_SHARE: f64 = 1e-8;
/// The trace bounds what is left out well enough if it is at most this multiple of the largest
/// eigenvalue in it.
const TRACE_IS_CLOSE: f64 = 1.5;
/// How often directions that random vectors have found may be added.
const MAX_ADDITIONS: usize = 3;
/// Fewer cells than this are decomposed directly.
const MIN_CELLS: usize = 1 << 22;
/// An iteration must leave out at least this many times the directions that it keeps.
const MIN_RATIO: usize = 8;
/// Operations, for each cubed row of an eigenproblem, that take as long as those of products.
const EIGENPROBLEM: f64 = 12.0;

/// What an iterative fit has to find.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// Number of directions that must converge.
    pub(crate) converged: usize,
    /// Number of directions to keep.
    pub(crate) kept: usize,
}

impl Wanted {
    /// Whether an iteration is possible: much of the space is left out.
    pub(crate) fn is_possible(self, rows: usize, features: usize) -> bool {
        let size = rows.min(features);
        self.kept > 0 && self.kept.saturating_mul(MIN_RATIO).saturating_add(8 * DENSE_WIDTH) <= size
    }

    /// Whether an iteration over dense rows is probably faster than a direct method.
    pub(crate) fn is_faster(self, rows: usize, features: usize) -> bool {
        let cells = rows.saturating_mul(features);
        let products = self.products() as f64 / 4.0;
        cells >= MIN_CELLS && 4.0 * products * cells as f64 <= 0.5 * direct_cost(rows, features)
    }

    /// Most vectors to multiply before giving up.
    fn products(self) -> usize {
        self.converged.saturating_mul(20).saturating_add(400)
    }

    fn request(self, width: usize) -> Request {
        let room = (self.kept + 12 * width).max(3 * self.converged + 4 * width);
        Request { wanted: self.converged, kept: self.kept, room, products: self.products() }
    }
}

/// Operations of a direct method for dense rows.
fn direct_cost(rows: usize, features: usize) -> f64 {
    let size = rows.min(features) as f64;
    rows as f64 * features as f64 * size + EIGENPROBLEM * size.powi(3)
}

/// The model of rows that were checked, or `None` if a direct method is needed: the features have
/// different scales, or wanted directions are too weak. `moments` are those of zero rows.
/// `must_converge`: also `None` if it does not.
pub(crate) fn iterate(
    rows: Block<'_>,
    moments: &Moments,
    wanted: Wanted,
    components: Components,
    must_converge: bool,
) -> Result<Option<EigenspaceModel>, Error> {
    if !wanted.is_possible(rows.nrows(), rows.ncols()) {
        return Ok(None);
    }
    if rows.sparse().is_some() {
        let Some((columns, absorbed)) = SparseColumns::of(&rows, moments)? else { return Ok(None) };
        if !wanted.is_possible(columns.rows(), rows.ncols()) || !is_moderate(absorbed.moments().total()) {
            return Ok(None);
        }
        let task = Task { moments, absorbed, wanted, components, must_converge };
        return Ok(linalg::inside(|| task.sparse(columns)));
    }
    let (mut a, weights) = rows.widened();
    let absorbed = moments.absorb(a.view_mut(), weights.as_deref())?;
    let q = absorbed.moments().scatter();
    if !wanted.is_possible(a.nrows(), a.ncols()) || have_different_scales(q.view(), largest(q), MAX_SCATTER_RATIO) {
        return Ok(None);
    }
    if !is_moderate(absorbed.moments().total()) {
        return Ok(None);
    }
    // A constant feature is zero in every direction, without rounding.
    for (j, _) in q.iter().enumerate().filter(|(_, q)| **q == 0.0) {
        a.column_mut(j).fill(0.0);
    }
    let task = Task { moments, absorbed, wanted, components, must_converge };
    Ok(linalg::inside(|| task.dense(a)))
}

/// Whether squares of the scatter neither overflow nor vanish.
fn is_moderate(total: f64) -> bool {
    (1e-120..1e120).contains(&total)
}

/// The power of two by which rows of this total scatter are multiplied where squares of the scatter
/// would overflow or vanish; otherwise 1.
pub(crate) fn scale_of_rows(total: f64) -> f64 {
    if total <= 0.0 || is_moderate(total) { 1.0 } else { (-total.log2() / 2.0).round().clamp(-500.0, 500.0).exp2() }
}

/// √(a b), also where a b overflows or vanishes.
fn geometric_mean(a: f64, b: f64) -> f64 {
    let product = a * b;
    if product.is_normal() || a == 0.0 || b == 0.0 { product.sqrt() } else { a.sqrt() * b.sqrt() }
}

struct Task<'a> {
    moments: &'a Moments,
    absorbed: Absorbed,
    wanted: Wanted,
    components: Components,
    must_converge: bool,
}

/// Directions, a bound on what they leave out, and the probability that it does not hold.
struct Found {
    leading: Leading,
    lost: f64,
    failure_probability: f64,
}

impl Task<'_> {
    fn dense(self, a: Array2<f64>) -> Option<EigenspaceModel> {
        let (rows, features) = a.dim();
        // Sums over the features, and over an eighth of the rows.
        let rounding = (rows + features + 32) as f64 * UNIT;
        if rows >= features {
            let found = self.find::<_, DENSE_WIDTH>(&Implicit(a.view()), rounding)?;
            return Some(self.by_images(found, rounding));
        }
        let transposed = a.t().as_standard_layout().into_owned();
        drop(a);
        let found = self.find::<_, DENSE_WIDTH>(&Implicit(transposed.view()), rounding)?;
        let factor = linalg::rotate(found.leading.vectors.view(), transposed.t());
        Some(self.by_factor(factor, found, rounding))
    }

    fn sparse(self, columns: SparseColumns) -> Option<EigenspaceModel> {
        let (rows, features) = (columns.rows(), self.absorbed.moments().features());
        let sums = columns.longest_row + columns.longest_column + SUMMED + (rows + features) / SUMMED + 32;
        let rounding = 4.0 * sums as f64 * UNIT;
        if rows >= features {
            let slices = columns.by_rows();
            let found = self.find::<_, SPARSE_WIDTH>(&slices, rounding)?;
            return Some(self.by_images(found, rounding));
        }
        let slices = columns.by_columns();
        let found = self.find::<_, SPARSE_WIDTH>(&slices, rounding)?;
        let factor = sparse_factor(&slices, found.leading.vectors.view());
        Some(self.by_factor(factor, found, rounding))
    }

    /// The trace of the scatter, and a bound on its error.
    fn total(&self) -> (f64, f64) {
        let bound = Bound::exact(self.absorbed.moments().features()).absorbed(self.moments, &self.absorbed);
        (self.absorbed.moments().total(), bound.scatter_noise().sum())
    }

    /// Iterates until nothing larger than the wanted directions is left.
    fn find<O: Operator<W>, const W: usize>(&self, operator: &O, rounding: f64) -> Option<Found> {
        let mut krylov = Krylov::<O, W>::new(operator, self.wanted.request(W));
        let (total, noise) = self.total();
        for addition in 0..=MAX_ADDITIONS {
            let leading = krylov.run();
            let first = leading.values.first().copied().unwrap_or(0.0);
            let last = leading.values.get(self.wanted.converged - 1).copied().unwrap_or(0.0);
            let weak = first <= 0.0 || last < MIN_SHARE * first;
            if weak || (!leading.converged && self.must_converge) {
                return None;
            }
            let round_off = 2.0 * rounding * (first * total).sqrt() * leading.values.len() as f64;
            let trace = (total - leading.values.sum()).max(0.0) + noise + round_off;
            if trace <= TRACE_IS_CLOSE * leading.next {
                return Some(Found { leading, lost: trace, failure_probability: 0.0 });
            }
            let left = remainder::<O, W>(operator, leading.vectors.view());
            if left.found > last * (1.0 + 1e-9) && addition < MAX_ADDITIONS {
                krylov.also(left.directions.view());
                continue;
            }
            let failure_probability = if trace <= left.bound { 0.0 } else { FAILURE };
            return Some(Found { leading, lost: trace.min(left.bound), failure_probability });
        }
        None
    }

    /// F = Θ^(−1/2) V M.
    fn by_images(self, found: Found, rounding: f64) -> EigenspaceModel {
        let Leading { values, vectors, images, .. } = &found.leading;
        let (factor, rounded) =
            factor_of_images(values, vectors.view(), images.view(), self.absorbed.moments().total(), rounding);
        self.model(factor, rounded, found, rounding)
    }

    /// F = V A.
    fn by_factor(self, factor: Array2<f64>, found: Found, rounding: f64) -> EigenspaceModel {
        let kept = factor.nrows();
        let columns = rounding * (kept as f64).sqrt();
        let rounded = Rounding::of_columns(columns, kept);
        self.model(factor, rounded, found, rounding)
    }

    fn model(self, factor: Array2<f64>, rounded: Rounding, found: Found, rounding: f64) -> EigenspaceModel {
        let Found { leading, lost, failure_probability } = found;
        let bound = Bound::exact(self.absorbed.moments().features()).absorbed(self.moments, &self.absorbed);
        let known = Known {
            moments: self.absorbed.into_moments(),
            bound,
            lost,
            failure_probability,
            components: self.components,
        };
        known.model(factor, rounded, (&leading.values, leading.vectors.view()), rounding)
    }
}

/// F = Θ^(−1/2) V M for approximate eigenpairs Θ and V with the images V M, without values that are
/// too weak for it, and the rounding of F. `total`, the trace of M, is moderate (see
/// [`scale_of_rows`]).
pub(crate) fn factor_of_images(
    values: &Array1<f64>,
    vectors: ArrayView2<'_, f64>,
    images: ArrayView2<'_, f64>,
    total: f64,
    rounding: f64,
) -> (Array2<f64>, Rounding) {
    let first = values.first().copied().unwrap_or(0.0);
    let keep = values.iter().take_while(|value| **value >= MIN_SHARE * first && **value > 0.0).count();
    let (images, vectors) = (linalg::rows_of(images, 0..keep), linalg::rows_of(vectors, 0..keep));
    let mut factor = images.to_owned();
    factor.rows_mut().into_iter().zip(values).for_each(|(mut row, value)| row /= value.sqrt());
    // δ: the rounding of V M. κ: the difference between V M Vᵀ and Θ. a: the residuals beside the
    // values.
    let delta = 2.0 * rounding * (first * total * keep as f64).sqrt();
    let mut off = linalg::cross(images, vectors);
    let mut residuals = 0.0;
    for (i, value) in values.iter().take(keep).enumerate() {
        off[[i, i]] -= value;
        let residual: f64 = images.row(i).iter().zip(vectors.row(i)).map(|(z, v)| (z - value * v).powi(2)).sum();
        residuals += residual / (value * value);
    }
    let kappa = off.iter().map(|x| x * x).sum::<f64>().sqrt();
    let a = 1.0 + residuals.sqrt();
    let last = values.get(keep.saturating_sub(1)).copied().unwrap_or(1.0);
    (factor, Rounding::whole(a * a * (kappa + delta) + 2.0 * a * delta + delta * delta / last))
}

/// What is known of rows beside the leading part of their scatter.
pub(crate) struct Known {
    pub(crate) moments: Moments,
    /// The error of the moments, and of the centered rows.
    pub(crate) bound: Bound,
    /// A bound on the largest eigenvalue of what the directions leave out, and the probability that
    /// it does not hold.
    pub(crate) lost: f64,
    pub(crate) failure_probability: f64,
    pub(crate) components: Components,
}

impl Known {
    /// The model with the factor F, which approximate eigenpairs have given.
    pub(crate) fn model(
        self,
        factor: Array2<f64>,
        rounded: Rounding,
        (values, vectors): (&Array1<f64>, ArrayView2<'_, f64>),
        rounding: f64,
    ) -> EigenspaceModel {
        let Self { moments, bound, lost, failure_probability, components } = self;
        let first = values.first().copied().unwrap_or(0.0);
        // What is left out was computed with rounded products, and with directions that are
        // orthonormal up to rounding.
        let skew = linalg::orthogonality_loss(vectors) * vectors.nrows() as f64;
        let whole = 2.0 * rounding * geometric_mean(first, moments.total()) + 4.0 * skew * first;
        // Values that were too weak for F are left out too.
        let lost = values.get(factor.nrows()).map_or(lost, |value| lost + value.max(0.0));
        let bound = bound
            .rounded(rounded, moments.scatter(), first)
            .rounded(Rounding::whole(whole), moments.scatter(), first)
            .losing(lost)
            .failing_with(failure_probability);
        let reduced = reduce(factor, Route::Products, Truncation::None, &moments);
        EigenspaceModel::from_reduced(moments, reduced, bound, components)
    }
}

/// V A, for A by columns.
fn sparse_factor(slices: &Slices, vectors: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut factor = Array2::zeros((vectors.nrows(), slices.count()));
    for start in (0..vectors.nrows()).step_by(SPARSE_WIDTH) {
        let end = vectors.nrows().min(start + SPARSE_WIDTH);
        let lanes = linalg::by_columns::<SPARSE_WIDTH>(linalg::rows_of(vectors, start..end));
        factor.slice_axis_mut(ndarray::Axis(0), (start..end).into()).assign(&slices.times(&lanes, end - start));
    }
    factor
}
