//! Update: adds a block of rows to a model.
//!
//! ```text
//! A = [ s V ; X − 1tᵀ ],   t = μ + β (b − μ),   β = 1 − √(w / (w + m)),   M ← AᵀA
//! ```
//!
//! X is the block (m × D) and b its mean; `moments.rs` explains t. A block may have any number of
//! rows, also in the first call. Cost: O(D (r + m)²).
//!
//! **Brand's rank-one update** ([`EigenspaceModel::update_row`]) is the case m = 1, without
//! products of more than D r operations except the rotation:
//!
//! ```text
//! x = √(w/(w+1)) (row − μ),   p = V x,   ρ m = x − Vᵀ p,   K = ⎡ diag(s)  0 ⎤ = Z diag(s') W
//!                                                              ⎣   pᵀ     ρ ⎦
//! V' = W [ V ; m ]
//! ```
//!
//! M. Brand, *Fast low-rank modifications of the thin singular value decomposition*, Linear Algebra
//! and its Applications 415(1), 20–30, 2006. The residual is orthogonalized twice, and the basis is
//! orthonormalized again if an entry of V Vᵀ − I is larger than 1e-13.

use ndarray::{Array2, ArrayView1, Axis, concatenate};

use crate::error::Error;
use crate::linalg;
use crate::model::bound::{self, UNIT};
use crate::model::decompose::{
    DIFFERENT_SCALES, Decomposed, ORTHONORMALITY_TOLERANCE, Route, SMALLEST_SINGULAR_VALUE, Stacked, by_svd,
    have_different_scales, reduce, rotation,
};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::spectrum::Spectrum;
use crate::model::truncation::Truncation;
use crate::rows::block::{self, Block};
use crate::rows::element::Element;

/// Smallest total weight that forgetting leaves, whose square is still a normal f64.
const SMALLEST_WEIGHT: f64 = 1e-140;

