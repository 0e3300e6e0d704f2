//! The scheduler: cuts plans into tasks, and gives them to executors.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::net::TcpListener;

use super::losses::Executors;
use super::{Address, LONGEST_MESSAGE, codec, config, state};
use crate::error::Error;

/// Who decides when an executor gets a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// Executors ask for tasks.
    #[default]
    Pull,
    /// The scheduler connects to executors and sends tasks.
    Push,
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "pull" => Ok(Self::Pull),
            "push" => Ok(Self::Push),
            _ => Err(Error::new(format!("invalid policy `{text}`: expected pull or push"))),
        }
    }
}

impl Policy {
    pub(super) fn of_ballista(self) -> TaskSchedulingPolicy {
        match self {
            Self::Pull => TaskSchedulingPolicy::PullStaged,
            Self::Push => TaskSchedulingPolicy::PushStaged,
        }
    }
}

/// A scheduler that has not been started.
#[derive(Debug, Clone)]
pub struct Scheduler {
    bind: IpAddr,
    port: u16,
    host: Option<String>,
    policy: Policy,
    timeout: Duration,
}

impl Default for Scheduler {
    fn default() -> Self {
        let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let (host, policy) = (None, Policy::default());
        Self { bind, port: Address::DEFAULT_PORT, host, policy, timeout: Duration::from_secs(30) }
    }
}

impl Scheduler {
    /// Executors report at least this often.
    pub const SHORTEST_TIMEOUT: Duration = Duration::from_secs(10);

    /// The address on which it listens; 127.0.0.1 by default.
    pub fn bind(self, bind: IpAddr) -> Self {
        Self { bind, ..self }
    }

    /// The port on which it listens; 0 means any free one.
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// The name or address by which executors reach it, if it listens on all addresses.
    pub fn host(self, host: impl Into<String>) -> Self {
        Self { host: Some(host.into()), ..self }
    }

    /// Who decides when an executor gets a task.
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// An executor that has been silent for this long is lost; 30 seconds by default.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: timeout.max(Self::SHORTEST_TIMEOUT), ..self }
    }

    /// Runs until the process ends. `started` is told the address.
    pub async fn run(self, started: impl FnOnce(SocketAddr)) -> Result<(), Error> {
        let cannot_listen = |error: std::io::Error| {
            let place = SocketAddr::new(self.bind, self.port);
            Error::new(format!("cannot listen on {place}: {error}")).hint("choose another --port, or --bind")
        };
        let listener = TcpListener::bind((self.bind, self.port)).await.map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let config = Arc::new(self.config(address.port())?);
        let failed = |error| Error::new(format!("cannot start the scheduler: {error}"));
        let memory = BallistaCluster::new_from_config(&config).await.map_err(failed)?;
        let executors = Arc::new(Executors::new(memory.cluster_state()));
        let cluster = BallistaCluster::new(Arc::clone(&executors) as _, memory.job_state());
        let server = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, config).await.map_err(failed)?;
        executors.belong_to(&server);
        started(address);
        let stopped = |error| Error::new(format!("the scheduler stopped: {error}"));
        start_grpc_service_with_listener(listener, server).await.map_err(stopped)
    }

    fn config(&self, port: u16) -> Result<SchedulerConfig, Error> {
        let host = match &self.host {
            Some(host) => host.clone(),
            None if self.bind.is_unspecified() && self.policy == Policy::Push => {
                let message = format!("executors cannot reach the scheduler at {}", self.bind);
                return Err(Error::new(message).hint("name this machine with --host, or bind one of its addresses"));
            }
            None => Address::bracketed(&self.bind.to_string()),
        };
        let timeout = self.timeout.as_secs();
        Ok(SchedulerConfig {
            bind_host: self.bind.to_string(),
            bind_port: port,
            external_host: host,
            scheduling_policy: self.policy.of_ballista(),
            task_distribution: TaskDistributionPolicy::RoundRobin,
            executor_timeout_seconds: timeout,
            expire_dead_executor_interval_seconds: 2,
            no_executors_grace_period_seconds: timeout,
            // Results that cannot be read end the query, like the loss of their executor.
            stage_max_failures: 1,
            grpc_server_max_decoding_message_size: LONGEST_MESSAGE,
            grpc_server_max_encoding_message_size: LONGEST_MESSAGE,
            grpc_client_max_message_size: LONGEST_MESSAGE,
            override_config_producer: Some(Arc::new(config)),
            override_session_builder: Some(Arc::new(state)),
            override_logical_codec: Some(Arc::new(codec::Logical::default())),
            override_physical_codec: Some(Arc::new(codec::Physical::default())),
            ..SchedulerConfig::default()
        })
    }
}
