//! The Python package and the Python tests.
//!
//! ```text
//! crates/eigenspace-py ─► wheel ─► target/venv (newest packages) · target/venv-oldest (the oldest supported)
//! ```
//!
//! The first environment runs the tests of the package, and tests that read model files without
//! this library or run the command on files written by other software (`tests/python`). The second
//! runs the checks of scikit-learn again. An environment is created again if its list of packages
//! or the interpreter changes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::step::{Runner, Step, answers};
use crate::{bench, browser, engines, orl, report, rust};

/// Tests of files and of the command, from the workspace root.
const TESTS: &str = "tests/python";
/// Directories of scripts that are linted but not run here.
const SCRIPTS: [&str; 5] = ["bench", "examples", "report", browser::TESTS, engines::TESTS];
/// The Python package.
const PACKAGE: &str = "crates/eigenspace-py";
/// Tests that also run with the oldest packages: those of scikit-learn, and those that need no
/// other packages.
const WITH_OLDEST: [&str; 2] = ["test_check_estimator.py", "test_sklearn_own.py"];

pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    let faces = orl::available(runner)?;
    let python = environment(runner, "venv", &format!("{TESTS}/requirements.txt"))?;
    let module = |name, arguments: &[&str]| Step::new(name, &python).with(["-m"]).with(arguments);
    runner.run(module("ruff check", &["ruff", "check", TESTS, PACKAGE]).with(SCRIPTS))?;
    runner.run(module("ruff format", &["ruff", "format", "--check", TESTS, PACKAGE]).with(SCRIPTS))?;
    runner.run(report::text(&python))?;
    runner.run(bench::table(&python))?;

    // With the same profile as the Rust tests.
    let wheel = wheel(runner, &python, "wheels", &[])?;
    install(runner, &python, &wheel)?;
    let settings = format!("{PACKAGE}/pyproject.toml");
    runner.run(module("types", &["mypy", "--config-file", &settings, &format!("{PACKAGE}/python")]))?;
    runner.run(module("stubs", &["mypy.stubtest", "eigenspace._core"]))?;
    let command = rust::build_command(runner)?;
    // Two processes, because most tests use one thread, and those that use all threads should not
    // be many at a time.
    let tests = pytest(&python, &["-n", "2", TESTS, PACKAGE]).variable("EIGENSPACE", command);
    runner.run(tests.variable("EIGENSPACE_ORL", faces))?;

    let oldest = environment(runner, "venv-oldest", &format!("{PACKAGE}/tests/requirements-oldest.txt"))?;
    install(runner, &oldest, &wheel)?;
    let paths: Vec<String> = WITH_OLDEST.iter().map(|file| format!("{PACKAGE}/tests/{file}")).collect();
    runner.run(pytest(&oldest, &paths.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// The cache is disabled, so that pytest writes nothing to the source tree.
pub(crate) fn pytest(python: &Path, paths: &[&str]) -> Step {
    Step::new("pytest", python).with(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).with(paths)
}

/// Builds the wheel into a directory of `target` and returns its path.
pub(crate) fn wheel(runner: &mut Runner, python: &Path, directory: &str, how: &[&str]) -> Result<PathBuf, Error> {
    let directory = runner.target().join(directory);
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(Error::io("remove", directory.as_path()))?;
    }
    let manifest = format!("{PACKAGE}/Cargo.toml");
    let build = Step::new("wheel", python).with(["-m", "maturin", "build", "--quiet", "--manifest-path", &manifest]);
    runner.run(build.with(how).with(["--out"]).with([&directory]))?;
    let entries = fs::read_dir(&directory).map_err(Error::io("list", directory.as_path()))?;
    let wheels = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    wheels.into_iter().next().ok_or(Error::NoWheel { directory })
}

/// Installs the wheel in an environment, replacing the previous one.
pub(crate) fn install(runner: &mut Runner, python: &Path, wheel: &Path) -> Result<(), Error> {
    let install = pip(python, "package").with(["--no-deps", "--force-reinstall"]);
    runner.run(install.with([wheel]))
}

fn pip(python: &Path, name: &'static str) -> Step {
    let step = Step::new(name, python).with(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    step.advice("check the network and the package index of pip")
}

/// The interpreter of a virtual environment, which is created if it is missing or out of date.
pub(crate) fn environment(runner: &mut Runner, name: &str, requirements: &str) -> Result<PathBuf, Error> {
    needs(&["--version"], "python3", "apt install python3 python3-venv")?;
    // On Debian, `venv` can be installed without `ensurepip`, which it needs.
    needs(&["-c", "import venv, ensurepip"], "Python's venv module", "apt install python3-venv")?;
    let requirements = runner.root.join(requirements);
    let wanted = fs::read_to_string(&requirements).map_err(Error::io("read", requirements.as_path()))?;
    let wanted = format!("# {}\n{wanted}", version()?);

    let directory = runner.target().join(name);
    let (python, stamp) = (directory.join("bin/python"), directory.join("requirements.txt"));
    if is_current(&python, &stamp, &wanted) {
        return Ok(python);
    }
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(Error::io("remove", directory.as_path()))?;
    }
    let make = Step::new("python environment", "python3");
    runner.run(make.with(["-m", "venv"]).with([&directory]))?;
    runner.run(pip(&python, "python packages").with(["-r"]).with([OsString::from(&requirements)]))?;
    // Last, so that an incomplete environment is created again.
    fs::write(&stamp, wanted).map_err(Error::io("write", stamp.as_path()))?;
    Ok(python)
}

fn is_current(python: &Path, stamp: &Path, wanted: &str) -> bool {
    python.exists() && fs::read_to_string(stamp).is_ok_and(|made_from| made_from == wanted)
}

/// The version, such as "Python 3.11.7": packages are installed for one version of the interpreter.
fn version() -> Result<String, Error> {
    let output = Command::new("python3").arg("--version").output();
    let output = output.map_err(Error::io("start", "python3"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Fails if `python3` cannot run these arguments.
fn needs(arguments: &[&str], tool: &'static str, install: &'static str) -> Result<(), Error> {
    if answers("python3", arguments) {
        return Ok(());
    }
    Err(Error::MissingTool { tool, install })
}
