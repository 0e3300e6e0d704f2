//! Hints for errors, which name the options of the command.

mod columns;
mod failure;
mod source;

use std::io::ErrorKind;
use std::path::Path;

use eigenspace::io::source::{Format, SourceError};
use eigenspace::io::{FileKind, FormatError};
use eigenspace::{DeviceError, Error, faces, io as files};

use crate::failure::Failure;
use crate::options::Input;
use crate::paths;
use crate::shell::{self, option};
use columns::unread_delimiter;
use source::{MISSING, on_a_source, one_space};

pub(crate) use columns::excludable;
pub(crate) use source::{EMPTY_FILE, EMPTY_FILES, EMPTY_PIPE};

/// The hint for an error of the command, or of the library, which has three error types.
pub(crate) fn advice(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let model = || error.downcast_ref().and_then(on_a_model);
    let file = || error.downcast_ref().and_then(on_a_file);
    let faces = || error.downcast_ref().and_then(on_faces);
    model().or_else(file).or_else(faces).or_else(|| error.downcast_ref().and_then(failure::on_a_failure))
}

fn on_a_file(error: &files::Error) -> Option<String> {
    match error {
        files::Error::Model(error) => on_a_model(error),
        files::Error::Source { source, path } => on_a_source(source, path).or_else(|| error.hint()),
        files::Error::Io { action: "create", path, source } if source.kind() == ErrorKind::AlreadyExists => {
            Some(format!("pass a directory instead: `{}` is a file", path.display()))
        }
        files::Error::Io { action: "write", path, source } if source.kind() == ErrorKind::NotFound => {
            in_a_missing_directory(path).or_else(|| error.hint())
        }
        files::Error::Io { action: "read", path, source }
            if source.kind() == ErrorKind::NotFound && paths::is_standard_input(path) =>
        {
            Some("pass a file name instead of `-`".into())
        }
        files::Error::Io { action: "read", path, source }
            if source.kind() == ErrorKind::NotFound && path.to_string_lossy().contains("://") =>
        {
            Some("download the file first, and pass its path: addresses are not read".into())
        }
        files::Error::NotAFile { .. } => {
            Some("write to an ordinary file with -o; a model or a plot cannot go to standard output".into())
        }
        files::Error::Changed { .. } => {
            Some("run the command again to use the file as it is now; nothing was written".into())
        }
        files::Error::File { path, source } => in_place_of_a_model(source, path).or_else(|| error.hint()),
        other => other.hint(),
    }
}

/// The hint for a file to write in a directory that does not exist.
fn in_a_missing_directory(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty() && !directory.exists())?;
    Some(format!("make the directory first: mkdir -p {}", shell::file(directory)))
}

/// The hint for a file of another kind, where a model or a recognizer is expected.
fn in_place_of_a_model(error: &FormatError, path: &Path) -> Option<String> {
    let FormatError::OtherFile { kind, expected } = error else {
        let train = "to train a recognizer, run: eigenspace faces train DIRECTORY -o RECOGNIZER";
        return matches!(error, FormatError::NoRecognizer).then(|| train.into());
    };
    let file = shell::file(path);
    Some(match kind {
        _ if *expected == "recognizer" => {
            "pass a recognizer here; to train one, run: eigenspace faces train DIRECTORY -o RECOGNIZER".into()
        }
        FileKind::Checkpoint => {
            format!("run the interrupted `eigenspace fit` again with --checkpoint {file}; it writes the model")
        }
        FileKind::Accumulator => {
            "pass a model here; the program that wrote the accumulator can finish it to a model".into()
        }
        kind if kind.is_image() => {
            "pass a model here; to make one, run: eigenspace fit DIRECTORY -o MODEL, with a directory of images".into()
        }
        FileKind::Text if Format::of(path).is_none() => {
            format!(
                "pass a model here; if this file is a table, make one from it: eigenspace fit {file} --format csv -o MODEL"
            )
        }
        _ if Format::of(path).is_none() => "pass a model here; to make one, run: eigenspace fit DATA -o MODEL".into(),
        _ => format!("pass a model here; to make one from this file, run: eigenspace fit {file} -o MODEL"),
    })
}

fn on_faces(error: &faces::Error) -> Option<String> {
    match error {
        faces::Error::Model(error) => on_a_model(error),
        faces::Error::File(error) => on_a_file(error),
        faces::Error::Dropped { .. } => Some(
            "train again on the remaining images; without --max-rank nothing is dropped, and any person can be forgotten"
                .into(),
        ),
        faces::Error::NoPerson { enrolling: true, path } => {
            let directory = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
            let named = |name| format!("; if it is {name}, add {}", option("--person", name));
            let named = directory.as_deref().map(named).unwrap_or_default();
            Some(format!("name the person with --person{named}"))
        }
        faces::Error::NoPerson { .. } => {
            Some("move it into a directory named after the person, or add it later with `faces enroll --person`".into())
        }
        faces::Error::TooFewImages { smaller: Some(smaller), .. } => {
            Some(format!("add images of this person, leave the person out, or try --protocol {smaller}"))
        }
        other => other.hint(),
    }
}

