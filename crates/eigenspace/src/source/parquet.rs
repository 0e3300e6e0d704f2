//! To be written.

use std::path::Path;

use crate::error::Error;
use crate::source::error::at;
use crate::source::{ReadOptions, RowSource, SourceError};

/// Opens a file.
pub(super) fn open(path: &Path, _options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    Err(at(path)(SourceError::UnknownFormat))
}
