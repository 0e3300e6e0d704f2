//! Everything of a stream that changes as rows arrive: its engine, its buffer and its clock.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::model::bound::Bound;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::metadata::Metadata;
use crate::model::moments::Moments;
use crate::model::scatter::Scatter;
use crate::stream::buffer::RowBuffer;
use crate::stream::factor::Factor;
use crate::stream::plan::{self, Engine};

/// No stream reaches this time: that would take a billion rows per second for a century.
const MAX_CLOCK: u64 = 1 << 62;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StreamState {
    pub(crate) engine: EngineState,
    pub(crate) buffer: RowBuffer,
    pub(crate) metadata: Metadata,
    /// Whether each feature has had no value in any row so far. Empty unless missing cells are
    /// filled.
    pub(crate) unseen: Vec<bool>,
    /// The time for forgetting: the number of rows, or of blocks, that have arrived.
    pub(crate) clock: u64,
    /// The time to which the weights inside the engine refer.
    pub(crate) engine_clock: u64,
}

/// The engine that absorbs the rows of the buffer. A scatter engine starts as a factor without
/// rows: until the buffer is full for the first time, reading the rows themselves is more precise.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum EngineState {
    Factor(Factor),
    Scatter(Scatter),
}

impl StreamState {
    /// The state before the first row.
    pub(crate) fn empty(nothing: Moments, unseen: Vec<bool>) -> Self {
        let features = nothing.features();
        let engine = EngineState::Factor(Factor::new(nothing, Bound::exact(features)));
        let buffer = RowBuffer::starting_with(Array2::zeros((0, features)));
        Self { engine, buffer, metadata: Metadata::new(), unseen, clock: 0, engine_clock: 0 }
    }

    /// Continues from a model, at the current time.
    pub(crate) fn start_from(&mut self, model: &EigenspaceModel, engine: Engine) {
        self.engine_clock = self.clock;
        self.unseen.fill(false);
        self.metadata = model.metadata.clone();
        let (engine, factor) = if engine == Engine::Scatter {
            (EngineState::Scatter(Scatter::of(model)), Array2::zeros((0, model.features())))
        } else {
            let factor = Factor::new(model.moments.clone(), model.bound.clone());
            (EngineState::Factor(factor), model.factor())
        };
        (self.engine, self.buffer) = (engine, RowBuffer::starting_with(factor));
    }

    /// Replaces the engine and the buffer at this time, and returns the state before.
    pub(crate) fn replaced(&mut self, engine: EngineState, buffer: RowBuffer, now: u64) -> Self {
        let Self { metadata, unseen, clock, .. } = &*self;
        let (metadata, unseen, clock) = (metadata.clone(), unseen.clone(), *clock);
        std::mem::replace(self, Self { engine, buffer, metadata, unseen, clock, engine_clock: now })
    }

    /// A stream with the option to standardize makes models whose views are standardized.
    pub(crate) fn mark_standardized(&mut self, standardize: bool) {
        let standardize = standardize || self.metadata.standardize();
        self.metadata = std::mem::take(&mut self.metadata).with_standardize(standardize);
    }

    /// The moments of the rows inside the engine.
    pub(crate) fn moments(&self) -> &Moments {
        match &self.engine {
            EngineState::Factor(factor) => factor.moments(),
            EngineState::Scatter(scatter) => scatter.moments(),
        }
    }

    pub(crate) fn moments_mut(&mut self) -> &mut Moments {
        match &mut self.engine {
            EngineState::Factor(factor) => factor.moments_mut(),
            EngineState::Scatter(scatter) => scatter.moments_mut(),
        }
    }

    /// Whether a restored state is consistent.
    pub(crate) fn is_consistent(&self, features: usize) -> bool {
        let (moments, bound, fits) = match &self.engine {
            EngineState::Factor(factor) => (factor.moments(), factor.bound(), true),
            EngineState::Scatter(scatter) => {
                let square = |matrix: &Array2<f64>| matrix.dim() == (features, features) && matrix.is_standard_layout();
                let fits = square(scatter.matrix()) && square(scatter.low()) && self.buffer.kept() == 0;
                (scatter.moments(), scatter.bound(), fits && plan::check_scatter(features).is_ok())
            }
        };
        fits && moments.is_consistent(features)
            && bound.is_consistent(features)
            && moments.count().checked_add(self.buffer.pending() as u64).is_some()
            && self.engine_clock <= self.clock
            && self.clock <= MAX_CLOCK
            && (self.unseen.is_empty() || self.unseen.len() == features)
            && self.buffer.is_consistent(features, self.clock)
            && self.metadata.check(features).is_ok()
    }
}
