//! NPY and NPZ files as tables with one column, `features`: the rows of the array as lists of a fixed size, in f64.
//!
//! ```text
//! partition p of P    rows ⌊p n / P⌋ … ⌊(p + 1) n / P⌋
//! ```
//!
//! A table is its path and P, so that it can be sent to other machines, which open the file again.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, FixedSizeListArray, Float64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
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
#[derive(Debug)]
pub(crate) struct NpyTable {
    pub(crate) name: String,
    /// At most this many partitions.
    pub(crate) partitions: usize,
    schema: SchemaRef,
    parts: Vec<Arc<dyn PartitionStream>>,
}

impl NpyTable {
    pub(crate) fn new(name: &str, partitions: usize) -> Result<Self, Error> {
        let source = opened(name)?;
        let features = source.columns().count;
        let too_wide = |_| Error::new(format!("`{name}` has too many columns for a list"));
        let width = i32::try_from(features).map_err(too_wide)?;
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
        let parts = (0..count).map(part).collect();
        Ok(Self { name: name.to_owned(), partitions, schema, parts })
    }

    /// The plan that reads these columns, and at most `limit` rows of each partition.
    pub(crate) fn read(&self, projection: Option<&Vec<usize>>, limit: Option<usize>) -> Result<NpyScan> {
        let (schema, parts) = (Arc::clone(&self.schema), self.parts.clone());
        let inner = StreamingTableExec::try_new(schema, parts, projection, [], false, limit)?;
        let projection = projection.cloned();
        Ok(NpyScan { name: self.name.clone(), partitions: self.partitions, projection, limit, inner: Arc::new(inner) })
    }
}

#[async_trait]
impl TableProvider for NpyTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.read(projection, limit)?))
    }
}

/// Reads NPY files.
#[derive(Debug)]
pub(crate) struct NpyScan {
    pub(crate) name: String,
    pub(crate) partitions: usize,
    pub(crate) projection: Option<Vec<usize>>,
    pub(crate) limit: Option<usize>,
    inner: Arc<StreamingTableExec>,
}

impl DisplayAs for NpyScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NpyScan: file={}, partitions={}", self.name, self.inner.partitions().len())?;
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl ExecutionPlan for NpyScan {
    fn name(&self) -> &'static str {
        "NpyScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inner.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.inner.execute(partition, context)
    }
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