impl EigenspaceModel {
    /// The model of the earlier rows together with these.
    ///
    /// For many small blocks use [`EigenspaceStream`](crate::EigenspaceStream), which collects rows
    /// and decomposes rarely.
    pub fn update<'a>(&self, rows: impl Into<Block<'a>>, truncation: Truncation) -> Result<Self, Error> {
        let block = rows.into();
        block.check(self.features())?;
        let truncation = truncation.check()?;
        let rank = self.rank();
        let (mut rows, weights) = block.widened_below(rank);
        let (above, added) = rows.view_mut().split_at(Axis(0), rank);
        if added.is_empty() {
            return self.truncate(truncation);
        }
        self.write_factor(above);
        let absorbed = self.moments.absorb(added, weights.as_deref())?;
        let bound = self.bound.absorbed(&self.moments, &absorbed);
        let a = Stacked { rows, groups: &[rank] };
        let reduced = reduce(a, Route::Auto, truncation, absorbed.moments());
        Ok(Self::from_reduced(absorbed.into_moments(), reduced, bound, self.components).carrying(&self.metadata))
    }

    /// Multiplies the weight of every row so far by `factor`, before newer rows are added.
    ///
    /// Scatter and weight are scaled by the same factor, s ← √f s, w ← f w, so that w stays the
    /// number of rows that the model still remembers, and variances do not change. (Ross et al.
    /// 2008 multiply the singular values by their f, so `factor` is its square.) A total weight
    /// below 1e-140 is an error. Directions whose squared singular value becomes too small for an
    /// f64 are dropped, and count as rounding.
    pub fn forget(&self, factor: f64) -> Result<Self, Error> {
        if !(factor > 0.0 && factor <= 1.0) {
            return Err(Error::InvalidForgetting { value: factor });
        }
        let moments = self.moments.scaled(factor);
        let total = moments.weight().value();
        if total < SMALLEST_WEIGHT && factor < 1.0 && !self.is_empty() {
            return Err(Error::TotalWeightTooSmall { total, limit: SMALLEST_WEIGHT });
        }
        let spectrum = self.spectrum.scaled(factor.sqrt());
        let mut bound = self.bound.clone().scaled(factor);
        if factor < 1.0 {
            bound.underflowed(moments.scatter(), self.moments.scatter(), 1.0);
        }
        let kept = spectrum.view().iter().take_while(|s| **s > SMALLEST_SINGULAR_VALUE).count();
        let Some(dropped) = spectrum.view().get(kept).map(|s| s * s) else {
            return Ok(Self { moments, spectrum, bound, ..self.clone() });
        };
        Ok(Self {
            basis: self.basis.clone().truncate(kept),
            spectrum: Spectrum::sorted(spectrum.view().iter().take(kept).copied().collect()),
            bound: bound.noisier(dropped, moments.scatter()),
            moments,
            ..self.clone()
        })
    }

    /// Brand's rank-one update: the model of the earlier rows and one more.
    pub fn update_row<E: Element>(&self, row: ArrayView1<'_, E>, truncation: Truncation) -> Result<Self, Error> {
        block::check(row.insert_axis(Axis(0)), self.features())?;
        let truncation = truncation.check()?;
        let mut rows = block::widened(row.insert_axis(Axis(0)));
        let absorbed = self.moments.absorb(rows.view_mut(), None)?;
        if have_different_scales(
            absorbed.moments().scatter().view(),
            bound::largest(absorbed.moments().scatter()),
            DIFFERENT_SCALES,
        ) {
            // The small problem mixes directions, and therefore features; a block update rotates
            // only rows.
            return self.update(block::widened(row.insert_axis(Axis(0))).view(), truncation);
        }
        let bound = self.bound.absorbed(&self.moments, &absorbed);
        let moments = absorbed.into_moments();

        let basis = self.basis();
        let mut residual = rows.remove_axis(Axis(0));
        let mut coordinates = basis.dot(&residual);
        residual -= &basis.t().dot(&coordinates);
        let again = basis.dot(&residual);
        residual -= &basis.t().dot(&again);
        coordinates += &again;
        let rho = residual.dot(&residual).sqrt();

        let rank = self.rank();
        let floor = 2.0 * UNIT * (16.0 + 4.0 * (rank as f64 + 1.0).sqrt()) * self.spectrum.largest().max(rho);
        let grows = rho > floor && rank < moments.rank_limit().min(self.features());
        let size = rank + usize::from(grows);
        let mut core = Array2::<f64>::zeros((rank + 1, size));
        core.diag_mut().iter_mut().zip(&self.spectrum.view()).for_each(|(entry, s)| *entry = *s);
        for (j, p) in coordinates.iter().enumerate() {
            core[[rank, j]] = *p;
        }
        let stacked = if grows {
            core[[rank, rank]] = rho;
            let unit = (residual / rho).insert_axis(Axis(0));
            concatenate![Axis(0), basis, unit]
        } else {
            basis.to_owned()
        };
        let core = by_svd(core.view());
        let directions = orthonormal_again(linalg::rotate(core.directions.view(), stacked.view()));
        // The rounding of the residual, after two passes of products over D.
        let whole =
            core.rounding.whole_error() + if grows { 0.0 } else { floor * (floor + 2.0 * self.spectrum.largest()) };
        let rounding = rotation(2 * rank).with_whole_error(whole);
        let reduced = Decomposed { directions, rounding, ..core }.cut(truncation, &moments);
        Ok(Self::from_reduced(moments, reduced, bound, self.components).carrying(&self.metadata))
    }
}

/// One step of Cholesky orthonormalization, V ← C⁻¹ V with V Vᵀ = C Cᵀ, if V is no longer
/// orthonormal.
pub(crate) fn orthonormal_again(v: Array2<f64>) -> Array2<f64> {
    if linalg::orthogonality_loss(v.view()) <= ORTHONORMALITY_TOLERANCE {
        return v;
    }
    let Some(c) = linalg::cholesky(linalg::gram(v.view()).view()) else {
        return linalg::thin_svd(v.view()).1;
    };
    let mut inverse = Array2::eye(v.nrows());
    linalg::solve_lower_on_the_right(c.view(), inverse.view_mut());
    linalg::rotate(inverse.view(), v.view())
}
