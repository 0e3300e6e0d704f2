//! To be written.

use clap::Args;

/// To be written.
#[derive(Args)]
pub(crate) struct Plot {}

impl Plot {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        Ok(())
    }
}
