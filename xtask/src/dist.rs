//! Everything that a release consists of, in `target/dist`, with checksums.
//!
//! ```text
//! maturin   ─► sdist, wheel        each installed into a new environment and used (tests/smoke.py)
//! cargo     ─► packages of the crates, in the order in which they are published
//! the command ─► manual pages and completions, in an archive
//! sha256sum ─► SHA256SUMS
//! ```

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::rust::cargo;
use crate::step::{Runner, Step};
use crate::{output, python};

/// The crates, in the order in which they must be published.
const CRATES: [&str; 2] = ["eigenspace", "eigenspace-cli"];
const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];
/// The directory, in `target`, for builds from the source distribution, which is unpacked in a
/// temporary directory. They share their compiled dependencies, but nothing with other builds.
const BUILD: &str = "dist-build";
const BUILD_VARIABLE: &str = "CARGO_TARGET_DIR";
const SMOKE: &str = "crates/eigenspace-py/tests/smoke.py";

/// Makes everything.
pub(crate) fn make(runner: &mut Runner) -> Result<(), Error> {
    let dist = runner.target().join("dist");
    fresh(&dist)?;
    python_packages(runner, &dist)?;
    crates(runner, &dist)?;
    pages(runner, &dist)?;
    checksums(runner, &dist)
}

/// The source distribution and the wheel. Each is installed into a new environment and used.
fn python_packages(runner: &mut Runner, dist: &Path) -> Result<(), Error> {
    let python = python::environment(runner, "venv-dist", "crates/eigenspace-py/requirements-dist.txt")?;
    let build =
        Step::new("sdist and wheel", &python).with(["-m", "maturin", "build", "--quiet", "--release", "--sdist"]);
    let build = build.with(["--manifest-path", "crates/eigenspace-py/Cargo.toml", "--out"]).with([dist]);
    clean(runner)?;
    runner.run(build.variable(BUILD_VARIABLE, runner.target().join(BUILD)))?;
    runs_elsewhere(only(dist, ".whl")?)?;
    for ending in [".whl", ".tar.gz"] {
        let package = only(dist, ending)?;
        let environment = runner.target().join("venv-smoke");
        fresh(&environment)?;
        runner.run(Step::new("new environment", "python3").with(["-m", "venv"]).with([&environment]))?;
        let python = environment.join("bin/python");
        let install = Step::new("install", &python).with(["-m", "pip", "install", "--quiet"]);
        let install = install.with(["--disable-pip-version-check"]).with([package]);
        clean(runner)?;
        runner.run(install.variable(BUILD_VARIABLE, runner.target().join(BUILD)))?;
        runner.run(Step::new("smoke test", &python).with([SMOKE]))?;
    }
    Ok(())
}

/// Fails if maturin found that the wheel would not run on other Linux systems: it then names it
/// `linux_…` instead of `manylinux_…`.
fn runs_elsewhere(wheel: PathBuf) -> Result<(), Error> {
    let named = wheel.file_name().is_some_and(|name| name.to_string_lossy().contains("manylinux"));
    let needed = cfg!(all(target_os = "linux", target_env = "gnu"));
    if needed && !named { Err(Error::NotManylinux { wheel }) } else { Ok(()) }
}

/// Removes what was compiled from the source distribution. Its files always have the same old date,
/// so that cargo would not notice that they have changed. The compiled dependencies stay.
fn clean(runner: &mut Runner) -> Result<(), Error> {
    let clean = cargo("clean", &["clean", "--quiet", "--release", "-p", "eigenspace", "-p", "eigenspace-py"]);
    runner.run(clean.with(["--target-dir"]).with([runner.target().join(BUILD)]))
}

/// The packages of the crates. They are built from what is committed.
fn crates(runner: &mut Runner, dist: &Path) -> Result<(), Error> {
    let names = CRATES.iter().flat_map(|name| ["-p", name]).collect::<Vec<_>>();
    runner.run(cargo("crates", &["package", "--locked"]).with(names))?;
    let packages = runner.target().join("package");
    for name in CRATES {
        let version = env!("CARGO_PKG_VERSION");
        let file = format!("{name}-{version}.crate");
        fs::copy(packages.join(&file), dist.join(&file)).map_err(Error::io("copy", packages.join(&file)))?;
    }
    Ok(())
}

/// Manual pages, completions and licenses, in an archive.
fn pages(runner: &mut Runner, dist: &Path) -> Result<(), Error> {
    runner.run(cargo("command", &["build", "--release", "--locked", "--quiet", "-p", "eigenspace-cli"]))?;
    let command = runner.target().join("release/eigenspace");
    let directory = runner.target().join("dist-pages");
    fresh(&directory)?;
    let man = directory.join("man1");
    runner.run(Step::new("manual pages", &command).with(["man"]).with([&man]))?;
    for shell in SHELLS {
        let file = directory.join("completions").join(format!("eigenspace.{shell}"));
        captured(&command, &["completions", shell], &file)?;
    }
    captured(&command, &["--licenses"], &directory.join("THIRD-PARTY-LICENSES.txt"))?;
    let archive = dist.join(format!("eigenspace-{}-pages.tar.gz", env!("CARGO_PKG_VERSION")));
    // The same files give the same archive.
    let tar = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-C"];
    let tar = Step::new("archive", "tar").with(tar).with([&directory]).with(["-czf"]).with([&archive]);
    runner.run(tar.with(["man1", "completions", "THIRD-PARTY-LICENSES.txt"]))
}

/// The checksum of every file.
fn checksums(runner: &mut Runner, dist: &Path) -> Result<(), Error> {
    let names = entries(dist)?.into_iter().filter_map(|path| path.file_name().map(OsString::from));
    let mut names: Vec<OsString> = names.collect();
    names.sort();
    let found = std::process::Command::new("sha256sum").args(&names).current_dir(dist).output();
    let found = found.map_err(Error::io("start", "sha256sum"))?;
    let file = dist.join("SHA256SUMS");
    fs::write(&file, &found.stdout).map_err(Error::io("write", file.as_path()))?;
    let check = Step::new("checksums", "sh").with(["-c", "cd \"$0\" && sha256sum --quiet --check SHA256SUMS"]);
    runner.run(check.with([dist]))?;
    output::message(&String::from_utf8_lossy(&found.stdout));
    Ok(())
}

/// Writes what a command prints to a file.
fn captured(command: &Path, arguments: &[&str], file: &Path) -> Result<(), Error> {
    let directory = file.parent().unwrap_or(file);
    fs::create_dir_all(directory).map_err(Error::io("create", directory))?;
    let found = std::process::Command::new(command).args(arguments).output().map_err(Error::io("start", command))?;
    if !found.status.success() {
        return Err(Error::Failed {
            step: "command",
            code: found.status.code(),
            rerun: arguments.join(" "),
            advice: None,
        });
    }
    fs::write(file, found.stdout).map_err(Error::io("write", file))
}

/// An empty directory.
fn fresh(directory: &Path) -> Result<(), Error> {
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(Error::io("remove", directory))?;
    }
    fs::create_dir_all(directory).map_err(Error::io("create", directory))
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let found = fs::read_dir(directory).map_err(Error::io("list", directory))?;
    Ok(found.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
}

/// The file of a directory whose name ends in this way.
fn only(directory: &Path, ending: &str) -> Result<PathBuf, Error> {
    let named = |path: &PathBuf| path.to_string_lossy().ends_with(ending);
    let missing = || Error::Missing { directory: directory.to_owned(), beginning: format!("*{ending}") };
    entries(directory)?.into_iter().find(named).ok_or_else(missing)
}
