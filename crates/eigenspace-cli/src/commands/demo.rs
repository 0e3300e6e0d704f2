//! To be written.

use clap::Args;

/// To be written.
#[derive(Args)]
pub(crate) struct Demo {}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        Ok(())
    }
}
