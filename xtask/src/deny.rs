//! `cargo deny`: licenses, sources and duplicate versions of everything that enters the build, by the rules in
//! `deny.toml`.

use std::ffi::OsString;

use crate::error::Error;
use crate::rust::cargo;
use crate::step::{Runner, Step, answers};

/// Runs the checks that are named, or those that need no network. Installs the tool first where it is missing, without
/// optimization: it runs for a second and would take minutes to build otherwise.
pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    if !answers("cargo", &["deny", "--version"]) {
        runner.run(cargo("install cargo-deny", &["install", "cargo-deny", "--locked", "--debug"]))?;
    }
    let mut checks: Vec<OsString> = runner.arguments.clone();
    if checks.is_empty() {
        checks = ["bans", "licenses", "sources"].map(OsString::from).into();
    }
    runner.run(step().with(checks))
}

fn step() -> Step {
    cargo("deny", &["deny", "check"]).advice("the rules are in deny.toml; `advisories` needs a network")
}
