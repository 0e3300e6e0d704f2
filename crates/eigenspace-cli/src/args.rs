//! The command line arguments, declared for clap.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use eigenspace::internal::printable;
use eigenspace::io::source::{Format, ReadOptions};
use eigenspace::{Components, Device, Engine, FitOptions, Forgetting, Missing, Rank};

#[cfg(feature = "explore")]
use crate::commands::explore;
use crate::commands::{
    compare, completions, data, demo, faces, fit, inspect, merge, plot, project, reconstruct, split, update,
};
use crate::failure::Failure;
use crate::{numbers, shell};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Incremental PCA models that you can update, merge and split without the old data, with error bounds.
#[derive(Parser)]
#[command(name = "eigenspace", version, styles = STYLES, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 success, 1 the models differ (compare --within), 2 error.\nTo see an example, run: eigenspace demo"
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

/// Parses the command line of this process. Errors are printed with arguments escaped, because a shell pattern may have
/// inserted file names with arbitrary characters.
pub(crate) fn parse() -> Arguments {
    let found = command().try_get_matches().and_then(|mut found| {
        Arguments::from_arg_matches_mut(&mut found).map_err(|error| error.format(&mut command()))
    });
    found.unwrap_or_else(|error| escaped(setting_of_fit(flag_with_value(error))).exit())
}

/// Explains where `--standardize` belongs, if it was given to another command that takes rows or models.
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

/// A list of columns: `a,b,2-5`, or `"a,b",c` if a name contains a comma.
#[derive(Debug, Clone)]
pub(crate) struct Names(Vec<String>);

impl FromStr for Names {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(shell::list(text)))
    }
}

/// How to read the rows.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// Columns of a table to use: names, numbers from 0, or ranges such as 2-5. `fit` keeps this order; with a model,
    /// named columns are put into the order of the model. Put a name that contains a comma in double quotes.
    #[arg(long, value_name = "COLUMN,…")]
    pub(crate) columns: Vec<Names>,

    /// Columns of a table to leave out.
    #[arg(long, value_name = "COLUMN,…")]
    pub(crate) exclude: Vec<Names>,

    /// Column of a table that holds labels.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,

    /// Column of a table that holds the weight of each row.
    #[arg(long, value_name = "COLUMN", conflicts_with = "weights")]
    pub(crate) weight_column: Option<String>,

    /// File with the weight of each row.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) weights: Option<PathBuf>,

    /// Read the first line of text as column names, even if they are numbers.
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,

    /// Read the first line of text as a row.
    #[arg(long)]
    pub(crate) no_header: bool,

    /// Delimiter between the cells of text: one character, or `tab`.
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,

    /// Decimal mark of numbers in text. With a comma, the default delimiter is a semicolon.
    #[arg(long, value_name = "CHAR", value_parser = numbers::decimal_mark)]
    pub(crate) decimal: Option<String>,

    /// Additional words that mean a missing value in text, besides an empty cell, NA, N/A, #N/A, #NA, `<NA>`, NaN,
    /// null, None and ?.
    #[arg(long, value_name = "WORD,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) na: Vec<String>,

    /// Keep the index column of a data frame (unnamed, or called `Unnamed: 0`) as a feature.
    #[arg(long)]
    pub(crate) keep_index: bool,

    /// Array to read from .npz files.
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,

    /// Resize images to this size.
    #[arg(long, value_name = "WxH")]
    pub(crate) resize: Option<String>,

    /// Keep the colors of images instead of converting them to gray.
    #[arg(long)]
    pub(crate) color: bool,

    /// Format of the input, if it cannot be inferred from the file name.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<InputFormat>,
}

#[derive(ValueEnum, Clone, Copy)]
pub(crate) enum InputFormat {
    Npy,
    Npz,
    Csv,
    Tsv,
    Parquet,
    Arrow,
    Images,
}

impl Input {
    /// Rejects a file of weights for a command that does not use them.
    pub(crate) fn refuse_weights(&self, what: &'static str) -> Result<(), Failure> {
        if self.weights.is_some() { Err(Failure::UselessWeights { what }) } else { Ok(()) }
    }

