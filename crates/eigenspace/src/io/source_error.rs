//! Errors of row sources.
//!
//! Messages about text files name the line, counted from 1 as in editors. All others name the row, counted from 0 as in
//! NumPy and in the rest of this library.

use std::fmt;

use crate::printable::{first_names, printable};

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

/// Why a source cannot be read as rows of numbers. The path is in [`Error::Source`](crate::io::Error::Source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The format cannot be inferred from the name.
    #[error("cannot infer the format from the name")]
    UnknownFormat,
    /// The library was built without the feature for this format.
    #[error("this program was built without support for {format}")]
    NotBuilt {
        /// The format.
        format: &'static str,
    },
    /// There are no rows.
    #[error("it has no rows")]
    Empty,
    /// No file matches a pattern, or a directory contains nothing that can be read.
    #[error("found no files in a supported format")]
    NoFiles,
    /// The file does not have the expected format.
    #[error("not a valid {format}: {problem}", problem = printable(problem))]
    Malformed {
        /// The format.
        format: &'static str,
        /// The problem, as described by the reader.
        problem: String,
    },
    /// Fewer bytes than the header announces.
    #[error("it has {found} bytes, but its header announces {expected}")]
    Truncated {
        /// Bytes announced.
        expected: u64,
        /// Bytes present.
        found: u64,
    },
    /// Elements that are not real numbers.
    #[error("its elements are {dtype}, expected real numbers", dtype = printable(dtype))]
    ElementType {
        /// The type, as the format names it.
        dtype: String,
    },
    /// An array that is not a table.
    #[error("its shape is {shape:?}, expected rows and columns")]
    Shape {
        /// The shape.
        shape: Vec<u64>,
    },
    /// A row of another width than the first.
    #[error("{place} has {}, expected {expected}", counted(*found))]
    Width {
        /// The row.
        place: Place,
        /// Columns of the first row.
        expected: usize,
        /// Columns of this row.
        found: usize,
        /// The probable delimiter, if the chosen one does not occur in the first line of text.
        delimiter: Option<char>,
    },
    /// Weights in more than one column.
    #[error("the weights have {found} columns, expected 1")]
    WeightColumns {
        /// Columns of the file.
        found: usize,
    },
    /// The number of columns differs from the files before, or from the model.
    #[error("it has {}, expected {expected}", counted(*found))]
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
    #[error("{format} images are not supported", format = printable(format))]
    ImageFormat {
        /// The format.
        format: String,
    },
    /// A column has another name than in the earlier files.
    #[error("column {column} is named `{found}`, expected `{expected}` as in the earlier files", found = printable(found), expected = printable(expected))]
    ColumnName {
        /// Column, from 0.
        column: usize,
        /// The name before.
        expected: String,
        /// The name here.
        found: String,
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
    #[error("line {line}, column {column}: `{text}` is not a number", column = printable(column), text = printable(text))]
    NotANumber {
        /// Line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The text.
        text: String,
    },
    /// A column whose type is not a number.
    #[error("the column {column} holds {dtype}, expected numbers", column = printable(column), dtype = printable(dtype))]
    ColumnType {
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
    #[error("{place}: the weight is {value}, expected a number from 0 to 1e140")]
    Weight {
        /// The row.
        place: Place,
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
    /// Images read in color although the first was read as gray, or the other way round.
    #[error("the image was read {}, expected {}", if *found == 3 { "in color" } else { "as gray" }, if *expected == 3 { "color" } else { "gray" })]
    ImageColor {
        /// Values of a pixel of the first: 1 for gray, 3 for color.
        expected: usize,
        /// Values of a pixel of this one.
        found: usize,
    },
    /// An image with another number of bits per value than the first, so that its values have another scale.
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
    #[error("its header announces {expected} bytes of pixels, but it has {found}")]
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
        Some(_) => "the cell is empty or contains a word for a missing value",
        None => "the value is missing (NaN or null)",
    }
}

impl SourceError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::UnknownFormat => "name the format; known endings are .npy, .npz, .csv, .txt, .tsv (also with .gz), .parquet, .arrow, .feather, .pgm, .png and .jpg".into(),
            Self::NotBuilt { format } => format!("build with the feature for {format}"),
            Self::Truncated { .. } => "copy the file again: it is incomplete, or still being written".into(),
            Self::ElementType { dtype } if dtype.contains("c8") || dtype.contains("c16") => "save real numbers, for example the real and the imaginary part of each number in two columns".into(),
            Self::ElementType { .. } => "save the array as numbers, for example with astype(float)".into(),
            Self::Shape { .. } => "save it with one observation per row, for example with reshape(len(a), -1)".into(),
            Self::Width { delimiter: Some(mark), .. } => format!("set the delimiter: the cells seem to be separated by {}", quoted(*mark)),
            Self::Width { expected, .. } => format!("all rows must have {}, like the first", counted(*expected)),
            Self::ColumnCount { expected, .. } => format!("pass rows with {}", counted(*expected)),
            Self::WeightColumns { .. } => "pass a file with one column, the weights".into(),
            Self::DecimalMark { .. } => "choose another delimiter, for example a semicolon".into(),
            Self::ImageFormat { .. } => format!("convert them to {IMAGE_FORMATS}"),
            Self::ColumnName { .. } => "choose columns by name, so that their order does not matter".into(),
            Self::DuplicateColumn { .. } => "choose columns by number, counted from 0, or give them different names".into(),
            Self::ManyArrays { available } => format!("name one of them: {}", first_names(available)),
            Self::NoColumn { column, available } if column.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("the columns are: {}; their numbers are 0 to {}", first_names(available), available.len().saturating_sub(1))
            }
            Self::NoColumn { available, .. } => format!("the columns are: {}", first_names(available)),
            Self::NoArray { available, .. } => format!("choose one of: {}", first_names(available)),
            Self::NothingLeft { available } => format!("leave at least one of these columns: {}", first_names(available)),
            Self::NotANumber { column, .. } | Self::ColumnType { column, .. } => format!("leave out the column {}, or use it as the label", printable(column)),
            Self::Missing { .. } => "impute missing cells, skip their rows, or leave out the column".into(),
            Self::Value { value, .. } if value.is_infinite() => "leave out the row or the column".into(),
            Self::Value { .. } => "leave out the row or the column, or divide the column by a constant".into(),
            Self::Weight { .. } => "use a weight of 0 to leave the row out".into(),
            Self::ImageSize { expected, .. } => format!("resize all images to one size while reading, for example {}x{}", expected.0, expected.1),
            Self::ImageColor { expected: 3, .. } => "read the images in color".into(),
            Self::ImageColor { .. } => "read the images as gray".into(),
            Self::ImageDepth { expected, found } => format!("convert the images to {expected} bits per value, or fit a new model on images of {found} bits"),
            Self::ImageBytes { found, expected } if found > expected => "use the original file: the newlines of this one were probably converted, or something was appended".into(),
            Self::ImageBytes { .. } => "use the original file: this one is incomplete, or its newlines were converted".into(),
            Self::ColumnTwice { .. } => "name each column once".into(),
            Self::CannotFollow => "let the rows be appended to a .csv or .tsv file, or pass them through standard input".into(),
            Self::StandardInput | Self::OnlyOnce => "save the rows to a file first".into(),
            _ => return None,
        };
        Some(text)
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

/// `1 column`, `2 columns`.
fn counted(columns: usize) -> String {
    if columns == 1 { "1 column".into() } else { format!("{columns} columns") }
}

/// The supported image formats.
pub(super) const IMAGE_FORMATS: &str = "PNG, JPEG, PGM, PPM or PBM";

/// A character for a message.
fn quoted(mark: char) -> String {
    if mark == '\t' { "tabs".into() } else { format!("`{mark}`") }
}
