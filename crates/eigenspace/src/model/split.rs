//! Split: removes the rows of one model from another.
//!
//! | symbol | in the code | shape |
//! |---|---|---|
//! | w₃, μ₃, s₃V₃ | `self` | the whole |
//! | w₂, μ₂, s₂V₂ | `part` | the part to remove |
//! | Q | `q` | orthonormal rows that span V₃ and the part of [ s₂V₂ ; c ] outside of it |
//! | K | `k` | the remaining scatter, in coordinates of Q |
//!
//! ```text
//! μ₁ = (w₃ μ₃ − w₂ μ₂) / w₁,   c = √(w₁ w₂ / w₃) (μ₁ − μ₂),   M₁ = M₃ − M₂ − c cᵀ
//! K = diag(s₃²) − PᵀP,   P = [ s₂V₂ ; c ] Qᵀ,   K = Z diag(s₁²) Zᵀ,   V₁ = Zᵀ Q
//! ```
//!
//! If nothing was dropped, M₁ lies inside the span of V₃, and Q = V₃. A truncated whole may lack
//! directions of the part. Q is then extended by them; otherwise cross terms would be lost that the
//! bounds of the whole and the part do not cover.
//!
//! L₁ = L₃ − L₂ − c cᵀ differs from M₁ by E₃ − E₂, so lost₁ = lost₃ + surplus₂ and surplus₁ =
//! surplus₃ + lost₂. M₁ has no negative eigenvalue, so L₁ has none below −lost₁. An eigenvalue
//! clearly below means that the part was never in the whole, which is an error. Negative
//! eigenvalues within the bound are set to zero, which adds their magnitude to surplus₁.
//!
//! The subtraction causes cancellation: the rounding of M₃ remains in M₁ and is counted as noise in
//! its bound. If a large part is removed and little remains, the bound of the result is wide.
//!
//! With few features, or with features on different scales, the scatters themselves are subtracted,
//! M₁ = M₃ − M₂ − c cᵀ, in units in which each feature of the whole has the same spread.

use ndarray::{Array1, Array2, ArrayView2, Axis, CowArray, Ix2, concatenate};

use crate::error::Error;
use crate::linalg::{self, Eigen};
use crate::model::bound::{Bound, Rounding, UNIT, largest};
use crate::model::decompose::{
    DIFFERENT_SCALES, Decomposed, ORTHONORMALITY_TOLERANCE, Reduced, Route, fill_constant, have_different_scales,
    reduce, rotation,
};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::moments::Moments;
use crate::model::scatter::Scatter;
use crate::model::truncation::Truncation;
use crate::model::update::orthonormal_again;
use crate::rows::block::Block;

/// Up to this number of features, the scatters themselves are subtracted.
const SUBTRACTED_SCATTER_FEATURES: usize = 128;
/// The same if features have different scales.
const DIFFERENT_SCALES_FEATURES: usize = 4096;
/// A part may weigh more than the whole by this share, because sums of weights round.
const PART_WEIGHT_TOLERANCE: f64 = 1e-9;
/// Share of the total weight below which the weight of remaining rows is rounding.
const REMAINING_WEIGHT_ROUNDING: f64 = 64.0 * f64::EPSILON;