    pub(crate) fn options(&self) -> anyhow::Result<ReadOptions> {
        let delimiter = match self.delimiter.as_deref() {
            None => None,
            Some("tab" | "\\t") => Some(b'\t'),
            Some(text) if text.len() == 1 => Some(text.as_bytes()[0]),
            Some(text) => return Err(Failure::Delimiter { text: text.into() }.into()),
        };
        let names = |lists: &[Names]| lists.iter().flat_map(|list| list.0.clone()).collect::<Vec<_>>();
        let header = if self.header { Some(true) } else { self.no_header.then_some(false) };
        let mut options = ReadOptions::new()
            .exclude(names(&self.exclude))
            .missing_words(self.na.clone())
            .keep_index(self.keep_index)
            .color(self.color);
        if !self.columns.is_empty() {
            options = options.columns(names(&self.columns));
        }
        options = set(options, self.format(), ReadOptions::format);
        options = set(options, self.label.clone(), ReadOptions::label);
        options = set(options, self.weight_column.clone(), ReadOptions::weight);
        options = set(options, header, ReadOptions::header);
        options = set(options, delimiter, ReadOptions::delimiter);
        options = set(options, self.decimal.as_ref().and_then(|mark| mark.bytes().next()), ReadOptions::decimal);
        options = set(options, self.key.clone(), ReadOptions::key);
        options = set(options, self.resize.as_deref().map(size).transpose()?, ReadOptions::resize);
        Ok(options)
    }

    /// The format, if it was given.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format.map(|format| match format {
            InputFormat::Npy => Format::Npy,
            InputFormat::Npz => Format::Npz,
            InputFormat::Csv => Format::Csv,
            InputFormat::Tsv => Format::Tsv,
            InputFormat::Parquet => Format::Parquet,
            InputFormat::Arrow => Format::Arrow,
            InputFormat::Images => Format::Images,
        })
    }
}

/// Sets an option to a value, if there is one.
fn set<T>(options: ReadOptions, value: Option<T>, with: impl FnOnce(ReadOptions, T) -> ReadOptions) -> ReadOptions {
    match value {
        Some(value) => with(options, value),
        None => options,
    }
}

/// `92x112`.
pub(crate) fn size(text: &str) -> anyhow::Result<(usize, usize)> {
    let parts =
        text.split_once(['x', 'X', '×']).and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match parts {
        Some((width, height)) if width > 0 && height > 0 => Ok((width, height)),
        _ => Err(Failure::Size { text: text.into() }.into()),
    }
}

/// How to fit the model.
#[derive(Args, Clone)]
#[command(next_help_heading = "Model")]
pub(crate) struct Settings {
    /// Number of directions kept from block to block, or `all`. By default 2 k + 32 if -k is a number and there is no
    /// --truncation, otherwise `all`. Has no effect on the scatter engine.
    #[arg(long, value_name = "N")]
    pub(crate) max_rank: Option<String>,

    /// Rule for dropping directions: none, rank:N, energy:SHARE, tolerance:T or fd:N (Frequent Directions).
    #[arg(long, value_name = "RULE", default_value = "none")]
    pub(crate) truncation: String,

    /// Engine: `scatter` keeps the scatter matrix, `factor` keeps directions; `auto` chooses by the number of columns.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) engine: EngineName,

    /// Number of rows to collect before each update of the model. Changes the result if directions are dropped.
    #[arg(long, value_name = "N", value_parser = numbers::whole_number::<usize>)]
    pub(crate) block_rows: Option<usize>,

    /// Where to compute: `cpu`, `cuda` or `cuda:N` (an NVIDIA card), or `auto`, which takes the first card if there is one.
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub(crate) device: Device,

    /// Multiply the weight of all earlier rows by this factor with each new row.
    #[arg(long, value_name = "FACTOR", conflicts_with = "half_life", value_parser = numbers::number)]
    pub(crate) forgetting: Option<f64>,

    /// Halve the weight of a row after this many later rows.
    #[arg(long, value_name = "ROWS", value_parser = numbers::number)]
    pub(crate) half_life: Option<f64>,

    /// Policy for missing cells: refuse them, skip their rows, or impute them from the model.
    #[arg(long, value_name = "POLICY", default_value = "refuse")]
    pub(crate) missing: MissingName,
}

/// How to treat missing cells of rows that are compared with a model.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub(crate) struct MissingCells {
    /// Policy for missing cells: refuse them, skip their rows, or impute them from the model.
    #[arg(long, value_name = "POLICY", default_value = "refuse")]
    pub(crate) missing: MissingName,
}

#[derive(ValueEnum, Clone, Copy)]
pub(crate) enum EngineName {
    Auto,
    Factor,
    Scatter,
}

#[derive(ValueEnum, Clone, Copy, PartialEq)]
pub(crate) enum MissingName {
    Refuse,
    Skip,
    Impute,
}

impl From<MissingName> for Missing {
    fn from(name: MissingName) -> Self {
        match name {
            MissingName::Refuse => Self::Refuse,
            MissingName::Skip => Self::Skip,
            MissingName::Impute => Self::Impute,
        }
    }
}

impl Settings {
    /// Whether these settings ask for directions to be dropped.
    pub(crate) fn drops(&self) -> bool {
        self.truncates() || self.limits_rank()
    }

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
            .engine(match self.engine {
                EngineName::Auto => Engine::Auto,
                EngineName::Factor => Engine::Factor,
                EngineName::Scatter => Engine::Scatter,
            })
            .missing(self.missing.into())
            .device(self.device);
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
