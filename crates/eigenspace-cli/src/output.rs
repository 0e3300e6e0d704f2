//! The only module that prints: results go to stdout, messages and errors to stderr. Control
//! characters in names are escaped, so that text from a file cannot control the terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use eigenspace::internal::{is_printable, printable};

use crate::failure::Failure;

static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses all messages except errors.
pub(crate) fn set_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether messages are printed.
pub(crate) fn is_verbose() -> bool {
    !QUIET.load(Ordering::Relaxed)
}

/// Whether messages go to a terminal.
pub(crate) fn is_interactive() -> bool {
    is_verbose() && io::stderr().is_terminal()
}

/// Prints a result on stdout.
pub(crate) fn data(text: &str) -> anyhow::Result<()> {
    let text = printable_lines(text);
    let mut out = io::stdout().lock();
    let mut write = || {
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    // Its own error, because a failure here does not affect the files that were written before.
    Ok(write().map_err(|source| Failure::Output { source })?)
}

/// Escapes control characters other than newlines and tabs. Names in the text are already on one
/// line, or in JSON.
fn printable_lines(text: &str) -> Cow<'_, str> {
    let ours = |c: char| matches!(c, '\n' | '\t');
    if text.chars().all(|c| ours(c) || is_printable(c)) {
        return Cow::Borrowed(text);
    }
    let pieces = text.split_inclusive(ours).map(|piece| {
        let inside = piece.trim_end_matches(ours);
        format!("{}{}", printable(inside), &piece[inside.len()..])
    });
    Cow::Owned(pieces.collect())
}

/// Stdout for rows of text: unchanged for a file or another program, escaped for a terminal.
pub(crate) fn rows() -> Box<dyn Write> {
    let out = io::stdout();
    if out.is_terminal() { Box::new(Escaped { out, line: Vec::new() }) } else { Box::new(io::BufWriter::new(out)) }
}

/// A writer that escapes whole lines.
struct Escaped<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|&byte| byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            self.out.write_all(printable_lines(&String::from_utf8_lossy(&lines)).as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.out.write_all(printable_lines(&String::from_utf8_lossy(&rest)).as_bytes())?;
        self.out.flush()
    }
}

/// Prints a message of one line on stderr.
pub(crate) fn message(text: &str) {
    if is_verbose() {
        // A closed stderr is not a reason to stop.
        let _ = writeln!(io::stderr(), "{}", printable(text));
    }
}

/// Prints the lines of an error on stderr; names in them are already escaped.
pub(crate) fn error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_tabs_stay_and_names_between_them_are_escaped() {
        assert_eq!(printable_lines("a\tb\n\nc\n"), "a\tb\n\nc\n");
        assert_eq!(printable_lines("a\u{1b}[2J\tb\u{202e}\n\n\u{9b}"), "a\\u001b[2J\tb\\u202e\n\n\\u009b");
    }

    #[test]
    fn json_that_went_through_is_the_same_json() {
        let value = serde_json::json!({ "columns": ["a\u{1b}\n", "\u{202e}b", "\u{7f}\u{9b}\u{e0041}", "c\\u001b"] });
        let printed = serde_json::to_string_pretty(&value).unwrap_or_default();
        let shown = printable_lines(&printed);
        assert!(shown.chars().all(|c| c == '\n' || is_printable(c)));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).ok(), Some(value));
    }

    #[test]
    fn rows_for_a_terminal_are_escaped_wherever_a_write_ends() {
        let mut out = Escaped { out: Vec::new(), line: Vec::new() };
        for byte in "x,\u{202e}é\n1,\u{1b}c\n2".bytes() {
            assert!(out.write_all(&[byte]).is_ok());
        }
        assert!(out.flush().is_ok());
        assert_eq!(String::from_utf8_lossy(&out.out), "x,\\u202eé\n1,\\u001bc\n2");
    }
}
