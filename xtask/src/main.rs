//! The development tasks of this repository. `cargo xtask test` runs everything that must pass
//! before a merge.
#![forbid(unsafe_code)]

mod bench;
mod browser;
mod deny;
mod dist;
mod engines;
mod error;
mod freshness;
mod fuzz;
mod licenses;
mod mutants;
mod node;
mod orl;
mod output;
mod python;
mod report;
mod rust;
mod site;
mod sql;
mod step;
mod workflows;

use std::ffi::OsStr;
use std::process::ExitCode;

use error::Error;
use step::Runner;

/// A task: its name on the command line, its description, and its function.
type Command = (&'static str, &'static str, fn(&mut Runner) -> Result<(), Error>);

/// The tasks that take arguments.
const WITH_ARGUMENTS: [&str; 8] = [BENCH, BUDGET, DENY, FRESHNESS, SOAK, FUZZ, KILL, MUTANTS];
const BENCH: &str = "bench";
const BUDGET: &str = "explore-budget";
const DENY: &str = "deny";
const FRESHNESS: &str = "freshness";
const SOAK: &str = "soak";
const FUZZ: &str = "fuzz";
const KILL: &str = "kill";
const MUTANTS: &str = "mutants";

const COMMANDS: [Command; 24] = [
    ("test", "run every check that a change must pass: lint, deny, workflows, rust, python and browser", test),
    ("lint", "check formatting, clippy and documentation; warnings are errors", lint),
    ("rust", "run the Rust tests and examples, with the ORL faces", rust),
    ("python", "build, install and test the Python package, in separate virtual environments", python::check),
    ("browser", "test the page of `eigenspace explore` in a real browser", browser::check),
    (
        BUDGET,
        "measure the page of `eigenspace explore` with a release build; `-- --write` stores the result; some minutes",
        browser::budget,
    ),
    ("engines", "test the Python package on a local Spark cluster; needs Java, downloads 456 MB", engines::check),
    ("orl", "find or fetch the ORL faces and print their directory", orl),
    (
        DENY,
        "check licenses, sources and versions with cargo-deny, installed if missing; `-- advisories` needs a network connection",
        deny::check,
    ),
    ("workflows", "check the GitHub workflows with actionlint", workflows::check),
    ("report", "generate the complete report: experiments, figures and PDF; a few minutes", report::all),
    ("report --kept", "generate the figures and PDF of the report from the stored results", report::kept),
    (
        BENCH,
        "compare with other libraries; `-- W1 W5 --quick` selects workloads, `-- render` only draws plots",
        bench::run,
    ),
    (FRESHNESS, "list results that are older than the code they measure; `-- --strict` fails then", freshness::list),
    ("rates", "measure single operations in Rust, relative to the rate of matrix products", rust::rates),
    (SOAK, "run the laws with forty times as many cases, then a million trials; `-- 20000` for fewer", rust::soak),
    (FUZZ, "fuzz every reader, or one: `cargo xtask fuzz csv 600` (seconds)", fuzz::run),
    (KILL, "kill commands at random moments, `kill 300` for 300 times each; a few minutes", rust::kill),
    (MUTANTS, "change lines of the certificate and the model file and expect tests to fail; hours", mutants::run),
    ("site", "build the documentation site into target/site, with strict links", site::build),
    ("licenses", "write the licenses of all dependencies, which the command and the wheel contain", licenses::write),
    (
        "dist",
        "make everything that a release consists of in target/dist, with checksums; about ten minutes",
        dist::make,
    ),
    (
        "sql",
        "format, lint and test the SQL functions, with DataFusion; about a quarter of an hour the first time",
        sql::check,
    ),
    ("memory", "run the command on files of gigabytes, within 256 MiB of memory; takes 4 GB of disk", rust::memory),
];

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).filter(|word| word != "--").collect();
    let line = words.join(OsStr::new(" "));
    let first = words.first().cloned().unwrap_or_default();
    let chosen = COMMANDS.iter().find(|(name, ..)| line == *name || (first == *name && WITH_ARGUMENTS.contains(name)));
    let rest = words.into_iter().skip(1).collect();
    let Some((name, _, command)) = chosen else {
        usage();
        return ExitCode::from(2);
    };
    let mut runner = Runner::new(rest);
    match command(&mut runner) {
        Ok(()) => {
            output::message(&format!("{name}: {}", runner.summary()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            output::report(&error);
            ExitCode::FAILURE
        }
    }
}

fn usage() {
    output::message("usage: cargo xtask COMMAND\n");
    for (name, purpose, _) in COMMANDS {
        output::message(&format!("  {name:<15}{purpose}"));
    }
}

fn test(runner: &mut Runner) -> Result<(), Error> {
    rust::format(runner)?;
    rust::clippy(runner)?;
    deny::check(runner)?;
    workflows::check(runner)?;
    let faces = orl::available(runner)?;
    rust::tests(runner, &faces)?;
    rust::documentation(runner)?;
    rust::examples(runner)?;
    python::check(runner)?;
    browser::check(runner)
}

fn lint(runner: &mut Runner) -> Result<(), Error> {
    rust::format(runner)?;
    rust::clippy(runner)?;
    rust::documentation(runner)
}

fn rust(runner: &mut Runner) -> Result<(), Error> {
    let faces = orl::available(runner)?;
    rust::tests(runner, &faces)?;
    rust::examples(runner)
}

fn orl(runner: &mut Runner) -> Result<(), Error> {
    let faces = orl::available(runner)?;
    output::data(&faces.display().to_string());
    Ok(())
}
