//! Mutation tests: does some test fail when a line of the certificate's arithmetic is changed?
//!
//! ```text
//! cargo mutants ─► unit tests of formulas   built without optimization, in seconds; they find most mutants
//!               ├► trials, few cases        for those that are left
//!               └► unit tests and suite     for the last ones
//! ```
//!
//! Mutants that change nothing a test could see are listed in `.cargo/mutants.toml`, each with the
//! reason.

use crate::error::Error;
use crate::step::{Runner, Step};
use crate::{orl, rust};

/// The files whose mistakes would make a certificate or a model file wrong.
const FILES: [&str; 10] = [
    "model/bound.rs",
    "model/certificate.rs",
    "model/moments.rs",
    "model/weight.rs",
    "model/merge.rs",
    "model/combined.rs",
    "model/split.rs",
    "stream/factor.rs",
    "io/format.rs",
    "io/header.rs",
];
/// Unit tests that take too long without optimization, and that no mutant of these files needs in
/// the first round.
const SLOW_UNIT_TESTS: [&str; 2] = ["rows_of_a_factor_stay", "linalg::"];
/// Exit codes of cargo-mutants if mutants survived, and if tests did not end in time; the next
/// round tries both again.
const UNDECIDED: &[i32] = &[2, 3];
/// Random cases in the second round.
const CASES: &str = "600";

/// Runs all rounds on all files, or on those whose path contains the given text: `cargo xtask
/// mutants split`.
pub(crate) fn run(runner: &mut Runner) -> Result<(), Error> {
    rust::needs("mutants", "cargo-mutants", "cargo install cargo-mutants --locked")?;
    let words: Vec<String> = runner.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let chosen: Vec<&str> =
        FILES.into_iter().filter(|file| words.is_empty() || words.iter().any(|word| file.contains(word))).collect();
    if chosen.is_empty() {
        let available = FILES.map(str::to_owned).into();
        return Err(Error::NoTarget { word: words.join(" "), available });
    }
    let faces = orl::available(runner)?;
    // Mutants that survive the first rounds, or do not end in time, are an error only after the
    // last.
    let units = step(runner, &chosen, "0").with(["--", "--lib", "--"]);
    let units = SLOW_UNIT_TESTS.into_iter().fold(units, |step, name| step.with(["--skip", name]));
    runner.run(units.accepting(UNDECIDED))?;
    let trials = step(runner, &chosen, "1").with(["--iterate", "--", "--test", "trials"]);
    runner.run(trials.variable("EIGENSPACE_TRIALS", CASES).accepting(UNDECIDED))?;
    let rest = step(runner, &chosen, "1").with(["--iterate", "--", "--lib", "--test", "suite"]);
    runner.run(rest.variable("EIGENSPACE_ORL", faces))
}

/// Built quickly rather than optimized well, because every mutant is built once in each round.
fn step(runner: &Runner, files: &[&str], optimization: &str) -> Step {
    let output = runner.target().join("mutants").into_os_string();
    let step = rust::cargo("mutants", &["mutants", "--package", "eigenspace", "--all-features", "--no-shuffle"]);
    let step = step.with(["--output".into(), output]);
    let step =
        files.iter().fold(step, |step, file| step.with(["--file".to_owned(), format!("crates/eigenspace/src/{file}")]));
    let quick = ["CARGO_PROFILE_DEV_OPT_LEVEL", "CARGO_PROFILE_TEST_OPT_LEVEL"];
    let step = quick.into_iter().fold(step, |step, name| step.variable(name, optimization));
    // Each round copies the sources to another directory, but can use the same dependencies.
    step.variable("CARGO_TARGET_DIR", runner.target().join("mutants/build"))
        .variable("CARGO_PROFILE_DEV_DEBUG", "0")
        .advice("add a test that fails for each mutant listed, or its reason to .cargo/mutants.toml")
}
