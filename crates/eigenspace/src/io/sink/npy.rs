//! Writes rows as a NumPy array in C order, little-endian.
//!
//! The number of rows is known only at the end, so the header has a fixed length and is written
//! twice.

use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::io::atomic::AtomicFile;
use crate::io::error::Error;
use crate::io::sink::RowSink;
use crate::linalg::Real;
use crate::rows::values::{Values, in_precision};

/// Length of the header in bytes: a multiple of 64 that is enough for any shape.
const HEADER_BYTES: usize = 128;

pub(super) struct NpySink {
    file: BufWriter<AtomicFile>,
    path: PathBuf,
    rows: u64,
    columns: usize,
    /// Whether the numbers are 32-bit; determined by the first rows.
    narrow: Option<bool>,
}

impl NpySink {
    pub(super) fn new(file: AtomicFile, columns: usize, path: &Path) -> Self {
        Self { file: BufWriter::with_capacity(1 << 20, file), path: path.to_owned(), rows: 0, columns, narrow: None }
    }

    fn header(&self) -> Vec<u8> {
        let kind = if self.narrow == Some(true) { "<f4" } else { "<f8" };
        let shape = format!("({}, {})", self.rows, self.columns);
        let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        let mut header = b"\x93NUMPY\x01\x00".to_vec();
        header.extend_from_slice(&((HEADER_BYTES - 10) as u16).to_le_bytes());
        header.extend_from_slice(text.as_bytes());
        header.resize(HEADER_BYTES - 1, b' ');
        header.push(b'\n');
        header
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { action: "write", path: self.path.clone(), source }
    }

    fn append(&mut self, rows: &Values) -> std::io::Result<()> {
        if self.narrow.is_none() {
            self.narrow = Some(rows.is_f32());
            let header = self.header();
            self.file.write_all(&header)?;
        }
        in_precision!(rows, rows => match self.narrow {
            Some(true) => rows.iter().try_for_each(|x| self.file.write_all(&f32::narrow(x.widen()).to_le_bytes())),
            _ => rows.iter().try_for_each(|x| self.file.write_all(&x.widen().to_le_bytes())),
        })
    }
}

impl RowSink for NpySink {
    fn write(&mut self, rows: &Values, _labels: Option<&[String]>) -> Result<(), Error> {
        self.append(rows).map_err(|error| self.failed(error))?;
        self.rows += rows.dim().0 as u64;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        let header = self.header();
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(&header));
        written.and_then(|()| self.file.flush()).map_err(|error| self.failed(error))?;
        let path = self.path.clone();
        let file = self.file.into_inner();
        file.map_err(|error| Error::Io { action: "write", path, source: error.into_error() })?.commit()
    }
}
