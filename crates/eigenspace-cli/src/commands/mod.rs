//! The subcommands, one file each.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod demo;
#[cfg(feature = "explore")]
pub(crate) mod explore;
pub(crate) mod faces;
pub(crate) mod fit;
pub(crate) mod inspect;
pub(crate) mod merge;
pub(crate) mod plot;
pub(crate) mod project;
pub(crate) mod reconstruct;
pub(crate) mod split;
pub(crate) mod update;

use crate::args::{Arguments, Command};
use crate::failure::Failure;
use crate::output;

/// The answer of a command that compares; all other commands answer yes when they succeed.
pub(crate) enum Answer {
    Yes,
    No,
    /// An error that was already printed.
    #[cfg(feature = "explore")]
    Failed,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Answer> {
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
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }?;
    Ok(Answer::Yes)
}