impl EigenspaceModel {
    /// The model of the rows of `self` without those of `part`.
    ///
    /// Undoes [`merge`](Self::merge). Rejects a part that is larger than the whole, or that was
    /// never in it as far as the two models can show: rows that vary less than the whole in all of
    /// its directions cannot be distinguished from rows that were in it.
    pub fn split(&self, part: &Self) -> Result<Self, Error> {
        self.same_kind(part)?;
        if part.is_empty() {
            return Ok(self.clone());
        }
        let (whole_weight, part_weight) = (self.weight(), part.weight());
        if part.count() > self.count() || part_weight > whole_weight * (1.0 + PART_WEIGHT_TOLERANCE) {
            return Err(Error::SplitTooLarge { whole: self.count(), part: part.count(), whole_weight, part_weight });
        }
        // Rows would remain, but their weight is below the rounding of the total weight.
        if part.count() < self.count() && self.weight_without(part) <= REMAINING_WEIGHT_ROUNDING * whole_weight {
            return Err(Error::SplitTooLarge { whole: self.count(), part: part.count(), whole_weight, part_weight });
        }
        let everything = part.count() == self.count();
        let (moments, c) = if everything {
            let c = part.moments.step_to(&self.moments) * whole_weight.sqrt();
            (Moments::empty(self.features()).about(!self.is_centered()), c)
        } else {
            self.moments.split(&part.moments)
        };
        let bound = self.bound_without(part, &c, everything);
        let truncated = self.bound.is_truncated() || part.bound.is_truncated();
        let largest_eigenvalue = self.spectrum.largest().max(part.spectrum.largest()).powi(2);
        let unlike = have_different_scales(self.moments.scatter().view(), largest_eigenvalue, DIFFERENT_SCALES);
        let few = self.features() <= if unlike { DIFFERENT_SCALES_FEATURES } else { SUBTRACTED_SCATTER_FEATURES };
        let rest = if few { self.scatter_without(part, &c) } else { self.span_without(part, &c, moments.rank_limit()) };

        let bound = bound.rounded(rest.rounding, &rest.spread, largest_eigenvalue);
        let allowed = -rest.allowed(&bound);
        if rest.smallest < allowed {
            return Err(Error::NotAPart { scatter: rest.smallest, allowed, truncated });
        }
        let bound = bound.clamped(-rest.smallest, rest.units.as_ref());
        if everything {
            // No rows remain, so no scatter may remain either.
            let excess = largest(bound.surplus()) + bound.noise();
            let greatest = rest.greatest();
            return if greatest > excess {
                Err(Error::NotAPart { scatter: -greatest, allowed: -excess, truncated })
            } else {
                Ok(Self { moments, components: self.components, ..Self::empty(self.features()) }
                    .carrying(&self.metadata))
            };
        }
        let mut scatter = moments.scatter().clone();
        for (j, (q, noise)) in scatter.iter_mut().zip(bound.scatter_noise()).enumerate() {
            if *q < -*noise {
                return Err(Error::NotAPart { scatter: *q, allowed: -*noise, truncated });
            }
            // If the remaining scatter of a feature is only rounding, use that of the directions.
            *q = if *q <= *noise { q.max(rest.said(j).min(*noise)) } else { *q };
        }
        let moments = moments.with_scatter(scatter);
        let reduced = rest.reduced(&moments);
        Ok(Self::from_reduced(moments, reduced, bound, self.components).carrying(&self.metadata))
    }

    /// The weight of the remaining rows.
    fn weight_without(&self, part: &Self) -> f64 {
        self.moments.weight().minus(part.moments.weight()).value()
    }

    /// The bound of the remaining model, from the bounds and the means of the whole and the part.
    fn bound_without(&self, part: &Self, c: &Array1<f64>, everything: bool) -> Bound {
        let (whole, leaving) = (self.weight(), part.weight());
        let left = if everything { whole } else { self.weight_without(part) };
        self.bound.without(&part.bound, (leaving, left, whole), self.moments.scatter(), c)
    }

    /// The remaining scatter, in units in which each feature of the whole has the same spread.
    fn scatter_without(&self, part: &Self, c: &Array1<f64>) -> Rest {
        let mut scatter = Scatter::of(self);
        scatter.take_out(&part.factor());
        scatter.take_out(&c.view().insert_axis(Axis(0)).to_owned());
        // The unit of a feature that varies only by rounding is that rounding. After splits of
        // truncated models the directions may have more of a feature than it varies by.
        let factor_of_whole = self.factor();
        let mut spread = factor_of_whole.map_axis(Axis(0), |column| column.dot(&column));
        for (spread, (q, noise)) in spread.iter_mut().zip(self.moments.scatter().iter().zip(self.bound.feature_noise()))
        {
            *spread = spread.max(*q).max(*noise);
        }
        let d = spread.mapv(|spread| if spread > 0.0 { spread.sqrt() } else { 1.0 });
        let mut k = scatter.into_sum();
        k.indexed_iter_mut().for_each(|((i, j), x)| *x = *x / d[i] / d[j]);
        let (lambda, turn) = linalg::eigh(k.view());
        let size = (self.features() + self.rank() + part.rank()) as f64 + 16.0;
        // Sums over the rank, and an eigenproblem whose largest eigenvalue is at most that of the
        // correlations.
        let correlation = linalg::squared_lengths((factor_of_whole / &d).view()).sum();
        let floor = 2.0 * size * UNIT * correlation.max(1.0);
        let rounding = Rounding::whole(0.0).with_feature_error(2.0 * floor);
        let smallest = lambda.last().copied().unwrap_or(0.0).min(0.0);
        let (rows, units) = (factor(&lambda, &turn, floor) * &d, Some(&d * &d));
        Rest { rows, eigenvalues: None, smallest, units, spread, rounding }
    }

