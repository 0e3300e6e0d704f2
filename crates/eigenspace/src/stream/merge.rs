//! Merges two streams with the same options: the engines are added, and the pending rows are
//! appended.
//!
//! ```text
//! scatter   M ← M₁ + M₂ + c cᵀ                       an addition
//! factor    A = [ F₁ ; F₂ ; c ],   F ← U_r A         a compression
//! ```
//!
//! As long as one of the engines holds no rows, its rows are all pending, and merging is the same
//! as absorbing them.

use crate::error::Error;
use crate::stream::buffer::RowBuffer;
use crate::stream::eigenspace_stream::{EigenspaceStream, cut_of, rule_of};
use crate::stream::state::EngineState;

impl EigenspaceStream {
    /// Absorbs the rows of another stream with the same options and the same number of features.
    /// Neither of them forgets.
    pub(crate) fn merge_stream(&mut self, other: &Self) -> Result<(), Error> {
        self.count().checked_add(other.count()).ok_or(Error::CountOverflow)?;
        self.weight_before_forgetting().checked_plus(other.weight_before_forgetting())?;
        self.cache.clear();
        let holds_rows = |stream: &Self| stream.state.moments().count() > 0;
        if holds_rows(other) && !holds_rows(self) {
            let pending = std::mem::replace(self, other.clone());
            return self.append_pending(&pending.state.buffer);
        }
        if holds_rows(other) {
            self.merge_engine(other)?;
        }
        self.append_pending(&other.state.buffer)
    }

    /// Adds the rows inside the engine of another stream.
    fn merge_engine(&mut self, other: &Self) -> Result<(), Error> {
        let cut = cut_of(self.plan(), &self.options);
        let rule = rule_of(self.plan(), &self.options, &cut);
        let others = other.state.buffer.factor();
        match (&mut self.state.engine, &other.state.engine) {
            (EngineState::Scatter(scatter), EngineState::Scatter(other)) => scatter.merge(other),
            (EngineState::Factor(factor), EngineState::Factor(other)) => {
                let merged = factor.merge(self.state.buffer.factor(), other, others, &rule)?;
                let before = std::mem::replace(&mut self.state.buffer, merged);
                self.append_pending(&before)
            }
            _ => Err(Error::OptionsDiffer {
                option: "engine",
                left: self.plan().engine.to_string(),
                right: other.plan().engine.to_string(),
            }),
        }
    }

    /// Absorbs the pending rows of a buffer.
    fn append_pending(&mut self, buffer: &RowBuffer) -> Result<(), Error> {
        buffer.with_pending(|block| self.absorb(block))
    }
}
