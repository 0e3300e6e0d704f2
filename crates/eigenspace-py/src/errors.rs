//! Conversion of library errors to Python exceptions with the same message.
//!
//! | library | Python |
//! |---|---|
//! | `io::Error::Io` | `OSError`, so a missing file is a `FileNotFoundError` |
//! | `io::Error::Format`, `io::Error::Accumulator`, `io::Error::File` | `FormatError` |
//! | `Error::NotAPart`, `Error::SplitTooLarge` | `NotAPartError` |
//! | `DataError::Io`, a download that failed, missing Python or pip | `OSError` |
//! | any other | `EigenspaceError`, a `ValueError` |
//! | a panic, which is a bug in eigenspace | `InternalError`, a `RuntimeError` |
//!
//! The hint is a note of the exception and its attribute `hint`, which is `None` if there is no
//! advice.

use std::path::Path;

use eigenspace::internal::{DataError, printable};
use eigenspace::io::source::SourceError;
use eigenspace::io::{Error, FileKind, FormatError as Broken};
use eigenspace::{Metadata, faces};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyErr, create_exception};

create_exception!(eigenspace, EigenspaceError, PyValueError, "Invalid input or settings; `hint` says what to do.");
create_exception!(eigenspace, FormatError, EigenspaceError, "Bytes that are not a valid model or accumulator.");
create_exception!(
    eigenspace,
    NotAPartError,
    EigenspaceError,
    "Raised if rows to remove or split off are not in the model."
);
create_exception!(eigenspace, InternalError, PyRuntimeError, "A bug in eigenspace; please report it.");

/// An error that becomes an exception.
pub(crate) trait IntoException {
    fn into_exception(self, py: Python<'_>) -> PyErr;
}

impl IntoException for Error {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        raise(py, &self)
    }
}

impl IntoException for eigenspace::Error {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        raise(py, &self.into())
    }
}

impl IntoException for faces::Error {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let hint = match &self {
            Self::NoPerson { enrolling: true, .. } => {
                Some("move it into a directory named after the person, or pass person='NAME'".to_owned())
            }
            _ => self.hint(),
        };
        match self {
            Self::Model(error) => OfRow("image", error).into_exception(py),
            Self::File(error) => error.into_exception(py),
            other => with_hint(py, EigenspaceError::new_err(other.to_string()), hint.as_deref()),
        }
    }
}

/// An error about rows with names for their columns, if they have any.
pub(crate) struct Named {
    error: eigenspace::Error,
    /// The number and the name of the column that the error is about.
    column: Option<(usize, String)>,
}

impl Named {
    pub(crate) fn of(error: eigenspace::Error, metadata: &Metadata) -> Self {
        let name = |column: usize| Some((column, metadata.feature_names()?.get(column)?.clone()));
        let column = column_of(&error).and_then(name);
        Self { error, column }
    }
}

impl From<eigenspace::Error> for Named {
    fn from(error: eigenspace::Error) -> Self {
        Self { error, column: None }
    }
}

/// The column that an error is about.
fn column_of(error: &eigenspace::Error) -> Option<usize> {
    use eigenspace::Error::{NeverObserved, NonFinite, Partition, TooLarge};
    match error {
        NonFinite { column, .. } | TooLarge { column, .. } | NeverObserved { column, .. } => Some(*column),
        Partition { source, .. } => column_of(source),
        _ => None,
    }
}

impl IntoException for Named {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let error = Error::from(self.error);
        let Some((number, name)) = self.column else { return raise(py, &error) };
        let named = |text: String| text.replace(&format!("column {number}"), &format!("column `{}`", printable(&name)));
        let hint = hint(&error).map(named);
        with_hint(py, EigenspaceError::new_err(named(words(&error))), hint.as_deref())
    }
}

/// An error about the cells of images or of scores, which have no columns to leave out and cannot
/// be filled.
pub(crate) struct OfRow(pub(crate) &'static str, pub(crate) eigenspace::Error);

impl IntoException for OfRow {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let Self(what, error) = self;
        let eigenspace::Error::NonFinite { row, .. } = error else { return error.into_exception(py) };
        refusal(py, error.to_string(), &format!("replace the value, or leave out {what} {row}"))
    }
}

