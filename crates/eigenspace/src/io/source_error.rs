//! What can be wrong with a source of rows.
//!
//! Messages about text name the line, counted from 1 as editors do. All others name the row, counted from 0 as NumPy, the
//! columns of `--columns` and the rest of this library do.

use std::fmt;

use crate::printable::{first_names, printable};

/// Where a row stands in its source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Place {
    /// The row, from 0; a header is none.
    pub row: u64,
    /// The line, from 1, where the source is text.
    pub line: Option<u64>,
    /// The file of the row, where rows are files.
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
    /// The name does not tell the format.
    #[error("cannot infer the format from the name")]
    UnknownFormat,
    /// This build of the library does not have the format's feature.
    #[error("this program was built without support for {format}")]
    NotBuilt {
        /// The format.
        format: &'static str,
    },
    /// No row at all.
    #[error("it has no rows")]
    Empty,
    /// No file matches a pattern, or a folder holds nothing that can be read.
    #[error("no files found that can be read")]
    NoFiles,
    /// The bytes are not in the format that they should be in.
    #[error("not a valid {format}: {problem}", problem = printable(problem))]
    Malformed {
        /// The format.
        format: &'static str,
        /// What is wrong, in the words of the reader.
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
        /// What seems to stand between the cells, where the first line of text was not cut into several.
        delimiter: Option<char>,
    },
    /// Other columns than in the files before, or than the model has.
    #[error("it has {}, expected {expected}", counted(*found))]
    ColumnCount {
        /// Columns of the files before, or of the model.
        expected: usize,
        /// Columns of this file.
        found: usize,
    },
    /// One character that would both separate cells and mark decimals.
    #[error("`{mark}` cannot both separate cells and mark decimals")]
    DecimalMark {
        /// The character.
        mark: char,
    },
    /// Images in a format that is not read.
    #[error("{format} images are not supported", format = printable(format))]
    ImageFormat {
        /// The format.
        format: String,
    },
    /// Other column names than in the files before.
    #[error("column {column} is called `{found}`, and `{expected}` in the files before", found = printable(found), expected = printable(expected))]
    ColumnName {
        /// Column, from 0.
        column: usize,
        /// The name before.
        expected: String,
        /// The name here.
        found: String,
    },
    /// A column that was asked for and is not there.
    #[error("there is no column `{column}`", column = printable(column))]
    NoColumn {
        /// What was asked for.
        column: String,
        /// What there is.
        available: Vec<String>,
    },
    /// All columns were left out, or serve as label and weight.
    #[error("no column is left to read")]
    NothingLeft {
        /// What there is.
        available: Vec<String>,
    },
    /// A column was asked for twice.
    #[error("the column `{column}` is requested twice", column = printable(column))]
    ColumnTwice {
        /// The column.
        column: String,
    },
    /// A column was asked for by a name that several columns have.
    #[error("{} columns have the name `{column}`: {}", places.len(), listed(places), column = printable(column))]
    DuplicateColumn {
        /// The name.
        column: String,
        /// The numbers of the columns that have it, from 0.
        places: Vec<usize>,
    },
    /// An array that was asked for, or must be chosen.
    #[error("there is no array `{key}`", key = printable(key))]
    NoArray {
        /// What was asked for.
        key: String,
        /// What there is.
        available: Vec<String>,
    },
    /// Several arrays, of which none was chosen.
    #[error("it holds {} arrays", available.len())]
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
        /// What stands there.
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
    #[error("{place}, column {column}: the value is {value:?}, expected a finite number below 1e140", column = printable(column))]
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
    /// A picture of another size than the first.
    #[error("the image is {}x{}, expected {}x{}", found.0, found.1, expected.0, expected.1)]
    PictureSize {
        /// Width and height of the first.
        expected: (usize, usize),
        /// Width and height of this one.
        found: (usize, usize),
    },
    /// Pictures read in color where the first was read as gray, or the other way round.
    #[error("the image is read {}, expected {}", if *found == 3 { "in color" } else { "as gray" }, if *expected == 3 { "color" } else { "gray" })]
    PictureColor {
        /// Values of a pixel of the first: 1 for gray, 3 for color.
        expected: usize,
        /// Values of a pixel of this one.
        found: usize,
    },
    /// A picture with other bits per value than the first, so that its numbers mean something else.
    #[error("the image has {found} bits per value, expected {expected}")]
    PictureDepth {
        /// Bits of the first.
        expected: u8,
        /// Bits of this one.
        found: u8,
    },
    /// A width and height of no pixels, or of more than can be read.
    #[error("the image is {}x{}, expected 1 to {limit} pixels", size.0, size.1)]
    PictureLimit {
        /// Width and height.
        size: (usize, usize),
        /// Pixels allowed.
        limit: usize,
    },
    /// A PGM or PPM file whose pixels are not width x height.
    #[error("it announces {expected} bytes of pixels but has {found}")]
    PictureBytes {
        /// Bytes that width, height and depth ask for.
        expected: u64,
        /// Bytes after the header.
        found: u64,
    },
    /// A format that must be a file.
    #[error("only text and .npy arrays can be read from standard input")]
    StandardInput,
    /// Standard input cannot be read twice, or skipped in.
    #[error("standard input can be read only once")]
    OnlyOnce,
}

