//! Mutation tests: does some test fail when a line of the certificate's arithmetic is changed?
//!
//! ```text
//! cargo mutants ─► trials, few cases      finds most mutants in seconds
//!               └► unit tests and suite   for those that are left
//! ```
//!
//! Mutants that change nothing a test could see are listed in `.cargo/mutants.toml`, each with the reason.

use crate::error::Error;
use crate::step::{Runner, Step};
use crate::{orl, rust};

/// The files whose mistakes would make a certificate or a model file wrong.
const FILES: [&str; 9] = [
    "model/bound.rs",
    "model/certificate.rs",
    "model/moments.rs",
    "model/weight.rs",
    "model/merge.rs",
    "model/split.rs",
    "stream/factor.rs",
    "io/format.rs",
    "io/header.rs",
];
/// Random cases in the first round, which is run once for each mutant.
const CASES: &str = "600";

/// Runs both rounds on all files, or on those whose path contains the given text: `cargo xtask mutants split`.
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
    let trials = step(runner, &chosen).with(["--", "--test", "trials"]).variable("EIGENSPACE_TRIALS", CASES);
    // Mutants that survive the first round are an error only after the second.
    runner.run(trials.accepting(2))?;
    let rest = step(runner, &chosen).with(["--iterate", "--", "--lib", "--test", "suite"]);
    runner.run(rest.variable("EIGENSPACE_ORL", faces))
}

/// Built quickly rather than optimized well, because every mutant is built once.
fn step(runner: &Runner, files: &[&str]) -> Step {
    let output = runner.target().join("mutants").into_os_string();
    let step = rust::cargo("mutants", &["mutants", "--package", "eigenspace", "--all-features", "--no-shuffle"]);
    let step = step.with(["--output".into(), output]);
    let step =
        files.iter().fold(step, |step, file| step.with(["--file".to_owned(), format!("crates/eigenspace/src/{file}")]));
    let quick = ["CARGO_PROFILE_DEV_OPT_LEVEL", "CARGO_PROFILE_TEST_OPT_LEVEL"];
    let step = quick.into_iter().fold(step, |step, name| step.variable(name, "1"));
    step.variable("CARGO_PROFILE_DEV_DEBUG", "0")
        .advice("add a test that fails for each mutant listed, or its reason to .cargo/mutants.toml")
}
