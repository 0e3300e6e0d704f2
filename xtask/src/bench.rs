//! The benchmark against other libraries, in a virtual environment that has all of them.
//!
//! ```text
//! bench/requirements.txt ─► target/venv-bench ◄─ release wheel
//! bench/rust-peers ─► target/rust-peers              all run by bench/run.py ─► bench/results, RESULTS.md, figures
//!                                                                               bench/results ─► table in README.md
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::step::{Runner, Step};
use crate::{orl, output, python, rust};

const DIRECTORY: &str = "bench";

/// Runs all workloads, or those named: `cargo xtask bench -- W1 W5 --quick`. `render` only draws
/// the plots again.
pub(crate) fn run(runner: &mut Runner) -> Result<(), Error> {
    // pyspark needs other versions of packages than the other libraries.
    let spark = runner.arguments.iter().any(|word| word == "W12");
    let (environment, requirements) =
        if spark { ("venv-bench-spark", "requirements-spark.txt") } else { ("venv-bench", "requirements.txt") };
    let python = python::environment(runner, environment, &format!("{DIRECTORY}/{requirements}"))?;
    let entry = Step::new("bench", &python).with([format!("{DIRECTORY}/run.py")]).with(runner.arguments.clone());
    if runner.arguments.iter().any(|word| word == "render") {
        return runner.run(entry);
    }
    let wheel = python::wheel(runner, &python, "wheels-release", &["--release"])?;
    python::install(runner, &python, &wheel)?;
    if spark {
        return runner.run(entry);
    }
    let reader =
        ["build", "--release", "--quiet", "-p", "eigenspace", "--features", "parquet", "--example", "read_rows"];
    runner.run(rust::cargo("reader", &reader))?;
    let entry = match peers(runner, &python) {
        Ok(()) => entry,
        // The other libraries can still be measured; the results list those that are missing.
        Err(error) => {
            output::report(&error);
            entry.variable("RUST_PEERS_FAILED", error.to_string())
        }
    };
    let faces = orl::available(runner)?;
    runner.run(entry.variable("EIGENSPACE_ORL", faces))
}

/// Checks that the summary in RESULTS.md, and the table and the figure in README, show the stored results.
pub(crate) fn table(python: &Path) -> Step {
    let step = Step::new("measured summary", python).with([format!("{DIRECTORY}/summary.py")]);
    step.advice("run `cargo xtask bench` to measure, or `python bench/summary.py --write` to update both from the stored results")
}

/// Builds the Rust libraries to compare with, using the OpenBLAS that SciPy installed in the
/// environment.
fn peers(runner: &mut Runner, python: &Path) -> Result<(), Error> {
    let (manifest, target) = (format!("{DIRECTORY}/rust-peers/Cargo.toml"), runner.target().join("rust-peers"));
    // A program from an earlier run must not be used if the build fails now.
    let _ = fs::remove_file(target.join("release/rust-peers"));
    let build = rust::cargo("Rust peers", &["build", "--release", "--locked", "--quiet", "--manifest-path", &manifest]);
    let build = build.with(["--target-dir"]).with([target]);
    runner.run(build.variable("PEER_OPENBLAS", openblas(python)?))
}

/// `lib/python3.…/site-packages/scipy.libs/libscipy_openblas-….so` in the environment of this
/// interpreter.
fn openblas(python: &Path) -> Result<PathBuf, Error> {
    let library = python.with_file_name("../lib");
    let packages = only(&library, "python3")?.join("site-packages/scipy.libs");
    only(&packages, "libscipy_openblas")
}

/// The entry of a directory whose name has this beginning.
fn only(directory: &Path, beginning: &str) -> Result<PathBuf, Error> {
    let entries = fs::read_dir(directory).map_err(Error::io("list", directory))?;
    let mut paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning));
    paths
        .find(named)
        .ok_or_else(|| Error::Missing { directory: directory.to_path_buf(), beginning: beginning.to_owned() })
}
