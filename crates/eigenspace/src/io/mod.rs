//! Files: models, tables, arrays and images.

pub(crate) mod error;
pub(crate) mod source_error;

mod accumulator;
pub(crate) mod atomic;
pub(crate) mod checkpoint;
pub(crate) mod edit;
pub(crate) mod file;
pub(crate) mod file_kind;
mod fit;
pub(crate) mod format;
pub(crate) mod header;
pub mod sink;
pub mod source;
pub(crate) mod tensors;

pub use error::{Error, FormatError};
pub use file_kind::FileKind;
