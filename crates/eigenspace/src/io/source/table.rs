//! Reads tables in Arrow batches, from Parquet or Arrow IPC, as rows of numbers.
//!
//! A block is filled from as many batches as necessary, so the blocks do not depend on how the file
//! was written.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use ndarray::Array2;

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::array;
use crate::io::source::layout::Layout;
use crate::io::source::{Columns, Needed, Origin, RowBlock, RowSource, SourceError, Values};
use crate::linalg::Real;

/// Number of rows of the batch that is read to find the length of lists.
const LIST_PROBE_ROWS: usize = 16;

/// A source of batches.
pub(super) trait Batches: Send {
    /// The next batch of about this many rows; `None` at the end.
    fn next_batch(&mut self, rows: usize) -> Result<Option<RecordBatch>, Error>;

    /// Skips at most this many rows without decoding them, and returns their number.
    fn skip_undecoded(&mut self, rows: u64) -> Result<u64, Error>;
}

/// A table as rows of numbers.
pub(super) struct Table<B> {
    path: Arc<PathBuf>,
    batches: B,
    layout: Layout,
    columns: Columns,
    rows: Option<u64>,
    /// Batches that were read but not returned yet.
    waiting: VecDeque<RecordBatch>,
    /// Number of rows of the first batch that were already returned.
    used: usize,
    row: u64,
}

impl<B: Batches> Table<B> {
    /// Reads as much as is needed to determine the columns.
    pub(super) fn open(
        path: Arc<PathBuf>,
        mut batches: B,
        mut layout: Layout,
        rows: Option<u64>,
    ) -> Result<Self, Error> {
        let mut waiting = VecDeque::new();
        while !layout.measured() {
            let Some(batch) = batches.next_batch(LIST_PROBE_ROWS)? else { break };
            layout.measure(&batch).map_err(at(path.as_ref()))?;
            waiting.push_back(batch);
        }
        if !layout.measured() && waiting.is_empty() {
            return Err(at(path.as_ref())(SourceError::Empty));
        }
        let columns = layout.columns().map_err(at(path.as_ref()))?;
        Ok(Self { path, batches, layout, columns, rows, waiting, used: 0, row: 0 })
    }

    /// Drops batches whose rows were all returned.
    fn drop_finished(&mut self) {
        while self.waiting.front().is_some_and(|batch| self.used >= batch.num_rows()) {
            self.waiting.pop_front();
            self.used = 0;
        }
    }

    /// The rows of the next batch that were not returned yet, at most `most`. Reads a batch of
    /// about `rows` if needed.
    fn piece(&mut self, rows: usize, most: usize) -> Result<Option<(RecordBatch, Range<usize>)>, Error> {
        self.drop_finished();
        while self.waiting.is_empty() {
            let Some(batch) = self.batches.next_batch(rows)? else { return Ok(None) };
            self.waiting.push_back(batch);
            self.drop_finished();
        }
        let Some(batch) = self.waiting.front() else { return Ok(None) };
        let start = self.used;
        self.used = batch.num_rows().min(start.saturating_add(most));
        Ok(Some((batch.clone(), start..self.used)))
    }

    /// A block of numbers, labels and weights from pieces of batches.
    fn gather<T: Real>(&mut self, rows: usize) -> Result<Option<RowBlock>, Error>
    where
        Values: From<Array2<T>>,
    {
        let origin = Origin { path: self.path.clone(), first: self.row, lines: None, names: None };
        let stride = self.columns.count;
        let mut cells = Vec::new();
        let mut labels = self.layout.label.map(|_| Vec::new());
        let mut weights = self.layout.weight.map(|_| Vec::new());
        let mut count = 0;
        while count < rows {
            let Some((batch, piece)) = self.piece(rows, rows - count)? else { break };
            let start = cells.len();
            cells.resize(start + piece.len() * stride, T::zero());
            let filled = self.layout.fill(&batch, piece.clone(), self.row, &mut cells[start..], stride);
            filled.map_err(at(self.path.as_ref()))?;
            let refused = |place: usize| {
                let (field, column) = (batch.schema_ref().field(place), batch.column(place));
                let dtype = column.data_type().to_string();
                SourceError::ColumnType {
                    column: format!("`{}`", field.name()),
                    dtype,
                    needed: Needed::No,
                    others: Vec::new(),
                    all: false,
                }
            };
            if let (Some(place), Some(labels)) = (self.layout.label, &mut labels)
                && !array::labels(batch.column(place), piece.clone(), labels)
            {
                return Err(at(self.path.as_ref())(refused(place)));
            }
            if let (Some(place), Some(weights)) = (self.layout.weight, &mut weights)
                && !array::numbers(batch.column(place), piece.clone(), |_, weight| weights.push(weight))
            {
                return Err(at(self.path.as_ref())(refused(place).of_weights()));
            }
            count += piece.len();
            self.row += piece.len() as u64;
        }
        if count == 0 {
            return Ok(None);
        }
        let values = Array2::from_shape_vec((count, stride), cells).map_err(|error| {
            at(self.path.as_ref())(SourceError::Malformed { format: "table", problem: error.to_string() })
        })?;
        Ok(Some(RowBlock { values: values.into(), weights, labels, origin }))
    }
}

impl<B: Batches> RowSource for Table<B> {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        if self.layout.narrow { self.gather::<f32>(rows.max(1)) } else { self.gather::<f64>(rows.max(1)) }
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let mut skipped = 0;
        loop {
            self.drop_finished();
            if self.waiting.is_empty() {
                skipped += self.batches.skip_undecoded(rows - skipped)?;
            }
            let most = usize::try_from(rows - skipped).unwrap_or(usize::MAX);
            if most == 0 {
                break;
            }
            let Some((_, piece)) = self.piece(most.min(LIST_PROBE_ROWS), most)? else { break };
            skipped += piece.len() as u64;
        }
        self.row += skipped;
        Ok(skipped)
    }
}

/// Runs a part of a decoder. The decoders of both formats check most of what they read, but panic
/// on some invalid files; these are reported as malformed too.
pub(super) fn guarded<T, E: std::fmt::Display>(
    format: &'static str,
    decode: impl FnOnce() -> Result<T, E>,
) -> Result<T, SourceError> {
    let problem = match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its decoder failed".into(),
    };
    Err(SourceError::Malformed { format, problem })
}
