//! Faults of dependencies, see `docs/UPSTREAM.md`. Each test passes while the fault is there.

use std::fs;
use std::sync::Arc;

use ballista_scheduler::state::task_builder::restrict_plan_to_partitions;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::TableReference;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{EmptyRecordBatchStream, ExecutionPlan, ExecutionPlanProperties};
use datafusion::prelude::{CsvReadOptions, SessionContext};
use datafusion_proto::bytes::{logical_plan_from_bytes, logical_plan_to_bytes};

#[tokio::test]
#[ignore = "a fault of datafusion-proto"]
async fn the_table_of_a_column_is_sent_without_quotes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.csv");
    fs::write(&path, "a,b\n1,2\n").unwrap();
    let context = SessionContext::new();
    for (name, is_damaged) in [("rows", false), ("rows.csv", true)] {
        let options = CsvReadOptions::new();
        context.register_csv(TableReference::bare(name), path.to_str().unwrap(), options).await.unwrap();
        let frame = context.sql(&format!("SELECT a FROM \"{name}\" WHERE b > 0")).await.unwrap();
        let bytes = logical_plan_to_bytes(frame.logical_plan()).unwrap();
        let read = logical_plan_from_bytes(&bytes, &context.task_ctx());
        assert_eq!(read.is_err(), is_damaged, "{name}: {read:?}");
    }
}

#[derive(Debug)]
struct Nothing(SchemaRef);

impl PartitionStream for Nothing {
    fn schema(&self) -> &SchemaRef {
        &self.0
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        Box::pin(EmptyRecordBatchStream::new(Arc::clone(&self.0)))
    }
}

#[test]
#[ignore = "a fault of Ballista"]
fn tasks_get_all_partitions_of_an_unknown_source() {
    let schema: SchemaRef = Arc::new(Schema::empty());
    let parts = (0..4).map(|_| Arc::new(Nothing(Arc::clone(&schema))) as _).collect();
    let plan: Arc<dyn ExecutionPlan> =
        Arc::new(StreamingTableExec::try_new(schema, parts, None, [], false, None).unwrap());
    let of_a_task = restrict_plan_to_partitions(plan, &[0]).unwrap();
    assert_eq!(of_a_task.output_partitioning().partition_count(), 4);
}

#[tokio::test]
#[ignore = "a fault of datafusion-proto"]
async fn the_pattern_of_a_table_is_not_sent() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    fs::write(place.join("a.csv"), "a\n1\n").unwrap();
    fs::write(place.join("b.csv"), "a\n2\n").unwrap();
    let context = SessionContext::new();
    let pattern = format!("{}/a*.csv", place.display());
    context.register_csv("rows", pattern, CsvReadOptions::new()).await.unwrap();
    let frame = context.sql("SELECT a FROM rows").await.unwrap();
    let bytes = logical_plan_to_bytes(frame.logical_plan()).unwrap();
    let read = logical_plan_from_bytes(&bytes, &context.task_ctx()).unwrap();
    assert_eq!(frame.count().await.unwrap(), 1);
    assert_eq!(context.execute_logical_plan(read).await.unwrap().count().await.unwrap(), 2);
}

#[tokio::test]
#[ignore = "a fault of DataFusion"]
async fn a_missing_file_is_a_table_without_rows() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.csv");
    fs::write(&path, "a\n1\n").unwrap();
    let context = SessionContext::new();
    context.register_csv("rows", path.to_str().unwrap(), CsvReadOptions::new()).await.unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(context.sql("SELECT a FROM rows").await.unwrap().count().await.unwrap(), 0);
}
