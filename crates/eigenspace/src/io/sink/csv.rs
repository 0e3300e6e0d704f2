//! Writes rows as text, after a line with column names.
//!
//! Every number is written with the fewest digits that read back as the same number. A NaN becomes
//! an empty cell.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::io::atomic::AtomicFile;
use crate::io::error::Error;
use crate::io::sink::RowSink;
use crate::rows::values::{Values, in_precision};

/// Writes text to a file, or to any writer.
pub struct CsvSink<W: Write> {
    writer: csv::Writer<W>,
    path: PathBuf,
    names: Vec<String>,
    labels: bool,
    begun: bool,
    complete: fn(W, &Path) -> Result<(), Error>,
}

impl CsvSink<BufWriter<AtomicFile>> {
    pub(super) fn in_file(path: &Path, delimiter: u8, names: &[String], labels: bool) -> Result<Self, Error> {
        let file = BufWriter::with_capacity(1 << 20, AtomicFile::create(path)?);
        let complete = |file: BufWriter<AtomicFile>, path: &Path| {
            let failed = |source| Error::Io { action: "write", path: path.to_owned(), source };
            file.into_inner().map_err(|error| failed(error.into_error()))?.commit()
        };
        Ok(Self::new(file, path, delimiter, names, labels, complete))
    }
}

impl<W: Write> CsvSink<W> {
    /// Writes to any writer; `path` is its name in error messages.
    pub fn to_writer(writer: W, path: &Path, names: &[String], labels: bool) -> Self {
        Self::new(writer, path, b',', names, labels, |_, _| Ok(()))
    }

    fn new(
        writer: W,
        path: &Path,
        delimiter: u8,
        names: &[String],
        labels: bool,
        complete: fn(W, &Path) -> Result<(), Error>,
    ) -> Self {
        let writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(writer);
        Self { writer, path: path.to_owned(), names: names.to_vec(), labels, begun: false, complete }
    }

    fn failed(&self, error: csv::Error) -> Error {
        let source = match error.into_kind() {
            csv::ErrorKind::Io(source) => source,
            other => std::io::Error::other(format!("{other:?}")),
        };
        Error::Io { action: "write", path: self.path.clone(), source }
    }

    fn append(&mut self, rows: &Values, labels: Option<&[String]>) -> csv::Result<()> {
        self.begin()?;
        let mut cell = Vec::new();
        for i in 0..rows.dim().0 {
            if self.labels {
                self.writer.write_field(labels.and_then(|labels| labels.get(i)).map_or("", String::as_str))?;
            }
            for j in 0..rows.dim().1 {
                cell.clear();
                // Writing to memory does not fail.
                in_precision!(rows, rows => if !rows[[i, j]].is_nan() {
                    let _ = write!(cell, "{:?}", rows[[i, j]]);
                });
                self.writer.write_field(&cell)?;
            }
            self.writer.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    fn begin(&mut self) -> csv::Result<()> {
        if !self.begun {
            self.begun = true;
            let label = self.labels.then_some("label");
            self.writer.write_record(label.into_iter().chain(self.names.iter().map(String::as_str)))?;
        }
        Ok(())
    }
}

impl<W: Write> RowSink for CsvSink<W> {
    fn write(&mut self, rows: &Values, labels: Option<&[String]>) -> Result<(), Error> {
        self.append(rows, labels).map_err(|error| self.failed(error))
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.begin().map_err(|error| self.failed(error))?;
        let Self { writer, path, complete, .. } = *self;
        let failed = |source| Error::Io { action: "write", path: path.clone(), source };
        complete(writer.into_inner().map_err(|error| failed(error.into_error()))?, &path)
    }
}
