//! Window frames of rows whose start moves. A result costs the same for any length of the frame.
//!
//! ```text
//!               │ front: loose rows, then whole blocks │  back: rows that came since   │
//!   rows        │  x x x   [ block ] [ block ] [ block ]  x x x x x x x x x x x x x x x │
//!   states      │           s₁ = b₁ + s₂                                               │
//!               │                     s₂ = b₂ + b₃                                     │
//!               │                               s₃ = b₃        one state t             │
//!
//!   result  =  loose rows + s₁ + t
//! ```
//!
//! A row that leaves is one of the loose rows. If there are none, those of the first block become
//! loose, and its state s₁ is dropped. If there is no block either, all rows of the frame become
//! the front. So a row is absorbed three times at most, and nothing is ever subtracted: a
//! difference would keep the rounding errors of all rows that have left.
//!
//! If states drop directions (more than 1,024 features), what they drop depends on how the rows are
//! divided. All rows then stay loose, and each result is a fit of the rows in the frame.

use std::collections::VecDeque;
use std::ops::Range;

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;
use eigenspace::{Accumulator as State, Engine};
use ndarray::Array2;

use super::no_state;
use super::pca::{self, Batch, Job};
use crate::error::Error;

/// The rows of a frame, and states of most of them.
#[derive(Debug)]
pub(crate) struct RowFrame {
    job: Job,
    /// Each row, with its weight.
    rows: VecDeque<(Vec<f64>, f64)>,
    weighted: bool,
    /// Number of rows that have entered the frame.
    passed: usize,
    /// Number of rows in a block; `None` if states drop directions.
    block: Option<usize>,
    /// Number of loose rows, which come first.
    loose: usize,
    /// The states … s₃, s₂, s₁ of the rest of the front, from each block on.
    front: Vec<State>,
    /// The state of the rows after the front.
    back: State,
}

impl RowFrame {
    pub(crate) fn new(job: Job) -> Result<Self> {
        let (back, rows, front) = (job.accumulator()?, VecDeque::new(), Vec::new());
        Ok(Self { job, rows, weighted: false, passed: 0, block: None, loose: 0, front, back })
    }

    fn width(&self) -> usize {
        self.rows.front().map_or(0, |(row, _)| row.len())
    }

    /// Absorbs some rows of the frame.
    fn absorb(&self, state: &mut State, range: Range<usize>) -> Result<()> {
        let (count, rows) = (range.len(), self.rows.range(range.clone()));
        let cells: Vec<f64> = rows.flat_map(|(row, _)| row.iter().copied()).collect();
        let rows = Array2::from_shape_vec((count, self.width()), cells).map_err(|_| {
            Error::new(format!("{}: the lists in a window frame differ in length", self.job.function))
                .hint("pass lists of the same length")
        })?;
        let weights = self.weighted.then(|| self.rows.range(range).map(|(_, weight)| *weight).collect());
        self.job.absorb(state, &Batch { rows, weights })
    }

    fn merge(&self, state: &mut State, other: &State) -> Result<()> {
        Ok(state.merge(other).map_err(|error| Error::of(self.job.function, &error))?)
    }

    /// Makes all rows the front.
    fn restack(&mut self) -> Result<()> {
        (self.front, self.back) = (Vec::new(), self.job.accumulator()?);
        let block = self.block.unwrap_or(usize::MAX);
        let mut end = self.rows.len();
        while end >= block {
            let mut state = self.front.last().cloned().map_or_else(|| self.job.accumulator(), Ok)?;
            self.absorb(&mut state, end - block..end)?;
            self.front.push(state);
            end -= block;
        }
        self.loose = end;
        Ok(())
    }
}

impl Accumulator for RowFrame {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let batch = self.job.read(arguments, self.passed)?;
        self.job.check(&batch, self.passed)?;
        if batch.rows.nrows() == 0 {
            return Ok(());
        }
        if self.rows.is_empty() {
            let plan =
                self.job.options.plan(batch.rows.ncols()).map_err(|error| Error::of(self.job.function, &error))?;
            self.block = (plan.engine == Engine::Scatter).then_some(plan.block_rows);
            self.restack()?;
        }
        self.weighted = batch.weights.is_some();
        for (index, row) in batch.rows.rows().into_iter().enumerate() {
            let weight = batch.weights.as_ref().map_or(1.0, |weights| weights[index]);
            self.rows.push_back((row.to_vec(), weight));
        }
        self.passed = self.passed.saturating_add(batch.rows.nrows());
        match self.block {
            Some(_) => self.job.absorb(&mut self.back, &batch),
            None => self.restack(),
        }
    }

    fn retract_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        // The rows that leave are those that came first.
        let leaving = arguments[0].len().min(self.rows.len());
        self.rows.drain(..leaving);
        while self.loose < leaving && self.front.pop().is_some() {
            self.loose += self.block.unwrap_or(0);
        }
        match self.loose.checked_sub(leaving) {
            Some(loose) => self.loose = loose,
            None => self.restack()?,
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut state = self.front.last().cloned().map_or_else(|| self.job.accumulator(), Ok)?;
        self.absorb(&mut state, 0..self.loose)?;
        self.merge(&mut state, &self.back)?;
        self.job.model(&state)
    }

    fn size(&self) -> usize {
        let states: usize = self.front.iter().chain([&self.back]).map(pca::size).sum();
        size_of_val(self) + self.rows.len() * (self.width() * 8 + 64) + states
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        no_state()
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        no_state()
    }
}
