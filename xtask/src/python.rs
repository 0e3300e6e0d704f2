//! The Python tests: what a reader without this library sees in a model file, the command on files that
//! other software wrote, and the recogniser against scikit-learn.
//!
//! They run in `target/venv`, made again whenever `tests/python/requirements.txt` or the
//! interpreter changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::rust;
use crate::step::{Runner, Step, answers};

/// The folder of the tests, from the workspace root.
const TESTS: &str = "tests/python";
/// Scripts that are checked but not run here.
const BENCHMARKS: &str = "bench";

pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    let faces = crate::orl::available(runner)?;
    let python = environment(runner)?;
    let module = |name, arguments: &[&str]| Step::new(name, &python).with(["-m"]).with(arguments);
    runner.run(module("ruff check", &["ruff", "check", TESTS, BENCHMARKS]))?;
    runner.run(module("ruff format", &["ruff", "format", "--check", TESTS, BENCHMARKS]))?;
    runner.run(rust::build_command())?;
    // Without its cache pytest leaves nothing behind in the source tree.
    let tests = module("pytest", &["pytest", "-q", "-p", "no:cacheprovider", TESTS]);
    let tests = tests.variable("EIGENSPACE_ORL", faces);
    runner.run(tests.variable("EIGENSPACE", runner.target().join("debug/eigenspace")))
}

/// The interpreter of the virtual environment, which is made when it is missing or out of date.
fn environment(runner: &mut Runner) -> Result<PathBuf, Error> {
    needs(&["--version"], "python3", "apt install python3 python3-venv")?;
    // Debian splits the module: `venv` can be there without the `ensurepip` it needs.
    needs(&["-c", "import venv, ensurepip"], "Python's venv module", "apt install python3-venv")?;
    let requirements = runner.root.join(TESTS).join("requirements.txt");
    let wanted = fs::read_to_string(&requirements).map_err(Error::io("read", requirements.as_path()))?;
    let wanted = format!("# {}\n{wanted}", version()?);

    let folder = runner.target().join("venv");
    let (python, stamp) = (folder.join("bin/python"), folder.join("requirements.txt"));
    if is_current(&python, &stamp, &wanted) {
        return Ok(python);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Error::io("remove", folder.as_path()))?;
    }
    let make = Step::new("python environment", "python3");
    runner.run(make.with(["-m", "venv"]).with([&folder]))?;
    runner.run(
        Step::new("python packages", &python)
            .with(["-m", "pip", "install", "--quiet"])
            .with(["--disable-pip-version-check", "-r"])
            .with([&requirements])
            .advice("the packages come from the index that pip is set up with"),
    )?;
    // Last, so that an environment that was left half made is made again.
    fs::write(&stamp, wanted).map_err(Error::io("write", stamp.as_path()))?;
    Ok(python)
}

fn is_current(python: &Path, stamp: &Path, wanted: &str) -> bool {
    python.exists() && fs::read_to_string(stamp).is_ok_and(|made_from| made_from == wanted)
}

/// As in "Python 3.11.7": packages are installed for one version of the interpreter.
fn version() -> Result<String, Error> {
    let output = Command::new("python3").arg("--version").output();
    let output = output.map_err(Error::io("start", "python3"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Refuses with a hint when `python3` does not run these arguments.
fn needs(arguments: &[&str], tool: &'static str, install: &'static str) -> Result<(), Error> {
    if answers("python3", arguments) {
        return Ok(());
    }
    Err(Error::MissingTool { tool, install })
}
