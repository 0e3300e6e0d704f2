//! The only file that prints: results go to stdout, messages to stderr.
//!
//! Write errors are ignored: a closed pipe is not a failure of the task.

use std::io::Write;

use crate::error::Error;

pub(crate) fn data(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

pub(crate) fn message(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints the error, its causes and, after a blank line, its hint.
pub(crate) fn report(error: &Error) {
    message(&format!("\nerror: {error}"));
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        message(&format!("  cause: {source}"));
        cause = source.source();
    }
    if let Some(hint) = error.hint() {
        message(&format!("\nhint: {hint}"));
    }
}
