//! The chores of this repository: `cargo xtask test` is everything that must hold before a merge.
#![forbid(unsafe_code)]

mod bench;
mod deny;
mod error;
mod fuzz;
mod orl;
mod output;
mod python;
mod report;
mod rust;
mod step;

use std::ffi::OsStr;
use std::process::ExitCode;

use error::Error;
use step::Runner;

/// A chore: its name on the command line, what it does, and the function that does it.
type Command = (&'static str, &'static str, fn(&mut Runner) -> Result<(), Error>);

/// The chores that take arguments.
const WITH_ARGUMENTS: [&str; 5] = [BENCH, DENY, SOAK, FUZZ, KILL];
const BENCH: &str = "bench";
const DENY: &str = "deny";
const SOAK: &str = "soak";
const FUZZ: &str = "fuzz";
const KILL: &str = "kill";

const COMMANDS: [Command; 14] = [
    ("test", "everything below except report, bench, rates, soak, fuzz, kill and memory: the gate for a merge", test),
    ("lint", "formatting, clippy and documentation, warnings are errors", lint),
    ("rust", "the Rust tests and examples, with the ORL faces", rust),
    ("python", "the Python package built, installed and tested, in virtual environments of its own", python::check),
    ("orl", "make the ORL faces available and print their folder", orl),
    (
        DENY,
        "licenses, sources and versions by cargo-deny, installed if missing; `-- advisories` needs a network",
        deny::check,
    ),
    ("report", "the report from its beginning: experiments, figures and PDF; some minutes", report::all),
    ("report --kept", "the report's figures and PDF, from the results that are kept", report::kept),
    (BENCH, "ours against other libraries; `-- W1 W5 --quick` chooses, `-- render` draws again", bench::run),
    ("rates", "times of single operations in Rust, and their share of the product rate", rust::rates),
    (SOAK, "the laws with forty times as many cases, then a million trials; `-- 20000` for fewer", rust::soak),
    (FUZZ, "made-up bytes for every reader, or for one: `cargo xtask fuzz csv 600` (seconds)", fuzz::run),
    (KILL, "commands killed at random moments, `kill 300` for 300 times each; some minutes", rust::kill),
    ("memory", "the command on files of gigabytes, within 256 MiB; takes 4 GB of disk", rust::memory),
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
            output::talk(&format!("{name}: {}", runner.summary()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            output::report(&error);
            ExitCode::FAILURE
        }
    }
}

fn usage() {
    output::talk("usage: cargo xtask COMMAND\n");
    for (name, purpose, _) in COMMANDS {
        output::talk(&format!("  {name:<15}{purpose}"));
    }
}

fn test(runner: &mut Runner) -> Result<(), Error> {
    rust::format(runner)?;
    rust::clippy(runner)?;
    deny::check(runner)?;
    let faces = orl::available(runner)?;
    rust::tests(runner, &faces)?;
    rust::documentation(runner)?;
    rust::examples(runner)?;
    python::check(runner)
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
