//! The command: one query over files, printed or written to files, or a process of a cluster.
#![forbid(unsafe_code)]

mod arguments;
#[cfg(feature = "cluster")]
mod log;
mod output;
#[cfg(feature = "cluster")]
mod servers;
mod words;
mod write;

use std::process::ExitCode;

use arguments::{Arguments, Request};
use datafusion::prelude::DataFrame;
use output::Failure;

/// Unoptimized plans of DataFusion need more than the default of 2 MB.
const STACK: usize = 16 << 20;

fn main() -> ExitCode {
    let request = match Arguments::parse(std::env::args_os().skip(1)) {
        Ok(Request::Print(text)) => return output::finish(output::data(&text)),
        Ok(request) => request,
        Err(failure) => {
            output::report(&failure);
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build();
    let result = runtime.map_err(|error| Failure::io("start threads", &error)).and_then(|runtime| {
        let task = runtime.spawn(run(request));
        runtime
            .block_on(task)
            .unwrap_or_else(|error| Err(Failure::new(format!("internal error: {error}; please report this"))))
    });
    output::finish(result)
}

async fn run(request: Request) -> Result<(), Failure> {
    match request {
        Request::Print(text) => output::data(&text),
        #[cfg(feature = "cluster")]
        Request::Server(server) => {
            log::start(server.level);
            server.run().await
        }
        #[cfg(feature = "cluster")]
        Request::Query(arguments) if arguments.cluster.is_some() => servers::ask(&arguments).await,
        Request::Query(arguments) => {
            let context = eigenspace_sql::context(arguments.partitions);
            let plan = context.state().create_logical_plan(&arguments.query()?).await?;
            eigenspace_sql::check_query(&plan)?;
            deliver(context.execute_logical_plan(plan).await?, &arguments).await
        }
    }
}

/// Computes the result of a query, and prints or writes it.
async fn deliver(frame: DataFrame, arguments: &Arguments) -> Result<(), Failure> {
    match (&arguments.output, &arguments.models) {
        (None, None) => {
            let (schema, batches) = (frame.schema().inner().clone(), frame.collect().await?);
            output::table(schema, &batches)
        }
        (Some(path), None) => write::rows(frame, path).await,
        (None, Some(directory)) => write::models(frame, directory).await,
        (Some(path), Some(_)) => Err(Failure::new(format!("cannot write both models and `{}`", path.display()))
            .hint("run the query twice, or write Parquet, which holds models and other columns")),
    }
}
