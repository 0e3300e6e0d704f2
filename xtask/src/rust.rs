//! The steps that run cargo.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::step::{Runner, Step, answers};

pub(crate) fn format(runner: &mut Runner) -> Result<(), Error> {
    needs("fmt", "rustfmt", "rustup component add rustfmt")?;
    runner.run(cargo("format", &["fmt", "--all", "--check"]))
}

pub(crate) fn clippy(runner: &mut Runner) -> Result<(), Error> {
    needs("clippy", "clippy", "rustup component add clippy")?;
    runner.run(cargo("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // Each feature of the library alone, and no features.
    for features in ["", "csv", "cuda", "faces", "images", "npy", "orl", "parquet"] {
        let library = ["clippy", "--quiet", "-p", "eigenspace", "--no-default-features", "--features"];
        runner.run(cargo("features", &library).with([features, "--", "-D", "warnings"]))?;
    }
    // The command without the explorer.
    let command = ["clippy", "--quiet", "-p", "eigenspace-cli", "--no-default-features", "--", "-D", "warnings"];
    runner.run(cargo("features", &command))?;
    Ok(())
}

pub(crate) fn tests(runner: &mut Runner, faces: &Path) -> Result<(), Error> {
    runner.run(cargo("tests", &["test", "--workspace"]).variable("EIGENSPACE_ORL", faces))
}

/// Documents binaries and libraries one after the other. The command and the library are both
/// called `eigenspace`, so their pages share a directory and would overwrite each other if written
/// at the same time (cargo issue 6313). The libraries come last, so that their pages remain.
pub(crate) fn documentation(runner: &mut Runner) -> Result<(), Error> {
    for targets in ["--bins", "--lib"] {
        let step = cargo("documentation", &["doc", "--workspace", "--no-deps", "--document-private-items", targets]);
        runner.run(step.variable("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}

/// Runs every example in the directory, so that a new one is never left out.
pub(crate) fn examples(runner: &mut Runner) -> Result<(), Error> {
    let directory = runner.root.join("crates/eigenspace/examples");
    let names = names(&directory)?;
    if names.is_empty() {
        return Err(Error::NoExamples { directory });
    }
    runner.run(cargo("examples", &["build", "--quiet", "--workspace", "--examples"]))?;
    for name in names {
        runner.run(Step::new("example", runner.target().join("debug/examples").join(name)))?;
    }
    Ok(())
}

/// Measures single operations, relative to the rate of matrix products on the machine.
pub(crate) fn rates(runner: &mut Runner) -> Result<(), Error> {
    runner.run(cargo("rates", &["bench", "-p", "eigenspace"]))
}

/// Runs the laws with forty times as many random cases, then a million trials of the certificate,
/// or the number given on the command line.
pub(crate) fn soak(runner: &mut Runner) -> Result<(), Error> {
    let test = ["test", "-p", "eigenspace", "--test", "suite", "--"];
    let laws =
        ["laws::", "certificate::", "stream::", "weights::", "forgetting::", "scaled::", "sparse::", "checkpoint::"];
    runner.run(cargo("soak", &test).with(laws).variable("EIGENSPACE_SOAK", "40"))?;
    let cases = runner.arguments.first().cloned().unwrap_or_else(|| "1000000".into());
    let trials = ["test", "-p", "eigenspace", "--test", "trials", "--", "--ignored", "--exact", "soak", "--nocapture"];
    runner.run(cargo("trials", &trials).variable("EIGENSPACE_TRIALS", cases))
}

/// Runs the command on files far larger than the memory it may use.
pub(crate) fn memory(runner: &mut Runner) -> Result<(), Error> {
    let test = ["test", "--release", "-p", "eigenspace-cli", "--test", "suite", "--"];
    runner.run(cargo("memory", &test).with(["memory::", "--ignored", "--test-threads=1", "--nocapture"]))
}

/// Kills commands at random moments, the given number of times each, and counts the states found
/// afterward.
pub(crate) fn kill(runner: &mut Runner) -> Result<(), Error> {
    let rounds = runner.arguments.first().cloned().unwrap_or_else(|| "300".into());
    let test = ["test", "--workspace", "--test", "suite", "--", "kill::", "--nocapture", "--test-threads=1"];
    runner.run(cargo("kill", &test).variable("EIGENSPACE_KILLS", rounds))
}

/// Builds the command as the tests do, with a test that needs it. `cargo build` would choose other
/// features of a few small dependencies, and nearly everything would then be built twice.
pub(crate) fn build_command(runner: &mut Runner) -> Result<PathBuf, Error> {
    runner.run(cargo("command", &["test", "--quiet", "--workspace", "--no-run", "--test", "docs"]))?;
    Ok(runner.target().join("debug/eigenspace"))
}

/// The names of the Rust files in a directory, sorted, without their extension.
pub(crate) fn names(directory: &Path) -> Result<Vec<OsString>, Error> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(Error::io("list", directory))? {
        let path = entry.map_err(Error::io("list", directory))?.path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            names.extend(path.file_stem().map(OsString::from));
        }
    }
    names.sort();
    Ok(names)
}

pub(crate) fn cargo(name: &'static str, arguments: &[&str]) -> Step {
    Step::new(name, program()).with(arguments)
}

/// From the search path: with rustup, this is the toolchain that started this program.
fn program() -> &'static str {
    "cargo"
}

pub(crate) fn needs(subcommand: &str, tool: &'static str, install: &'static str) -> Result<(), Error> {
    if answers(program(), &[subcommand, "--version"]) {
        return Ok(());
    }
    Err(Error::MissingTool { tool, install })
}
