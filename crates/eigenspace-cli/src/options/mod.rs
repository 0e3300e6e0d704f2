//! Options that several commands have.

mod input;
mod settings;

pub(crate) use input::Input;
pub(crate) use settings::{Compute, MissingCells, Settings};
