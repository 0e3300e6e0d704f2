//! Fuzzes every reader.
//!
//! ```text
//! fuzz/seeds/TARGET ─► cargo fuzz run TARGET ─► target/fuzz/corpus/TARGET     cases that reach new code
//!                                             ► target/fuzz/found             cases that failed
//! ```

use std::fs;

use crate::error::Error;
use crate::rust;
use crate::step::{Runner, Step};

const DIRECTORY: &str = "fuzz";
/// Default duration for each target.
const SECONDS: u64 = 60;
/// Limits of one case: seconds, megabytes of memory, and bytes of input.
const LIMITS: [&str; 3] = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=16384"];

/// Runs all targets, or the one named, each for a minute or the given number of seconds: `cargo
/// xtask fuzz csv 600`.
pub(crate) fn run(runner: &mut Runner) -> Result<(), Error> {
    rust::needs("fuzz", "cargo-fuzz", "cargo install cargo-fuzz --locked")?;
    let available = targets(runner)?;
    let (mut chosen, mut seconds) = (available.clone(), SECONDS);
    for word in runner.arguments.iter().map(|word| word.to_string_lossy()) {
        match word.parse() {
            Ok(number) => seconds = number,
            Err(_) if available.iter().any(|target| *target == word) => chosen = vec![word.into_owned()],
            Err(_) => return Err(Error::NoTarget { word: word.into_owned(), available }),
        }
    }
    for target in chosen {
        runner.run(step(runner, &target, seconds)?)?;
    }
    Ok(())
}

fn step(runner: &Runner, target: &str, seconds: u64) -> Result<Step, Error> {
    let place = runner.target().join(DIRECTORY);
    let (corpus, found) = (place.join("corpus").join(target), place.join("found"));
    for directory in [&corpus, &found] {
        fs::create_dir_all(directory).map_err(Error::io("create", directory))?;
    }
    let prefix = format!("-artifact_prefix={}/{target}-", found.display());
    let step = rust::cargo("fuzz", &["fuzz", "run", "--sanitizer", "none", "--fuzz-dir", DIRECTORY, "--target-dir"]);
    let step = step.with([place.into_os_string(), target.into(), corpus.clone().into_os_string()]);
    // Some readers have no seeds but those that the target makes itself.
    let seeds = format!("{DIRECTORY}/seeds/{target}");
    let step = if runner.root.join(&seeds).is_dir() { step.with([seeds]) } else { step };
    let step = step.with(["--".to_owned(), prefix]);
    let step = step.with(LIMITS).with([format!("-max_total_time={seconds}"), "-print_final_stats=1".into()]);
    let advice =
        "see the failing case in target/fuzz/found; fix the reader and add the case to fuzz/seeds for the tests";
    Ok(step.variable("EIGENSPACE_SEEDS", corpus).advice(advice))
}

/// The existing targets.
fn targets(runner: &Runner) -> Result<Vec<String>, Error> {
    let names = rust::names(&runner.root.join(DIRECTORY).join("targets"))?;
    Ok(names.iter().map(|name| name.to_string_lossy().into_owned()).collect())
}
