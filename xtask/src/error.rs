//! Why a chore stopped, and what the reader can do about it.

use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) enum Error {
    /// A step ran and said no.
    Failed {
        step: &'static str,
        code: Option<i32>,
        rerun: String,
        advice: Option<&'static str>,
    },
    /// A step needs a program that is not installed.
    MissingTool {
        tool: &'static str,
        install: &'static str,
    },
    /// A fuzz target that does not exist.
    NoTarget {
        word: String,
        available: Vec<String>,
    },
    /// Nothing to run where something must be: an empty step would pass in silence.
    NoExamples {
        folder: PathBuf,
    },
    /// A build of the wheel that left none.
    NoWheel {
        folder: PathBuf,
    },
    /// A folder without an entry that must be there.
    Missing {
        folder: PathBuf,
        beginning: String,
    },
    Io {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }

    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Failed { rerun, advice, .. } => {
                let alone = format!("run it alone, from the workspace root, with\n  {rerun}");
                Some(match advice {
                    Some(advice) => format!("{advice}; {alone}"),
                    None => alone,
                })
            }
            Self::NoTarget { available, .. } => Some(format!("there are: {}", available.join(", "))),
            Self::MissingTool { install, .. } => Some(format!("install it with `{install}`")),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { step, code: Some(code), .. } => write!(f, "step `{step}` failed with exit code {code}"),
            Self::Failed { step, code: None, .. } => write!(f, "step `{step}` was ended by a signal"),
            Self::MissingTool { tool, .. } => write!(f, "{tool} is not installed"),
            Self::NoTarget { word, .. } => write!(f, "there is no fuzz target `{word}`"),
            Self::NoExamples { folder } => write!(f, "no examples in `{}`", folder.display()),
            Self::NoWheel { folder } => write!(f, "no wheel in `{}`", folder.display()),
            Self::Missing { folder, beginning } => {
                write!(f, "nothing in `{}` is called `{beginning}…`", folder.display())
            }
            Self::Io { doing, path, .. } => write!(f, "could not {doing} `{}`", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
