//! The scatter engine: accumulates the D × D scatter and drops nothing, with one symmetric product
//! per block.
//!
//! ```text
//! M ← M + Σ (x − t)(x − t)ᵀ        with t of `moments.rs`;     M = Vᵀ diag(s²) V
//! ```
//!
//! Two scatters are merged by adding them, without any decomposition:
//!
//! ```text
//! M = M₁ + M₂ + c cᵀ        c = √(w₁ w₂ / (w₁ + w₂)) (μ₁ − μ₂)
//! ```
//!
//! Cost: D² operations per row or merge, 9 D³ to read. Each sum is stored as two f64 numbers, the
//! sum and its rounding error, whatever the element type.
//!
//! Squares halve the number of digits: if the spread along a direction is below √(D ε) of the
//! largest, nothing is known about it. If features have different scales, this depends on their
//! units, so the scatter is then decomposed in units in which every feature has the same spread:
//!
//! ```text
//! C = diag(1/d) M diag(1/d) = Wᵀ diag(μ) W,   d = √q,   A = diag(√μ) W diag(d),   M = AᵀA
//! ```
//!
//! and A is reduced by rotating rows (`decompose.rs`), which keeps the digits of every feature. If
//! directions that are weak *in these units* matter, use the factor engine
//! ([`Engine::Factor`](crate::Engine)) or [`Method::Svd`](crate::Method).

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::linalg::{self, Card, Eigen};
use crate::model::bound::{Bound, Rounding, UNIT};
use crate::model::decompose::{
    DIFFERENT_SCALES, Decomposed, Reduced, Route, among_all, have_different_scales, reduce, varying,
};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::moments::Moments;
use crate::model::truncation::{Components, Rank, Truncation};

/// Number of rows that are added at a time.
pub(crate) const SCATTER_ROWS: usize = 512;
/// If the scatter of a feature is this many times smaller than the largest eigenvalue, it would
/// lose too many digits.
const DIFFERENT_RAW_SCALES: f64 = 1_048_576.0;
/// Bound on the relative rounding of an entry of the scatter.
const SUM_ROUNDING: f64 = (linalg::SCATTER_SUMMED_ROWS as f64 + 16.0) * UNIT;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Scatter {
    moments: Moments,
    bound: Bound,
    /// The lower triangle of M, and its rounding errors.
    matrix: Array2<f64>,
    low: Array2<f64>,
}

impl Scatter {
    pub(crate) fn empty(moments: Moments) -> Self {
        let features = moments.features();
        let (matrix, low) = (Array2::zeros((features, features)), Array2::zeros((features, features)));
        Self::new(moments, Bound::exact(features), matrix, low)
    }

    /// The scatter of rows with these moments and this bound. `matrix`: its lower triangle; `low`:
    /// the rounding errors of `matrix`.
    pub(crate) fn new(moments: Moments, bound: Bound, matrix: Array2<f64>, low: Array2<f64>) -> Self {
        Self { moments, bound, matrix, low }
    }

    pub(crate) fn moments(&self) -> &Moments {
        &self.moments
    }

    pub(crate) fn moments_mut(&mut self) -> &mut Moments {
        &mut self.moments
    }

    pub(crate) fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The lower triangle of M.
    pub(crate) fn matrix(&self) -> &Array2<f64> {
        &self.matrix
    }

    /// The rounding errors of the matrix.
    pub(crate) fn low(&self) -> &Array2<f64> {
        &self.low
    }

    /// The matrix and its rounding errors.
    pub(crate) fn into_parts(self) -> (Array2<f64>, Array2<f64>) {
        (self.matrix, self.low)
    }

    /// The lower triangle of M as one matrix.
    pub(crate) fn into_sum(self) -> Array2<f64> {
        self.matrix + self.low
    }

    /// The scatter of a model.
    pub(crate) fn of(model: &EigenspaceModel) -> Self {
        let mut scatter = Self::empty(model.moments.clone());
        linalg::add_scatter(&mut scatter.matrix, &mut scatter.low, model.factor().view());
        scatter.bound = model.bound.clone();
        scatter
    }

