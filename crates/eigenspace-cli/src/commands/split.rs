//! `eigenspace split`: removes the rows of one model from another.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};

use crate::commands::inspect;
use crate::destination::Destination;
use crate::opened::Opened;
use crate::{destination, memory};

/// Remove the rows of one model from another model that contains them.
#[derive(Args)]
#[command(
    after_help = "A part that cannot have been in the whole is an error. With few features, or for a small part, some wrong \
                        parts cannot be detected."
)]
pub(crate) struct Split {
    /// Model of all rows.
    #[arg(value_name = "WHOLE", value_hint = ValueHint::FilePath)]
    whole: PathBuf,

    /// Model of the rows to remove.
    #[arg(value_name = "PART", value_hint = ValueHint::FilePath)]
    part: PathBuf,

    /// Model file to write.
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
        destination::try_model(&self.output)?;
        whole.same_columns(&part)?;
        memory::for_split(whole.raw(), part.raw())?;
        let context = || format!("cannot split `{}` from `{}`", self.part.display(), self.whole.display());
        let rest = whole.raw().split(part.raw()).with_context(context)?;
        destination.write(&rest.to_bytes())?;
        inspect::print(&Opened::new(&self.output, rest)?, self.json, false)
    }
}
