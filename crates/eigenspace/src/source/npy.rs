//! To be written.

use std::io::Read;
use std::path::Path;

use crate::error::Error;
use crate::source::error::at;
use crate::source::{RowSource, SourceError};

/// Opens a file.
pub(super) fn open(path: &Path) -> Result<Box<dyn RowSource>, Error> {
    Err(at(path)(SourceError::UnknownFormat))
}

/// Reads an array that comes from elsewhere.
pub(super) fn from_reader(_reader: Box<dyn Read + Send>, path: &Path) -> Result<Box<dyn RowSource>, Error> {
    Err(at(path)(SourceError::UnknownFormat))
}
