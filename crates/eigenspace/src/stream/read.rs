//! Reading a stream: the buffer as it stands is decomposed, and nothing changes.
//!
//! ```text
//! A = [ F ; X − 1tᵀ ],   M = Aᵀ A   ─►  model()   every direction
//!                                    ─►  shown()   the k that are shown, and a few more
//! ```
//!
//! Reading drops nothing; `model()` is cached until the next row. (Sparse rows that would not fit when made
//! dense are the exception: reading them compresses a copy, and the certificate of that reading says
//! what it cost.)
//!
//! Whoever only looks at the components need not pay for the directions behind them. A Gram matrix
//! knows the leading directions up to ε λ₁ / (λ_k − λ_j), where j is the first that was left out; when that is
//! too much, or two of the directions shown are too close for two readings to agree on each, or what is hidden
//! is too little to be known by a difference, everything is read.

use std::sync::Arc;

use ndarray::{ArrayView1, Axis};

use crate::error::Error;
use crate::linalg;
use crate::model::decompose::{Route, Stacked, reduce};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::truncation::{Components, Truncation};
use crate::rows::missing::Missing;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::impute::Guess;
use crate::stream::options::FitOptions;
use crate::stream::state::{EngineState, StreamState};

/// Waiting sparse rows are read as they are while they and the factor have fewer dense cells than this.
const READ_CELLS: usize = 1 << 25;
/// Directions read beside those that are shown, so that the last of these is far from what is left out.
const BESIDE: usize = 16;
/// The angle by which the directions shown may be off for want of the others.
const OFF: f64 = 1e-11;
/// The angle by which two readings may disagree on one of the directions.
const APART: f64 = 1e-7;
/// Numbers, beside those of the matrices, that were once seen to be asked for at a time.
const PRODUCT_CELLS: usize = 1 << 23;
/// The share of variance that must be hidden for its amount to have ten digits.
const HIDDEN: f64 = 1e-5;

impl EigenspaceStream {
    /// The model of all rows so far. Cached until the next row.
    pub fn model(&self) -> Result<Arc<EigenspaceModel>, Error> {
        if let Some(model) = self.cache.get() {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(linalg::inside(|| self.read(Truncation::None))?);
        Ok(Arc::clone(self.cache.get_or_init(|| model)))
    }

    /// A model that is good for looking at its components, and cheaper than [`model`](Self::model): of the
    /// directions behind them only a few are there, which its certificate says.
    ///
    /// ```
    /// use eigenspace::FitOptions;
    /// use ndarray::Array2;
    ///
    /// let rows = Array2::from_shape_fn((300, 2000), |(i, j)| ((i * (j + 3)) % 17) as f64 + (i % (j + 1)) as f64);
    /// let mut stream = FitOptions::new().components(5).stream(2000)?;
    /// stream.update(rows.view())?;
    /// let (shown, model) = (stream.shown()?, stream.model()?);
    /// assert_eq!((shown.n_components(), shown.count()), (5, 300));
    /// assert!(shown.rank() < model.rank());
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn shown(&self) -> Result<Arc<EigenspaceModel>, Error> {
        let Components::Number(shown) = self.options.components else { return self.model() };
        let limit = shown.saturating_add(BESIDE);
        let size = match self.state.engine {
            EngineState::Scatter(_) => self.features(),
            EngineState::Factor(_) => self.state.buffer.len(),
        };
        if self.cache.get().is_some() || self.options.standardize || limit > size / 4 * 3 {
            return self.model();
        }
        let model = linalg::inside(|| self.read(Truncation::Rank(limit)))?;
        let captured: f64 = model.all_singular_values().iter().take(shown).map(|s| s * s).sum();
        let hidden = model.moments.total() - captured >= HIDDEN * captured;
        let enough = model.rank() == limit && hidden && told_apart(model.all_singular_values(), shown, size);
        if enough { Ok(Arc::new(model)) } else { self.model() }
    }

    /// Upper bound on the number of cells that reading allocates.
    pub fn cells_to_read(&self) -> usize {
        let (buffer, features) = (&self.state.buffer, self.features());
        let rows = buffer.len();
        // Sparse rows that are compressed first are never dense.
        let compressed = buffer.is_sparse() && rows * features > READ_CELLS;
        let rows =
            if compressed { rows.min(2 * buffer.kept().max(self.plan().max_rank.unwrap_or(rows))) } else { rows };
        let scatter = match self.state.engine {
            EngineState::Scatter(_) => features.saturating_mul(8),
            EngineState::Factor(_) => 0,
        };
        (2 * rows + 16).saturating_add(scatter).saturating_mul(features).saturating_add(PRODUCT_CELLS)
    }

    /// What the rows before the pending ones say, if there are any.
    pub(crate) fn guess(&self) -> Result<Option<Guess>, Error> {
        let components = self.options.components;
        let model = match &self.state.engine {
            EngineState::Scatter(scatter) => scatter.model(Truncation::None, components, false),
            EngineState::Factor(factor) => {
                let kept = self.state.buffer.factor().to_owned();
                let reduced = reduce(kept, Route::Auto, Truncation::None, &factor.moments);
                EigenspaceModel::from_reduced(factor.moments.clone(), reduced, factor.bound.clone(), components)
            }
        };
        Ok((model.count() > 0).then(|| Guess::of(&model, components)))
    }

    fn read(&self, truncation: Truncation) -> Result<EigenspaceModel, Error> {
        let FitOptions { components, forgetting, standardize, .. } = self.options;
        let StreamState { engine, buffer, clock, settled, .. } = &self.state;
        let fade = forgetting.weight(clock - settled);
        let weights = buffer.weights(forgetting, *clock);
        if buffer.is_sparse() && buffer.len() * self.features() > READ_CELLS {
            // Too many to be made dense: this reading pays for a compression, the stream does not.
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
                Ok(scatter.model(truncation, components, standardize))
            }
            EngineState::Factor(factor) => {
                kept *= fade.sqrt();
                let before = factor.moments.scaled(fade);
                let absorbed = before.absorb(added, weights.as_deref())?;
                let bound = factor.bound.clone().scaled(fade).absorbed(&before, &absorbed);
                let a = Stacked { rows: a, groups: &[buffer.kept()] };
                let reduced = reduce(a, Route::Auto, truncation, &absorbed.moments);
                Ok(EigenspaceModel::from_reduced(absorbed.moments, reduced, bound, components))
            }
        }
    }

    /// The same where cells are missing: they are filled in a copy.
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

/// Whether the first directions are known without those behind the last value, and each by itself, from
/// a Gram matrix of this size.
fn told_apart(values: ArrayView1<'_, f64>, shown: usize, size: usize) -> bool {
    let squared = |i: usize| values[i] * values[i];
    let rounding = f64::EPSILON * (size as f64).sqrt() * squared(0);
    let last = values.len() - 1;
    (0..shown).all(|i| APART * (squared(i) - squared(i + 1)) > rounding)
        && OFF * (squared(shown.saturating_sub(1)) - squared(last)) > rounding
}
