//! `eigenspace faces`: a face recognizer that enrolls and forgets people without retraining.

mod commands;
mod evaluate;
mod found;
pub(crate) mod plots;
mod quality;
pub(crate) mod read;
mod recognize;
mod report;
mod results;
mod settings;
mod strangers;

use clap::{Args, Subcommand};

/// Recognize faces: train a recognizer, enroll and forget people, and measure accuracy.
#[derive(Args)]
#[command(after_help = "Examples:
  eigenspace faces train people/ -o people.safetensors
  eigenspace faces recognize people.safetensors new/*.pgm
  eigenspace faces enroll people.safetensors more/ --person ada
  eigenspace faces forget people.safetensors ada
  eigenspace faces evaluate people/ --protocol random-5")]
pub(crate) struct Faces {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Train(commands::Train),
    Recognize(recognize::Recognize),
    Enroll(commands::Enroll),
    Forget(commands::Forget),
    List(commands::List),
    Evaluate(evaluate::Evaluate),
}

impl Faces {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Train(command) => command.run(),
            What::Recognize(command) => command.run(),
            What::Enroll(command) => command.run(),
            What::Forget(command) => command.run(),
            What::List(command) => command.run(),
            What::Evaluate(command) => command.run(),
        }
    }
}
