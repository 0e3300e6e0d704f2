//! What may enter: rows of numbers, checked once.

pub(crate) mod block;
pub(crate) mod element;
pub(crate) mod missing;
pub(crate) mod sparse;
