//! Reading a stream: decomposes the current buffer without changing it.
//!
//! ```text
//! A = [ F ; X − 1tᵀ ],   M = Aᵀ A   ─►  model()   all directions
//!                                    ─►  preview() the k reported ones, and a few more
//! ```
//!
//! Reading drops nothing, and `model()` is cached until the next row. (There is one exception: sparse rows that would not
//! fit in memory when made dense are compressed in a copy, and the certificate of that model includes the effect.)
//!
//! Callers that need only the leading components can skip the rest. A Gram matrix determines the leading directions up
//! to ε λ₁ / (λ_k − λ_j), where j is the first one left out. Everything is computed if this is too large, if two reported
//! directions are too close to be determined separately, or if the unreported variance is too small to be computed as a
//! difference.

use std::sync::Arc;

use ndarray::{ArrayView1, Axis};

use crate::error::Error;
use crate::linalg;
use crate::model::decompose::{Route, Stacked, reduce};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::imputer::Imputer;
use crate::model::truncation::{Components, Truncation};
use crate::rows::missing::Missing;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::options::FitOptions;
use crate::stream::preview::Preview;
use crate::stream::state::{EngineState, StreamState};

/// Pending sparse rows are read without a compression if they and the factor have at most this many cells when dense.
pub(crate) const MAX_DENSE_CELLS: usize = 1 << 25;
/// Directions computed in addition to the reported ones, so that the last reported one is far from what is left out.
const EXTRA_DIRECTIONS: usize = 16;
/// Largest accepted angle between the reported directions and the exact ones, caused by leaving out the others.
const DIRECTION_TOLERANCE: f64 = 1e-11;
/// Largest accepted angle between the same direction in two reads.
const AGREEMENT_TOLERANCE: f64 = 1e-7;
/// The unreported share of variance must be at least this, so that it can be computed as a difference to ten digits.
const MIN_UNREPORTED_SHARE: f64 = 1e-5;

