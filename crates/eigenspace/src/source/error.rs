//! What can be wrong with a source of rows.
//!
//! Rows are counted from 0 and without the header; lines of text from 1, as editors do.

use std::path::PathBuf;

/// Why a source cannot be read as rows of numbers. The path is in [`Error::Source`](crate::Error::Source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The name does not tell the format.
    #[error("the name does not tell which format it has")]
    UnknownFormat,
    /// This build of the library does not have the format's feature.
    #[error("this program was built without support for {format}")]
    NotBuilt {
        /// The format.
        format: &'static str,
    },
    /// No row at all.
    #[error("there are no rows in it")]
    Empty,
    /// No file matches a pattern, or a folder holds nothing that can be read.
    #[error("there is nothing to read")]
    NoFiles,
    /// The bytes are not in the format that they should be in.
    #[error("it is no readable {format}: {problem}")]
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
    #[error("its elements are {dtype}, expected real numbers")]
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
    #[error("row {row} has {found} columns, expected {expected}")]
    Width {
        /// Row, from 0.
        row: u64,
        /// Columns of the first row, or of the model.
        expected: usize,
        /// Columns of this row.
        found: usize,
    },
    /// Other column names than in the files before.
    #[error("column {column} is called `{found}`, and `{expected}` in the files before")]
    ColumnName {
        /// Column, from 0.
        column: usize,
        /// The name before.
        expected: String,
        /// The name here.
        found: String,
    },
    /// A column that was asked for and is not there.
    #[error("there is no column `{column}`")]
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
    #[error("the column `{column}` was asked for twice")]
    ColumnTwice {
        /// The column.
        column: String,
    },
    /// An array that was asked for, or must be chosen.
    #[error("there is no array `{key}`")]
    NoArray {
        /// What was asked for.
        key: String,
        /// What there is.
        available: Vec<String>,
    },
    /// Several arrays, of which none was chosen.
    #[error("there are {} arrays in it", available.len())]
    ManyArrays {
        /// Their names.
        available: Vec<String>,
    },
    /// Text where a number should be.
    #[error("line {line}, column {column}: `{text}` is not a number")]
    NotANumber {
        /// Line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// A column whose type is not a number.
    #[error("the column {column} holds {dtype}, expected numbers")]
    ColumnType {
        /// The column.
        column: String,
        /// Its type.
        dtype: String,
    },
    /// A value that is not finite, or too large.
    #[error("row {row}{}, column {column}: the value is {value:?}, expected a finite number below 1e140", of(.file))]
    Value {
        /// Row, from 0.
        row: u64,
        /// The file of that row, where rows are files.
        file: Option<String>,
        /// The column.
        column: String,
        /// The value.
        value: f64,
    },
    /// A weight that is negative or not finite.
    #[error("row {row}{}: the weight is {value}, expected a number from 0 to 1e140", of(.file))]
    Weight {
        /// Row, from 0.
        row: u64,
        /// The file of that row, where rows are files.
        file: Option<String>,
        /// The weight.
        value: f64,
    },
    /// A picture of another size than the first.
    #[error("the picture is {}x{}, and those before are {}x{}", found.0, found.1, expected.0, expected.1)]
    PictureSize {
        /// Width and height of the first.
        expected: (usize, usize),
        /// Width and height of this one.
        found: (usize, usize),
    },
    /// A picture with other bits per value than the first, so that its numbers mean something else.
    #[error("the picture has {found} bits per value, and those before have {expected}")]
    PictureDepth {
        /// Bits of the first.
        expected: u8,
        /// Bits of this one.
        found: u8,
    },
    /// A width and height of no pixels, or of more than can be read.
    #[error("the picture is {}x{}, expected 1 to {limit} pixels", size.0, size.1)]
    PictureLimit {
        /// Width and height.
        size: (usize, usize),
        /// Pixels allowed.
        limit: usize,
    },
    /// A PGM or PPM file whose pixels are not width x height.
    #[error("it announces {expected} bytes of pixels and has {found}")]
    PictureBytes {
        /// Bytes that width, height and depth ask for.
        expected: u64,
        /// Bytes after the header.
        found: u64,
    },
    /// Standard input cannot be read twice, or skipped in.
    #[error("standard input can be read only once")]
    OnlyOnce,
}

fn of(file: &Option<String>) -> String {
    file.as_ref().map_or_else(String::new, |file| format!(" (`{file}`)"))
}

impl SourceError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::UnknownFormat => "files end in .npy, .npz, .csv, .tsv, .parquet, .arrow or .feather, text also in .gz, pictures in .pgm, .png or .jpg; otherwise name the format".into(),
            Self::NotBuilt { format } => format!("build with the feature for {format}"),
            Self::Truncated { .. } => "it was cut short, or is still being written".into(),
            Self::ElementType { .. } => "save the array as numbers, for example with astype(float)".into(),
            Self::Shape { .. } => "save it with one observation per row, for example with reshape(len(a), -1)".into(),
            Self::Width { expected, .. } => format!("all rows must have the same {expected} columns"),
            Self::ColumnName { .. } => "choose columns by name, so that their order does not matter".into(),
            Self::ManyArrays { available } => format!("name one of them: {}", some(available)),
            Self::NoColumn { available, .. } | Self::NoArray { available, .. } | Self::NothingLeft { available } => format!("there are: {}", some(available)),
            Self::NotANumber { column, .. } | Self::ColumnType { column, .. } => format!("leave out the column {column}, or use it as the label"),
            Self::Value { value, .. } if value.is_nan() => "missing cells can be filled, or their rows left out; the column can be left out too".into(),
            Self::Value { .. } => "leave out the row or the column, or divide the column by a constant".into(),
            Self::Weight { .. } => "a weight of 0 leaves the row out".into(),
            Self::PictureSize { expected, .. } => format!("bring all pictures to one size, for example {}x{}, while reading", expected.0, expected.1),
            Self::PictureDepth { expected, .. } => format!("save all pictures with {expected} bits per value"),
            Self::PictureBytes { found, expected } if found > expected => "it looks as if its newlines were converted, in the pixels too, or something was appended; take the original file".into(),
            Self::PictureBytes { .. } => "it was cut short, or its newlines were converted, in the pixels too; take the original file".into(),
            Self::OnlyOnce => "save the rows to a file first".into(),
            _ => return None,
        };
        Some(text)
    }
}

/// The first of a long list.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(20).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > 20 { format!("{shown} and {} more", names.len() - 20) } else { shown }
}

/// Places the problem of a source in its path.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(SourceError) -> crate::Error {
    let path = path.into();
    move |source| crate::Error::Source { path, source }
}
