//! Reads rows of NPY files as batches.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, FixedSizeListArray, Float64Array, RecordBatch};
use datafusion::arrow::datatypes::{FieldRef, SchemaRef};
use datafusion::error::{DataFusionError, Result};
use eigenspace::io::source::RowSource;

use super::{Part, element, failed, opened, schema};
use crate::error::Error;

/// Reads batches one after the other.
pub(super) struct Reader {
    /// `None` after an error.
    source: Option<Result<Box<dyn RowSource>, Error>>,
    schema: SchemaRef,
    element: FieldRef,
    width: i32,
    left: u64,
    batch: usize,
}

impl Reader {
    /// Reads the rows of a part.
    pub(super) fn new(part: &Part, width: i32, batch: usize) -> Self {
        let source = opened(&part.name).and_then(|mut source| {
            let end = part.first.checked_add(part.rows);
            let is_shorter = end.zip(source.rows()).is_some_and(|(end, rows)| rows < end);
            if is_shorter || usize::try_from(width) != Ok(source.columns().count) {
                let message = format!("`{}` has changed since the query was planned", part.name);
                return Err(Error::new(message).hint("run the query again"));
            }
            source.skip(part.first).map_err(failed)?;
            Ok(source)
        });
        let (schema, element) = (schema(width), element());
        Self { source: Some(source), schema, element, width, left: part.rows, batch }
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        let mut source = match self.source.take() {
            Some(source) => source?,
            None => return Ok(None),
        };
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(self.batch);
        if most == 0 {
            return Ok(None);
        }
        let Some(block) = source.next_block(most).map_err(failed)? else { return Ok(None) };
        self.left -= block.rows() as u64;
        self.source = Some(Ok(source));
        let cells: ArrayRef = Arc::new(Float64Array::from_iter_values(block.values.to_f64()));
        let lists = FixedSizeListArray::try_new(Arc::clone(&self.element), self.width, cells, None)?;
        Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), vec![Arc::new(lists)])?))
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, DataFusionError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