impl EigenspaceStream {
    /// The model of all rows so far. It is cached until the next row.
    pub fn model(&self) -> Result<Arc<EigenspaceModel>, Error> {
        if let Some(model) = self.cache.get() {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(linalg::inside(|| self.read(Truncation::None))?);
        Ok(Arc::clone(self.cache.get_or_init(|| model)))
    }

    /// The reported components and their variances, without most of the directions behind them. It is cheaper than
    /// [`model`](Self::model); its certificate counts the directions that are left out.
    ///
    /// ```
    /// use eigenspace::FitOptions;
    /// use ndarray::Array2;
    ///
    /// let rows = Array2::from_shape_fn((300, 2000), |(i, j)| ((i * (j + 3)) % 17) as f64 + (i % (j + 1)) as f64);
    /// let mut stream = FitOptions::new().components(5).stream(2000)?;
    /// stream.update(rows.view())?;
    /// let preview = stream.preview()?;
    /// assert_eq!((preview.n_components(), preview.count()), (5, 300));
    /// assert_eq!(preview.components().dim(), (5, 2000));
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn preview(&self) -> Result<Preview, Error> {
        self.partial_model().map(Preview::new)
    }

    fn partial_model(&self) -> Result<Arc<EigenspaceModel>, Error> {
        let Components::Number(shown) = self.options.components else { return self.model() };
        let limit = shown.saturating_add(EXTRA_DIRECTIONS);
        let size = match self.state.engine {
            EngineState::Scatter(_) => self.features(),
            EngineState::Factor(_) => self.state.buffer.len(),
        };
        if self.cache.get().is_some() || self.options.standardize || limit > size / 4 * 3 {
            return self.model();
        }
        let model = linalg::inside(|| self.read(Truncation::Rank(limit)))?;
        let captured: f64 = model.all_singular_values().iter().take(shown).map(|s| s * s).sum();
        let hidden = model.moments.total() - captured >= MIN_UNREPORTED_SHARE * captured;
        let enough = model.rank() == limit && hidden && are_determined(model.all_singular_values(), shown, size);
        if enough { Ok(Arc::new(model)) } else { self.model() }
    }

    /// Fills missing cells from the rows before the pending ones, if there are any.
    pub(crate) fn imputer(&self) -> Result<Option<Imputer>, Error> {
        let components = self.options.components;
        let model = match &self.state.engine {
            EngineState::Scatter(scatter) => scatter.model(Truncation::None, components, false),
            EngineState::Factor(factor) => {
                let kept = self.state.buffer.factor().to_owned();
                let reduced = reduce(kept, Route::Auto, Truncation::None, &factor.moments);
                EigenspaceModel::from_reduced(factor.moments.clone(), reduced, factor.bound.clone(), components)
            }
        };
        Ok((model.count() > 0).then(|| Imputer::of(&model, components)))
    }

    fn read(&self, truncation: Truncation) -> Result<EigenspaceModel, Error> {
        let FitOptions { components, forgetting, standardize, .. } = self.options;
        let StreamState { engine, buffer, metadata, clock, settled, .. } = &self.state;
        let fade = forgetting.weight(clock - settled);
        let weights = buffer.weights(forgetting, *clock);
        if buffer.is_sparse() && buffer.len() * self.features() > MAX_DENSE_CELLS {
            // Too many cells to be made dense: compress a copy of the stream instead.
            let mut settled = self.clone();
            settled.flush()?;
            return settled.read(truncation);
        }
        if self.options.missing == Missing::Impute {
            return self.read_filled(truncation);
        }
        let mut a = buffer.to_dense();
        let (mut kept, added) = a.view_mut().split_at(Axis(0), buffer.kept());
        match engine {
            EngineState::Scatter(scatter) => {
                let mut scatter = scatter.clone();
                if fade < 1.0 {
                    scatter.forget(fade);
                }
                scatter.absorb(added, weights.as_deref())?;
                Ok(scatter.model(truncation, components, standardize).carrying(metadata))
            }
            EngineState::Factor(factor) => {
                kept *= fade.sqrt();
                let before = factor.moments.scaled(fade);
                let absorbed = before.absorb(added, weights.as_deref())?;
                let bound = factor.bound.clone().scaled(fade).absorbed(&before, &absorbed);
                let a = Stacked { rows: a, groups: &[buffer.kept()] };
                let reduced = reduce(a, Route::Auto, truncation, &absorbed.moments);
                Ok(EigenspaceModel::from_reduced(absorbed.moments, reduced, bound, components).carrying(metadata))
            }
        }
    }

    /// Reads a copy of the stream in which missing cells are filled.
    fn read_filled(&self, truncation: Truncation) -> Result<EigenspaceModel, Error> {
        let mut filled = self.clone();
        let weights = filled.state.buffer.weights(self.options.forgetting, self.state.clock);
        let imputed = filled.fill_missing(weights.as_deref())?;
        if let Some(column) = filled.state.unseen.iter().position(|unseen| *unseen).filter(|_| self.count() > 0) {
            return Err(Error::NeverObserved { column, rows: self.count() });
        }
        filled.options.missing = Missing::Refuse;
        let mut model = filled.read(truncation)?;
        model.moments.imputed += imputed;
        Ok(model)
    }
}

/// Whether a Gram matrix of this size determines each of the first `shown` directions, although those after the last
/// value were left out.
fn are_determined(values: ArrayView1<'_, f64>, shown: usize, size: usize) -> bool {
    let squared = |i: usize| values[i] * values[i];
    let rounding = f64::EPSILON * (size as f64).sqrt() * squared(0);
    let last = values.len() - 1;
    (0..shown).all(|i| AGREEMENT_TOLERANCE * (squared(i) - squared(i + 1)) > rounding)
        && DIRECTION_TOLERANCE * (squared(shown.saturating_sub(1)) - squared(last)) > rounding
}
