//! `cargo deny`: checks licenses, sources and duplicate versions of all dependencies by the rules
//! in `deny.toml`.

use std::ffi::OsString;

use crate::error::Error;
use crate::rust::cargo;
use crate::step::{Runner, Step, answers};

/// Installs cargo-deny if it is missing. It is built without optimization, because it runs only for
/// a second and an optimized build would take minutes.
pub(crate) fn install(runner: &mut Runner) -> Result<(), Error> {
    if answers("cargo", &["deny", "--version"]) {
        return Ok(());
    }
    runner.run(cargo("install cargo-deny", &["install", "cargo-deny", "--locked", "--debug"]))
}

/// Runs the named checks, or those that need no network.
pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    install(runner)?;
    let mut checks: Vec<OsString> = runner.arguments.clone();
    if checks.is_empty() {
        checks = ["bans", "licenses", "sources"].map(OsString::from).into();
    }
    runner.run(step().with(checks))
}

fn step() -> Step {
    cargo("deny", &["deny", "check"]).advice("check the rules in deny.toml; `advisories` needs a network connection")
}
