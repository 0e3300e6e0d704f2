//! Lists stored results that are older than the last change to the code they measure.

use crate::error::Error;
use crate::step::{Runner, Step};

/// Runs `bench/freshness.py`, which needs only Python; `-- --strict` fails if a result is out of
/// date.
pub(crate) fn list(runner: &mut Runner) -> Result<(), Error> {
    let arguments = runner.arguments.clone();
    runner.run(Step::new("freshness", "python3").with(["bench/freshness.py"]).with(arguments))
}
