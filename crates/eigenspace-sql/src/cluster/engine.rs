//! Runs the tasks of an executor, with errors that name the partition of the whole table.
//!
//! A task has some of the partitions and numbers them from 0; `numbers[i]` is the partition that it
//! calls i.

use std::sync::Arc;

use ballista_core::JobId;
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;

use crate::partition::named;

/// Ballista's engine, which opens a connection for every state that it fetches: its pool of
/// connections is not public. A state is large, and a connection is quick.
#[derive(Default)]
pub(super) struct Engine(DefaultExecutionEngine);

impl ExecutionEngine for Engine {
    fn create_query_stage_exec(
        &self,
        job: JobId,
        stage: usize,
        task: usize,
        numbers: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        directory: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let plan = named(plan, &numbers)?;
        self.0.create_query_stage_exec(job, stage, task, numbers, plan, directory, config)
    }
}
