//! Checks `crates/eigenspace-sql`, a workspace of its own, because building DataFusion takes
//! minutes.

use crate::error::Error;
use crate::step::Runner;
use crate::{deny, rust};

const MANIFEST: &str = "crates/eigenspace-sql/Cargo.toml";

/// Formatting, dependencies, clippy and tests.
pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    let advice = "run `cargo fmt --manifest-path crates/eigenspace-sql/Cargo.toml`";
    runner.run(rust::cargo("SQL format", &["fmt", "--manifest-path", MANIFEST, "--check"]).advice(advice))?;
    deny::install(runner)?;
    let check = ["deny", "--manifest-path", MANIFEST, "check", "bans", "licenses", "sources"];
    runner.run(rust::cargo("SQL deny", &check).advice("check the rules in crates/eigenspace-sql/deny.toml"))?;
    let clippy = ["clippy", "--locked", "--manifest-path", MANIFEST, "--all-targets", "--", "-D", "warnings"];
    runner.run(rust::cargo("SQL clippy", &clippy))?;
    runner.run(rust::cargo("SQL tests", &["test", "--locked", "--manifest-path", MANIFEST]))
}
