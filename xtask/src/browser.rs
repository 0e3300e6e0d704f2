//! The page of `eigenspace explore` in a real browser.
//!
//! ```text
//! tests/browser/requirements.txt ─► target/venv-browser ─► types of the page (TypeScript), then pytest with Playwright,
//! Chromium, from the system                               which drives the browser and the command
//! ```
//!
//! `EIGENSPACE_BROWSER` names another browser; with `none` these tests are left out, but not where
//! `CI` is set.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::step::{Runner, Step, answers};
use crate::{node, orl, output, python, rust};

/// The tests, from the workspace root.
pub(crate) const TESTS: &str = "tests/browser";
const VARIABLE: &str = "EIGENSPACE_BROWSER";
/// Browsers that the tests can use, the smallest first.
const BROWSERS: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const PACKAGE: &str = "chromium-headless-shell";
const SKIPPED: &str = "WARNING: the page of `eigenspace explore` was NOT tested, because EIGENSPACE_BROWSER is `none`";

pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    if env::var_os(VARIABLE).is_some_and(|name| name == "none") {
        if env::var_os("CI").is_some() {
            return Err(Error::NoBrowserTests);
        }
        output::message(SKIPPED);
        runner.remark(SKIPPED);
        return Ok(());
    }
    let browser = browser(runner)?;
    let command = rust::build_command(runner)?;
    let python = node::environment(runner)?;
    types(runner, &python)?;
    let tests = python::pytest(&python, &[TESTS]).variable("EIGENSPACE_BINARY", command);
    runner.run(tests.variable(VARIABLE, browser))
}

/// Measures the budgets of the page with a release build, on this machine; all arguments go to
/// `budget.py`.
pub(crate) fn budget(runner: &mut Runner) -> Result<(), Error> {
    let browser = browser(runner)?;
    let faces = orl::available(runner)?;
    runner.run(rust::cargo("command", &["build", "--release", "--quiet", "-p", "eigenspace-cli"]))?;
    let python = node::environment(runner)?;
    let measure = Step::new("budgets", python).with([format!("{TESTS}/budget.py")]).with(runner.arguments.clone());
    let measure = measure.variable("EIGENSPACE_BINARY", runner.target().join("release/eigenspace"));
    runner.run(measure.variable("EIGENSPACE_ORL", faces).variable(VARIABLE, browser))
}

/// Checks the types of the page.
fn types(runner: &mut Runner, python: &Path) -> Result<(), Error> {
    let directory = runner.root.join(TESTS);
    runner.run(node::packages("page packages", python, &directory))?;
    let compiler = directory.join("node_modules/typescript/bin/tsc");
    runner.run(node::program("page types", python, &compiler).with(["-p"]).with([directory]))
}

/// The browser: the one that is named, or one that is installed, or Debian's, installed now if that
/// is possible.
fn browser(runner: &mut Runner) -> Result<OsString, Error> {
    if let Some(named) = env::var_os(VARIABLE) {
        return Ok(named);
    }
    if let Some(found) = installed() {
        return Ok(found.into());
    }
    let missing = Error::MissingTool {
        tool: "a browser for the tests of the page",
        install: "apt install chromium-headless-shell",
    };
    if !answers("apt-get", &["--version"]) || !is_root() {
        return Err(missing);
    }
    runner.run(Step::new("browser", "apt-get").with(["update", "-qq"]))?;
    runner.run(Step::new("browser", "apt-get").with(["install", "-y", "-qq", "--no-install-recommends", PACKAGE]))?;
    installed().map(OsString::from).ok_or(missing)
}

fn installed() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let directories: Vec<_> = env::split_paths(&path).collect();
    let files = BROWSERS.iter().flat_map(|name| directories.iter().map(move |directory| directory.join(name)));
    files.into_iter().find(|file| file.is_file())
}

fn is_root() -> bool {
    env::var_os("USER").is_some_and(|user| user == "root") || env::var_os("HOME").is_some_and(|home| home == "/root")
}
