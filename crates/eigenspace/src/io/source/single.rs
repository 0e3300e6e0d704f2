//! Opens one file or directory, or standard input, with the reader of its format.

use std::io::{BufReader, Read};
use std::path::Path;

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::unsupported::{other_format, other_image};
use crate::io::source::{Format, ReadOptions, RowSource, SourceError};

/// The name of standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// Opens one file or directory, or standard input.
pub(super) fn open_one(path: &Path, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    if path == Path::new(STANDARD_INPUT) {
        return standard_input(options);
    }
    let unknown = || match other_image(path) {
        Some(format) => SourceError::ImageFormat { format: format.into() },
        None => other_format(path).map_or(SourceError::UnknownFormat, |format| SourceError::OtherFormat { format }),
    };
    let format = options.format.or_else(|| Format::of(path)).ok_or_else(|| at(path)(unknown()))?;
    if format != Format::Images && path.is_dir() {
        let source = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(Error::Io { action: "read", path: path.to_owned(), source });
    }
    match format {
        #[cfg(feature = "npy")]
        Format::Npy => super::npy::open(path, options),
        #[cfg(feature = "npy")]
        Format::Npz => super::npz::open(path, options),
        #[cfg(not(feature = "npy"))]
        Format::Npy | Format::Npz => Err(at(path)(SourceError::NotBuilt { format: "NumPy arrays" })),
        #[cfg(feature = "csv")]
        Format::Csv | Format::Tsv => super::csv::open(path, format, options),
        #[cfg(not(feature = "csv"))]
        Format::Csv | Format::Tsv => Err(at(path)(SourceError::NotBuilt { format: "text" })),
        #[cfg(feature = "parquet")]
        Format::Parquet => super::parquet::open(path, options),
        #[cfg(feature = "parquet")]
        Format::Arrow => super::arrow::open(path, options),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow => Err(at(path)(SourceError::NotBuilt { format: "Parquet and Arrow" })),
        #[cfg(feature = "images")]
        Format::Images => super::images::open(path, options),
        #[cfg(not(feature = "images"))]
        Format::Images => Err(at(path)(SourceError::NotBuilt { format: "images" })),
    }
}

/// Standard input is an NPY stream if it begins as one, otherwise text.
fn standard_input(options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    let path = Path::new(STANDARD_INPUT);
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin());
    let mut start = Vec::new();
    let read = (&mut input).take(6).read_to_end(&mut start);
    read.map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })?;
    let is_array = start == b"\x93NUMPY";
    let whole: Box<dyn Read + Send> = Box::new(std::io::Cursor::new(start).chain(input));
    let format = options.format.unwrap_or(if is_array { Format::Npy } else { Format::Csv });
    #[cfg(not(any(feature = "csv", feature = "npy")))]
    drop(whole);
    match format {
        #[cfg(feature = "npy")]
        Format::Npy => super::npy::from_reader(whole, path, options),
        #[cfg(feature = "csv")]
        Format::Csv | Format::Tsv => super::csv::from_reader(whole, path, format, options),
        _ => Err(at(path)(SourceError::StandardInput)),
    }
}

/// Opens the bytes of an `.npy` file; `name` is what errors call it.
#[cfg(feature = "npy")]
pub fn open_array(bytes: Vec<u8>, name: &Path) -> Result<Box<dyn RowSource>, Error> {
    super::npy::from_reader(Box::new(std::io::Cursor::new(bytes)), name, &ReadOptions::new())
}
