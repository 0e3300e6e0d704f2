//! Errors of reading and writing. They wrap the errors of the library, never the other way around.

use std::path::{Path, PathBuf};

use crate::error;
use crate::io::file_kind::FileKind;
use crate::io::source_error::SourceError;
use crate::printable::{grouped, printable, printable_path};

/// The path that stands for standard input and standard output.
const STANDARD: &str = "-";

/// Why something cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model cannot be computed from the rows or with the options.
    #[error(transparent)]
    Model(#[from] error::Error),

    // ---- invalid bytes ----
    /// The bytes are not a valid model.
    #[error("not a valid {kind}: {_0}", kind = kind_of_file(_0))]
    Format(#[from] FormatError),

    /// The bytes are not a valid accumulator.
    #[error("not a valid accumulator: {0}")]
    Accumulator(#[source] FormatError),

    /// A checkpoint was made with other options.
    #[error("the checkpoint was made with another value of the option `{option}`")]
    OptionsDiffer {
        /// The first option that differs.
        option: String,
    },

    // ---- files ----
    /// A file could not be read or written.
    #[error("cannot {action} {}{}", if is_standard_output(path, action) { "to " } else { "" }, file_or_standard(path, action))]
    Io {
        /// What was attempted: `read`, `write`, `create` or `remove`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The path is a device, a pipe or a socket.
    #[error("cannot write `{path}`: expected an ordinary file", path = printable_path(path))]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A program that does not use our locks changed the file between reading it and writing it
    /// back.
    #[error("cannot write `{path}`: another program changed it after it was read", path = printable_path(path))]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A model would replace a file that is something else.
    #[error("cannot write a model to `{path}`: {}", occupied(*recognizer), path = printable_path(path))]
    Occupied {
        /// The file.
        path: PathBuf,
        /// Whether it is a recognizer.
        recognizer: bool,
    },
    /// Nothing was given to read rows from.
    #[error("cannot read rows: no input was given")]
    NoInputs,
    /// The thread that reads rows ahead panicked, which is a bug.
    #[error("internal error in the reader of the rows; please report this")]
    Reader,
    /// A source cannot be read as rows of numbers.
    #[error("cannot read rows from {}", file_or_standard(path, "read"))]
    Source {
        /// The file, the directory, or `-` for standard input.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: SourceError,
    },
    /// Rows cannot be written in the format that the name of the file suggests.
    #[error("cannot write rows to {}", file_or_standard(path, "write"))]
    Sink {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: SourceError,
    },
    /// The file does not contain a valid model.
    #[error("cannot read `{path}` as a {kind}", path = printable_path(path), kind = kind_of_file(source))]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with its bytes.
        #[source]
        source: FormatError,
    },
}

/// Why bytes are not a valid model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The number of bytes is not the one in the header.
    #[error("{}", wrong_length(*expected, *found))]
    Truncated {
        /// Bytes according to the header.
        expected: u64,
        /// Bytes present.
        found: u64,
    },
    /// Not a safetensors file.
    #[error("it is not a safetensors file")]
    NotSafetensors,
    /// A file of another kind, such as a table.
    #[error("it is {kind}")]
    OtherFile {
        /// What it is.
        kind: FileKind,
        /// What it should be: `model`, `recognizer` or `accumulator`.
        expected: &'static str,
    },
    /// A broken header.
    #[error("the safetensors header is broken: {}", printable(.0))]
    Header(String),
    /// A safetensors file without our metadata.
    #[error("a safetensors file, but not an eigenspace model: the metadata key `{key}` is missing or unreadable")]
    Metadata {
        /// The key.
        key: &'static str,
    },
    /// Another version of the format.
    #[error("its format version is {found}, but this program reads version {supported}")]
    Version {
        /// Version in the file.
        found: u64,
        /// The version that this program reads.
        supported: u64,
    },
    /// A tensor is missing.
    #[error("the tensor `{name}` is missing")]
    MissingTensor {
        /// Its name.
        name: &'static str,
    },
    /// A tensor of another element type.
    #[error("the elements of the tensor `{name}` are not {expected}")]
    Dtype {
        /// Its name.
        name: &'static str,
        /// The type expected.
        expected: &'static str,
    },
    /// A tensor of the wrong shape.
    #[error("the tensor `{name}` has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Its name.
        name: &'static str,
        /// The shape that fits the other tensors.
        expected: Vec<usize>,
        /// The shape found.
        found: Vec<usize>,
    },
    /// The checksum does not match.
    #[error("the checksum does not match: the file was changed after it was written")]
    Checksum,
    /// A number that is not finite, or negative where it cannot be.
    #[error("invalid value {value} at position {index} of the tensor `{name}`")]
    Value {
        /// The tensor.
        name: &'static str,
        /// Position in it.
        index: usize,
        /// The number.
        value: f64,
    },
    /// The singular values increase somewhere.
    #[error("the singular values are not in descending order: they increase at position {index}")]
    Unsorted {
        /// Position of the larger value.
        index: usize,
    },
    /// The directions are not orthonormal.
    #[error("the directions are not orthonormal: their largest deviation is {loss:e}")]
    NotOrthonormal {
        /// Largest entry of |V V' - I|.
        loss: f64,
    },
    /// Values that contradict each other.
    #[error("{what} do not match")]
    Inconsistent {
        /// Which values.
        what: &'static str,
    },
    /// A model that is not a recognizer.
    #[error("it is a model without people")]
    NoRecognizer,
    /// A safetensors file that is not an accumulator.
    #[error("expected an accumulator, found another safetensors file")]
    NoAccumulator,
    /// Not a checkpoint.
    #[error("it is not a checkpoint")]
    NoCheckpoint,
    /// A checkpoint of another version.
    #[error("it is not a checkpoint of this version of eigenspace")]
    CheckpointVersion,
    /// The model does not fit in memory.
    #[error("{} bytes do not fit in memory", grouped(bytes))]
    TooLarge {
        /// Bytes needed.
        bytes: u64,
    },
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Model(error) => error.hint(),
            Self::Format(source) | Self::Accumulator(source) if source.is_about_bytes() => {
                Some("pass the bytes that `to_bytes` (or `checkpoint`) returned, unchanged".into())
            }
            Self::Format(source) | Self::Accumulator(source) | Self::File { source, .. } => source.hint(),
            Self::NoInputs => Some("pass at least one file, directory or pattern".into()),
            Self::Reader => Some("include the files in the report, if you can".into()),
            Self::Source { source, .. } => source.hint(),
            Self::Sink { .. } => Some("use a file name that ends in .npy, .csv, .tsv or .parquet".into()),
            Self::NotAFile { .. } => Some("write to an ordinary file".into()),
            Self::Occupied { recognizer: true, .. } => Some("choose another file name".into()),
            Self::Occupied { .. } => {
                Some("choose another file name, or delete this file first; nothing was changed".into())
            }
            Self::Changed { .. } => Some("try again with the file as it is now; nothing was written".into()),
            Self::OptionsDiffer { .. } => {
                Some("pass the options of the interrupted fit, or start again without the checkpoint".into())
            }
            Self::Io { action: "write", source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Some("write to an existing directory, or make it first".into())
            }
            Self::Io { action: "write" | "create", source, .. }
                if source.kind() == std::io::ErrorKind::NotADirectory =>
            {
                Some("write to an existing directory: a part of this path is a file".into())
            }
            Self::Io { source, .. } => system_hint(source).map(str::to_owned),
        }
    }
}

