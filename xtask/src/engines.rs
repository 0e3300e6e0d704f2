//! The Python package on the engines of clusters.
//!
//! ```text
//! crates/eigenspace-py ─► wheel ─► target/venv-engines ─► Spark: a local cluster of two executor processes
//! ```
//!
//! Not part of `test`: Spark needs Java, and its package is a download of 456 MB.

use crate::error::Error;
use crate::python;
use crate::step::{Runner, answers};

/// Tests on clusters, from the workspace root.
pub(crate) const TESTS: &str = "tests/engines";

pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    if !answers("java", &["-version"]) {
        return Err(Error::MissingTool { tool: "java", install: "apt install openjdk-17-jre-headless" });
    }
    let python = python::environment(runner, "venv-engines", &format!("{TESTS}/requirements.txt"))?;
    let wheel = python::wheel(runner, &python, "wheels-engines", &[])?;
    python::install(runner, &python, &wheel)?;
    runner.run(python::pytest(&python, &[TESTS]))
}