impl IntoException for DataError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let (words, hint) = (words(&self), self.hint());
        let exception = match &self {
            Self::Io { source, path, .. } => os_error(source, path, words),
            Self::Download { .. } | Self::NoPython | Self::NoPip { .. } => PyOSError::new_err(words),
            _ => EigenspaceError::new_err(words),
        };
        with_hint(py, exception, hint)
    }
}

/// An `OSError` like those of Python itself, which puts the number before the words and the file
/// after them.
fn os_error(source: &std::io::Error, path: &Path, words: String) -> PyErr {
    match source.raw_os_error() {
        Some(code) => {
            let words = source.to_string().replace(&format!(" (os error {code})"), "");
            PyOSError::new_err((code, words, path.display().to_string()))
        }
        None => PyOSError::new_err(words),
    }
}

/// The exception for an error of the library.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let words = words(error);
    let exception = match error {
        Error::Io { source, path, .. } => os_error(source, path, words),
        Error::Format(_) | Error::Accumulator(_) | Error::File { .. } => FormatError::new_err(words),
        Error::Model(eigenspace::Error::NotAPart { .. } | eigenspace::Error::SplitTooLarge { .. }) => {
            NotAPartError::new_err(words)
        }
        _ => EigenspaceError::new_err(words),
    };
    with_hint(py, exception, hint(error).as_deref())
}

/// The hint of the library, with the names of arguments in Python.
fn hint(error: &Error) -> Option<String> {
    use eigenspace::Error::{NonFinite, Partition};
    match error {
        Error::Model(NonFinite { row, column, value }) if value.is_nan() => Some(format!(
            "drop row {row}, leave out column {column}, or replace the value, for example with `fill_missing` of a model; \
             IncrementalPCA and Accumulator skip such rows with missing='skip'"
        )),
        Error::Model(Partition { source, .. }) => match **source {
            NonFinite { row, column, value } if value.is_nan() => {
                Some(format!("drop row {row}, leave out column {column}, replace the value, or pass missing='skip'"))
            }
            _ => error.hint(),
        },
        Error::Format(Broken::OtherFile { kind: FileKind::Accumulator, .. }) => {
            Some("use Accumulator.from_bytes(data).finish()".into())
        }
        Error::File { source: Broken::OtherFile { kind: FileKind::Accumulator, .. }, .. } => {
            Some("read the bytes of the file, and use Accumulator.from_bytes(data).finish()".into())
        }
        Error::Source { source: SourceError::ImageSize { expected: (width, height), .. }, .. } => {
            Some(format!("resize all images to one size with resize=({width}, {height})"))
        }
        _ => error.hint().map(|hint| {
            hint.replace(" (or `checkpoint`)", "")
                .replace("use a stream, which", "use IncrementalPCA, which")
                .replace("compute on the CPU", "set device='cpu'")
                .replace("half-life:500", "'half-life:500'")
        }),
    }
}

/// Sets the class attribute `hint`, so that every exception has one.
pub(crate) fn prepare(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for class in ["EigenspaceError", "InternalError"] {
        module.getattr(class)?.setattr("hint", module.py().None())?;
    }
    Ok(())
}

/// The messages of an error and its causes in one line.
fn words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        // The message of `Error::Format` already includes its cause.
        let text = inner.to_string();
        if !words.ends_with(&text) {
            words = format!("{words}: {text}");
        }
        cause = inner.source();
    }
    words
}

/// An exception for input that is rejected here, before it reaches the library.
pub(crate) fn refusal(py: Python<'_>, words: impl Into<String>, hint: &str) -> PyErr {
    with_hint(py, EigenspaceError::new_err(words.into()), Some(hint))
}

/// Adds a hint to an exception: an attribute for programs, a note for people.
pub(crate) fn with_hint(py: Python<'_>, exception: PyErr, hint: Option<&str>) -> PyErr {
    let value = exception.value(py);
    // If adding the hint fails, the exception still has its message.
    let _ = value.setattr("hint", hint);
    if let Some(hint) = hint {
        let _ = value.call_method1("add_note", (format!("hint: {hint}"),));
    }
    exception
}

/// The exception for a panic.
pub(crate) fn bug(payload: &(dyn std::any::Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "unknown panic".into());
    InternalError::new_err(format!(
        "internal error in eigenspace: {text}; please report this and, if you can, include the data"
    ))
}