/// What a cell without a value is called in a text and elsewhere.
fn missing(place: &Place) -> &'static str {
    match place.line {
        Some(_) => "the cell is empty, or holds a word for a missing value",
        None => "the value is missing (NaN or null)",
    }
}

impl SourceError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::UnknownFormat => "files end in .npy, .npz, .csv, .tsv, .parquet, .arrow or .feather, text also in .gz, images in .pgm, .png or .jpg; otherwise name the format".into(),
            Self::NotBuilt { format } => format!("build with the feature for {format}"),
            Self::Truncated { .. } => "the file was cut short, or is still being written; copy it again".into(),
            Self::ElementType { .. } => "save the array as numbers, for example with astype(float)".into(),
            Self::Shape { .. } => "save it with one observation per row, for example with reshape(len(a), -1)".into(),
            Self::Width { delimiter: Some(mark), .. } => format!("the cells seem to be separated by {}; set the delimiter", quoted(*mark)),
            Self::Width { expected, .. } => format!("all rows must have {}, like the first", counted(*expected)),
            Self::ColumnCount { expected, .. } => format!("pass rows with {}", counted(*expected)),
            Self::DecimalMark { .. } => "separate the cells by something else, for example a semicolon".into(),
            Self::ImageFormat { .. } => format!("convert them to {IMAGE_FORMATS}"),
            Self::ColumnName { .. } => "choose columns by name, so that their order does not matter".into(),
            Self::DuplicateColumn { .. } => "choose columns by number, counted from 0, or give them different names".into(),
            Self::ManyArrays { available } => format!("name one of them: {}", first_names(available)),
            Self::NoColumn { available, .. } | Self::NoArray { available, .. } | Self::NothingLeft { available } => format!("there are: {}", first_names(available)),
            Self::NotANumber { column, .. } | Self::ColumnType { column, .. } => format!("leave out the column {}, or use it as the label", printable(column)),
            Self::Missing { .. } => "impute missing cells, skip their rows, or leave out the column".into(),
            Self::Value { .. } => "leave out the row or the column, or divide the column by a constant".into(),
            Self::Weight { .. } => "a weight of 0 leaves the row out".into(),
            Self::PictureSize { expected, .. } => format!("resize all images to one size while reading, for example {}x{}", expected.0, expected.1),
            Self::PictureColor { expected: 3, .. } => "read the images in color".into(),
            Self::PictureColor { .. } => "read the images as gray".into(),
            Self::PictureDepth { expected, found } => format!("convert the images to {expected} bits per value, or fit a new model on images of {found} bits"),
            Self::PictureBytes { found, expected } if found > expected => "its newlines were probably converted, or something was appended; use the original file".into(),
            Self::PictureBytes { .. } => "it was cut short, or its newlines were converted; use the original file".into(),
            Self::ColumnTwice { .. } => "name each column once".into(),
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

/// The formats of images that are read.
pub(super) const IMAGE_FORMATS: &str = "PNG, JPEG, PGM, PPM or PBM";

/// A character as a message shows it.
fn quoted(mark: char) -> String {
    if mark == '\t' { "tabs".into() } else { format!("`{mark}`") }
}
