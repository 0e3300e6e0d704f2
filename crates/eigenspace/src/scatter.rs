//! The D × D scatter, for few features: exact for ever, one symmetric product per block.
//!
//! ```text
//! M ← M + Σ (x − t)(x − t)ᵀ        with t of `moments.rs`;     M = Vᵀ diag(s²) V
//! ```
//!
//! Cost: D² per row, 9 D³ to read. The sum is kept in f64; products of f32 rows are made in f32,
//! block by block, which costs a relative 1e-7 of the largest eigenvalue at most. Squares halve
//! the digits: singular values below √(D ε) of the largest are rounding here. Where they matter,
//! take the factor buffer ([`Engine::Factor`](crate::Engine)) or [`Method::Svd`](crate::Method).

use ndarray::{Array2, ArrayViewMut2};

use crate::certificate::Bound;
use crate::error::Error;
use crate::linalg::{self, Eigen, Real};
use crate::model::EigenspaceModel;
use crate::moments::Moments;
use crate::reduce::Decomposed;
use crate::truncation::{Components, Truncation};

#[derive(Debug, Clone)]
pub(crate) struct Scatter {
    pub(crate) moments: Moments,
    pub(crate) bound: Bound,
    /// The lower triangle of M.
    pub(crate) matrix: Array2<f64>,
    /// Relative error of M: that of the least precise products in it.
    pub(crate) epsilon: f64,
    /// Whether some of those were f32.
    pub(crate) narrow: bool,
}

impl Scatter {
    pub(crate) fn empty(features: usize, about_origin: bool) -> Self {
        Self {
            moments: Moments::empty(features).about(about_origin),
            bound: Bound::default(),
            matrix: Array2::zeros((features, features)),
            epsilon: f64::EPSILON * (features as f64 + 16.0),
            narrow: false,
        }
    }

    /// The scatter that a model says.
    pub(crate) fn of(model: &EigenspaceModel) -> Self {
        let mut scatter = Self::empty(model.features(), !model.is_centred());
        linalg::add_scatter(&mut scatter.matrix, model.factor().view());
        scatter.moments = model.moments.clone();
        scatter.bound = model.bound;
        scatter
    }

    /// Adds rows, which are centred in place.
    pub(crate) fn absorb<T: Real>(
        &mut self,
        mut rows: ArrayViewMut2<'_, T>,
        weights: Option<&[f64]>,
    ) -> Result<(), Error> {
        self.moments = self.moments.absorb(rows.view_mut(), weights)?;
        linalg::add_scatter(&mut self.matrix, rows.view());
        self.epsilon = self.epsilon.max(4.0 * T::EPSILON);
        self.narrow |= T::EPSILON > f64::EPSILON;
        Ok(())
    }

    /// Every row so far weighs `factor` as much.
    pub(crate) fn forget(&mut self, factor: f64) {
        self.moments = self.moments.scaled(factor);
        self.bound = self.bound.scaled(factor);
        self.matrix *= factor;
    }

    /// The leading `limit` singular values and directions, and the singular value below which they are rounding.
    pub(crate) fn decompose(&self, limit: usize) -> Result<(Decomposed, f64), Error> {
        let eigen = Eigen::of(self.matrix.view(), limit.saturating_add(1))?;
        let lambda = &eigen.values;
        let keep = limit.min(self.matrix.nrows());
        let beyond = lambda.get(keep).map_or(0.0, |value| value.max(0.0));
        let offset = self.moments.rounding(0, 0.0, 0.0);
        let largest = lambda.first().copied().unwrap_or(0.0);
        let rounding = (self.epsilon * largest + offset * offset).sqrt();
        let values = lambda.iter().take(keep).map(|value| value.max(0.0).sqrt()).collect();
        Ok((Decomposed { values, directions: eigen.vectors(0..keep), beyond }, rounding))
    }

    pub(crate) fn model(&self, truncation: Truncation, components: Components) -> Result<EigenspaceModel, Error> {
        let (decomposed, rounding) = self.decompose(truncation.rank_limit())?;
        let reduced = decomposed.cut(truncation, rounding, &self.moments);
        // Blocks of f32 products round on their own; against their sum that averages out.
        let noise = if self.narrow { 8.0 * f64::from(f32::EPSILON) } else { 0.0 };
        let bound = self.bound.noisier(noise * reduced.spectrum.largest().powi(2));
        Ok(EigenspaceModel::from_reduced(self.moments.clone(), reduced, bound, components))
    }
}
