//! Clusters of real processes on this machine: one scheduler and two executors, some of which are
//! killed.
//!
//! This is a binary of its own, because it needs no DataFusion: it runs the command only.
#![cfg(unix)]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, missing_docs)]

mod errors;
mod kills;
mod process;
#[path = "../suite/reference.rs"]
#[allow(dead_code)]
mod reference;
mod results;
