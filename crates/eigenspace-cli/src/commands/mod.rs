//! The verbs: one file each.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod demo;
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
use crate::output;

/// What a command that asks a question found; other commands say yes when they are done.
pub(crate) enum Answer {
    Yes,
    No,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Answer> {
    if arguments.quiet {
        output::be_quiet();
    }
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
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
        Command::Faces(command) => command.run(),
        Command::Data(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }?;
    Ok(Answer::Yes)
}
