//! Files: models, tables, arrays and images.

pub(crate) mod atomic;
pub(crate) mod edit;
pub(crate) mod format;
pub(crate) mod file;
pub mod source;
pub mod sink;
