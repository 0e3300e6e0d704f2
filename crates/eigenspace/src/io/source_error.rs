//! Errors of row sources.
//!
//! Messages about text files name the line, counted from 1 as in editors. All others name the row,
//! counted from 0 as in NumPy and in the rest of this library.

mod hint;

use std::fmt;

use crate::io::file_kind::FileKind;
use crate::printable::{grouped, printable};

/// The position of a row in its source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Place {
    /// The row, from 0, not counting a header.
    pub row: u64,
    /// The line, from 1, if the source is text.
    pub line: Option<u64>,
    /// The file of the row, if every row is a file.
    pub file: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, &self.file) {
            (Some(line), _) => write!(f, "line {line}"),
            (None, Some(file)) => write!(f, "row {} (`{}`)", self.row, printable(file)),
            (None, None) => write!(f, "row {}", self.row),
        }
    }
}

/// Why a column is read. This determines what can be done about a column that does not hold
/// numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Needed {
    /// All columns are read that were not left out; this one can be left out too.
    #[default]
    No,
    /// The column was requested with [`ReadOptions::columns`](super::source::ReadOptions::columns).
    ByRequest,
    /// A model has this column.
    ByModel,
}

/// Why a source cannot be read as rows of numbers. The path is in
/// [`Error::Source`](crate::io::Error::Source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The format cannot be inferred from the name.
    #[error("cannot infer the format from the name")]
    UnknownFormat,
    /// A format that is not read, according to the name.
    #[error("{format} are not supported")]
    OtherFormat {
        /// The format, such as `JSON files`.
        format: &'static str,
    },
    /// The library was built without the feature for this format.
    #[error("this program was built without support for {format}")]
    NotBuilt {
        /// The format.
        format: &'static str,
    },
    /// There are no rows.
    #[error("it has no rows")]
    Empty,
    /// A directory contains nothing that can be read.
    #[error("found no files in a supported format")]
    NoFiles,
    /// No file matches a pattern.
    #[error("no file matches the pattern")]
    NoMatch,
    /// The text is not UTF-8.
    #[error("not a valid {format}: {problem}")]
    Encoding {
        /// The format.
        format: &'static str,
        /// Where it is not, or which encoding it has instead.
        problem: String,
    },
    /// A file of another kind in place of text.
    #[error("it is {kind}")]
    OtherFile {
        /// What it is.
        kind: FileKind,
    },
    /// The lines of the text do not end in LF or CR LF.
    #[error("not a valid {format}: its lines end in CR alone, expected LF or CR LF")]
    LineEndings {
        /// The format.
        format: &'static str,
    },
    /// The file does not have the expected format.
    #[error("not a valid {format}: {problem}", problem = printable(problem))]
    Malformed {
        /// The format.
        format: &'static str,
        /// The problem, as described by the reader.
        problem: String,
    },
    /// Fewer bytes than the header says.
    #[error("it has {} bytes, but its header says {}", grouped(found), grouped(expected))]
    Truncated {
        /// Bytes according to the header.
        expected: u64,
        /// Bytes present.
        found: u64,
    },
    /// More columns than can be read.
    #[error("it has {found} columns; the limit is {limit}")]
    TooManyColumns {
        /// Columns of the file.
        found: usize,
        /// Largest number of columns.
        limit: usize,
    },
    /// Elements that are not real numbers.
    #[error("its elements are {}, expected real numbers", elements(dtype))]
    ElementType {
        /// The type, as the format names it.
        dtype: String,
    },
    /// An array that is not a table.
    #[error("{}, expected rows and columns", described(shape, key.as_deref()))]
    Shape {
        /// The shape.
        shape: Vec<u64>,
        /// The name of the array, if the file has several.
        key: Option<String>,
    },
    /// Rows without columns.
    #[error("its rows have no columns")]
    NoColumns,
    /// A list of another length than the first in its column.
    #[error("row {row}, column {column}: the list has {}, expected {expected}", if *found == 1 { "1 number".into() } else { format!("{found} numbers") }, column = printable(column))]
    ListLength {
        /// The row, from 0.
        row: u64,
        /// The column.
        column: String,
        /// Length of the first list.
        expected: usize,
        /// Length of this list.
        found: usize,
    },
    /// A row of another width than the first.
    #[error("{place} has {}, expected {}", counted(*found), grouped(*expected))]
    Width {
        /// The row.
        place: Place,
        /// Columns of the first row.
        expected: usize,
        /// Columns of this row.
        found: usize,
        /// Another delimiter that divides this line and the first into the same number of cells,
        /// some of them numbers.
        delimiter: Option<char>,
    },
    /// Weights in more than one column.
    #[error("the weights have {found} columns, expected 1")]
    WeightColumns {
        /// Columns of the file.
        found: usize,
    },
    /// The number of columns differs from the files before, or from the model.
    #[error("it has {}, expected {}", counted(*found), grouped(*expected))]
    ColumnCount {
        /// Columns of the files before, or of the model.
        expected: usize,
        /// Columns of this file.
        found: usize,
    },
    /// The delimiter and the decimal mark are the same character.
    #[error("`{mark}` cannot be both the delimiter and the decimal mark")]
    DecimalMark {
        /// The character.
        mark: char,
    },
    /// Images in a format that is not supported.
    #[error("{format} images are not supported", format = printable(format).to_uppercase())]
    ImageFormat {
        /// The format.
        format: String,
    },
    /// A column has another name than in the earlier files.
    #[error("column {column} is named `{found}`, expected `{expected}` as in the earlier files", found = printable(found), expected = printable(expected))]
    ColumnName {
        /// The number of the column in this file, from 0.
        column: usize,
        /// The name before.
        expected: String,
        /// The name here.
        found: String,
    },
    /// A column of the earlier files does not exist in this one.
    #[error("it has no column `{column}`, which the earlier files have", column = printable(column))]
    ColumnMissing {
        /// The column.
        column: String,
        /// The columns of this file.
        available: Vec<String>,
    },
    /// A requested column does not exist.
    #[error("there is no column `{column}`", column = printable(column))]
    NoColumn {
        /// The requested column.
        column: String,
        /// The existing columns.
        available: Vec<String>,
    },
    /// All columns were excluded, or are used as label and weight.
    #[error("no column is left to read")]
    NothingLeft {
        /// The existing columns.
        available: Vec<String>,
    },
    /// A column was requested that is also the label or the weight.
    #[error("cannot use the column `{column}` as a feature: it holds the {role}", column = printable(column))]
    FeatureAndRole {
        /// The column.
        column: String,
        /// What it holds: `labels` or `weights`.
        role: &'static str,
    },
    /// A column was requested twice.
    #[error("the column `{column}` is requested twice", column = printable(column))]
    ColumnTwice {
        /// The column.
        column: String,
    },
    /// A requested name belongs to several columns.
    #[error("{} columns have the name `{column}`: {}", places.len(), listed(places), column = printable(column))]
    DuplicateColumn {
        /// The name.
        column: String,
        /// The numbers of the columns that have it, from 0.
        places: Vec<usize>,
    },
    /// A requested array does not exist.
    #[error("there is no array `{key}`", key = printable(key))]
    NoArray {
        /// The requested array.
        key: String,
        /// The existing arrays.
        available: Vec<String>,
    },
    /// There are several arrays, and none was chosen.
    #[error("it has {} arrays, and none was chosen", available.len())]
    ManyArrays {
        /// Their names.
        available: Vec<String>,
    },
    /// Text where a number should be.
    #[error("line {line}, column {column}: `{text}` is not a number{}", more_cells(*first, others), column = printable(column), text = printable(text))]
    NotANumber {
        /// Line, from 1.
        line: u64,
        /// Whether it is in the first row, so that no cell above it is a number.
        first: bool,
        /// The column.
        column: String,
        /// The text.
        text: String,
        /// Why the column is read.
        needed: Needed,
        /// Other columns to read that have text in this line or in one of the next.
        others: Vec<String>,
        /// Whether no column to read has only numbers in these lines.
        all: bool,
        /// Another delimiter that divides this line and the first into the same number of cells,
        /// some of them numbers.
        delimiter: Option<char>,
    },
    /// Text where a weight should be.
    #[error("line {line}, column {column}: the weight `{text}` is not a number", column = printable(column), text = printable(text))]
    WeightText {
        /// Line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The text.
        text: String,
    },
    /// A number in text that is too large for a 64-bit float.
    #[error("line {line}, column {column}: `{text}` is too large, expected a number between -1e140 and 1e140", column = printable(column), text = printable(text))]
    CellTooLarge {
        /// Line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The text.
        text: String,
    },
    /// A column whose type is not a number.
    #[error("the column {column} holds {}, expected numbers{}", column_type(dtype), more_columns(others), column = printable(column))]
    ColumnType {
        /// The column.
        column: String,
        /// Its type.
        dtype: String,
        /// Why the column is read.
        needed: Needed,
        /// Other columns to read that do not hold numbers either.
        others: Vec<String>,
        /// Whether no column to read holds numbers.
        all: bool,
    },
    /// A column of weights whose type is not a number.
    #[error("the weights in the column {column} are {}, expected numbers", column_type(dtype), column = printable(column))]
    WeightType {
        /// The column.
        column: String,
        /// Its type.
        dtype: String,
    },
    /// A cell without a value.
    #[error("{place}, column {column}: {}", missing(.place), column = printable(column))]
    Missing {
        /// The row.
        place: Place,
        /// The column.
        column: String,
        /// Whether a model has this column, so that it cannot be left out.
        of_model: bool,
    },
    /// A value that is infinite, or too large.
    #[error("{place}, column {column}: the value is {value:?}, expected a number between -1e140 and 1e140", column = printable(column))]
    Value {
        /// The row.
        place: Place,
        /// The column.
        column: String,
        /// The value.
        value: f64,
    },
    /// A weight that is negative or not finite.
    #[error("{place}{}: the weight is {}", in_column(column.as_deref()), if value.is_nan() { "missing".into() } else { format!("{value}, expected a number from 0 to 1e140") })]
    Weight {
        /// The row.
        place: Place,
        /// The column, unless the file has only weights.
        column: Option<String>,
        /// The weight.
        value: f64,
    },
    /// An image of another size than the first.
    #[error("the image is {}x{}, expected {}x{}", found.0, found.1, expected.0, expected.1)]
    ImageSize {
        /// Width and height of the first.
        expected: (usize, usize),
        /// Width and height of this one.
        found: (usize, usize),
    },
    /// Images read in color although the first was read as gray, or the other way around.
    #[error("the image was read {}, expected {}", if *found == 3 { "in color" } else { "as gray" }, if *expected == 3 { "color" } else { "gray" })]
    ImageColor {
        /// Values of a pixel of the first: 1 for gray, 3 for color.
        expected: usize,
        /// Values of a pixel of this one.
        found: usize,
    },
    /// An image with another number of bits per value than the first, so that its values have
    /// another scale.
    #[error("the image has {found} bits per value, expected {expected}")]
    ImageDepth {
        /// Bits of the first.
        expected: u8,
        /// Bits of this one.
        found: u8,
    },
    /// An image without pixels, or with more than can be read.
    #[error("the image is {}x{}, expected 1 to {limit} pixels", size.0, size.1)]
    ImageLimit {
        /// Width and height.
        size: (usize, usize),
        /// Largest number of pixels.
        limit: usize,
    },
    /// A PGM or PPM file whose number of pixels is not width x height.
    #[error("its header says {} bytes of pixels, but it has {}", grouped(expected), grouped(found))]
    ImageBytes {
        /// Bytes according to width, height and depth.
        expected: u64,
        /// Bytes after the header.
        found: u64,
    },
    /// A format that must be a file.
    #[error("only text and .npy arrays can be read from standard input")]
    StandardInput,
    /// Standard input would have to be read twice.
    #[error("standard input can be read only once")]
    OnlyOnce,
    /// A format that cannot be read while its file grows.
    #[error("only text can be read while it grows")]
    CannotFollow,
}

