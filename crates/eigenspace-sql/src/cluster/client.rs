//! The client: sends plans to a scheduler and reads the results.

use std::time::{Duration, Instant};

use ballista_core::config::BALLISTA_CLIENT_PULL;
use ballista_core::extension::SessionStateExt;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::{DataFrame, SessionContext};

use super::{Address, config, constants, failure, names, probe};
use crate::error::Error;
use crate::files::{self, Patterns};

/// How often a scheduler without executors is asked again.
const PAUSE: Duration = Duration::from_millis(250);

/// A cluster that was there when it was asked.
#[derive(Debug)]
pub struct Cluster {
    address: Address,
}

impl Cluster {
    /// How often a query is sent if executors are lost again and again.
    pub const ATTEMPTS: usize = 4;

    /// Asks the scheduler at this address. If it has no executors, says so by `tell`, and waits for
    /// one this long.
    pub async fn connect(address: Address, patience: Duration, tell: impl Fn(&str)) -> Result<Self, Error> {
        let start = Instant::now();
        let mut told = false;
        while !probe::has_executors(&address).await? {
            let hint = format!("start one with `eigenspace-sql executor --scheduler {address}`");
            let seconds = patience.as_secs();
            if start.elapsed() >= patience {
                let message = format!("the scheduler at {address} has had no executors for {seconds} seconds");
                return Err(Error::new(message).hint(hint));
            }
            if !told {
                tell(&format!("the scheduler at {address} has no executors; waiting up to {seconds} seconds; {hint}"));
                told = true;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(Self { address })
    }

    /// A session whose queries run on the cluster. The name of a file is a table, and all processes
    /// of the cluster must find the file at the same path. `None` means 16 partitions.
    pub fn context(&self, partitions: Option<usize>) -> Result<SessionContext> {
        let mut config = config().with_information_schema(true);
        if let Some(partitions) = partitions {
            config = config.with_target_partitions(partitions.max(1));
        }
        // The scheduler reports the end of a query over the connection that sent it, so that its
        // death is noticed.
        let (state, files) = files::state(config.set_bool(BALLISTA_CLIENT_PULL, false), Patterns::Expanded);
        Ok(files::session(state.upgrade_for_ballista(self.address.url())?, &files))
    }

    /// The result of a query in a session of this cluster, before it is computed. Queries in
    /// parentheses that do not depend on a row are computed now.
    pub async fn sql(&self, context: &SessionContext, query: &str) -> Result<DataFrame> {
        let state = context.state();
        let dialect = state.config().options().sql_parser.dialect;
        let mut statement = state.sql_to_statement(query, &dialect)?;
        names::keep(&mut statement);
        let plan = state.statement_to_plan(statement).await?;
        files::check_query(&plan)?;
        let plan = constants::computed(context, plan).await?;
        context.execute_logical_plan(plan).await
    }

    /// Whether a query failed because the cluster lost an executor, so that it can be sent again.
    pub fn lost_executor(&self, error: &DataFusionError) -> bool {
        Error::inside(error).is_none() && failure::is_loss(&error.to_string())
    }

    /// The cause of an error of a query on this cluster.
    pub async fn cause(&self, error: DataFusionError) -> DataFusionError {
        let found_here = matches!(
            error.find_root(),
            DataFusionError::SQL(..) | DataFusionError::Plan(_) | DataFusionError::SchemaError(..)
        );
        if found_here || Error::inside(&error).is_some() {
            return error;
        }
        let text = error.to_string();
        if let Some(own) = failure::sent(&text) {
            return own.into();
        }
        let gone = probe::has_executors(&self.address).await.err().map(|gone| gone.message().to_owned());
        let gone = gone.or_else(|| failure::is_disconnection(&text).then(|| "it answers again now".to_owned()));
        if let Some(reason) = gone {
            let message =
                format!("lost the connection to the scheduler at {} during the query: {reason}", self.address);
            return Error::new(message)
                .hint("start the scheduler if it is not running, then run the query again")
                .into();
        }
        failure::of_cluster(&text).map_or(error, Into::into)
    }
}
