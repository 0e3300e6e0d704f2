//! The command: its messages, the files it writes, and its exit codes.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, missing_docs)]

mod bad;
mod concurrent;
mod demo;
#[cfg(feature = "explore")]
mod explore;
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
