//! What the user can do about an error of a row source.

use super::{IMAGE_FORMATS, Needed, Place, SourceError, counted};
use crate::io::file_kind::FileKind;
use crate::printable::{first_names, printable};

/// The hint for a cell that contains the end of its line.
const UNCLOSED: &str = "check this line for an unclosed quotation mark";

impl SourceError {
    /// Whether there are many arrays because they are the parts of a sparse matrix, as SciPy saves
    /// it.
    #[doc(hidden)]
    pub fn is_sparse_matrix(&self) -> bool {
        let Self::ManyArrays { available } = self else { return false };
        ["data", "format", "shape"].iter().all(|part| available.iter().any(|name| name == part))
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::UnknownFormat => "set the format; known endings are .npy, .npz, .csv, .txt, .tsv (also with .gz), .parquet, .arrow, .feather, .pgm, .ppm, .pbm, .png, .jpg and .jpeg".into(),
            Self::OtherFormat { format } if format.contains("spreadsheet") => "export the sheet as CSV".into(),
            Self::OtherFormat { .. } => "convert it to CSV, Parquet or NPY first".into(),
            Self::NotBuilt { format } => format!("build with the feature for {format}"),
            Self::NoFiles => "check the spelling of the path, and that the directory contains files to read".into(),
            Self::NoMatch => "check the spelling of the pattern".into(),
            Self::OtherFile { kind: FileKind::Safetensors | FileKind::Checkpoint } => "pass rows, for example a table or an array".into(),
            Self::OtherFile { .. } => "set the format to the one of the file, or give the file the ending of its format".into(),
            Self::Encoding { .. } => "save the file as UTF-8 text".into(),
            Self::LineEndings { .. } => "convert the line endings to LF or CRLF".into(),
            Self::Malformed { format, problem } if *format != "pattern" => malformed(problem).into(),
            Self::Truncated { .. } => "copy the file again: it is incomplete, or still being written".into(),
            Self::TooManyColumns { .. } => "leave out columns that the model does not need".into(),
            Self::ElementType { dtype } if dtype.starts_with('[') => "save the array as numbers, for example with numpy.lib.recfunctions.structured_to_unstructured(a)".into(),
            Self::ElementType { dtype } if dtype.contains("c8") || dtype.contains("c16") => "save real numbers, for example the real and the imaginary part of each number in two columns".into(),
            Self::ElementType { .. } => "save the array as numbers, for example with astype(float)".into(),
            Self::Shape { key: Some(_), .. } => "choose another array, or save it with one row for each observation".into(),
            Self::Shape { shape, .. } if shape.is_empty() => "save a table with one row for each observation".into(),
            Self::Shape { .. } => "save it with one observation per row, for example with reshape(len(a), -1)".into(),
            Self::NoColumns => "save it with at least one column".into(),
            Self::ListLength { .. } => "save lists of the same length in all rows".into(),
            Self::Width { delimiter: Some(mark), .. } => format!("set the delimiter: the cells seem to be separated by {}", quoted(*mark)),
            Self::Width { expected, found, place, .. } => format!("all rows must have {}, like the first{}", counted(*expected), other_width(*expected, *found, place)),
            Self::ColumnCount { expected, .. } => format!("pass rows with {}, like the model or the other inputs", counted(*expected)),
            Self::WeightColumns { .. } => "pass a file with one column, the weights".into(),
            Self::DecimalMark { .. } => "set the delimiter of the file, for example a semicolon; if the delimiter is a comma, write the numbers with decimal points".into(),
            Self::ImageFormat { .. } => format!("convert them to {IMAGE_FORMATS}"),
            Self::ColumnName { .. } => "choose columns by name, so that their order does not matter".into(),
            Self::ColumnMissing { available, .. } => format!("use only columns that all files have; this file has: {}", first_names(available)),
            Self::DuplicateColumn { .. } => "choose columns by number, counted from 0, or give them different names".into(),
            // So SciPy writes them; no array of these is the matrix.
            Self::ManyArrays { .. } if self.is_sparse_matrix() => {
                "save the sparse matrix as a dense array, for example with numpy.save('rows.npy', scipy.sparse.load_npz(FILE).toarray())".into()
            }
            Self::ManyArrays { available } => format!("choose one of them: {}", first_names(available)),
            Self::NoColumn { column, available } if column.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("the columns are: {}; their numbers are 0 to {}", first_names(available), available.len().saturating_sub(1))
            }
            Self::NoColumn { available, .. } => format!("the columns are: {}", first_names(available)),
            Self::NoArray { available, .. } => format!("choose one of them: {}", first_names(available)),
            Self::NothingLeft { available } => format!("keep at least one of these columns: {}", first_names(available)),
            Self::NotANumber { text, .. } if text.contains('\n') => UNCLOSED.into(),
            Self::NotANumber { delimiter: Some(mark), .. } => format!("set the delimiter: the cells seem to be separated by {}", quoted(*mark)),
            Self::NotANumber { first: false, all: true, others, .. } if !others.is_empty() => "correct this line; if it repeats the names of the columns, remove it".into(),
            Self::NotANumber { needed: Needed::ByModel, others, .. } => {
                let columns = if others.is_empty() { "column" } else { "columns" };
                format!("correct the cells that are not numbers, or leave out their rows; the model needs the {columns}")
            }
            Self::ColumnType { needed: Needed::ByModel, others, .. } if others.is_empty() => "save the column as numbers; the model needs it".into(),
            Self::ColumnType { needed: Needed::ByModel, .. } => "save the columns as numbers; the model needs them".into(),
            Self::NotANumber { all: true, .. } | Self::ColumnType { all: true, .. } => "check that this is the right file: none of the columns to read holds numbers".into(),
            Self::NotANumber { others, .. } | Self::ColumnType { others, .. } if !others.is_empty() => "leave out these columns, or request only columns of numbers".into(),
            Self::NotANumber { column, needed: Needed::ByRequest, .. } | Self::ColumnType { column, needed: Needed::ByRequest, .. } => format!("do not request the column {}", printable(column)),
            Self::NotANumber { column, .. } | Self::ColumnType { column, .. } => format!("leave out the column {}, or use it as the label", printable(column)),
            Self::Missing { of_model: true, .. } => "impute missing cells, or skip their rows".into(),
            Self::Missing { .. } => "impute missing cells, skip their rows, or leave out the column".into(),
            Self::Value { value, .. } if value.is_infinite() => "leave out the row or the column".into(),
            Self::WeightText { .. } | Self::WeightType { .. } => "choose a column or a file of numbers for the weights".into(),
            Self::Value { .. } | Self::CellTooLarge { .. } => "leave out the row or the column, or divide the column by a constant".into(),
            Self::Weight { .. } => "use a weight of 0 to leave the row out".into(),
            Self::ImageSize { expected, .. } => format!("resize all images to one size while reading, for example {}x{}", expected.0, expected.1),
            Self::ImageColor { expected: 3, .. } => "read the images in color".into(),
            Self::ImageColor { .. } => "read the images as gray".into(),
            Self::ImageDepth { expected, found } => format!("convert the images to {expected} bits per value, or fit or train again on images of {found} bits"),
            Self::ImageBytes { found, expected } if found > expected => "use the original file: the newlines of this one were probably converted, or something was appended".into(),
            Self::ImageBytes { .. } => "use the original file: this one is incomplete, or its newlines were converted".into(),
            Self::FeatureAndRole { column, role } => format!("do not request `{}`, or do not use it as the {role}", printable(column)),
            Self::ColumnTwice { .. } => "name each column once".into(),
            Self::CannotFollow => {
                "append the rows to a .csv or .tsv file, or pass them through standard input".into()
            }
            Self::StandardInput | Self::OnlyOnce => "save the rows to a file first".into(),
            _ => return None,
        };
        Some(text)
    }
}

/// What to do about a file that does not have its format, from how the reader describes the problem.
fn malformed(problem: &str) -> &'static str {
    if problem.contains("Feather version 1") {
        "write the table again as Feather version 2, for example with pandas or pyarrow"
    } else {
        "check that the file is complete and has the format that its name suggests"
    }
}

/// What may be the reason why a line of text has another number of cells than the first.
fn other_width(expected: usize, found: usize, place: &Place) -> &'static str {
    match (place.line, found > expected) {
        (None, _) => "",
        (Some(_), true) if place.row == 0 && found == expected + 1 && expected > 1 => {
            "; if the first column holds row names, add a name for it to line 1; if the lines end in a delimiter, remove it"
        }
        (Some(_), true) if expected == 1 => "; if the first line is a comment or a title, remove it",
        (Some(_), true) => "; put cells that contain the delimiter in quotation marks",
        (Some(_), false) => {
            "; check this line for an unclosed quotation mark; if the line is a comment, remove the line"
        }
    }
}

/// A character for a message.
fn quoted(mark: char) -> String {
    if mark == '\t' { "tabs".into() } else { format!("`{mark}`") }
}