/// Describes a missing cell, in text or elsewhere.
fn missing(place: &Place) -> &'static str {
    match place.line {
        Some(_) => "the value is missing (an empty cell or a word such as NA)",
        None => "the value is missing (NaN or null)",
    }
}

impl SourceError {
    /// The same error about a file of weights.
    pub(crate) fn of_weights(self) -> Self {
        match self {
            Self::NotANumber { line, column, text, .. } => Self::WeightText { line, column, text },
            Self::ColumnType { column, dtype, .. } => Self::WeightType { column, dtype },
            other => other,
        }
    }
}

/// Number of columns that are listed in a message.
const LISTED_COLUMNS: usize = 8;

/// Names the other columns that do not hold numbers either.
fn more_columns(others: &[String]) -> String {
    let verb = if others.len() == 1 { "does" } else { "do" };
    columns_named(others).map_or_else(String::new, |columns| format!("; {columns} {verb} not hold numbers either"))
}

/// Names the other columns that have text where numbers should be. Below the first row, the cells
/// above are numbers, so these columns do hold numbers.
fn more_cells(first: bool, others: &[String]) -> String {
    match columns_named(others) {
        Some(columns) if !first => format!("; there is also text in {columns}"),
        _ => more_columns(others),
    }
}

/// The first of some columns, and how many more there are.
fn columns_named(columns: &[String]) -> Option<String> {
    let names: Vec<_> = columns.iter().take(LISTED_COLUMNS).map(|name| printable(name)).collect();
    Some(match (names.split_last()?, columns.len() - names.len()) {
        ((only, []), 0) => format!("the column {only}"),
        ((last, rest), 0) => format!("the columns {} and {last}", rest.join(", ")),
        (_, left) => format!("the columns {} and {left} more", names.join(", ")),
    })
}

