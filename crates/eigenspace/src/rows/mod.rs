//! Blocks of rows: element types, sparse rows, missing cells, and the only check of the caller's
//! numbers.

pub(crate) mod block;
pub(crate) mod element;
pub(crate) mod missing;
pub(crate) mod sparse;
pub(crate) mod values;
