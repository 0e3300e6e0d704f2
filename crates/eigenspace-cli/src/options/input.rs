//! The options that say how to read rows.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};
use eigenspace::io::source::{Format, ReadOptions};

use crate::failure::Failure;
use crate::{numbers, shell};

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
    /// Columns of a table to use: names, numbers from 0, or ranges such as 2-5. `fit` keeps this
    /// order; with a model, named columns are put into the order of the model. Put a name that
    /// contains a comma in double quotes.
    #[arg(long, value_name = "COLUMN,…")]
    pub(crate) columns: Vec<Names>,

    /// Columns of a table to leave out.
    #[arg(long, value_name = "COLUMN,…")]
    pub(crate) exclude: Vec<Names>,

    /// Column of a table that holds labels; it is not a feature.
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

    /// Additional words that mean a missing value in text, besides an empty cell, NA, N/A, #N/A,
    /// #NA, `<NA>`, NaN, null, None and ?.
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
    /// Whether a column is left out by its name.
    pub(crate) fn excludes(&self, column: &str) -> bool {
        self.exclude.iter().flat_map(|list| &list.0).any(|name| name.trim() == column)
    }

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
        options = set(options, self.resize.as_deref().map(numbers::size).transpose()?, ReadOptions::resize);
        Ok(options)
    }

    /// The format as it was given.
    pub(crate) fn format_name(&self) -> Option<String> {
        Some(self.format?.to_possible_value()?.get_name().to_owned())
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
