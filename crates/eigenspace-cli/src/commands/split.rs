//! `eigenspace split`: a part out of a whole.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};

use crate::commands::inspect;
use crate::destination::Destination;
use crate::opened::Opened;
use crate::{memory, rows};

/// Take the rows of a part out of the model of a whole.
#[derive(Args)]
#[command(
    after_help = "A part that cannot have been in the whole is refused. In few dimensions, or if it is small, a stranger may \
                        look like a part; that cannot be told."
)]
pub(crate) struct Split {
    /// The model of all rows.
    #[arg(value_name = "WHOLE", value_hint = ValueHint::FilePath)]
    whole: PathBuf,

    /// The model of the rows to take out.
    #[arg(value_name = "PART", value_hint = ValueHint::FilePath)]
    part: PathBuf,

    /// The model file to write.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Split {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let destination = Destination::new(&self.output, &[&self.whole, &self.part])?;
        let (whole, part) = (Opened::load(&self.whole)?, Opened::load(&self.part)?);
        rows::try_model(&self.output)?;
        whole.same_columns(&part)?;
        memory::for_directions(whole.raw.rank() + part.raw.rank(), whole.raw.features())?;
        let context = || format!("could not split `{}` out of `{}`", self.part.display(), self.whole.display());
        let rest = whole.raw.split(&part.raw).with_context(context)?;
        destination.write(&rest.to_bytes_with_note(&whole.note.to_text()))?;
        inspect::print(&Opened::new(&self.output, rest, whole.note)?, self.json, false)
    }
}
