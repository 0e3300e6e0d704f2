//! Row sinks: coordinates and rows as files.
//!
//! ```text
//! project, reconstruct  ─►  RowSink::write, block after block  ─►  .npy · .csv · .tsv · .parquet
//! ```
//!
//! A file appears when [`RowSink::finish`] has succeeded, whole or not at all. 32-bit rows stay
//! 32-bit.

#[cfg(feature = "csv")]
pub(crate) mod csv;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;

use crate::io::atomic::AtomicFile;
use crate::io::error::Error;
#[cfg(feature = "csv")]
use crate::io::sink::csv::CsvSink;
use crate::io::source::{SourceError, Values};

/// Takes rows, block after block.
pub trait RowSink {
    /// Writes some rows, and a label for each if the sink was made for labels.
    fn write(&mut self, rows: &Values, labels: Option<&[String]>) -> Result<(), Error>;

    /// Completes the file.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

/// A file for rows with these column names, in the format that the file name suggests. Labels
/// become a first column called `label`; an `.npy` file has numbers only and leaves them out.
#[cfg_attr(
    not(any(feature = "csv", feature = "parquet")),
    expect(unused_variables, reason = "only NumPy files, without labels")
)]
pub fn create(path: &Path, names: &[String], labels: bool) -> Result<Box<dyn RowSink>, Error> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let refused = |source| Err(Error::Sink { path: path.to_owned(), source });
    match extension.as_deref() {
        Some("npy") => Ok(Box::new(npy::NpySink::new(AtomicFile::create(path)?, names.len(), path))),
        #[cfg(feature = "csv")]
        Some("csv") => Ok(Box::new(CsvSink::in_file(path, b',', names, labels)?)),
        #[cfg(feature = "csv")]
        Some("tsv") => Ok(Box::new(CsvSink::in_file(path, b'\t', names, labels)?)),
        #[cfg(not(feature = "csv"))]
        Some("csv" | "tsv") => refused(SourceError::NotBuilt { format: "text" }),
        #[cfg(feature = "parquet")]
        Some("parquet") => Ok(Box::new(parquet::ParquetSink::new(AtomicFile::create(path)?, names, labels, path))),
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => refused(SourceError::NotBuilt { format: "Parquet" }),
        _ => refused(SourceError::UnknownFormat),
    }
}
