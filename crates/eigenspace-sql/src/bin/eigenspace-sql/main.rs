//! The command: one query over files, printed or written to files.
#![forbid(unsafe_code)]

mod arguments;
mod output;
mod write;

use std::process::ExitCode;

use arguments::{Arguments, Request};
use output::Failure;

/// Unoptimized plans of DataFusion need more than the default of 2 MB.
const STACK: usize = 16 << 20;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args_os().skip(1)) {
        Ok(Request::Run(arguments)) => arguments,
        Ok(Request::Print(text)) => return output::finish(output::data(&text)),
        Err(failure) => {
            output::report(&failure);
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build();
    let result = runtime.map_err(|error| Failure::io("start threads", &error)).and_then(|runtime| {
        let task = runtime.spawn(run(arguments));
        runtime
            .block_on(task)
            .unwrap_or_else(|error| Err(Failure::new(format!("internal error: {error}; please report this"))))
    });
    output::finish(result)
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let context = eigenspace_sql::context(arguments.partitions);
    let query = arguments.query()?;
    let frame = context.sql(&query).await?;
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
