//! Queries on a cluster of Ballista: the same functions in the client, the scheduler and the
//! executors.
//!
//! ```text
//! client ── plan ──► scheduler ── tasks ──► executors ◄── states ──► executors ── models ──► client
//! ```
//!
//! The client plans the query, because it knows the files. The scheduler cuts the plan into tasks.
//! Executors read files, and send each other the states of the aggregates; rows stay where they
//! are.

mod address;
mod client;
mod codec;
mod constants;
mod engine;
mod executor;
mod failure;
mod losses;
mod names;
mod probe;
mod scheduler;

use std::sync::Arc;
use std::time::Duration;

use ballista_core::extension::SessionConfigExt;
use datafusion::error::Result;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::prelude::SessionConfig;

use crate::present::FilesArePresent;

pub use address::Address;
pub use client::Cluster;
pub use executor::Executor;
pub use scheduler::{Policy, Scheduler};

/// The largest message. The default of Ballista, 16 MB, is less than one state with many features.
const LONGEST_MESSAGE: u32 = i32::MAX as u32;

/// A machine that does not answer for this long is gone.
const SILENCE: Duration = Duration::from_secs(20);

/// How often idle connections are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// The settings of every process of a cluster.
fn config() -> SessionConfig {
    SessionConfig::new_with_ballista()
        .with_ballista_grpc_client_max_message_size(LONGEST_MESSAGE as usize)
        // The plan stays as it is while it runs.
        .with_ballista_adaptive_query_planner(false)
        .with_ballista_logical_extension_codec(Arc::new(codec::Logical::default()))
        .with_ballista_physical_extension_codec(Arc::new(codec::Physical::default()))
        // Without these, a machine that loses its network keeps others waiting forever.
        .with_ballista_override_create_grpc_client_endpoint(Arc::new(|endpoint| {
            let endpoint = endpoint.connect_timeout(SILENCE).http2_keep_alive_interval(CHECK_INTERVAL);
            Ok(endpoint.keep_alive_timeout(SILENCE).keep_alive_while_idle(true))
        }))
}

/// The state of a session in a scheduler or an executor, with the functions of this crate.
fn state(config: SessionConfig) -> Result<SessionState> {
    let mut state = ballista_core::utils::default_session_builder(config)?;
    for function in crate::aggregates() {
        state.register_udaf(Arc::new(function))?;
    }
    for function in crate::scalars() {
        state.register_udf(Arc::new(function))?;
    }
    state.add_analyzer_rule(Arc::new(FilesArePresent { place: " on the machine of the scheduler" }));
    Ok(state)
}
