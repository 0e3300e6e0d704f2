//! The stream: absorbs any number of rows, and can be read at any time.
//!
//! ```text
//! update ─► buffer ─► (full) ─► compress, or add to the scatter          model() reads without changing the stream
//! ```
//!
//! * Appending a row is a copy. All computation happens when the buffer is full, at row counts that
//!   depend only on the [`Plan`], so the result does not depend on how the caller divides the rows
//!   into blocks.
//! * Reading is in `read.rs`.
//! * Rows of any element type are converted to f64 when they are copied, so f32 rows give
//!   bit-identical models to the same numbers in f64.

use std::sync::Arc;

use crate::error::Error;
use crate::linalg::{self, Card};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::metadata::Metadata;
use crate::model::scatter::Scatter;
use crate::model::truncation::{Components, Cut, Truncation};
use crate::model::weight::Weight;
use crate::rows::block::{Block, rows_per_task};
use crate::rows::missing::Missing;
use crate::stream::cache::ReadCache;
use crate::stream::factor::Rule;
use crate::stream::impute::{self, impute};
use crate::stream::on_card::OnCard;
use crate::stream::options::FitOptions;
use crate::stream::plan::{self, Engine, Plan};
use crate::stream::state::{EngineState, StreamState};

/// Number of sparse rows per compression. More than for dense rows, because rotating the factor
/// costs more than the rows.
const SPARSE_BLOCK_ROWS: usize = 400;

/// A model that is still absorbing rows.
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
    pub(crate) plan: Plan,
    pub(crate) state: StreamState,
    pub(crate) cache: ReadCache,
    /// What is on a card, if the stream computes there.
    pub(crate) on_card: Option<OnCard>,
}

/// Updates of less weight do not bring the total weight above its limit, unless there are 10^20 of
/// them, so the weights of the pending rows are not added up for them.
const HEAVY: f64 = 1e120;

impl EigenspaceStream {
    pub(crate) fn new(options: FitOptions, plan: Plan, features: usize) -> Self {
        let unseen = if options.missing == Missing::Impute { vec![true; features] } else { Vec::new() };
        let metadata = Metadata::new().with_standardize(options.standardize);
        let state = StreamState { metadata, ..StreamState::empty(options.nothing(features), unseen) };
        Self { options, plan, state, cache: ReadCache::default(), on_card: None }
    }

    /// The same stream, which computes on a card if there is one.
    pub(crate) fn on(mut self, card: Option<Arc<dyn Card>>) -> Self {
        self.on_card = card.filter(|_| self.options.missing != Missing::Impute).map(OnCard::new);
        self
    }

    pub(crate) fn resume(options: FitOptions, plan: Plan, model: &EigenspaceModel) -> Self {
        let mut stream = Self::new(options, plan, model.features());
        stream.start_from(model);
        stream
    }

    fn start_from(&mut self, model: &EigenspaceModel) {
        self.cache.clear();
        self.leave_card();
        if model.is_empty() {
            let StreamState { clock, unseen, .. } = &self.state;
            let empty = StreamState::empty(self.options.nothing(model.features()), unseen.clone());
            self.state = StreamState { clock: *clock, engine_clock: *clock, metadata: model.metadata.clone(), ..empty };
        } else {
            self.state.start_from(model, self.plan.engine);
        }
        self.state.mark_standardized(self.options.standardize);
    }

    /// A stream with these options and a saved state.
    pub(crate) fn restored(options: &FitOptions, state: StreamState) -> Result<Self, Error> {
        let mut stream = options.stream(state.buffer.features())?;
        (stream.state, stream.cache) = (state, ReadCache::default());
        stream.state.mark_standardized(options.standardize);
        if let EngineState::Scatter(_) = stream.state.engine {
            // If the number of rows was known in advance, the stream may use the scatter where the
            // options alone would not.
            stream.plan = stream.plan.with_scatter();
        }
        Ok(stream)
    }

    /// Number of features, D.
    pub fn features(&self) -> usize {
        self.state.buffer.features()
    }

    /// Number of rows absorbed, n.
    pub fn count(&self) -> u64 {
        self.state.moments().count() + self.state.buffer.pending() as u64
    }

    /// The total weight of all rows, as if the pending ones were not forgotten.
    pub(crate) fn weight_before_forgetting(&self) -> Weight {
        self.state.moments().weight().plus(self.state.buffer.own_weight())
    }