/// A type of Arrow in words, and as Arrow writes it.
fn column_type(dtype: &str) -> String {
    let shown = printable(dtype);
    let kinds = [("Utf8", "text"), ("LargeUtf8", "text"), ("Date", "dates"), ("Timestamp", "times"), ("Time", "times")];
    let more = [("Duration", "durations"), ("Binary", "bytes"), ("LargeBinary", "bytes"), ("FixedSizeBinary", "bytes")];
    let nested = ["Dictionary", "List", "LargeList", "FixedSizeList", "Struct", "Map"];
    if let Some(outer) = nested.into_iter().find(|outer| dtype.starts_with(&format!("{outer}("))) {
        let (of, text) = match outer {
            "Dictionary" => ("categories", "text in categories"),
            "Struct" => return "records".into(),
            "Map" => return "maps".into(),
            _ => ("lists of something other than numbers", "lists of text"),
        };
        return if dtype.contains("Utf8") { text.into() } else { of.into() };
    }
    match kinds.iter().chain(&more).find(|(start, _)| dtype.starts_with(start)) {
        Some((_, kind)) => format!("{kind} ({shown})"),
        None => shown.into_owned(),
    }
}

/// `numbers 0, 2 and 5`.
fn listed(places: &[usize]) -> String {
    let places: Vec<String> = places.iter().map(ToString::to_string).collect();
    match places.split_last() {
        Some((last, rest)) => format!("numbers {} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// `, column NAME`, if there are several columns.
fn in_column(column: Option<&str>) -> String {
    column.map_or_else(String::new, |column| format!(", column {}", printable(column)))
}

/// `1 column`, `2 columns`.
fn counted(columns: usize) -> String {
    if columns == 1 { "1 column".into() } else { format!("{} columns", grouped(columns)) }
}

/// The supported image formats.
pub(super) const IMAGE_FORMATS: &str = "PNG, JPEG, PGM, PPM or PBM";

/// A type of NumPy in words, and as NumPy writes it.
fn elements(dtype: &str) -> String {
    let shown = printable(dtype);
    let kind = match dtype.trim_start_matches(['<', '>', '|', '=']).chars().next() {
        Some('[') => "records",
        Some('O') => "Python objects",
        Some('U' | 'S') => "text",
        Some('c') => "complex numbers",
        Some('M') => "dates",
        Some('m') => "durations",
        Some('f') => "floats of an unsupported size",
        _ => return shown.into_owned(),
    };
    format!("{kind} ({shown})")
}

/// The shape of an array that is not a table.
fn described(shape: &[u64], key: Option<&str>) -> String {
    match (key.map(printable), shape) {
        (Some(key), []) => format!("the array `{key}` is a single number"),
        (Some(key), shape) => format!("the array `{key}` has the shape {shape:?}"),
        (None, []) => "it is a single number".into(),
        (None, shape) => format!("its shape is {shape:?}"),
    }
}
