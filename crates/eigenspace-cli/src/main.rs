//! The `eigenspace` command: fits models to files, reports on them, and draws plots.
//!
//! ```text
//! arguments ─► commands/<verb>.rs ─► output.rs      exit code 0 success · 1 models differ · 2 error
//! ```
//!
//! Results go to stdout, messages to stderr.
#![forbid(unsafe_code)]

mod advice;
mod answer;
mod applicable;
mod args;
mod checkpoint;
mod commands;
mod destination;
mod draw;
#[cfg(feature = "explore")]
mod explore;
mod failure;
mod inputs;
mod memory;
mod numbers;
mod opened;
mod options;
mod output;
mod paths;
mod plots;
mod progress;
mod report;
mod rows;
mod shell;
mod table;
mod warn;

use std::process::ExitCode;

use clap::CommandFactory;

use answer::Answer;
use args::{Arguments, Command};
use failure::Failure;

/// The licenses of all dependencies; `cargo xtask licenses` writes them.
const LICENSES: &str = include_str!("../THIRD-PARTY-LICENSES.txt");

fn main() -> ExitCode {
    if args::requests_licenses() {
        return match output::data(LICENSES) {
            Err(error) if !report::is_closed_pipe(&error) => ExitCode::from(2),
            _ => ExitCode::SUCCESS,
        };
    }
    let arguments = args::parse();
    // An interrupt leaves no partial files. If the handler cannot be installed, the default
    // handling applies.
    let _ = ctrlc::set_handler(|| {
        #[cfg(feature = "explore")]
        if explore::stop() {
            return;
        }
        eigenspace::internal::AtomicFile::abandon_all();
        output::message("");
        output::message(match args::has_checkpoint() {
            true => {
                "interrupted; no partial files were written. Run the same command again to resume from the checkpoint"
            }
            false => "interrupted; no partial files were written",
        });
        std::process::exit(130);
    });
    memory::exit_on_abort();
    match report::without_panics(|| run(arguments)) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        #[cfg(feature = "explore")]
        Ok(Answer::Failed) => ExitCode::from(2),
        Err(error) if report::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report::error(&error);
            ExitCode::from(2)
        }
    }
}

/// Runs the command that was named.
fn run(arguments: Arguments) -> anyhow::Result<Answer> {
    if arguments.quiet {
        output::set_quiet();
    }
    // 0 means one thread per core.
    let threads = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads.unwrap_or(0).into());
    threads.build_global().map_err(|source| Failure::NoThreads { source })?;
    match arguments.command {
        Command::Fit(command) => command.run(),
        Command::Update(command) => command.run(),
        Command::Merge(command) => command.run(),
        Command::Split(command) => command.run(),
        Command::Project(command) => command.run(),
        Command::Reconstruct(command) => command.run(),
        Command::Inspect(command) => command.run(),
        Command::Compare(command) => return command.run(),
        Command::Plot(command) => command.run(),
        #[cfg(feature = "explore")]
        Command::Explore(command) => return command.run(),
        Command::Faces(command) => command.run(),
        Command::Data(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Completions(command) => command.run(Arguments::command()),
        Command::Man(command) => command.run(Arguments::command()),
    }?;
    Ok(Answer::Yes)
}
