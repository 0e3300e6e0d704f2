//! stdout is data, stderr is talk: the only file that writes to either.
//!
//! A closed pipe is the reader's choice and no failure of a chore, so write errors are dropped.

use std::io::Write;

use crate::error::Error;

pub(crate) fn data(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

pub(crate) fn talk(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The error, its causes, and after a blank line what to do about it.
pub(crate) fn report(error: &Error) {
    talk(&format!("\nerror: {error}"));
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        talk(&format!("  cause: {source}"));
        cause = source.source();
    }
    if let Some(hint) = error.hint() {
        talk(&format!("\nhint: {hint}"));
    }
}
