//! The command line, as clap reads it.

use std::path::{Path, PathBuf};

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::ContextValue;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use eigenspace::io::source::{Format, ReadOptions};
use eigenspace::{Components, Engine, FitOptions, Forgetting, Missing, Rank, printable};

use crate::commands::{
    compare, completions, data, demo, faces, fit, inspect, merge, plot, project, reconstruct, split, update,
};
use crate::failure::Failure;
use crate::shell;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// PCA models that you can add rows to, merge, take apart again and trust, without the old data.
#[derive(Parser)]
#[command(name = "eigenspace", version, styles = STYLES, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done, 1 the answer is no (compare --within), 2 error.\nTry it: eigenspace demo")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Threads to compute with; the answer does not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Say nothing on standard error but errors.
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
    Faces(faces::Faces),
    Data(data::Data),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(completions::Man),
}

/// The command line of this process. What it refuses is printed with the words escaped: a name that a pattern put there
/// may hold anything.
pub(crate) fn parse() -> Arguments {
    let found = command().try_get_matches().and_then(|mut found| {
        Arguments::from_arg_matches_mut(&mut found).map_err(|error| error.format(&mut command()))
    });
    found.unwrap_or_else(|error| escaped(error).exit())
}

fn command() -> clap::Command {
    with_negative_numbers(Arguments::command())
}

/// Gives `--option -1` to the option, which can say what is wrong with the number.
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

/// A list of columns: `a,b,2-5`, or `"a,b",c` where a name has a comma.
#[derive(Debug, Clone)]
pub(crate) struct Names(Vec<String>);

impl std::str::FromStr for Names {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(shell::list(text)))
    }
}

