//! Errors of the tasks, each with a hint where one helps.

use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) enum Error {
    /// A step failed.
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
    /// A fuzz target or a file to mutate that does not exist.
    NoTarget {
        word: String,
        available: Vec<String>,
    },
    /// No examples were found; an empty step would pass silently.
    NoExamples {
        directory: PathBuf,
    },
    /// The tests of the page would be left out in CI, without anyone noticing.
    NoBrowserTests,
    /// The build of the wheel produced no wheel.
    NoWheel {
        directory: PathBuf,
    },
    /// A wheel for Linux that runs only on systems like this one.
    NotManylinux {
        wheel: PathBuf,
    },
    /// A directory lacks a required entry.
    Missing {
        directory: PathBuf,
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
                let alone = format!("to run this step alone, from the workspace root:\n  {rerun}");
                Some(match advice {
                    Some(advice) => format!("{advice}; {alone}"),
                    None => alone,
                })
            }
            Self::NoTarget { available, .. } => Some(format!("choose one of: {}", available.join(", "))),
            Self::NoBrowserTests => Some("unset EIGENSPACE_BROWSER, or name a Chromium or Chrome".into()),
            Self::NotManylinux { .. } => {
                Some("PyPI refuses it; `maturin build` names the libraries it should not link to".into())
            }
            Self::MissingTool { install, .. } => Some(format!("install it with `{install}`")),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { step, code: Some(code), .. } => write!(f, "step `{step}` failed with exit code {code}"),
            Self::Failed { step, code: None, .. } => write!(f, "step `{step}` was terminated by a signal"),
            Self::MissingTool { tool, .. } => write!(f, "cannot find {tool}: it is not installed"),
            Self::NoTarget { word, .. } => write!(f, "invalid target `{word}`"),
            Self::NoExamples { directory } => write!(f, "cannot find examples in `{}`", directory.display()),
            Self::NoBrowserTests => {
                write!(f, "EIGENSPACE_BROWSER is `none`, but where CI is set the page must be tested")
            }
            Self::NoWheel { directory } => write!(f, "cannot find a wheel in `{}`", directory.display()),
            Self::NotManylinux { wheel } => write!(f, "`{}` is not a manylinux wheel", wheel.display()),
            Self::Missing { directory, beginning } => {
                write!(f, "cannot find `{beginning}…` in `{}`", directory.display())
            }
            Self::Io { doing, path, .. } => write!(f, "cannot {doing} `{}`", path.display()),
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
