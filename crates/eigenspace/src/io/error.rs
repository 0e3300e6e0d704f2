//! What can go wrong with files and bytes. Errors of the model are wrapped, never the other way round.

use std::path::PathBuf;

use crate::error;
use crate::io::source_error::SourceError;
use crate::printable::{printable, printable_path};

/// Everything that reading and writing refuses, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model refuses the rows, or the options.
    #[error(transparent)]
    Model(#[from] error::Error),

    // ---- the model's bytes are unusable ----
    /// The bytes are not an acceptable model.
    #[error("not a valid model: {0}")]
    Format(#[from] FormatError),

    /// A checkpoint was made with other options.
    #[error("the checkpoint was made with other options")]
    OptionsDiffer,

    // ---- the world failed ----
    /// A file could not be read or written.
    #[error("cannot {action} `{path}`", path = printable_path(path))]
    Io {
        /// What was attempted: `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file was changed between reading it and writing it back, by a program that did not wait for us.
    #[error("cannot write `{path}`: another program changed it after it was read", path = path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A source cannot be read as rows of numbers.
    #[error("cannot read rows from `{path}`", path = printable_path(path))]
    Source {
        /// The file, the folder, or `-` for standard input.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: SourceError,
    },
    /// Rows cannot be written in the format that the name of the file tells.
    #[error("cannot write rows to `{path}`", path = printable_path(path))]
    Sink {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: SourceError,
    },
    /// A file was read, but holds no acceptable model.
    #[error("cannot read `{path}` as a model", path = printable_path(path))]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with its bytes.
        #[source]
        source: FormatError,
    },
}

/// Why bytes are not an acceptable model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// Fewer bytes, or more, than the header announces.
    #[error("{found} bytes, but the header announces {expected}")]
    Truncated {
        /// Bytes announced.
        expected: u64,
        /// Bytes present.
        found: u64,
    },
    /// Not a safetensors file at all, or a broken header.
    #[error("the safetensors header is broken: {}", printable(.0))]
    Header(String),
    /// A safetensors file without our metadata.
    #[error("a safetensors file, but not an eigenspace model: the metadata key `{key}` is missing or unreadable")]
    Metadata {
        /// The key.
        key: &'static str,
    },
    /// Another version of the format.
    #[error("the file has format version {found}, and this program reads version {supported}")]
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
    #[error("the tensor `{name}` has another element type than {expected}")]
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
    /// The checksum does not match: some byte was changed.
    #[error("the checksum does not match: some byte was changed after writing")]
    Checksum,
    /// A number that is not finite, or negative where it cannot be.
    #[error("the tensor `{name}` holds {value} at position {index}")]
    Value {
        /// The tensor.
        name: &'static str,
        /// Position in it.
        index: usize,
        /// The number.
        value: f64,
    },
    /// The spectrum increases somewhere.
    #[error("the spectrum increases at position {index}")]
    Unsorted {
        /// Position of the larger value.
        index: usize,
    },
    /// The basis is not orthonormal.
    #[error("the basis is not orthonormal: it is off by {loss:e}")]
    NotOrthonormal {
        /// Largest entry of |V V' - I|.
        loss: f64,
    },
    /// Numbers that contradict each other.
    #[error("{what} do not fit together")]
    Inconsistent {
        /// Which numbers.
        what: &'static str,
    },
    /// A model of anything, but no recognizer.
    #[error("a model, but not a recognizer: it has no people in it")]
    NoRecognizer,
    /// Not a checkpoint, or a broken one.
    #[error("these bytes are not a checkpoint of this version")]
    NoCheckpoint,
    /// The model does not fit in memory.
    #[error("{bytes} bytes do not fit in memory")]
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
            Self::Format(source) | Self::File { source, .. } => source.hint(),
            Self::Source { source, .. } => source.hint(),
            Self::Sink { .. } => Some("rows are written to files that end in .npy, .csv, .tsv or .parquet".into()),
            Self::Changed { .. } => Some("nothing was written; try again with the file as it is now".into()),
            Self::OptionsDiffer => {
                Some("pass the options of the interrupted fit, or start again without the checkpoint".into())
            }
            Self::Io { source, .. } => system_hint(source).map(str::to_owned),
        }
    }
}

impl FormatError {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Truncated { .. } | Self::Checksum => "copy the file again from where it was written",
            Self::Version { found, supported } if found > supported => "update eigenspace to read this file",
            Self::Version { .. } => "fit the model again: files of earlier versions cannot be read",
            Self::NoCheckpoint => {
                "start again without it; a checkpoint can be resumed only by the version that wrote it"
            }
            Self::NoRecognizer => "train one on pictures of people, in a folder for each",
            Self::Header(_) | Self::Metadata { .. } => "check that this is a file that eigenspace wrote",
            _ => "fit the model again; the file was not written by eigenspace, or it was changed afterward",
        };
        Some(text.into())
    }
}

/// Places the problem of a source in its path.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(SourceError) -> Error {
    let path = path.into();
    move |source| Error::Source { path, source }
}

/// The hint for an error of the operating system.
pub fn system_hint(error: &std::io::Error) -> Option<&'static str> {
    use std::io::ErrorKind;
    Some(match error.kind() {
        ErrorKind::NotFound => "check the spelling of the path and the current directory",
        ErrorKind::PermissionDenied => "check the permissions of the file and of its directory",
        ErrorKind::IsADirectory => "name a file instead of a directory",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free disk space, or write to another disk; nothing was changed"
        }
        ErrorKind::ReadOnlyFilesystem => "write to another directory; nothing was changed",
        ErrorKind::NotADirectory => "write to an existing directory: a part of this path is a file",
        _ => return None,
    })
}