    /// Adds rows, which are centered in place.
    pub(crate) fn absorb(&mut self, mut rows: ArrayViewMut2<'_, f64>, weights: Option<&[f64]>) -> Result<(), Error> {
        let absorbed = self.moments.absorb(rows.view_mut(), weights)?;
        linalg::add_scatter(&mut self.matrix, &mut self.low, rows.view());
        self.bound = self.bound.absorbed(&self.moments, &absorbed);
        self.moments = absorbed.into_moments();
        Ok(())
    }

    /// Adds the rows of another scatter: M ← M₁ + M₂ + c cᵀ.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), Error> {
        // The set of rows with the larger weight comes first, which is more precise.
        let heavier = self.moments.weight().value() >= other.moments.weight().value();
        let (one, two) = if heavier { (&*self, other) } else { (other, &*self) };
        let (moments, c) = one.moments.merge(&two.moments)?;
        let weights = (one.moments.weight().value(), two.moments.weight().value());
        let mut bound = one.bound.combined(&two.bound, weights, moments.scatter(), &c);
        bound.underflowed(&c.mapv(|c| c * c), &c, 1.0);
        // The sums are in doubled precision, so adding them rounds less than `SUM_ROUNDING` allows
        // for.
        linalg::add_lower_triangle(&mut self.matrix, &mut self.low, other.matrix.view(), other.low.view());
        linalg::add_scatter(&mut self.matrix, &mut self.low, c.view().insert_axis(Axis(0)));
        (self.moments, self.bound) = (moments, bound);
        Ok(())
    }

    /// Subtracts rows that are already centered.
    pub(crate) fn take_out(&mut self, rows: &Array2<f64>) {
        let (mut matrix, mut low) = (Array2::zeros(self.matrix.raw_dim()), Array2::zeros(self.low.raw_dim()));
        linalg::add_scatter(&mut matrix, &mut low, rows.view());
        self.matrix -= &matrix;
        self.low -= &low;
    }

    /// Multiplies the weight of every row so far by `factor`.
    pub(crate) fn forget(&mut self, factor: f64) {
        self.moments = self.moments.scaled(factor);
        self.bound = std::mem::replace(&mut self.bound, Bound::exact(0)).scaled(factor);
        self.matrix *= factor;
        self.low *= factor;
    }

    pub(crate) fn model(&self, truncation: Truncation, components: Components, standardized: bool) -> EigenspaceModel {
        self.model_on(None, truncation, components, standardized)
    }

    /// The same, with a card to solve large eigenproblems.
    pub(crate) fn model_on(
        &self,
        card: Option<&dyn Card>,
        truncation: Truncation,
        components: Components,
        standardized: bool,
    ) -> EigenspaceModel {
        let reduced = reduce_matrix(&self.matrix + &self.low, &self.moments, truncation, standardized, card);
        let bound = self.bound.clone().summed(SUM_ROUNDING, self.moments.scatter());
        EigenspaceModel::from_reduced(self.moments.clone(), reduced, bound, components)
    }
}

/// Whether the scatter of some feature would lose too many digits beside an eigenvalue this large.
/// If the model will be standardized, smaller differences in scale count as different scales.
fn are_scales_different(q: &Array1<f64>, largest: f64, standardized: bool) -> bool {
    let ratio = if standardized { DIFFERENT_SCALES } else { DIFFERENT_RAW_SCALES };
    // The largest eigenvalue is between the largest entry of the diagonal and the trace.
    let largest = q.iter().fold(largest, |a: f64, b| a.max(*b));
    have_different_scales(q.view(), largest, ratio)
}

/// Whether a scatter with this largest eigenvalue is decomposed in units in which every feature has
/// the same spread. Then the leading directions depend on how many are computed, as those of a
/// factor do; otherwise they do not.
pub(crate) fn is_decomposed_by_feature(moments: &Moments, largest: f64) -> bool {
    are_scales_different(moments.scatter(), largest, false)
}

