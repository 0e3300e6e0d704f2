//! The test suite: one module per operation of the library, and the laws that connect them.
#![allow(clippy::unwrap_used, missing_docs)]

mod accumulator;
mod angles;
mod arrays;
mod batch;
mod certificate;
mod checkpoint;
mod contributions;
mod device;
mod edit;
mod errors;
mod everyday;
#[cfg(feature = "faces")]
mod faces;
mod file;
mod forgetting;
#[cfg(all(feature = "csv", feature = "faces", feature = "images", feature = "npy", feature = "parquet"))]
mod fuzz;
mod hard;
#[cfg(feature = "images")]
mod images;
mod iterative;
mod laws;
mod metadata;
mod missing;
mod monitor;
mod orl;
mod reads;
mod refinement;
mod scaled;
mod settings;
mod sparse;
mod split;
mod stream;
mod support;
#[cfg(all(feature = "csv", feature = "parquet"))]
mod tables;
mod view;
mod views;
mod weights;
