//! The streaming engine: absorb rows by the billion, look at any time.
//!
//! ```text
//! update ─► buffer ─► (full) ─► compress, or add to the scatter          model() reads, and changes nothing
//! ```
//!
//! * Appending a row is a copy. All arithmetic happens when the buffer is full, at row counts that
//!   depend only on the [`Plan`], so the answer does not depend on how the caller cut the rows.
//! * Reading is in `read.rs`.
//! * Rows of any element type are widened as they are copied, and everything is computed in f64: rows of f32
//!   give the model that the same numbers in f64 give, to the bit.

use std::sync::{Arc, OnceLock};

use crate::error::Error;
use crate::linalg;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::scatter::Scatter;
use crate::model::truncation::{Components, Truncation};
use crate::rows::block::{Block, CHECK_ROWS};
use crate::rows::missing::Missing;
use crate::stream::factor::Rule;
use crate::stream::impute::{self, impute};
use crate::stream::options::FitOptions;
use crate::stream::plan::{self, Engine, Plan};
use crate::stream::state::{EngineState, StreamState};

/// Sparse rows gathered for each compression: they are short, and turning the factor is not.
const SPARSE_ROWS: usize = 400;

/// Rows in, models out.
///
/// ```
/// use eigenspace::FitOptions;
/// use ndarray::Array2;
///
/// let rows = Array2::from_shape_fn((1000, 20), |(i, j)| ((i * (j + 3)) % 17) as f64);
/// let mut stream = FitOptions::new().components(5).stream(20)?;
/// for block in rows.axis_chunks_iter(ndarray::Axis(0), 7) {
///     stream.update(block)?;                       // any number of rows, one included
/// }
/// let model = stream.model()?;
/// assert_eq!((model.count(), model.n_components()), (1000, 5));
/// assert!(model.certificate().is_exact());
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EigenspaceStream {
    pub(crate) options: FitOptions,
    plan: Plan,
    pub(crate) state: StreamState,
    pub(crate) cache: OnceLock<Arc<EigenspaceModel>>,
}

impl EigenspaceStream {
    pub(crate) fn new(options: FitOptions, plan: Plan, features: usize) -> Self {
        let unseen = if options.missing == Missing::Impute { vec![true; features] } else { Vec::new() };
        let state = StreamState::empty(options.nothing(features), unseen);
        Self { options, plan, state, cache: OnceLock::new() }
    }

    pub(crate) fn resume(options: FitOptions, plan: Plan, model: &EigenspaceModel) -> Self {
        let mut stream = Self::new(options, plan, model.features());
        stream.start_from(model);
        stream
    }

    fn start_from(&mut self, model: &EigenspaceModel) {
        self.cache = OnceLock::new();
        if model.is_empty() {
            let StreamState { clock, unseen, .. } = &self.state;
            let nothing = self.options.nothing(model.features());
            self.state = StreamState { clock: *clock, settled: *clock, ..StreamState::empty(nothing, unseen.clone()) };
        } else {
            self.state.start_from(model, self.plan.engine);
        }
    }

    /// A stream of these options in a state that was saved.
    pub(crate) fn restored(options: &FitOptions, state: StreamState) -> Result<Self, Error> {
        let mut stream = options.stream(state.buffer.features())?;
        stream.state = state;
        if let EngineState::Scatter(_) = stream.state.engine {
            // A stream that was begun with all rows at hand may have taken the scatter where options alone would not.
            stream.plan = stream.plan.with_scatter();
        }
        Ok(stream)
    }

    /// D: columns of the rows.
    pub fn features(&self) -> usize {
        self.state.buffer.features()
    }

    /// n: rows absorbed.
    pub fn count(&self) -> u64 {
        self.state.moments().count + self.state.buffer.pending() as u64
    }

    /// The engine, block length and rank that were chosen.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// The options the stream was made with.
    pub fn options(&self) -> &FitOptions {
        &self.options
    }