    /// The chosen engine, block size and rank.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// The options of the stream.
    pub fn options(&self) -> &FitOptions {
        &self.options
    }

    /// For a stream on a card, the card, and how its results differ from those of the CPU.
    #[doc(hidden)]
    pub fn card_note(&self) -> Option<String> {
        let name = self.on_card.as_ref()?.card().name();
        Some(format!("computing on {name}: equal to the CPU up to rounding, for the same engine and rows per block"))
    }

    /// What is known about the rows besides their values. Every model read from the stream has it.
    pub fn metadata(&self) -> &Metadata {
        &self.state.metadata
    }

    /// The same stream with other metadata, which must fit its features.
    pub fn with_metadata(mut self, metadata: Metadata) -> Result<Self, Error> {
        metadata.check(self.features())?;
        self.state.metadata = metadata;
        self.cache.outdate();
        Ok(self)
    }

    /// Absorbs a block with any number of rows. A block with an invalid cell is rejected as a
    /// whole.
    pub fn update<'a>(&mut self, rows: impl Into<Block<'a>>) -> Result<(), Error> {
        let block = rows.into();
        if self.only_copies(&block) { self.absorb(block) } else { linalg::inside(|| self.absorb(block)) }
    }

    pub(crate) fn absorb(&mut self, block: Block<'_>) -> Result<(), Error> {
        if self.on_card.is_some() && block.sparse().is_none() {
            return self.absorb_on_card(block);
        }
        let selected = block.admit(self.features(), self.options.missing)?;
        let added: f64 = selected.iter().map(|&row| block.weight(row)).sum();
        self.begin_update(selected.len(), added)?;
        // The scatter engine collects rows dense, even if they are sparse.
        let sparse = block.sparse().is_some() && self.plan.engine == Engine::Factor;
        if !selected.is_empty() && self.state.buffer.pending() > 0 && self.state.buffer.is_sparse() != sparse {
            self.flush()?;
        }
        let mut rest = &selected[..];
        while !rest.is_empty() {
            if self.free_rows() == 0 {
                self.flush()?;
            }
            let free = self.free_rows();
            let (which, later) = rest.split_at(free.min(rest.len()));
            let (forgetting, clock) = (self.options.forgetting, self.state.clock);
            self.state.buffer.append(&block, which, sparse, free, forgetting.times(clock));
            self.state.clock = forgetting.after_rows(clock, which.len());
            rest = later;
        }
        Ok(())
    }

    /// Begins an update with this number of rows, if there are any, and this weight.
    pub(crate) fn begin_update(&mut self, rows: usize, weight: f64) -> Result<(), Error> {
        self.count().checked_add(rows as u64).ok_or(Error::CountOverflow)?;
        if weight > HEAVY {
            self.weight_before_forgetting().checked_plus(Weight::of(&[weight]))?;
        }
        if rows > 0 {
            self.cache.outdate();
            self.state.clock = self.options.forgetting.at_update(self.state.clock);
        }
        Ok(())
    }

    /// Number of dense rows that the next update only copies to the buffer, in the calling thread.
    /// An update with more rows, or with sparse rows, may compute with all threads.
    #[doc(hidden)]
    pub fn rows_to_buffer(&self) -> usize {
        if self.state.buffer.is_sparse() { 0 } else { rows_per_task(self.features()).min(self.free_rows()) }
    }

    /// Whether an update with these rows only copies them.
    pub(crate) fn only_copies(&self, rows: &Block<'_>) -> bool {
        rows.sparse().is_none() && rows.nrows() <= self.rows_to_buffer()
    }

    /// Absorbs the rows of another model.
    pub fn merge(&mut self, model: &EigenspaceModel) -> Result<(), Error> {
        if !model.is_empty() && model.is_centered() == self.options.about_origin {
            return Err(Error::CenteringDiffers);
        }
        let merged = self.model()?.merge(model, Truncation::None)?;
        self.start_from(&merged);
        Ok(())
    }

    /// Changes the number of reported components. Directions that were dropped do not return.
    pub fn set_components(&mut self, components: impl Into<Components>) -> Result<(), Error> {
        let options = self.options.clone().components(components);
        let plan = options.plan(self.features())?;
        // A stream whose number of rows was known in advance keeps its engine.
        self.plan = if plan.engine == self.plan.engine { plan } else { self.plan };
        self.options = options;
        self.cache.outdate();
        Ok(())
    }

    /// Number of rows that can be appended before the buffer must be emptied.
    pub(crate) fn free_rows(&self) -> usize {
        let Plan { exact_rows, block_rows, max_rank, engine } = self.plan;
        let buffer = &self.state.buffer;
        let capacity = match &self.state.engine {
            EngineState::Scatter(_) => block_rows,
            EngineState::Factor(_) if engine == Engine::Scatter => exact_rows,
            EngineState::Factor(factor) => {
                let block = if max_rank.is_none() { block_rows.max(buffer.kept()) } else { block_rows };
                let block = if buffer.is_sparse() { block.max(SPARSE_BLOCK_ROWS) } else { block };
                let first = if factor.compressions() > 0 { 0 } else { exact_rows };
                first.max(buffer.kept().saturating_add(block))
            }
        };
        capacity.saturating_sub(buffer.len())
    }

    /// Adds the buffer to the scatter, or compresses it.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.cache.clear();
        self.leave_card();
        let (forgetting, now) = (self.options.forgetting, self.state.clock);
        let fade = forgetting.weight(now - self.state.engine_clock);
        self.state.engine_clock = now;
        let weights = self.state.buffer.weights(forgetting, now);
        self.fill_missing(weights.as_deref())?;
        if self.plan.engine == Engine::Scatter
            && let EngineState::Factor(factor) = &self.state.engine
        {
            let nothing = factor.moments().emptied(self.options.nothing(self.features()));
            self.state.engine = EngineState::Scatter(Scatter::empty(nothing));
        }
        let cut = cut_of(self.plan, &self.options);
        let rule = rule_of(self.plan, &self.options, &cut);
        let StreamState { engine, buffer, .. } = &mut self.state;
        match engine {
            EngineState::Scatter(scatter) => {
                if fade < 1.0 {
                    scatter.forget(fade);
                }
                scatter.absorb(buffer.raw_mut(), weights.as_deref())?;
                buffer.keep_factor(0);
                Ok(())
            }
            EngineState::Factor(factor) => {
                if fade < 1.0 {
                    factor.forget(buffer, fade);
                }
                factor.compress(buffer, weights.as_deref(), &rule)
            }
        }
    }

    /// Forgets what is on the card, because the host is about to change it.
    pub(crate) fn leave_card(&mut self) {
        self.on_card.iter_mut().for_each(OnCard::clear);
    }

    /// Fills the missing cells of the pending rows, and counts them.
    pub(crate) fn fill_missing(&mut self, weights: Option<&[f64]>) -> Result<(), Error> {
        if self.options.missing != Missing::Impute || self.state.buffer.is_sparse() {
            self.state.unseen.fill(false);
            return Ok(());
        }
        let newly_observed = impute::newly_observed(self.state.buffer.raw(), weights, &self.state.unseen);
        // In the earlier rows, these features were constant.
        self.state.moments_mut().set_constants(&newly_observed);
        newly_observed.iter().for_each(|(j, _)| self.state.unseen[*j] = false);
        let (imputer, components) = (self.imputer()?, self.options.components);
        let origin = self.options.about_origin;
        let filled = impute(self.state.buffer.raw_mut(), weights, imputer, components, origin)?;
        self.state.moments_mut().count_imputed(filled);
        Ok(())
    }
}

/// How many directions a compression keeps, from their squared singular values and the total
/// scatter.
pub(crate) fn cut_of(plan: Plan, options: &FitOptions) -> impl Fn(&[f64], f64) -> Cut + use<> {
    let FitOptions { components, truncation, max_rank, .. } = *options;
    let by_default = plan.max_rank.is_none() && max_rank.is_none();
    move |squared: &[f64], total: f64| {
        let limit = match components {
            Components::Share(_) if by_default => plan::spare_rank(components.resolve(squared, total)),
            _ => plan.rank_limit().of(squared.len()),
        };
        truncation.cut(squared, total, limit)
    }
}

/// The rule of a compression, with the cut of [`cut_of`].
pub(crate) fn rule_of<'a>(plan: Plan, options: &FitOptions, cut: &'a dyn Fn(&[f64], f64) -> Cut) -> Rule<'a> {
    Rule { limit: plan.rank_limit(), standardized: options.standardize, cut }
}
