//! Faults of our dependencies that we work around, as small programs (see `docs/UPSTREAM.md`).
//!
//! `cargo test -p eigenspace --all-features --test upstream -- --ignored` runs them. Each test
//! passes while the fault is there. One that fails after an update of a dependency says that its
//! workaround can be removed.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod arrow;
mod damage;
mod faer;
mod image;
mod parquet;
