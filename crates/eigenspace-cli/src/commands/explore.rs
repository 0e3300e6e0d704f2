//! `eigenspace explore`: a page in the browser that shows models and rows.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use eigenspace::io::Error;
use eigenspace::io::source::Format;

use crate::answer::Answer;
use crate::explore::{self, Address, Plan};
use crate::failure::Failure;
use crate::options::{Input, MissingCells};
use crate::{applicable, numbers, output, paths, shell};

/// Explore models and rows on a page in the browser.
#[derive(Args)]
#[command(after_help = "Examples:
  eigenspace explore iris.csv --label species
  eigenspace explore faces.safetensors faces/
  eigenspace explore monday.safetensors tuesday.safetensors --write models/
  eigenspace explore people.safetensors faces/
  eigenspace explore good.safetensors --watch sensors.csv

The page is served on this machine only, under an address that nobody can guess. To see it from
another machine, forward the port:
  ssh -L 8000:127.0.0.1:8000 HOST eigenspace explore DATA --port 8000 --no-open")]
pub(crate) struct Explore {
    /// Models, recognizers, and rows. Without a model, one is fitted to the rows while the page is
    /// open.
    #[arg(required = true, value_name = "MODEL|DATA", value_hint = ValueHint::AnyPath)]
    files: Vec<PathBuf>,

    /// Number of components: a number, a share of variance such as 0.95, or `all`; by default that
    /// of the model.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Divide each column by its standard deviation in a model that is fitted here.
    #[arg(long)]
    standardize: bool,

    /// Compare the rows of this text file, or of standard input (`-`), with the model while they
    /// arrive.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    watch: Option<PathBuf>,

    /// Port to listen on; by default a free one.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = numbers::port)]
    port: u16,

    /// Do not open a browser.
    #[arg(long)]
    no_open: bool,

    /// Let the page save models in this directory. Without it, nothing is written.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    write: Option<PathBuf>,

    /// View to open, as copied from the page.
    #[arg(long, value_name = "#…")]
    state: Option<String>,

    /// Listen on this address instead of 127.0.0.1. Everyone who learns the address of the page can
    /// then use it.
    #[arg(long, value_name = "ADDRESS", requires = "allow_host", value_parser = numbers::address)]
    bind: Option<IpAddr>,

    /// Name under which browsers reach this machine, with --bind.
    #[arg(long, value_name = "HOST", requires = "bind")]
    allow_host: Vec<String>,

    /// Print the address and the port as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    missing_cells: MissingCells,

    #[command(flatten)]
    input: Input,
}

impl Explore {
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let components = self.components.as_deref().map(numbers::components).transpose()?;
        let (models, data): (Vec<PathBuf>, Vec<PathBuf>) = self.files.into_iter().partition(|path| is_model(path));
        if self.standardize && !models.is_empty() {
            return Err(Failure::StandardizeModel.into());
        }
        if data.is_empty() && self.watch.is_none() {
            applicable::check_no_rows(&self.input)?;
        }
        if let Some(text) = self.state.as_ref().filter(|state| !state.starts_with('#')) {
            return Err(Failure::View { text: text.clone() }.into());
        }
        if let Some(path) = &self.watch {
            check_watched(path, &data)?;
        }
        if let Some(directory) = self.write.as_ref().filter(|directory| !directory.is_dir()) {
            return Err(Failure::NoDirectory { path: directory.clone() }.into());
        }
        if let Some(address) = self.bind.filter(|address| !address.is_loopback()) {
            output::message(&format!(
                "warning: the page is served on {address}, without encryption; prefer ssh -L, which needs no --bind"
            ));
        }
        let plan = Plan {
            models,
            data,
            watch: self.watch,
            components,
            standardize: self.standardize,
            missing: self.missing_cells.missing,
            input: self.input,
            command: command(std::env::args().skip(1)),
            state: self.state,
            write: self.write,
        };
        let address = Address {
            bind: self.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            port: self.port,
            hosts: self.allow_host,
            open: !self.no_open,
            json: self.json,
        };
        explore::start(plan, &address)
    }
}

/// Whether a file is a model or a recognizer rather than rows.
fn is_model(path: &Path) -> bool {
    let named = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors"));
    named || (path.is_file() && Format::of(path).is_none() && paths::may_be_model(path))
}

/// Rejects a file that cannot be watched, before the page opens.
fn check_watched(path: &Path, data: &[PathBuf]) -> anyhow::Result<()> {
    if paths::is_standard_input(path) {
        return match data.iter().any(|path| paths::is_standard_input(path)) {
            true => Err(Failure::InputTwice { passed: "both as rows and with --watch" }.into()),
            false => Ok(()),
        };
    }
    File::open(path).map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })?;
    Ok(())
}

/// The command to type for the same session, without --state.
fn command(words: impl Iterator<Item = String>) -> String {
    let mut line = vec!["eigenspace".to_owned()];
    let mut skip = false;
    for word in words {
        if std::mem::take(&mut skip) || word.starts_with("--state=") {
            continue;
        }
        if word == "--state" {
            skip = true;
            continue;
        }
        line.push(shell::word(&word));
    }
    line.join(" ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_comes_without_the_state() {
        let line = |text: &str| super::command(text.split(' ').map(str::to_owned));
        assert_eq!(line("explore a.csv --state #v=1 -k 3"), "eigenspace explore a.csv -k 3");
        assert_eq!(line("explore a.csv --state=#v=1"), "eigenspace explore a.csv");
        assert_eq!(line("explore it's.csv"), r"eigenspace explore 'it'\''s.csv'");
    }
}