impl FormatError {
    /// Whether the bytes are incomplete, changed, or something else.
    fn is_about_bytes(&self) -> bool {
        matches!(
            self,
            Self::Truncated { .. } | Self::Checksum | Self::NotSafetensors | Self::Header(_) | Self::Metadata { .. }
        )
    }

    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Truncated { .. } | Self::Checksum => "copy the file again from its source",
            Self::Version { found, supported } if found > supported => "update eigenspace to read this file",
            Self::Version { .. } => "fit the model again: files of earlier versions cannot be read",
            Self::NoCheckpoint => "pass the bytes that `checkpoint` returned",
            Self::CheckpointVersion => {
                "start again without it; a checkpoint can be resumed only by the version that wrote it"
            }
            Self::NoAccumulator => {
                "pass the bytes that `to_bytes` of an accumulator returned; to merge models, use `merge` of a model"
            }
            Self::NoRecognizer | Self::OtherFile { expected: "recognizer", .. } => {
                "train a recognizer on images of people, with one directory for each person"
            }
            Self::OtherFile { kind: FileKind::Checkpoint, .. } => {
                "resume the fit and let it finish, then pass the model that it writes"
            }
            Self::OtherFile { kind: FileKind::Accumulator, .. } => {
                "read it with `Accumulator::from_bytes`, and pass the model that `finish` returns"
            }
            Self::OtherFile { kind, .. } if kind.is_image() => "fit a model to images first, and pass its file",
            Self::OtherFile { .. } => "fit a model to these rows first, and pass its file",
            Self::NotSafetensors | Self::Metadata { .. } => "check that eigenspace wrote this file",
            Self::Header(_) => "copy the file again from its source, or check that eigenspace wrote it",
            Self::TooLarge { .. } => "free memory, or use a machine with more memory",
            _ => "fit the model again; the file was not written by eigenspace, or it was changed afterward",
        };
        Some(text.into())
    }
}

