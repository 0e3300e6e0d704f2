//! Hints for errors of the library, rewritten to name command line options.

use std::path::Path;

use eigenspace::io::source::SourceError;
use eigenspace::{Error, faces, io as files};

use crate::failure::listed;
use crate::rows::is_standard_input;
use crate::shell::{list_option, option};

/// The hint for an error of the library, which has three error types.
pub(crate) fn advice(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let model = || error.downcast_ref().and_then(on_a_model);
    let file = || error.downcast_ref().and_then(on_a_file);
    model().or_else(file).or_else(|| error.downcast_ref().and_then(on_faces))
}

fn on_a_file(error: &files::Error) -> Option<String> {
    match error {
        files::Error::Model(error) => on_a_model(error),
        files::Error::Source { source, path } => on_a_source(source, path).or_else(|| error.hint()),
        files::Error::Changed { .. } => {
            Some("run the command again to use the file as it is now; nothing was written".into())
        }
        other => other.hint(),
    }
}

fn on_faces(error: &faces::Error) -> Option<String> {
    match error {
        faces::Error::Model(error) => on_a_model(error),
        faces::Error::File(error) => on_a_file(error),
        faces::Error::Dropped { .. } => Some(
            "train again on the remaining images; without --max-rank nothing is dropped, and any person can be forgotten"
                .into(),
        ),
        faces::Error::NoPerson { enrolling: true, .. } => {
            Some("move it into a directory named after the person, or name the person with --person".into())
        }
        faces::Error::NoPerson { .. } => {
            Some("move it into a directory named after the person, or add it later with `faces enroll --person`".into())
        }
        faces::Error::TooFewImages { .. } => error.hint().map(|hint| hint.replace("the protocol ", "--protocol ")),
        other => other.hint(),
    }
}

fn on_a_model(error: &Error) -> Option<String> {
    match error {
        Error::CenteringDiffers => Some("fit both models with --uncentered, or both without".into()),
        Error::NonFinite { .. } => Some(MISSING.into()),
        Error::ScatterTooLarge { .. } => Some("leave out --engine, or use --engine factor".into()),
        Error::FeatureMismatch { .. } => {
            Some("merge, split and compare only models that were fitted on the same columns".into())
        }
        Error::TooLittleWeight { needed, .. } if *needed <= 2.0 => Some("add rows with `eigenspace update`".into()),
        Error::TooLittleWeight { .. } => {
            Some("add rows with `eigenspace update`, or ask for fewer components with -k".into())
        }
        other => other.hint(),
    }
}

const MISSING: &str = "fill missing cells with --missing impute, or leave out their rows with --missing skip";

/// The hints for input without rows.
pub(crate) const EMPTY_FILE: &str = "check that this is the right file and that it is complete";
pub(crate) const EMPTY_FILES: &str = "check that these are the right files and that they are complete";
pub(crate) const EMPTY_PIPE: &str = "check the command before the pipe";

