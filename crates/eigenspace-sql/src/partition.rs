//! Adds the partition to errors about rows.
//!
//! ```text
//! AggregateExec: mode=Final
//!   NamedPartitions              error about row 5  ─►  error about partition 2, row 5
//!     AggregateExec: mode=Partial
//! ```
//!
//! An aggregate counts the rows that it is given, but is not told in which partition it runs; a
//! plan is.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;

use crate::aggregate;
use crate::error::Error;

/// Makes errors about rows name their partition. Sessions of [`context`](crate::context) have this
/// rule; others get it with `SessionStateBuilder::with_physical_optimizer_rule`.
#[derive(Debug)]
pub struct NamePartitions;

impl PhysicalOptimizerRule for NamePartitions {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        named(plan, &[])
    }

    fn name(&self) -> &'static str {
        "name_partitions"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A plan in which every aggregation of rows names its partition. `numbers` are those of the
/// partitions of the plan; without them, partitions are numbered from 0.
pub(crate) fn named(plan: Arc<dyn ExecutionPlan>, numbers: &[usize]) -> Result<Arc<dyn ExecutionPlan>> {
    let named = plan.transform_up(|plan| {
        let of_rows = plan.downcast_ref::<AggregateExec>().is_some_and(|step| {
            let is_ours = step.aggr_expr().iter().any(|call| aggregate::reads_rows(call.fun().name()));
            step.mode().input_mode() == AggregateInputMode::Raw && is_ours
        });
        Ok(match of_rows {
            true => Transformed::yes(Arc::new(NamedPartitions { input: plan, numbers: numbers.into() })),
            false => Transformed::no(plan),
        })
    })?;
    Ok(named.data)
}

/// A step that only changes errors.
#[derive(Debug)]
struct NamedPartitions {
    input: Arc<dyn ExecutionPlan>,
    numbers: Arc<[usize]>,
}

impl DisplayAs for NamedPartitions {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedPartitions")
    }
}

impl ExecutionPlan for NamedPartitions {
    fn name(&self) -> &'static str {
        "NamedPartitions"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

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
        let [input] = <[_; 1]>::try_from(children)
            .map_err(|_| DataFusionError::Internal("a step that names partitions has one input".into()))?;
        Ok(Arc::new(Self { input, numbers: Arc::clone(&self.numbers) }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let number = self.numbers.get(partition).copied().unwrap_or(partition);
        let batches = self.input.execute(partition, context)?;
        let batches = batches.map(move |batch| {
            batch.map_err(|error| match Error::inside(&error).and_then(|own| own.in_partition(number)) {
                Some(own) => own.into(),
                None => error,
            })
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.input.schema(), batches)))
    }
}
