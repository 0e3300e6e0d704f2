//! The lines of a text file, split into cells.
//!
//! Every line can be read with [`Lines::advance`]. Plain lines may instead be read from
//! [`Lines::find_plain`], which is faster; what a plain line is, `plain.rs` decides.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder, Terminator};

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::SourceError;
use crate::io::source::text::{Input, OtherFile, Utf16};

/// The lines of a text file; each is split into cells when it is read.
pub(super) struct Lines {
    pub(super) path: Arc<PathBuf>,
    format: &'static str,
    reader: csv::Reader<Input>,
    pub(super) record: ByteRecord,
    /// Number of lines that were not read by the reader.
    plain: u64,
}

impl Lines {
    pub(super) fn open(
        bytes: Box<dyn Read + Send>,
        path: &Path,
        format: &'static str,
        delimiter: u8,
    ) -> Result<Self, Error> {
        let input = Input::new(bytes).map_err(|error| failed(path, format, error))?;
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .terminator(Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_reader(input);
        Ok(Self { path: Arc::new(path.to_owned()), format, reader, record: ByteRecord::new(), plain: 0 })
    }

    /// Reads the next line that is not empty. False at the end.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        loop {
            self.reader.get_mut().next_line();
            match self.reader.read_byte_record(&mut self.record) {
                Ok(false) => return Ok(false),
                Ok(true) if self.record.len() == 1 && self.record[0].trim_ascii().is_empty() => {}
                Ok(true) => return Ok(true),
                Err(error) => return Err(self.broken(error)),
            }
        }
    }

    /// The text of the next lines, and a line number for the first. `ends` becomes the ends of at
    /// most `most` lines in the text, after their LF; there are none if the next line has to be
    /// read with [`advance`](Self::advance).
    pub(super) fn find_plain(&mut self, most: usize, ends: &mut Vec<usize>) -> (&[u8], u64) {
        ends.clear();
        // The reader receives one line at a time, so it has used everything it received, unless it
        // is in a line.
        let between_lines = self.reader.position().byte() == self.reader.get_ref().returned();
        if between_lines && !self.reader.is_done() {
            self.reader.get_mut().find_lines(most, ends);
        }
        (self.reader.get_ref().waiting(), self.reader.position().line() + self.plain)
    }

    /// The text after this line, as far as it was read in advance.
    pub(super) fn waiting(&self) -> &[u8] {
        let between_lines = self.reader.position().byte() == self.reader.get_ref().returned();
        if between_lines { self.reader.get_ref().waiting() } else { &[] }
    }

    /// Continues after some of the lines that were found.
    pub(super) fn pass_plain(&mut self, lines: usize, bytes: usize) {
        self.plain += lines as u64;
        self.reader.get_mut().pass(bytes);
    }

    /// The number of the line in which the record starts, from 1.
    pub(super) fn line(&self) -> u64 {
        let inside = self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
        let before = self.record.position().map_or(1, csv::Position::line);
        // The reader counts empty lines before the record as part of it, so the line is computed
        // from the end of the record, unless the file ends without a newline.
        self.plain + before.max(self.reader.position().line().saturating_sub(inside + 1))
    }

    pub(super) fn utf8<'a>(&self, cell: &'a [u8]) -> Result<&'a str, Error> {
        std::str::from_utf8(cell).map_err(|_| self.encoding())
    }

    pub(super) fn encoding(&self) -> Error {
        let problem = format!("line {} is not UTF-8", self.line());
        at(self.path.as_ref())(SourceError::Encoding { format: self.format, problem })
    }

    pub(super) fn line_endings(&self) -> Error {
        at(self.path.as_ref())(SourceError::LineEndings { format: self.format })
    }

    pub(super) fn malformed(&self, problem: String) -> Error {
        at(self.path.as_ref())(SourceError::Malformed { format: self.format, problem })
    }

    fn broken(&self, error: csv::Error) -> Error {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => failed(&self.path, self.format, error),
            other => self.malformed(format!("{other:?}")),
        }
    }
}

/// An error while reading, caused by invalid data or by the disk.
fn failed(path: &Path, format: &'static str, error: std::io::Error) -> Error {
    let problem = || error.to_string();
    let other = error.get_ref().and_then(|error| error.downcast_ref());
    if let Some(&OtherFile(kind)) = other {
        return at(path)(SourceError::OtherFile { kind });
    }
    match error.kind() {
        ErrorKind::InvalidData if error.get_ref().is_some_and(|error| error.is::<Utf16>()) => {
            at(path)(SourceError::Encoding { format, problem: problem() })
        }
        ErrorKind::InvalidData => at(path)(SourceError::Malformed { format, problem: problem() }),
        _ => Error::Io { action: "read", path: path.to_owned(), source: error },
    }
}
