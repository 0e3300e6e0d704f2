//! `cargo deny`: the tool that the rules in `deny.toml` are written for. The gate holds most of them itself
//! (`xtask/tests/supply_chain.rs`), because building the tool takes as long as building everything else here.

use std::ffi::OsString;

use crate::error::Error;
use crate::rust::cargo;
use crate::step::{Runner, Step, answers};

/// Runs the checks that are named, or those that need no network. Installs the tool first where it is missing.
pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    if !answers("cargo", &["deny", "--version"]) {
        runner.run(cargo("install cargo-deny", &["install", "cargo-deny", "--locked"]))?;
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