/// The hint for an error that an option of the input or a forgotten quotation mark explains.
pub(crate) fn on_options(error: &anyhow::Error, input: &Input) -> Option<String> {
    let missing = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(Failure::ModelColumn { column, available, .. }), _)
        | (_, Some(files::Error::Source { source: SourceError::NoColumn { column, available }, .. })) => {
            Some((available, column))
        }
        _ => None,
    };
    if let Some((available, column)) = missing
        && input.decimal.as_deref() == Some(",")
        && unread_delimiter(available, column) == Some(',')
    {
        return Some("leave out --decimal ',': the header is delimited by commas".into());
    }
    if let Some(files::Error::Source {
        source: SourceError::NotANumber { column, text, others, all: true, .. }, ..
    }) = error.downcast_ref()
        && others.is_empty()
        && input.decimal.as_deref() == Some(",")
        && input.delimiter.is_none()
        && column.contains(',')
        && text.contains(',')
    {
        return Some(
            "leave out --decimal ',' and write the numbers with decimal points: the header is delimited by commas"
                .into(),
        );
    }
    if let Some(files::Error::Source { path, source }) = error.downcast_ref()
        && let SourceError::Malformed { format, .. }
        | SourceError::Encoding { format, .. }
        | SourceError::LineEndings { format } = source
        && input.format.is_some()
        && (*format != "image" || Format::of(path) != Some(Format::Images))
    {
        return Some(CHECK_FORMAT.into());
    }
    if let Some(files::Error::Source { source: SourceError::OtherFile { .. }, .. }) = error.downcast_ref()
        && input.format.is_some()
    {
        return Some(CHECK_FORMAT.into());
    }
    let is_aligned = |source: &SourceError| match source {
        SourceError::Width { .. } => true,
        // Between two spaces is an empty cell.
        SourceError::Missing { place, column, .. } => place.row == 0 && !column.starts_with('`'),
        _ => false,
    };
    if let Some(files::Error::Source { path, source }) = error.downcast_ref()
        && input.delimiter.as_deref() == Some(" ")
        && is_aligned(source)
    {
        return Some(one_space(path));
    }
    if let Some(files::Error::Source { source: SourceError::NoColumn { available, .. }, .. }) = error.downcast_ref()
        && input.no_header
    {
        let last = available.len().saturating_sub(1);
        return Some(format!("leave out --no-header, or choose a column by its number, from 0 to {last}"));
    }
    let Some(files::Error::Io { action: "read", path, source }) = error.downcast_ref() else { return None };
    let columns = !input.columns.is_empty() || !input.exclude.is_empty() || input.label.is_some();
    let is_word = path.extension().is_none() && path.components().count() == 1;
    (source.kind() == ErrorKind::NotFound && columns && is_word)
        .then(|| "check the spelling of the path; put a column name that contains a space in quotation marks".into())
}

/// The hint for an input without images of people.
pub(crate) fn on_people(error: &anyhow::Error, enrolled: bool) -> Option<String> {
    let error = match error.downcast_ref() {
        Some(faces::Error::File(error)) => error,
        _ => error.downcast_ref()?,
    };
    let files::Error::Source { path, source } = error else { return None };
    let hint = match (source, enrolled) {
        (SourceError::NoFiles, false) if path.is_dir() => {
            "add a subdirectory of images for each person to this directory"
        }
        (SourceError::NoFiles, true) if path.is_dir() => "put images in it",
        (SourceError::Malformed { format: "image", .. }, _) if Format::of(path) == Some(Format::Images) => return None,
        (SourceError::Malformed { format: "image", .. }, false) => {
            "pass a directory with a subdirectory of images for each person"
        }
        (SourceError::Malformed { format: "image", .. }, true) => "pass images, or directories of images",
        _ => return None,
    };
    Some(hint.into())
}

fn on_a_model(error: &Error) -> Option<String> {
    match error {
        Error::CenteringDiffers => Some("fit both models with --uncentered, or both without".into()),
        Error::Device(DeviceError::Failed { .. }) => Some(
            "run the command again, or use --device cpu; a fit with --checkpoint continues where it was saved".into(),
        ),
        Error::Device(device) => match device.remedy() {
            Some(remedy) => Some(format!("{remedy}, or use --device cpu")),
            None => error.hint(),
        },
        Error::NonFinite { value, .. } if value.is_nan() => Some(MISSING.into()),
        Error::Divisor { count, weight, .. } if *weight < *count as f64 => {
            Some("add rows; if the weights do not count repeated rows, fit with --weight-kind reliability".into())
        }
        Error::Divisor { .. } => Some("add rows".into()),
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

const CHECK_FORMAT: &str = "check that --format is the format of the file, or leave it out";