fn on_a_source(error: &SourceError, path: &Path) -> Option<String> {
    Some(match error {
        SourceError::UnknownFormat => {
            "name the format with --format; known endings are .npy, .npz, .csv, .txt, .tsv (also with .gz), .parquet, .arrow, \
             .feather, .pgm, .png and .jpg"
                .into()
        }
        SourceError::ManyArrays { .. } | SourceError::NoArray { .. } => {
            format!("{}, with --key", error.hint().unwrap_or_default())
        }
        // The cell goes on in the next line.
        SourceError::NotANumber { text, .. } if text.contains('\n') => return error.hint(),
        SourceError::NotANumber { column, text, .. } if other_delimiter(column, text).is_some() => {
            let mark = other_delimiter(column, text).unwrap_or_default();
            format!("try --delimiter {mark}: the cells may have another delimiter")
        }
        SourceError::NotANumber { text, .. } if is_decimal_comma(text) => {
            "if the comma is the decimal mark, use --decimal ',' and set the delimiter between cells with --delimiter; \
             remove commas that separate thousands"
                .into()
        }
        SourceError::Width { delimiter: Some(mark), .. } => {
            let mark = if *mark == '\t' { "tab".into() } else { format!("'{mark}'") };
            format!("try --delimiter {mark}: the cells seem to have another delimiter; add --decimal ',' if the decimal mark is a comma")
        }
        SourceError::DecimalMark { .. } => "choose another delimiter, for example --delimiter ';'".into(),
        SourceError::Empty if is_standard_input(path) => EMPTY_PIPE.into(),
        SourceError::Empty => EMPTY_FILE.into(),
        SourceError::NoFiles => "check the spelling of the pattern or the directory, and put patterns in quotation marks".into(),
        SourceError::Malformed { format: "pattern", .. } => {
            "check the spelling of the path; in a pattern, write [[] for a square bracket".into()
        }
        SourceError::Malformed { format: "image", .. } => "check that the file is complete and has the format that its name suggests".into(),
        SourceError::Malformed { problem, .. } if problem.contains("UTF-") => "save the file as UTF-8 text".into(),
        SourceError::Malformed { problem, .. } if problem.contains("CR alone") => "convert the line endings to LF".into(),
        SourceError::Malformed { .. } => {
            "check that the file is complete and has the format that its name suggests, or name the format with --format".into()
        }
        SourceError::NotANumber { column, text, .. } if is_mark(text) => {
            let (na, exclude) = (option("--na", text), list_option("--exclude", name_of(column)));
            format!("if `{text}` stands for a missing value, add {na}; if the model does not need the column, leave it out with {exclude}")
        }
        SourceError::NotANumber { column, text, .. } if unit(text).is_some() => {
            let (unit, exclude) = (unit(text).unwrap_or_default(), list_option("--exclude", name_of(column)));
            format!("remove `{unit}` from the cells; if the model does not need the column, leave it out with {exclude}")
        }
        // It would be a number without --decimal.
        SourceError::NotANumber { text, .. } if text.parse::<f64>().is_ok() => {
            "if the point is the decimal mark, leave out --decimal; remove points that separate thousands".into()
        }
        SourceError::NotANumber { column, requested: true, .. } | SourceError::ColumnType { column, requested: true, .. } => {
            format!("leave {column} out of --columns")
        }
        SourceError::NotANumber { column, .. } | SourceError::ColumnType { column, .. } => {
            let column = name_of(column);
            let (exclude, label) = (list_option("--exclude", column), option("--label", column));
            format!("if the model does not need the column, leave it out with {exclude}, or use it as the label with {label}")
        }
        // Columns of arrays and images cannot be left out: they have no line and no name.
        SourceError::Missing { column, place } if place.line.is_none() && !column.starts_with('`') => MISSING.into(),
        SourceError::Missing { column, .. } => {
            let exclude = list_option("--exclude", name_of(column));
            format!("{MISSING}; if the model does not need the column, leave it out with {exclude}")
        }
        SourceError::ImageSize { expected: (width, height), .. } => {
            format!("resize all images to one size with --resize {width}x{height}")
        }
        SourceError::DuplicateColumn { .. } => {
            "choose columns by number, counted from 0, for example --columns 0,2 or --exclude 2".into()
        }
        SourceError::ImageColor { expected: 3, .. } => "read the images in color with --color".into(),
        SourceError::ImageColor { .. } => "leave out --color".into(),
        SourceError::NoColumn { available, .. } => return single_column(available),
        SourceError::ColumnMissing { available, .. } => {
            let names = listed(available);
            format!("use only columns that all files have, with --columns; this file has: {names}")
        }
        SourceError::ColumnName { .. } => "choose columns by name with --columns; their order then does not matter".into(),
        _ => return None,
    })
}

/// The hint for a header that was read as one column, because the cells have another delimiter.
pub(crate) fn single_column(names: &[String]) -> Option<String> {
    let [name] = names else { return None };
    let mark = [';', '\t', '|', ','].into_iter().find(|&mark| name.contains(mark))?;
    let mark = if mark == '\t' { "tab".into() } else { format!("'{mark}'") };
    Some(format!("the header was read as a single column; try --delimiter {mark}"))
}

/// A symbol such as `$` or `%` without which a cell would be a number.
fn unit(text: &str) -> Option<char> {
    let symbol = text.chars().find(|&c| "$€£¥₹₩%‰°'_".contains(c))?;
    text.replace([symbol, ','], "").trim().parse::<f64>().is_ok().then_some(symbol)
}

/// What probably separates the cells, if a cell or the name of its column looks like several.
fn other_delimiter(column: &str, text: &str) -> Option<&'static str> {
    let contains = |mark: char| column.contains(mark) || text.contains(mark);
    let numbers = text.split(' ').filter(|word| word.parse::<f64>().is_ok()).count();
    if contains(';') {
        Some("';'")
    } else if contains('\t') {
        Some("tab")
    } else if text.contains('|') {
        Some("'|'")
    } else {
        (numbers > 1 && numbers == text.split(' ').count()).then_some("' '")
    }
}

/// Whether a cell looks like a number with a decimal comma.
fn is_decimal_comma(text: &str) -> bool {
    text.contains(',') && !text.contains('.') && text.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// Whether a cell is a mark such as `-` or `#DIV/0!` rather than a word.
fn is_mark(text: &str) -> bool {
    text.starts_with('#') || !text.contains(char::is_alphanumeric)
}

/// The name or the number of a column, without the backticks around a name.
pub(crate) fn name_of(column: &str) -> &str {
    column.strip_prefix('`').and_then(|name| name.strip_suffix('`')).unwrap_or(column)
}
