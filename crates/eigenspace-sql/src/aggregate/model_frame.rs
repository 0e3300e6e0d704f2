//! Window frames of models whose start moves: each result is merged from the models in the frame.
//!
//! ```text
//! … [ mᵢ₋₂ mᵢ₋₁ mᵢ ] …      result i = mᵢ₋₂ + mᵢ₋₁ + mᵢ
//! ```

use std::collections::VecDeque;

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;
use eigenspace::EigenspaceModel;

use super::merge::MergeJob;
use super::no_state;

/// The models of a frame; `None` for NULL.
#[derive(Debug)]
pub(crate) struct ModelFrame {
    job: MergeJob,
    models: VecDeque<Option<EigenspaceModel>>,
}

impl ModelFrame {
    pub(crate) fn new(job: MergeJob) -> Self {
        Self { job, models: VecDeque::new() }
    }
}

impl Accumulator for ModelFrame {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        self.models.extend(self.job.read(&arguments[0])?);
        Ok(())
    }

    fn retract_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        self.models.drain(..arguments[0].len().min(self.models.len()));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let merged = self.job.merged(self.models.iter().flatten())?;
        Ok(ScalarValue::LargeBinary(merged.map(|model| model.to_bytes())))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.models.iter().flatten().map(super::merge::size).sum::<usize>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        no_state()
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        no_state()
    }
}
