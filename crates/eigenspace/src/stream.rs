//! The streaming engine: absorb rows by the billion, look at any time.
//!
//! ```text
//! update ─► buffer ─► (full) ─► compress, or add to the scatter          model() reads, and changes nothing
//! ```
//!
//! * Appending a row is a copy. All arithmetic happens when the buffer is full, at row counts that
//!   depend only on the [`Plan`], so the answer does not depend on how the caller cut the rows.
//! * Reading decomposes the buffer as it stands and drops nothing; the result is cached until the
//!   next row.
//! * f32 rows are kept and multiplied in f32 (half the memory, twice the rate), with sums, means and
//!   all small problems in f64, until an f64 row or a magnitude beyond f32's comfort arrives; then
//!   the stream goes on in f64. The loss is about 1e-7 of the largest singular value.

use std::sync::{Arc, OnceLock};

use ndarray::{ArrayView2, Axis, Slice};

use crate::block;
use crate::element::Element;
use crate::error::Error;
use crate::factor::Factor;
use crate::fit::FitOptions;
use crate::linalg::{self, Real};
use crate::model::EigenspaceModel;
use crate::plan::{self, Engine, Plan};
use crate::reduce::{Route, reduce};
use crate::scatter::Scatter;
use crate::truncation::{Components, Truncation};

/// Magnitudes between which squares and their sums are safe in f32.
const SAFE_F32: std::ops::RangeInclusive<f64> = 1e-10..=1e8;

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
    options: FitOptions,
    plan: Plan,
    buffer: Buffer,
    scatter: Option<Scatter>,
    cache: OnceLock<Arc<EigenspaceModel>>,
}

/// The buffer in the precision of the rows so far.
#[derive(Debug, Clone)]
enum Buffer {
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

impl EigenspaceStream {
    pub(crate) fn new(options: FitOptions, plan: Plan, features: usize) -> Self {
        let buffer = Buffer::F32(Factor::empty(features));
        Self { options, plan, buffer, scatter: None, cache: OnceLock::new() }
    }

    pub(crate) fn resume(options: FitOptions, plan: Plan, model: &EigenspaceModel) -> Self {
        let mut stream = Self::new(options, plan, model.features());
        stream.start_from(model);
        stream
    }

    fn start_from(&mut self, model: &EigenspaceModel) {
        self.cache = OnceLock::new();
        if self.plan.engine == Engine::Scatter {
            self.buffer = Buffer::F64(Factor::empty(model.features()));
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
    pub fn update<E: Element>(&mut self, rows: ArrayView2<'_, E>) -> Result<(), Error> {
        block::check(rows, self.features())?;
        self.count().checked_add(rows.nrows() as u64).ok_or(Error::CountOverflow)?;
        if rows.nrows() == 0 {
            return Ok(());
        }
        self.cache = OnceLock::new();
        if E::Work::EPSILON < f32::EPSILON.into() {
            self.widen();
        }
        let mut start = 0;
        while start < rows.nrows() {
            if self.room() == 0 {
                self.flush()?;
            }
            let end = rows.nrows().min(start + self.room());
            let piece = linalg::rows_of(rows, start..end);
            either!(&mut self.buffer, factor => factor.append(piece));
            start = end;
        }
        Ok(())
    }

    /// Absorbs the rows that another model stands for.
    pub fn merge(&mut self, model: &EigenspaceModel) -> Result<(), Error> {
        let merged = self.model()?.merge(model, Truncation::None)?;
        self.start_from(&merged);
        Ok(())
    }

    /// The model of all rows so far. Cached until the next row.
    pub fn model(&self) -> Result<Arc<EigenspaceModel>, Error> {
        if let Some(model) = self.cache.get() {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(self.read()?);
        Ok(Arc::clone(self.cache.get_or_init(|| model)))
    }

    /// The same stream showing another number of components. Rank that was dropped does not return.
    pub fn set_components(&mut self, components: impl Into<Components>) -> Result<(), Error> {
        self.options = self.options.clone().components(components);
        self.plan = self.options.plan(self.features())?;
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
                let first = if factor.compressed { 0 } else { exact_rows };
                first.max(factor.kept + block)
            };
            capacity.saturating_sub(factor.rows)
        })
    }

    /// Empties the buffer into the scatter, or compresses it.
    fn flush(&mut self) -> Result<(), Error> {
        if let Buffer::F32(factor) = &self.buffer {
            let largest = factor.largest_pending();
            if largest > 0.0 && !SAFE_F32.contains(&largest) {
                self.widen();
            }
        }
        if self.plan.engine == Engine::Scatter {
            let features = self.features();
            let scatter = self.scatter.get_or_insert_with(|| Scatter::empty(features));
            return either!(&mut self.buffer, factor => factor.drain_into(scatter));
        }
        let (plan, FitOptions { components, truncation, .. }) = (self.plan, self.options.clone());
        let cut = |squared: &[f64], total: f64| {
            let limit = match (plan.max_rank, components) {
                (Some(rank), _) => rank,
                (None, Components::Share(_)) => plan::spare_rank(components.resolve(squared, total)),
                (None, _) => usize::MAX,
            };
            truncation.cut(squared, total, limit)
        };
        either!(&mut self.buffer, factor => factor.compress(cut))
    }

    /// Goes on in f64.
    fn widen(&mut self) {
        if let Buffer::F32(factor) = &mut self.buffer {
            let factor = std::mem::replace(factor, Factor::empty(0));
            self.buffer = Buffer::F64(factor.cast());
        }
    }

    fn read(&self) -> Result<EigenspaceModel, Error> {
        let components = self.options.components;
        either!(&self.buffer, factor => {
            let mut a = factor.view().mapv(Real::widen);
            let added = a.slice_axis_mut(Axis(0), Slice::from(factor.kept..));
            if let Some(scatter) = &self.scatter {
                let mut scatter = scatter.clone();
                scatter.absorb(added)?;
                return scatter.model(Truncation::None, components);
            }
            let moments = factor.moments.absorb(added)?;
            let reduced = reduce(a.view(), Route::Auto, Truncation::None, &moments, factor.epsilon())?;
            Ok(EigenspaceModel::from_reduced(moments, reduced, factor.bound, components))
        })
    }
}
