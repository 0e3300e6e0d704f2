//! NPY and NPZ files as tables with one column, `features`: the rows of the array as lists of a fixed size, in f64.
//!
//! ```text
//! partition p of P    rows ⌊p n / P⌋ … ⌊(p + 1) n / P⌋
//! ```

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, FixedSizeListArray, Float64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use eigenspace::io::source::{ReadOptions, RowSource, open};

use crate::error::Error;

/// Below this number of rows, another partition does not pay off.
const FEWEST_ROWS: u64 = 8192;

fn opened(name: &str) -> Result<Box<dyn RowSource>, Error> {
    open(&[name], &ReadOptions::new()).map_err(failed)
}

fn failed(error: eigenspace::io::Error) -> Error {
    Error::of_file(&error)
}

/// The table of a file, or of all files that match a pattern.
pub(crate) fn table(name: &str, partitions: usize) -> Result<Arc<dyn TableProvider>> {
    let source = opened(name)?;
    let features = source.columns().count;
    let width = i32::try_from(features).map_err(|_| Error::new(format!("`{name}` has too many columns for a list")))?;
    let element = Arc::new(Field::new_list_field(DataType::Float64, false));
    let list = DataType::FixedSizeList(Arc::clone(&element), width);
    let schema = Arc::new(Schema::new(vec![Field::new("features", list, false)]));
    // Without a number of rows, one partition reads all.
    let rows = source.rows();
    let count = rows.map_or(1, |rows| (rows / FEWEST_ROWS).clamp(1, partitions.max(1) as u64));
    let cut = |part: u64| match rows {
        Some(rows) => (u128::from(rows) * u128::from(part) / u128::from(count)) as u64,
        None if part == 0 => 0,
        None => u64::MAX,
    };
    let part = |part: u64| -> Arc<dyn PartitionStream> {
        let (name, schema, element) = (name.to_owned(), Arc::clone(&schema), Arc::clone(&element));
        Arc::new(Part { name, schema, element, width, first: cut(part), rows: cut(part + 1) - cut(part) })
    };
    Ok(Arc::new(StreamingTable::try_new(Arc::clone(&schema), (0..count).map(part).collect())?))
}

/// Some rows of a file.
#[derive(Debug)]
struct Part {
    name: String,
    schema: SchemaRef,
    element: FieldRef,
    width: i32,
    first: u64,
    rows: u64,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let source = opened(&self.name).and_then(|mut source| {
            source.skip(self.first).map_err(failed)?;
            Ok(source)
        });
        let reader = Reader {
            source: Some(source),
            schema: Arc::clone(&self.schema),
            element: Arc::clone(&self.element),
            width: self.width,
            left: self.rows,
            batch: context.session_config().batch_size(),
        };
        let schema = Arc::clone(&self.schema);
        Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::iter(reader)))
    }
}

/// Reads batches one after the other.
struct Reader {
    /// `None` after an error.
    source: Option<Result<Box<dyn RowSource>, Error>>,
    schema: SchemaRef,
    element: FieldRef,
    width: i32,
    left: u64,
    batch: usize,
}

impl Reader {
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