/// The leading directions of a scatter, given by the lower triangle of its matrix. Large
/// eigenproblems are solved on the card, if there is one.
fn reduce_matrix(
    matrix: Array2<f64>,
    moments: &Moments,
    truncation: Truncation,
    standardized: bool,
    card: Option<&dyn Card>,
) -> Reduced {
    let q = moments.scatter();
    if are_scales_different(q, 0.0, standardized) {
        return by_feature(matrix, moments, truncation, card);
    }
    let decomposed = decompose(matrix.view(), q, truncation.rank_limit(), card);
    let largest = decomposed.values.first().map_or(0.0, |s| s * s);
    if are_scales_different(q, largest, standardized) {
        return by_feature(matrix, moments, truncation, card);
    }
    decomposed.cut(truncation, moments)
}

/// The same in units in which every feature has the same spread.
fn by_feature(mut matrix: Array2<f64>, moments: &Moments, truncation: Truncation, card: Option<&dyn Card>) -> Reduced {
    let d = moments.scatter().mapv(|q| if q > 0.0 { q.sqrt() } else { 1.0 });
    matrix.indexed_iter_mut().for_each(|((i, j), x)| *x = *x / d[i] / d[j]);
    let Decomposed { values, directions, floor, rounding, .. } =
        decompose(matrix.view(), moments.scatter(), Rank::All, card);
    let live = values.iter().take_while(|s| **s > floor).count();
    let mut a = linalg::rows_of(directions.view(), 0..live).to_owned();
    for (mut row, value) in a.rows_mut().into_iter().zip(&values) {
        row *= *value;
    }
    a *= &d;
    let reduced = reduce(a, Route::Auto, truncation, moments);
    // An error of C is an error of M relative to the features.
    let features = rounding.whole_error() + floor * floor;
    Reduced { rounding: reduced.rounding.with_feature_error(features), ..reduced }
}

/// The leading `limit` eigenpairs of a scatter, given by its lower triangle, among the features
/// that vary.
fn decompose(matrix: ArrayView2<'_, f64>, q: &Array1<f64>, limit: Rank, card: Option<&dyn Card>) -> Decomposed {
    let varying = varying(q.view());
    if varying.len() < q.len() {
        let part = matrix.select(Axis(0), &varying).select(Axis(1), &varying);
        let decomposed = decompose(part.view(), &q.select(Axis(0), &varying), limit, card);
        return Decomposed { directions: among_all(decomposed.directions.view(), &varying, q.len()), ..decomposed };
    }
    let size = matrix.nrows();
    let keep = limit.of(size);
    let (eigenvalues, directions) =
        card.and_then(|card| linalg::eigen_on_card(card, matrix, keep)).unwrap_or_else(|| {
            let eigen = Eigen::of(matrix, keep + 1);
            let directions = eigen.vectors(0..keep);
            (eigen.values, directions)
        });
    decomposed_from(eigenvalues, directions, size)
}

/// Singular values and directions from the eigenvalues of a scatter of this size, of which there
/// may be more than directions.
fn decomposed_from(eigenvalues: Array1<f64>, directions: Array2<f64>, size: usize) -> Decomposed {
    let keep = directions.nrows();
    let beyond = eigenvalues.get(keep).map_or(0.0, |value| value.max(0.0));
    let largest = eigenvalues.first().copied().unwrap_or(0.0).max(0.0);
    let values: Array1<f64> = eigenvalues.iter().take(keep).map(|value| value.max(0.0).sqrt()).collect();
    let floor = (2.0 * UNIT * (size as f64 + 16.0) * largest).sqrt();
    let whole = 8.0 * (size as f64 + 16.0) * UNIT * largest;
    Decomposed { values, directions, beyond, floor, rounding: Rounding::whole(whole) }
}

mod on_card;
pub(crate) use on_card::Copies;
