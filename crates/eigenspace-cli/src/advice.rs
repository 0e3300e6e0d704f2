//! The library's advice in the words of the command: which option to use.

use std::io;

use eigenspace::io::source::SourceError;
use eigenspace::{Error, faces, io as files};

use crate::shell::{list_option, option};

/// What to do about an error of the library, whichever of its three kinds it is.
pub(crate) fn advice(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let model = || error.downcast_ref().and_then(on_a_model);
    let file = || error.downcast_ref().and_then(on_a_file);
    model().or_else(file).or_else(|| error.downcast_ref().and_then(on_faces))
}

fn on_a_file(error: &files::Error) -> Option<String> {
    match error {
        files::Error::Model(error) => on_a_model(error),
        files::Error::Io { source, .. } => on_the_system(source).map(str::to_owned),
        files::Error::Source { source, .. } => on_a_source(source).or_else(|| error.hint()),
        files::Error::Changed { .. } => {
            Some("nothing was written; run the command again, with the file as it is now".into())
        }
        other => other.hint(),
    }
}

fn on_faces(error: &faces::Error) -> Option<String> {
    match error {
        faces::Error::Model(error) => on_a_model(error),
        faces::Error::File(error) => on_a_file(error),
        faces::Error::Dropped { .. } => Some(
            "train again on the pictures that stay; without --max-rank nothing is dropped, and everybody can be forgotten"
                .into(),
        ),
        other => other.hint(),
    }
}

fn on_a_model(error: &Error) -> Option<String> {
    match error {
        Error::CenteringDiffers => Some("fit both with --uncentered, or both without".into()),
        Error::NonFinite { .. } => Some(MISSING.into()),
        Error::ScatterTooLarge { .. } => Some("leave out --engine, or use --engine factor".into()),
        Error::TooLittleWeight { .. } => {
            Some("add rows with `eigenspace update`, or show fewer components with -k".into())
        }
        other => other.hint(),
    }
}

const MISSING: &str = "fill missing cells with --missing impute, or leave out their rows with --missing skip";

fn on_a_source(error: &SourceError) -> Option<String> {
    Some(match error {
        SourceError::UnknownFormat => {
            "files end in .npy, .npz, .csv, .tsv, .parquet, .arrow or .feather, text also in .gz, images in .pgm, .png or \
             .jpg; otherwise name the format with --format"
                .into()
        }
        SourceError::ManyArrays { .. } | SourceError::NoArray { .. } => {
            format!("{}, with --key", error.hint().unwrap_or_default())
        }
        SourceError::NotANumber { column, text, .. } if [column, text].iter().any(|text| text.contains([';', '\t'])) => {
            let mark = if column.contains(';') || text.contains(';') { "';'" } else { "tab" };
            format!("perhaps its cells are separated in another way: try --delimiter {mark}")
        }
        SourceError::NotANumber { text, .. } if is_decimal_comma(text) => {
            "if the comma is the decimal mark, use --decimal ',' and --delimiter for what stands between the cells".into()
        }
        SourceError::Width { delimiter: Some(mark), .. } => {
            let mark = if *mark == '\t' { "tab".into() } else { format!("'{mark}'") };
            format!("its cells seem to be separated in another way: try --delimiter {mark}, and --decimal ',' for decimal commas")
        }
        SourceError::DecimalMark { .. } => "name another with --delimiter, for example --delimiter ';'".into(),
        SourceError::Empty => "is it the right file, and complete?".into(),
        SourceError::NoFiles => "check the spelling of the pattern or the folder; patterns stand in quotation marks".into(),
        SourceError::Malformed { format: "image", .. } => "is it complete, and of the format that its name tells?".into(),
        SourceError::Malformed { .. } => {
            "is it complete, and of the format that its name tells? Otherwise name the format with --format".into()
        }
        SourceError::NotANumber { column, text, .. } if is_mark(text) => {
            let (na, exclude) = (option("--na", text), list_option("--exclude", name_of(column)));
            format!("if `{text}` stands for a missing value, add {na}; otherwise leave out the column with {exclude}")
        }
        SourceError::NotANumber { column, .. } | SourceError::ColumnType { column, .. } => {
            let column = name_of(column);
            let (exclude, label) = (list_option("--exclude", column), option("--label", column));
            format!("leave out the column with {exclude}, or use it as the label with {label}")
        }
        SourceError::Missing { column, .. } => {
            format!("{MISSING}, or the column with {}", list_option("--exclude", name_of(column)))
        }
        SourceError::PictureSize { expected: (width, height), .. } => {
            format!("bring all pictures to one size with --resize {width}x{height}")
        }
        SourceError::ColumnName { .. } => "choose columns by name with --columns, so that their order does not matter".into(),
        _ => return None,
    })
}

/// Whether a cell is a number with a decimal comma.
fn is_decimal_comma(text: &str) -> bool {
    text.contains(',') && !text.contains('.') && text.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// Whether a cell is a mark such as `-` or `#DIV/0!` rather than a word.
fn is_mark(text: &str) -> bool {
    text.starts_with('#') || !text.contains(char::is_alphanumeric)
}

/// The name or the number of a column: names stand in backticks.
fn name_of(column: &str) -> &str {
    column.strip_prefix('`').and_then(|name| name.strip_suffix('`')).unwrap_or(column)
}

/// What to do about an error of the system.
pub(crate) fn on_the_system(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::NotFound => "check the spelling of the path, and the folder that you are in",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and of its folder",
        io::ErrorKind::IsADirectory => "a file is meant here, and this is a folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "make room on the disk, or write elsewhere; nothing was changed"
        }
        io::ErrorKind::ReadOnlyFilesystem => "write to another directory; nothing was changed",
        io::ErrorKind::NotADirectory => "a part of the path is a file; write to a directory that exists",
        _ => return None,
    })
}
