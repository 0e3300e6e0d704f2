//! The tests of SQL, in one binary.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, missing_docs)]

mod aggregates;
mod command;
mod document;
mod errors;
mod hostile;
mod reference;
mod scalars;
mod support;
mod types;
#[cfg(feature = "cluster")]
mod upstream;
mod wide;
mod windows;
