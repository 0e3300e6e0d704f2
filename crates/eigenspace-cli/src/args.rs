//! The command line arguments, declared for clap.

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use eigenspace::internal::printable;

#[cfg(feature = "explore")]
use crate::commands::explore;
use crate::commands::{
    compare, completions, data, demo, faces, fit, inspect, merge, plot, project, reconstruct, split, update,
};
use crate::numbers;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Incremental PCA models that you can update, merge and split without the old data, with error
/// bounds.
#[derive(Parser)]
#[command(name = "eigenspace", version, styles = STYLES, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 success, 1 the models differ (compare --within), 2 error, 130 interrupted.\nTo see an example, run: eigenspace demo"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Number of threads; results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = numbers::threads)]
    pub(crate) threads: Option<u16>,

    /// Print only errors on standard error.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Print the licenses of everything that this program contains.
    // Read by `requests_licenses`, because clap would ask for a command.
    #[arg(long, exclusive = true)]
    pub(crate) licenses: bool,
}

/// Whether the only argument is `--licenses`.
pub(crate) fn requests_licenses() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|first| first == "--licenses") && arguments.next().is_none()
}

/// Whether an argument is `--checkpoint`.
pub(crate) fn has_checkpoint() -> bool {
    std::env::args_os().any(|argument| argument.to_string_lossy().starts_with("--checkpoint"))
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Fit(fit::Fit),
    Update(update::Update),
    Merge(merge::Merge),
    Split(split::Split),
    Project(project::Project),
    Reconstruct(reconstruct::Reconstruct),
    Inspect(inspect::Inspect),
    Compare(compare::Compare),
    Plot(plot::Plot),
    #[cfg(feature = "explore")]
    Explore(explore::Explore),
    Faces(faces::Faces),
    Data(data::Data),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(completions::Man),
}

/// Parses the command line of this process. Errors are printed with arguments escaped, because a
/// shell pattern may have inserted file names with arbitrary characters.
pub(crate) fn parse() -> Arguments {
    let found = command().try_get_matches().and_then(|mut found| {
        Arguments::from_arg_matches_mut(&mut found).map_err(|error| error.format(&mut command()))
    });
    found.unwrap_or_else(|error| escaped(setting_of_fit(flag_with_value(error))).exit())
}

/// Explains where `--standardize` belongs, if it was given to another command that takes rows or
/// models.
fn setting_of_fit(error: clap::Error) -> clap::Error {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => return error,
    };
    if error.kind() != ErrorKind::UnknownArgument || argument != "--standardize" {
        return error;
    }
    let hint = "set it with `eigenspace fit --standardize`; all other commands use the setting of the model";
    clap::Error::raw(error.kind(), format!("cannot use --standardize here\n\nhint: {hint}\n"))
}

/// Explains why a flag such as `--header=no` is an error.
fn flag_with_value(error: clap::Error) -> clap::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => printable(text).into_owned(),
        _ => String::new(),
    };
    if error.kind() != ErrorKind::TooManyValues {
        return error;
    }
    let (flag, value) = (context(ContextKind::InvalidArg), context(ContextKind::InvalidValue));
    let hint = format!("use {flag} without a value, or leave it out");
    clap::Error::raw(error.kind(), format!("cannot set {flag} to `{value}`: it takes no value\n\nhint: {hint}\n"))
}

fn command() -> clap::Command {
    with_negative_numbers(Arguments::command())
}

/// Passes the -1 of `--option -1` to the option, which can then explain why the number is invalid.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let option = |argument: &clap::Arg| argument.get_action().takes_values() && !argument.is_positional();
    command
        .mut_args(|argument| if option(&argument) { argument.allow_negative_numbers(true) } else { argument })
        .mut_subcommands(with_negative_numbers)
}

fn escaped(mut error: clap::Error) -> clap::Error {
    let words: Vec<_> = error.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in words {
        let value = match value {
            ContextValue::String(word) => ContextValue::String(printable(&word).into_owned()),
            ContextValue::Strings(words) => {
                ContextValue::Strings(words.iter().map(|word| printable(word).into_owned()).collect())
            }
            _ => continue,
        };
        error.insert(kind, value);
    }
    error
}
