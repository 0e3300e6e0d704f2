//! Example data sets: `eigenspace data orl DIR` fetches one, and `--check` only verifies it.

mod error;
mod faces;
mod orl;
mod repair;
mod wheel;

pub(crate) use error::DataError;
pub(crate) use orl::{check_orl, orl};
