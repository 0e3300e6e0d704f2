//! To be written.

use clap::Args;

/// To be written.
#[derive(Args)]
pub(crate) struct Data {}

impl Data {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        Ok(())
    }
}
