//! The command from outside: what it says, what it writes, and how it ends.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, missing_docs)]

mod bad;
mod demo;
mod files;
mod good;
mod memory;
mod oracle;
mod people;
mod plot;
mod resume;
mod support;