    /// The remaining scatter, in coordinates of the directions of the whole and of the part outside
    /// of them. The remaining rows span at most `limit` directions.
    fn span_without(&self, part: &Self, c: &Array1<f64>, limit: usize) -> Rest {
        let mut leaving = Array2::zeros((part.rank() + 1, self.features()));
        let (above, mut last) = leaving.view_mut().split_at(Axis(0), part.rank());
        part.write_factor(above);
        last.row_mut(0).assign(c);
        let size = (self.rank() + leaving.nrows()) as f64 + 16.0;
        let greatest = self.spectrum.largest().max(part.spectrum.largest()).max(c.dot(c).sqrt());
        let floor = 2.0 * size * UNIT * greatest * greatest;
        let inside = linalg::cross(leaving.view(), self.basis());
        // Cross terms with what is left outside the span are at most its length times s₁.
        let q = self.span_with(leaving.view(), inside.view(), 4.0 * size * UNIT * greatest);
        let p = if q.nrows() == self.rank() { inside } else { linalg::cross(leaving.view(), q.view()) };
        let mut k = -linalg::gram(p.t());
        for (i, s) in self.all_singular_values().iter().enumerate() {
            k[[i, i]] += s * s;
        }
        let remaining = |eigen: &Eigen| eigen.values.iter().take_while(|value| **value > floor).count();
        let mut eigen = Eigen::of(k.view(), limit.saturating_add(1));
        if remaining(&eigen) == eigen.values.len() && eigen.values.len() < eigen.size() {
            eigen = Eigen::of(k.view(), eigen.size());
        }
        let remaining = remaining(&eigen);
        Rest {
            rows: linalg::rotate(eigen.vectors(0..remaining).view(), q.view()),
            eigenvalues: Some(eigen.values.iter().take(remaining).copied().collect()),
            smallest: eigen.smallest().min(0.0),
            units: None,
            spread: self.moments.scatter().clone(),
            rounding: rotation(q.nrows()).with_whole_error(4.0 * floor),
        }
    }

    /// The model without these rows, which must have been absorbed before, with the same weights.
    pub fn remove<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Self, Error> {
        let block = rows.into();
        block.check(self.features())?;
        self.split(&Self::fit(block)?)
    }

    /// The model with `old` rows replaced by `new` ones, for example in a sliding window.
    pub fn replace<'a, 'b>(
        &self,
        old: impl Into<Block<'a>>,
        new: impl Into<Block<'b>>,
        truncation: Truncation,
    ) -> Result<Self, Error> {
        let old = old.into();
        old.check(self.features())?;
        self.update(new, Truncation::None)?.remove(old)?.truncate(truncation)
    }

    /// Orthonormal rows that span the basis and these rows, whose products with the basis are
    /// `inside`.
    fn span_with(&self, rows: ArrayView2<'_, f64>, inside: ArrayView2<'_, f64>, floor: f64) -> CowArray<'_, f64, Ix2> {
        let basis = self.basis();
        let is_rounding = |squares: Array1<f64>| squares.iter().all(|square| *square <= floor * floor);
        // A whole that has lost nothing contains all of a part, so the part outside is not stored
        // only to be discarded.
        if !self.bound.is_truncated() && is_rounding(linalg::squared_lengths_of_difference(rows, inside, basis)) {
            return basis.into();
        }
        let outside = &rows - &linalg::rotate(inside, basis);
        if is_rounding(linalg::squared_lengths(outside.view())) {
            return basis.into();
        }
        let (values, directions) = linalg::thin_svd(outside.view());
        let live = values.iter().take_while(|&&s| s > floor).count().min(self.features() - self.rank());
        let more = outside_of(basis, linalg::rows_of(directions.view(), 0..live));
        // Twice, because the residual of a row that is nearly inside the basis is not orthogonal
        // after one pass.
        orthonormal_again(outside_and_within(basis, orthonormal_again(more))).into()
    }
}

