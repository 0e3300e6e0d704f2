//! What the scheduler does when an executor is lost: it ends the queries that need its results, so
//! that clients start them again from the beginning.
//!
//! ```text
//! executor lost ─► its queries fail ─► the client sends the query again ─► other executors compute all of it
//! ```
//!
//! Ballista 55 would run only the lost tasks again. If a stage that reads lost results had finished
//! some of its tasks, Ballista repeats all of them and keeps the old results too, so rows occur
//! twice in the result; with adaptive planning the query never ends. `docs/UPSTREAM.md` shows both.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::error::Result;
use ballista_core::serde::protobuf::ExecutorHeartbeat;
use ballista_core::serde::scheduler::{ExecutorData, ExecutorMetadata};
use ballista_scheduler::cluster::{BoundTask, ClusterState, ClusterStateEventStream, ExecutorSlot};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::task_manager::JobInfoCache;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};

pub(super) type Server = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// The executors of a cluster. Queries end before an executor is removed.
pub(super) struct Executors {
    known: Arc<dyn ClusterState>,
    /// The scheduler of these executors, which exists until the process ends.
    server: OnceLock<Server>,
}

impl Executors {
    pub(super) fn new(known: Arc<dyn ClusterState>) -> Self {
        Self { known, server: OnceLock::new() }
    }

    /// Names the scheduler, once.
    pub(super) fn belong_to(&self, server: &Server) {
        let _ = self.server.set(server.clone());
    }
}

/// Whether Ballista would run tasks of a query again without this executor.
fn needs(query: &JobInfoCache, executor: &str) -> bool {
    // It is being changed, so nothing can be said.
    let Ok(graph) = query.execution_graph.try_read() else { return true };
    let again = graph.cloned().reset_stages_on_lost_executor(executor);
    again.map_or(true, |(stages, _)| !stages.is_empty())
}

#[async_trait]
impl ClusterState for Executors {
    /// Ballista runs tasks of the executor again when this returns. Events are handled in the order
    /// in which they were sent, so that queries have ended by then.
    async fn remove_executor(&self, executor: &str) -> Result<()> {
        if let Some(server) = self.server.get() {
            for (query, running) in server.state.task_manager.get_running_job_cache().iter() {
                if needs(running, executor) {
                    server.cancel_job(query.clone()).await?;
                }
            }
        }
        self.known.remove_executor(executor).await
    }

    async fn init(&self) -> Result<()> {
        self.known.init().await
    }

    async fn bind_schedulable_tasks(
        &self,
        distribution: TaskDistributionPolicy,
        active: Arc<HashMap<JobId, JobInfoCache>>,
        executors: Option<HashSet<String>>,
    ) -> Result<Vec<BoundTask>> {
        self.known.bind_schedulable_tasks(distribution, active, executors).await
    }

    async fn unbind_tasks(&self, slots: Vec<ExecutorSlot>) -> Result<()> {
        self.known.unbind_tasks(slots).await
    }

    async fn register_executor(&self, metadata: ExecutorMetadata, data: ExecutorData) -> Result<()> {
        self.known.register_executor(metadata, data).await
    }

    async fn save_executor_metadata(&self, metadata: ExecutorMetadata) -> Result<()> {
        self.known.save_executor_metadata(metadata).await
    }

    async fn get_executor_metadata(&self, executor: &str) -> Result<ExecutorMetadata> {
        self.known.get_executor_metadata(executor).await
    }

    async fn registered_executor_metadata(&self) -> Vec<ExecutorMetadata> {
        self.known.registered_executor_metadata().await
    }

    async fn save_executor_heartbeat(&self, heartbeat: ExecutorHeartbeat) -> Result<()> {
        self.known.save_executor_heartbeat(heartbeat).await
    }

    fn executor_heartbeats(&self) -> HashMap<String, ExecutorHeartbeat> {
        self.known.executor_heartbeats()
    }

    fn get_executor_heartbeat(&self, executor: &str) -> Option<ExecutorHeartbeat> {
        self.known.get_executor_heartbeat(executor)
    }

    async fn cluster_state_events(&self) -> Result<ClusterStateEventStream> {
        self.known.cluster_state_events().await
    }
}
