//! The `eigenspace` command: fits models to files, reports on them, and draws plots.
//!
//! ```text
//! arguments ─► commands/<verb>.rs ─► output.rs      exit code 0 success · 1 models differ · 2 error
//! ```
//!
//! Results go to stdout, messages to stderr.
#![forbid(unsafe_code)]

mod advice;
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
mod output;
mod plots;
mod progress;
mod rows;
mod shell;
mod table;
mod warn;

use std::process::ExitCode;

use commands::Answer;

/// The licenses of all dependencies; `cargo xtask licenses` writes them.
const LICENSES: &str = include_str!("../THIRD-PARTY-LICENSES.txt");

fn main() -> ExitCode {
    if args::requests_licenses() {
        return match output::data(LICENSES) {
            Err(error) if !output::is_closed_pipe(&error) => ExitCode::from(2),
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
    match output::without_panics(|| commands::run(arguments)) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        #[cfg(feature = "explore")]
        Ok(Answer::Failed) => ExitCode::from(2),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::report(&error);
            ExitCode::from(2)
        }
    }
}
