//! The streaming engine: absorb rows by the billion, look at any time.
//!
//! ```text
//! update ─► buffer ─► (full) ─► compress, or add to the scatter          model() reads, and changes nothing
//! ```
//!
//! * Appending a row is a copy. All arithmetic happens when the buffer is full, at row counts that
//!   depend only on the [`Plan`], so the answer does not depend on how the caller cut the rows.
//! * Reading is in `read.rs`.
//! * f32 rows are kept and multiplied in f32 (half the memory, up to twice the rate), with sums, means and
//!   all small problems in f64, until an f64 row or a magnitude beyond f32's comfort arrives; then
//!   the stream goes on in f64. The loss is about 1e-7 of the largest singular value.

use std::sync::{Arc, OnceLock};

use crate::block::{Block, CHECK_ROWS};
use crate::error::Error;
use crate::factor::Factor;
use crate::fit::FitOptions;
use crate::linalg;
use crate::missing::{Missing, impute};
use crate::model::EigenspaceModel;
use crate::plan::{self, Engine, Plan};
use crate::scatter::Scatter;
use crate::truncation::{Components, Truncation};

/// Magnitudes between which squares and their sums are safe in f32.
const SAFE_F32: std::ops::RangeInclusive<f64> = 1e-10..=1e8;

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
    pub(crate) buffer: Buffer,
    pub(crate) scatter: Option<Scatter>,
    /// Rows, or blocks, that have come: the time by which rows are forgotten.
    pub(crate) clock: u64,
    /// The time at which the factor, or the scatter, has the weight it says.
    pub(crate) settled: u64,
    pub(crate) cache: OnceLock<Arc<EigenspaceModel>>,
}

/// The buffer in the precision of the rows so far.
#[derive(Debug, Clone)]
pub(crate) enum Buffer {
    F32(Factor<f32>),
    F64(Factor<f64>),
}

/// Runs an expression on the factor of either precision.
macro_rules! either {
    ($buffer:expr, $factor:ident => $body:expr) => {
        match $buffer {
            Buffer::F32($factor) => $body,
            Buffer::F64($factor) => $body,
        }
    };
}

pub(crate) use either;

impl EigenspaceStream {
    pub(crate) fn new(options: FitOptions, plan: Plan, features: usize) -> Self {
        let buffer = Buffer::F32(Factor::empty(features, options.about_origin));
        Self { options, plan, buffer, scatter: None, clock: 0, settled: 0, cache: OnceLock::new() }
    }

    pub(crate) fn resume(options: FitOptions, plan: Plan, model: &EigenspaceModel) -> Self {
        let mut stream = Self::new(options, plan, model.features());
        stream.start_from(model);
        stream
    }

    fn start_from(&mut self, model: &EigenspaceModel) {
        self.cache = OnceLock::new();
        self.settled = self.clock;
        if model.is_empty() {
            self.buffer = Buffer::F64(Factor::empty(model.features(), self.options.about_origin));
            self.scatter = None;
            return;
        }
        if self.plan.engine == Engine::Scatter {
            self.buffer = Buffer::F64(Factor::empty(model.features(), self.options.about_origin));
            self.scatter = Some(Scatter::of(model));
        } else {
            self.buffer = Buffer::F64(Factor::start(model.moments.clone(), model.bound, model.factor()));
        }
    }

    /// D: columns of the rows.
    pub fn features(&self) -> usize {
        either!(&self.buffer, factor => factor.moments.features())
    }

    /// n: rows absorbed.
    pub fn count(&self) -> u64 {
        let inside = either!(&self.buffer, factor => factor.moments.count + factor.pending() as u64);
        inside + self.scatter.as_ref().map_or(0, |scatter| scatter.moments.count)
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
        if !block.is_narrow() {
            self.widen();
        }
        let by_row = self.options.forgetting.by_row();
        self.clock += u64::from(!by_row);
        // Few features are gathered dense, whatever they come as.
        let sparse = block.sparse().is_some() && self.plan.engine == Engine::Factor;
        if either!(&self.buffer, factor => factor.pending() > 0 && factor.waits_sparse() != sparse) {
            self.flush()?;
        }
        let mut rest = &there[..];
        while !rest.is_empty() {
            if self.room() == 0 {
                self.flush()?;
            }
            let (which, later) = rest.split_at(self.room().min(rest.len()));
            let clock = self.clock;
            let birth = |i: usize| if by_row { clock + 1 + i as u64 } else { clock };
            either!(&mut self.buffer, factor => factor.append(&block, which, sparse, birth));
            self.clock += if by_row { which.len() as u64 } else { 0 };
            rest = later;
        }
        Ok(())
    }

