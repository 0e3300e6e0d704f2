//! The command: from files to models, pictures and a demo.
//!
//! ```text
//! arguments ─► commands/<verb>.rs ─► output.rs      0 done · 1 the answer is no · 2 error
//! ```
//!
//! Standard output is data, standard error is talk.
#![forbid(unsafe_code)]

mod advice;
mod args;
mod checkpoint;
mod commands;
mod data;
mod destination;
mod draw;
mod failure;
mod memory;
mod note;
mod opened;
mod output;
mod pictures;
mod progress;
mod rows;
mod shell;
mod table;
mod warn;

use std::process::ExitCode;

use commands::Answer;

fn main() -> ExitCode {
    let arguments = args::parse();
    // Whoever ends us finds nothing half written; if there is no way to listen, we end as any program does.
    let _ = ctrlc::set_handler(|| {
        eigenspace::AtomicFile::abandon_all();
        output::talk("");
        output::talk("stopped; nothing was left half written, and a checkpoint can be taken up by the same command");
        std::process::exit(130);
    });
    memory::exit_on_abort();
    match output::without_panics(|| commands::run(arguments)) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::report(&error);
            ExitCode::from(2)
        }
    }
}
