//! The command line arguments, declared for clap.

mod input;

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use eigenspace::internal::printable;
use eigenspace::{Components, Device, Engine, FitOptions, Forgetting, Missing, Rank};

#[cfg(feature = "explore")]
use crate::commands::explore;
use crate::commands::{
    compare, completions, data, demo, faces, fit, inspect, merge, plot, project, reconstruct, split, update,
};
use crate::failure::Failure;
use crate::numbers;

pub(crate) use input::Input;

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

/// Largest number of pixels of an image; the library has the same limit for the images it reads.
const MAX_PIXELS: usize = 1 << 27;

/// `92x112`.
pub(crate) fn size(text: &str) -> anyhow::Result<(usize, usize)> {
    let parts: Option<(usize, usize)> =
        text.split_once(['x', 'X', '×']).and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match parts {
        Some((width, height)) if width.checked_mul(height).is_none_or(|pixels| pixels > MAX_PIXELS) => {
            Err(Failure::SizeLimit { width, height, limit: MAX_PIXELS as u64 }.into())
        }
        Some((width, height)) if width > 0 && height > 0 => Ok((width, height)),
        _ => Err(Failure::Size { text: text.into() }.into()),
    }
}

/// How to fit the model.
#[derive(Args, Clone)]
#[command(next_help_heading = "Model")]
pub(crate) struct Settings {
    /// Number of directions to keep after each block, or `all`. The default is 2k+32 for k
    /// components. It is `all` with -k all, and also if -k is an integer and --truncation is set. The
    /// scatter engine ignores this option.
    #[arg(long, value_name = "N")]
    pub(crate) max_rank: Option<String>,

    /// Rule for dropping directions: none, rank:N, energy:SHARE, tolerance:T or fd:N (Frequent
    /// Directions).
    #[arg(long, value_name = "RULE", default_value = "none")]
    pub(crate) truncation: String,

    /// Engine: `scatter` keeps the scatter matrix, `factor` keeps directions; `auto` chooses by the
    /// number of columns.
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = numbers::one_of::<Engine, 3>(["auto", "factor", "scatter"]))]
    pub(crate) engine: Engine,

    /// Number of rows to collect before each update of the model. Changes the result if directions
    /// are dropped.
    #[arg(long, value_name = "N", value_parser = numbers::whole_number::<usize>)]
    pub(crate) block_rows: Option<usize>,

    #[command(flatten)]
    pub(crate) compute: Compute,

    /// Multiply the weight of all earlier rows by this factor with each new row.
    #[arg(long, value_name = "FACTOR", conflicts_with = "half_life", value_parser = numbers::number)]
    pub(crate) forgetting: Option<f64>,

    /// Halve the weight of a row after this many later rows.
    #[arg(long, value_name = "ROWS", value_parser = numbers::number)]
    pub(crate) half_life: Option<f64>,

    /// Policy for missing cells: refuse them, skip their rows, or impute them from the model.
    #[arg(long, value_name = "POLICY", default_value = "refuse", value_parser = numbers::one_of::<Missing, 3>(["refuse", "skip", "impute"]))]
    pub(crate) missing: Missing,
}

/// How to treat missing cells of rows that are compared with a model.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub(crate) struct MissingCells {
    /// Policy for missing cells: refuse them, skip their rows, or impute them from the model.
    #[arg(long, value_name = "POLICY", default_value = "refuse", value_parser = numbers::one_of::<Missing, 3>(["refuse", "skip", "impute"]))]
    pub(crate) missing: Missing,
}

impl Settings {
    pub(crate) fn truncates(&self) -> bool {
        self.truncation != "none"
    }

    pub(crate) fn limits_rank(&self) -> bool {
        self.max_rank.as_deref().is_some_and(|rank| rank != "all")
    }

    pub(crate) fn options(&self, components: Components) -> anyhow::Result<FitOptions> {
        let mut options = FitOptions::new()
            .components(components)
            .truncation(self.truncation.parse()?)
            .engine(self.engine)
            .missing(self.missing)
            .device(self.compute.device);
        if let Some(rank) = rank(self.max_rank.as_deref())? {
            options = options.max_rank(rank);
        }
        if let Some(rows) = self.block_rows {
            options = options.block_rows(rows);
        }
        if let Some(factor) = self.forgetting {
            options = options.forgetting(Forgetting::PerRow(factor));
        }
        if let Some(rows) = self.half_life {
            options = options.forgetting(Forgetting::HalfLife(rows));
        }
        Ok(options)
    }
}

/// `100` or `all`.
pub(crate) fn rank(text: Option<&str>) -> anyhow::Result<Option<Rank>> {
    let wrong = |text: &str| Failure::Rank { text: text.into() };
    text.map(|text| text.parse().map_err(|_| wrong(text).into())).transpose()
}

/// `50`, `0.95` or `all`.
pub(crate) fn components(text: &str) -> anyhow::Result<Components> {
    text.parse().map_err(|_| Failure::Components { text: text.into() }.into())
}

/// Where to compute.
#[derive(Args, Clone)]
pub(crate) struct Compute {
    /// Where to compute: `cpu`, `cuda` or `cuda:N` (an NVIDIA GPU), or `auto`, which uses the first
    /// GPU if there is one and the rows have at least 1,024 features, and otherwise the CPU.
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = numbers::setting::<Device>)]
    pub(crate) device: Device,
}