    /// Whether an update with these rows is a copy and no more: no compression, no second thread.
    pub fn only_copies(&self, rows: &Block<'_>) -> bool {
        let few = rows.sparse().is_none() && rows.nrows() <= CHECK_ROWS.min(self.room());
        few && !either!(&self.buffer, factor => factor.waits_sparse())
    }

    /// Numbers, at most, that the buffer grows by when these rows come.
    pub fn cells_to_update(&self, rows: &Block<'_>) -> usize {
        let coming = if rows.sparse().is_some() { 0 } else { rows.nrows().min(self.room().max(1)) };
        let widened = match &self.buffer {
            Buffer::F32(factor) if !rows.is_narrow() => factor.data.nrows(),
            _ => 0,
        };
        let grown = either!(&self.buffer, factor => factor.grown(coming).unwrap_or(0));
        widened.saturating_add(grown).saturating_mul(self.features())
    }

    /// Absorbs the rows that another model stands for.
    pub fn merge(&mut self, model: &EigenspaceModel) -> Result<(), Error> {
        if !model.is_empty() && model.is_centred() == self.options.about_origin {
            return Err(Error::CentringDiffers);
        }
        let merged = self.model()?.merge(model, Truncation::None)?;
        self.start_from(&merged);
        Ok(())
    }

    /// The same stream showing another number of components. Rank that was dropped does not return.
    pub fn set_components(&mut self, components: impl Into<Components>) -> Result<(), Error> {
        let options = self.options.clone().components(components);
        self.plan = options.plan(self.features())?;
        self.options = options;
        self.cache = OnceLock::new();
        Ok(())
    }

    /// Rows that can still be appended before the buffer must be emptied.
    fn room(&self) -> usize {
        let Plan { exact_rows, block_rows, max_rank, engine } = self.plan;
        either!(&self.buffer, factor => {
            let capacity = if engine == Engine::Scatter {
                if self.scatter.is_some() { block_rows } else { exact_rows }
            } else {
                let block = if max_rank.is_none() { block_rows.max(factor.kept) } else { block_rows };
                let block = if factor.waits_sparse() { block.max(SPARSE_ROWS) } else { block };
                let first = if factor.compressions > 0 { 0 } else { exact_rows };
                first.max(factor.kept.saturating_add(block))
            };
            capacity.saturating_sub(factor.kept + factor.pending())
        })
    }

    /// Empties the buffer into the scatter, or compresses it.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let (forgetting, now) = (self.options.forgetting, self.clock);
        let fade = forgetting.weight(now - self.settled);
        self.settled = now;
        let weights = either!(&self.buffer, factor => factor.weights(forgetting, now));
        if let Buffer::F32(factor) = &self.buffer {
            let heaviest = weights.as_ref().map_or(1.0, |weights| weights.iter().fold(0.0_f64, |a, b| a.max(*b)));
            let largest = factor.largest_pending() * heaviest.sqrt();
            if largest > 0.0 && !SAFE_F32.contains(&largest) {
                self.widen();
            }
        }
        let imputed = self.fill_missing(weights.as_deref())?;
        if self.plan.engine == Engine::Scatter {
            let (features, origin) = (self.features(), self.options.about_origin);
            let scatter = self.scatter.get_or_insert_with(|| Scatter::empty(features, origin));
            if fade < 1.0 {
                scatter.forget(fade);
            }
            scatter.moments.imputed += imputed;
            return either!(&mut self.buffer, factor => factor.drain_into(scatter, weights.as_deref()));
        }
        if fade < 1.0 {
            either!(&mut self.buffer, factor => factor.forget(fade));
        }
        either!(&mut self.buffer, factor => factor.moments.imputed += imputed);
        let (plan, FitOptions { components, truncation, .. }) = (self.plan, self.options.clone());
        let limit = plan.max_rank.unwrap_or(usize::MAX);
        let cut = |squared: &[f64], total: f64| {
            let limit = match components {
                Components::Share(_) if plan.max_rank.is_none() => plan::spare_rank(components.resolve(squared, total)),
                _ => limit,
            };
            truncation.cut(squared, total, limit)
        };
        either!(&mut self.buffer, factor => factor.compress(weights.as_deref(), limit, cut))
    }

    /// Fills the missing cells of the raw rows; returns how many there were.
    fn fill_missing(&mut self, weights: Option<&[f64]>) -> Result<u64, Error> {
        if self.options.missing != Missing::Impute {
            return Ok(0);
        }
        let (guess, components) = (self.guess()?, self.options.components);
        let about_origin = self.options.about_origin;
        either!(&mut self.buffer, factor => impute(factor.raw_mut(), weights, guess, components, about_origin))
    }

    /// Goes on in f64.
    fn widen(&mut self) {
        if let Buffer::F32(factor) = &mut self.buffer {
            let factor = std::mem::replace(factor, Factor::empty(0, false));
            self.buffer = Buffer::F64(factor.cast());
        }
    }
}