    /// Absorbs a block of any number of rows. A block with a bad cell is refused as a whole.
    pub fn update<'a>(&mut self, rows: impl Into<Block<'a>>) -> Result<(), Error> {
        let block = rows.into();
        if self.only_copies(&block) { self.take(block) } else { linalg::inside(|| self.take(block)) }
    }

    fn take(&mut self, block: Block<'_>) -> Result<(), Error> {
        let there = block.admit(self.features(), self.options.missing)?;
        self.count().checked_add(there.len() as u64).ok_or(Error::CountOverflow)?;
        if there.is_empty() {
            return Ok(());
        }
        self.cache = OnceLock::new();
        let by_row = self.options.forgetting.by_row();
        self.state.clock += u64::from(!by_row);
        // Few features are gathered dense, whatever they come as.
        let sparse = block.sparse().is_some() && self.plan.engine == Engine::Factor;
        if self.state.buffer.pending() > 0 && self.state.buffer.is_sparse() != sparse {
            self.flush()?;
        }
        let mut rest = &there[..];
        while !rest.is_empty() {
            if self.room() == 0 {
                self.flush()?;
            }
            let (which, later) = rest.split_at(self.room().min(rest.len()));
            let clock = self.state.clock;
            let time = |i: usize| if by_row { clock + 1 + i as u64 } else { clock };
            self.state.buffer.append(&block, which, sparse, time);
            self.state.clock += if by_row { which.len() as u64 } else { 0 };
            rest = later;
        }
        Ok(())
    }

    /// Whether an update with these rows is a copy and no more: no compression, no second thread.
    pub fn only_copies(&self, rows: &Block<'_>) -> bool {
        let few = rows.sparse().is_none() && rows.nrows() <= CHECK_ROWS.min(self.room());
        few && !self.state.buffer.is_sparse()
    }

    /// Numbers, at most, that the buffer grows by when these rows come.
    pub fn cells_to_update(&self, rows: &Block<'_>) -> usize {
        let coming = if rows.sparse().is_some() { 0 } else { rows.nrows().min(self.room().max(1)) };
        self.state.buffer.rows_after_growing(coming).unwrap_or(0).saturating_mul(self.features())
    }

    /// Absorbs the rows that another model stands for.
    pub fn merge(&mut self, model: &EigenspaceModel) -> Result<(), Error> {
        if !model.is_empty() && model.is_centered() == self.options.about_origin {
            return Err(Error::CenteringDiffers);
        }
        let merged = self.model()?.merge(model, Truncation::None)?;
        self.start_from(&merged);
        Ok(())
    }

    /// The same stream showing another number of components. Rank that was dropped does not return.
    pub fn set_components(&mut self, components: impl Into<Components>) -> Result<(), Error> {
        let options = self.options.clone().components(components);
        let plan = options.plan(self.features())?;
        // A stream that was begun with all rows at hand goes on as it is.
        self.plan = if plan.engine == self.plan.engine { plan } else { self.plan };
        self.options = options;
        self.cache = OnceLock::new();
        Ok(())
    }

    /// Rows that can still be appended before the buffer must be emptied.
    fn room(&self) -> usize {
        let Plan { exact_rows, block_rows, max_rank, engine } = self.plan;
        let buffer = &self.state.buffer;
        let capacity = match &self.state.engine {
            EngineState::Scatter(_) => block_rows,
            EngineState::Factor(_) if engine == Engine::Scatter => exact_rows,
            EngineState::Factor(factor) => {
                let block = if max_rank.is_none() { block_rows.max(buffer.kept()) } else { block_rows };
                let block = if buffer.is_sparse() { block.max(SPARSE_ROWS) } else { block };
                let first = if factor.compressions() > 0 { 0 } else { exact_rows };
                first.max(buffer.kept().saturating_add(block))
            }
        };
        capacity.saturating_sub(buffer.len())
    }

    /// Empties the buffer into the scatter, or compresses it.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let (forgetting, now) = (self.options.forgetting, self.state.clock);
        let fade = forgetting.weight(now - self.state.settled);
        self.state.settled = now;
        let weights = self.state.buffer.weights(forgetting, now);
        let imputed = self.fill_missing(weights.as_deref())?;
        if self.plan.engine == Engine::Scatter
            && let EngineState::Factor(_) = self.state.engine
        {
            self.state.engine = EngineState::Scatter(Scatter::empty(self.options.nothing(self.features())));
        }
        self.state.moments_mut().imputed += imputed;
        let (plan, FitOptions { components, truncation, standardize, .. }) = (self.plan, self.options.clone());
        let StreamState { engine, buffer, .. } = &mut self.state;
        match engine {
            EngineState::Scatter(scatter) => {
                if fade < 1.0 {
                    scatter.forget(fade);
                }
                scatter.absorb(buffer.raw_mut(), weights.as_deref())?;
                buffer.settle(0);
                Ok(())
            }
            EngineState::Factor(factor) => {
                if fade < 1.0 {
                    factor.forget(buffer, fade);
                }
                let limit = plan.max_rank.unwrap_or(usize::MAX);
                let cut = |squared: &[f64], total: f64| {
                    let limit = match components {
                        Components::Share(_) if plan.max_rank.is_none() => {
                            plan::spare_rank(components.resolve(squared, total))
                        }
                        _ => limit,
                    };
                    truncation.cut(squared, total, limit)
                };
                factor.compress(buffer, weights.as_deref(), &Rule { limit, standardized: standardize, cut: &cut })
            }
        }
    }

    /// Fills the missing cells of the raw rows; returns how many there were.
    pub(crate) fn fill_missing(&mut self, weights: Option<&[f64]>) -> Result<u64, Error> {
        if self.options.missing != Missing::Impute || self.state.buffer.is_sparse() {
            self.state.unseen.fill(false);
            return Ok(0);
        }
        let appeared = impute::appeared(self.state.buffer.raw(), weights, &self.state.unseen);
        impute::hold(self.state.moments_mut(), &appeared);
        appeared.iter().for_each(|(j, _)| self.state.unseen[*j] = false);
        let (guess, components) = (self.guess()?, self.options.components);
        impute(self.state.buffer.raw_mut(), weights, guess, components, self.options.about_origin)
    }
}
