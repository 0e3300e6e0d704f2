//! The plan that reads NPY files.
//!
//! ```text
//! NpyScan                  for each part: its rows
//!   DataSourceExec         a table of parts: name, first, rows
//! ```
//!
//! The parts are a table in memory, and not fields of the plan, so that a cluster can divide them
//! into tasks: Ballista gives a task some partitions of the sources it knows, and every task all
//! partitions of others, which would be read several times.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};

use super::read::Reader;
use super::{Part, schema};

/// Reads the parts that its input lists.
#[derive(Debug)]
pub(crate) struct NpyScan {
    parts: Arc<dyn ExecutionPlan>,
    width: i32,
    /// The columns that are read.
    projection: Option<Vec<usize>>,
    properties: Arc<PlanProperties>,
}

impl NpyScan {
    /// Reads these parts, each in a partition.
    pub(super) fn of(parts: impl Iterator<Item = Part>, width: i32, projection: Option<Vec<usize>>) -> Result<Self> {
        let batches: Vec<Vec<RecordBatch>> = parts.map(|part| Ok(vec![listed(&part)?])).collect::<Result<_>>()?;
        Self::new(MemorySourceConfig::try_new_exec(&batches, Arc::new(columns()), None)?, width, projection)
    }

    /// Reads the parts that a plan lists.
    pub(crate) fn new(parts: Arc<dyn ExecutionPlan>, width: i32, projection: Option<Vec<usize>>) -> Result<Self> {
        let schema = match &projection {
            Some(columns) => Arc::new(schema(width).project(columns)?),
            None => schema(width),
        };
        let partitioning = Partitioning::UnknownPartitioning(parts.output_partitioning().partition_count());
        let equivalence = EquivalenceProperties::new(schema);
        let properties =
            PlanProperties::new(equivalence, partitioning, EmissionType::Incremental, Boundedness::Bounded);
        Ok(Self { parts, width, projection, properties: Arc::new(properties) })
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn width(&self) -> i32 {
        self.width
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn projection(&self) -> Option<&[usize]> {
        self.projection.as_deref()
    }
}

/// The columns of the table of parts.
fn columns() -> Schema {
    Schema::new(vec![
        Field::new("name", DataType::Utf8, false),
        Field::new("first", DataType::UInt64, false),
        Field::new("rows", DataType::UInt64, false),
    ])
}

/// A part as a row.
fn listed(part: &Part) -> Result<RecordBatch> {
    let name: ArrayRef = Arc::new(StringArray::from(vec![part.name.as_str()]));
    let number = |number: u64| -> ArrayRef { Arc::new(UInt64Array::from(vec![number])) };
    Ok(RecordBatch::try_new(Arc::new(columns()), vec![name, number(part.first), number(part.rows)])?)
}

/// The parts in a batch.
fn parts_of(batch: &RecordBatch) -> Vec<Part> {
    let names = batch.column(0).as_string::<i32>();
    let (first, rows) = (batch.column(1).as_primitive::<UInt64Type>(), batch.column(2).as_primitive::<UInt64Type>());
    let part = |row| Part { name: names.value(row).to_owned(), first: first.value(row), rows: rows.value(row) };
    (0..batch.num_rows()).map(part).collect()
}

impl DisplayAs for NpyScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NpyScan: features={}, partitions={}", self.width, self.properties.partitioning.partition_count())
    }
}

impl ExecutionPlan for NpyScan {
    fn name(&self) -> &'static str {
        "NpyScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.parts]
    }

    /// Parts have been cut already.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let [parts] = <[_; 1]>::try_from(children)
            .map_err(|_| DataFusionError::Internal("a scan of NPY files has one input".into()))?;
        Ok(Arc::new(Self::new(parts, self.width, self.projection.clone())?))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (width, projection) = (self.width, self.projection.clone());
        let size = context.session_config().batch_size();
        let parts = self.parts.execute(partition, context)?;
        let batches = parts
            .map_ok(move |batch| {
                stream::iter(parts_of(&batch)).flat_map(move |part| stream::iter(Reader::new(&part, width, size)))
            })
            .try_flatten();
        let columns = batches.map(move |batch| match &projection {
            Some(columns) => Ok(batch?.project(columns)?),
            None => batch,
        });
        Ok(make_cooperative(Box::pin(RecordBatchStreamAdapter::new(self.schema(), columns))))
    }
}