/// The basis, and the part of these rows outside of it.
fn outside_and_within(basis: ArrayView2<'_, f64>, more: Array2<f64>) -> Array2<f64> {
    concatenate![Axis(0), basis, outside_of(basis, more.view())]
}

/// The result of removing a part from a whole.
struct Rest {
    /// The remaining directions, or a factor of the remaining scatter, whose negative eigenvalues
    /// are set to zero.
    rows: Array2<f64>,
    /// The eigenvalues along these directions; `None` for a factor.
    eigenvalues: Option<Array1<f64>>,
    /// The smallest eigenvalue, or zero.
    smallest: f64,
    /// The squared units of the features in that eigenproblem; `None` if they are 1.
    units: Option<Array1<f64>>,
    /// The scatter of each feature that rounding is relative to.
    spread: Array1<f64>,
    rounding: Rounding,
}

impl Rest {
    /// The largest scatter of a row.
    fn greatest(&self) -> f64 {
        match &self.eigenvalues {
            Some(eigenvalues) => largest(eigenvalues),
            None => largest(&linalg::squared_lengths(self.rows.view())),
        }
    }

    /// What the rows have of the scatter of a feature.
    fn said(&self, j: usize) -> f64 {
        let column = self.rows.column(j);
        match &self.eigenvalues {
            Some(eigenvalues) => column.iter().zip(eigenvalues).map(|(x, eigenvalue)| eigenvalue * x * x).sum(),
            None => column.dot(&column),
        }
    }

    /// Basis and spectrum. Directions that are orthonormal already are not decomposed again.
    fn reduced(self, moments: &Moments) -> Reduced {
        let Self { mut rows, eigenvalues, .. } = self;
        let Some(eigenvalues) = eigenvalues else {
            return reduce(rows, Route::Auto, Truncation::None, moments);
        };
        fill_constant(&mut rows, moments.scatter().view());
        let values = eigenvalues.mapv(f64::sqrt);
        if linalg::orthogonality_loss(rows.view()) <= ORTHONORMALITY_TOLERANCE {
            let rounding = Rounding::whole(0.0);
            return Decomposed { values, directions: rows, beyond: 0.0, floor: 0.0, rounding }
                .cut(Truncation::None, moments);
        }
        rows *= &values.insert_axis(Axis(1));
        reduce(rows, Route::Auto, Truncation::None, moments)
    }

    /// The smallest eigenvalue that truncation and rounding can explain.
    fn allowed(&self, bound: &Bound) -> f64 {
        match &self.units {
            None => largest(bound.lost()) + bound.noise(),
            Some(units) => {
                let share = |((lost, noise), unit): ((&f64, &f64), &f64)| (lost + noise) / unit;
                let shares = bound.lost().iter().zip(bound.feature_noise()).zip(units).map(share);
                shares.fold(0.0, f64::max)
            }
        }
    }
}

/// The rows √λ z for eigenvalues above rounding.
fn factor(lambda: &Array1<f64>, vectors: &Array2<f64>, floor: f64) -> Array2<f64> {
    let positive = lambda.iter().take_while(|value| **value > floor).count();
    let mut rows = linalg::rows_of(vectors.view(), 0..positive).to_owned();
    rows.rows_mut().into_iter().zip(lambda).for_each(|(mut row, value)| row *= value.sqrt());
    rows
}

/// The part of these rows outside a basis.
fn outside_of(basis: ArrayView2<'_, f64>, rows: ArrayView2<'_, f64>) -> Array2<f64> {
    let inside = linalg::cross(rows, basis);
    &rows - &linalg::rotate(inside.view(), basis)
}

#[cfg(test)]
mod tests;
