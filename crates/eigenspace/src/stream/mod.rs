//! Rows that keep coming.

pub(crate) mod forgetting;
pub(crate) mod plan;
pub(crate) mod options;
pub(crate) mod sparse_buffer;
pub(crate) mod factor;
pub(crate) mod impute;
pub(crate) mod eigenspace_stream;
pub(crate) mod read;
pub(crate) mod checkpoint;
