//! The command from outside: what it says, what it writes, and how it ends.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, missing_docs)]

mod bad;
mod concurrent;
mod demo;
mod faults;
mod files;
mod good;
mod kill;
mod meaning;
mod memory;
mod oracle;
mod people;
mod plot;
mod resume;
mod support;