/// Adds the path of a source to its error.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(SourceError) -> Error {
    let path = path.into();
    move |source| Error::Source { path, source }
}

/// The same error about a file or a column of weights.
pub(crate) fn of_weights(error: Error) -> Error {
    match error {
        Error::Source { path, source } => Error::Source { path, source: source.of_weights() },
        other => other,
    }
}

/// The hint for an error of the operating system.
pub fn system_hint(error: &std::io::Error) -> Option<&'static str> {
    use std::io::ErrorKind;
    Some(match error.kind() {
        ErrorKind::NotFound => "check the spelling of the path and the current directory",
        ErrorKind::PermissionDenied => "check the permissions of the file and of its directory",
        ErrorKind::IsADirectory => "pass a file instead of a directory",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free disk space, or write to another disk; nothing was changed"
        }
        ErrorKind::ReadOnlyFilesystem => "write to another directory; nothing was changed",
        ErrorKind::NotADirectory => "check the path: a part of it is a file, not a directory",
        _ => return None,
    })
}

/// Whether a file to write is standard output.
fn is_standard_output(path: &Path, action: &str) -> bool {
    path == Path::new(STANDARD) && action == "write"
}

/// The name of a file in a message; `-` is standard input, or standard output if it is written.
fn file_or_standard(path: &Path, action: &str) -> String {
    match action {
        _ if path != Path::new(STANDARD) => format!("`{}`", printable_path(path)),
        _ if is_standard_output(path, action) => "standard output".into(),
        _ => "standard input".into(),
    }
}

/// Why a file is not replaced by a model.
fn occupied(recognizer: bool) -> &'static str {
    if recognizer { "it is a recognizer, and its people would be lost" } else { "the file exists and is not a model" }
}

/// What a file should have contained.
fn kind_of_file(problem: &FormatError) -> &'static str {
    match problem {
        FormatError::NoRecognizer => "recognizer",
        FormatError::OtherFile { expected, .. } => expected,
        _ => "model",
    }
}

/// `1 byte`, `2 bytes`.
fn counted(bytes: u64) -> String {
    if bytes == 1 { "1 byte".into() } else { format!("{} bytes", grouped(bytes)) }
}

/// Describes a file whose length differs from the one in its header.
fn wrong_length(expected: u64, found: u64) -> String {
    match found {
        0 => "it is empty".into(),
        // If the header itself is cut off, the length of the whole file is unknown.
        found if found < expected => format!("it has {}, expected at least {}", counted(found), grouped(expected)),
        found => format!("it has {}, expected {}", counted(found), grouped(expected)),
    }
}