/// Rows to read.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// Columns of a table to use, in this order: names, numbers from 0, or ranges such as 2-5. A name that has a comma
    /// stands in double quotes.
    #[arg(long, value_name = "COLUMN,…")]
    pub(crate) columns: Vec<Names>,

    /// Columns of a table to leave out.
    #[arg(long, value_name = "COLUMN,…")]
    pub(crate) exclude: Vec<Names>,

    /// The column of a table that holds labels.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,

    /// The column of a table that holds the weight of each row.
    #[arg(long, value_name = "COLUMN", conflicts_with = "weights")]
    pub(crate) weight_column: Option<String>,

    /// A file with the weight of each row.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) weights: Option<PathBuf>,

    /// The first line of text holds names, even if they are numbers.
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,

    /// The first line of text is a row.
    #[arg(long)]
    pub(crate) no_header: bool,

    /// What stands between the cells of text: one character, or `tab`.
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,

    /// The decimal mark of numbers in text; with a comma, cells are separated by semicolons unless --delimiter says otherwise.
    #[arg(long, value_name = "CHAR", value_parser = ["," , "."], hide_possible_values = true)]
    pub(crate) decimal: Option<String>,

    /// Words that stand for a missing value in text, besides an empty cell, NA, N/A, #N/A, NaN, null, None and ?.
    #[arg(long, value_name = "WORD,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) na: Vec<String>,

    /// Use the index column of a data frame (without a name, or called `Unnamed: 0`) as a feature instead of leaving it out.
    #[arg(long)]
    pub(crate) keep_index: bool,

    /// The array to read out of .npz files.
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,

    /// Bring pictures to this size.
    #[arg(long, value_name = "WxH")]
    pub(crate) resize: Option<String>,

    /// Keep the colors of pictures instead of turning them gray.
    #[arg(long)]
    pub(crate) color: bool,

    /// The format of the input, where names do not tell it.
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
    /// Refuses a file of weights where they change nothing.
    pub(crate) fn refuse_weights(&self, what: &'static str) -> Result<(), Failure> {
        if self.weights.is_some() { Err(Failure::UselessWeights { what }) } else { Ok(()) }
    }

    /// Refuses labels for a file that cannot hold them.
    pub(crate) fn refuse_labels(&self, output: &Path) -> Result<(), Failure> {
        let array = output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
        if array && self.label.is_some() { Err(Failure::LabelsInArray { path: output.to_owned() }) } else { Ok(()) }
    }

    pub(crate) fn options(&self) -> anyhow::Result<ReadOptions> {
        let format = self.format.map(|format| match format {
            InputFormat::Npy => Format::Npy,
            InputFormat::Npz => Format::Npz,
            InputFormat::Csv => Format::Csv,
            InputFormat::Tsv => Format::Tsv,
            InputFormat::Parquet => Format::Parquet,
            InputFormat::Arrow => Format::Arrow,
            InputFormat::Images => Format::Images,
        });
        let delimiter = match self.delimiter.as_deref() {
            None => None,
            Some("tab" | "\\t") => Some(b'\t'),
            Some(text) if text.len() == 1 => Some(text.as_bytes()[0]),
            Some(text) => return Err(Failure::Delimiter { text: text.into() }.into()),
        };
        let names = |lists: &[Names]| lists.iter().flat_map(|list| list.0.clone()).collect::<Vec<_>>();
        let header = if self.header { Some(true) } else { self.no_header.then_some(false) };
        Ok(ReadOptions {
            format,
            columns: (!self.columns.is_empty()).then(|| names(&self.columns)),
            model_columns: None,
            numbered: Vec::new(),
            exclude: names(&self.exclude),
            label: self.label.clone(),
            weight: self.weight_column.clone(),
            header,
            delimiter,
            decimal: self.decimal.as_ref().and_then(|mark| mark.bytes().next()),
            missing_words: self.na.clone(),
            keep_index: self.keep_index,
            key: self.key.clone(),
            vector: false,
            resize: self.resize.as_deref().map(size).transpose()?,
            color: self.color,
        })
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

/// How rows become a model.
#[derive(Args, Clone)]
#[command(next_help_heading = "Model")]
pub(crate) struct Settings {
    /// Directions kept from block to block; twice the components and 32 more by default, `all` keeps all.
    #[arg(long, value_name = "N")]
    pub(crate) max_rank: Option<String>,

    /// Which directions are dropped: none, rank:N, energy:SHARE, tolerance:T or fd:N (Frequent Directions).
    #[arg(long, value_name = "RULE", default_value = "none")]
    pub(crate) truncation: String,

    /// What is kept between blocks: the scatter for few columns, a factor for many.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) engine: EngineName,

    /// Rows gathered for each compression.
    #[arg(long, value_name = "N")]
    pub(crate) block_rows: Option<usize>,

    /// Each row weighs this factor less with every row after it.
    #[arg(long, value_name = "FACTOR", conflicts_with = "half_life")]
    pub(crate) forgetting: Option<f64>,

    /// Each row weighs half after this many rows.
    #[arg(long, value_name = "ROWS")]
    pub(crate) half_life: Option<f64>,

    /// What happens to missing cells: refuse them, skip their rows, or impute them from the model.
    #[arg(long, value_name = "POLICY", default_value = "refuse")]
    pub(crate) missing: MissingName,
}

/// What happens to missing cells of rows that are looked at.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub(crate) struct Holes {
    /// What happens to missing cells: refuse them, skip their rows, or impute them from the model.
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

impl Settings {
    /// Whether something is to be dropped.
    pub(crate) fn drops(&self) -> bool {
        self.truncation != "none" || self.max_rank.as_deref().is_some_and(|rank| rank != "all")
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
            .missing(match self.missing {
                MissingName::Refuse => Missing::Refuse,
                MissingName::Skip => Missing::Skip,
                MissingName::Impute => Missing::Impute,
            });
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
    let wrong = || Failure::Components { text: text.into() };
    if text == "all" {
        return Ok(Components::All);
    }
    if text.contains(['.', 'e']) {
        return Ok(Components::Share(text.parse().map_err(|_| wrong())?));
    }
    Ok(Components::Number(text.parse().map_err(|_| wrong())?))
}
