//! Window frames whose start moves: the frame keeps its rows, or its models, and each result is computed from them.
//!
//! ```text
//! … [ xᵢ₋₂ xᵢ₋₁ xᵢ ] …      result i = the model of the rows in the frame
//! ```
//!
//! Rows that leave the frame are dropped instead of subtracted, so that no rounding accumulates, however long the table
//! is, and the result is the same as that of a fit of the frame alone, for any number of features.

use std::collections::VecDeque;

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;
use eigenspace::EigenspaceModel;

use super::merge::MergeJob;
use super::pca::{Batch, Job};
use crate::error::Error;

/// A frame never becomes the input of another aggregation.
fn no_state<T>() -> Result<T> {
    Err(DataFusionError::Internal("a window frame has no partial state".into()))
}

/// The rows of a frame.
#[derive(Debug)]
pub(crate) struct RowFrame {
    job: Job,
    /// Each row, with its weight.
    rows: VecDeque<(Vec<f64>, f64)>,
    weighted: bool,
    passed: usize,
}

impl RowFrame {
    pub(crate) fn new(job: Job) -> Self {
        Self { job, rows: VecDeque::new(), weighted: false, passed: 0 }
    }
}

impl Accumulator for RowFrame {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let batch = self.job.read(arguments, self.passed)?;
        self.job.check_finite(&batch, self.passed)?;
        self.weighted = batch.weights.is_some();
        for (index, row) in batch.rows.rows().into_iter().enumerate() {
            let weight = batch.weights.as_ref().map_or(1.0, |weights| weights[index]);
            self.rows.push_back((row.to_vec(), weight));
        }
        self.passed = self.passed.saturating_add(batch.rows.nrows());
        Ok(())
    }

    fn retract_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        // The rows that leave are those that came first.
        self.rows.drain(..arguments[0].len().min(self.rows.len()));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let width = self.rows.front().map_or(0, |(row, _)| row.len());
        let cells: Vec<f64> = self.rows.iter().flat_map(|(row, _)| row.iter().copied()).collect();
        let rows = ndarray::Array2::from_shape_vec((self.rows.len(), width), cells).map_err(|_| {
            Error::new(format!("{}: the lists in a window frame differ in length", self.job.function))
                .hint("pass lists of the same length")
        })?;
        let weights = self.weighted.then(|| self.rows.iter().map(|(_, weight)| *weight).collect());
        let mut accumulator = self.job.accumulator()?;
        self.job.absorb(&mut accumulator, &Batch { rows, weights })?;
        self.job.model(&accumulator)
    }

    fn size(&self) -> usize {
        let width = self.rows.front().map_or(0, |(row, _)| row.len());
        size_of_val(self) + self.rows.len() * (width * 8 + 64)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        no_state()
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        no_state()
    }
}

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
