//! `eigenspace completions` and `eigenspace man`, both generated from the command line definition.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use clap_complete::Shell;
use eigenspace::internal::AtomicFile;

use crate::output;

/// Print a completion script for a shell.
#[derive(Args)]
#[command(after_help = "Example:
  eigenspace completions bash > ~/.local/share/bash-completion/completions/eigenspace")]
pub(crate) struct Completions {
    /// Shell.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, mut command: clap::Command) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "eigenspace", &mut script);
        output::data(&String::from_utf8(script)?)
    }
}

/// Write the manual pages into a directory.
#[derive(Args)]
pub(crate) struct Man {
    /// Directory to write to; created if it does not exist.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,
}

impl Man {
    pub(crate) fn run(self, mut command: clap::Command) -> anyhow::Result<()> {
        std::fs::create_dir_all(&self.directory).map_err(|source| eigenspace::io::Error::Io {
            action: "create",
            path: self.directory.clone(),
            source,
        })?;
        command.build();
        page(&command, &self.directory)
    }
}

fn page(command: &clap::Command, directory: &Path) -> anyhow::Result<()> {
    let name = command.get_display_name().unwrap_or("eigenspace").to_owned();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    AtomicFile::write(directory.join(format!("{name}.1")), &text)?;
    command.get_subcommands().filter(|sub| sub.get_name() != "help").try_for_each(|sub| page(sub, directory))
}
