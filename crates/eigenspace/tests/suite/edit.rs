//! Files that are written completely or not at all, and files that are read, changed and written
//! back.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use eigenspace::internal::{AtomicFile, FileEdit};
use eigenspace::io::Error;

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_a_killed_process_left_is_swept_away_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    for name in [".state.eigenspace-0123456789abcdef.tmp", ".other.eigenspace-0123456789abcdef.tmp", "state.tmp"] {
        fs::write(directory.path().join(name), "").unwrap();
    }
    let mut begun = AtomicFile::create(&path).unwrap();
    begun.write_all(b"whole").unwrap();
    AtomicFile::sweep(&path);
    let left = names(directory.path());
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(!left.contains(&".state.eigenspace-0123456789abcdef.tmp".to_owned()), "{left:?}");
    begun.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(names(directory.path()), [".other.eigenspace-0123456789abcdef.tmp", "state", "state.tmp"]);
}

/// In a container every process may be process 1.
#[test]
fn a_process_of_the_same_number_blocks_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    for number in 0..1000 {
        let name = format!(".state.eigenspace-{}-{number}.tmp", std::process::id());
        fs::write(directory.path().join(name), "").unwrap();
    }
    AtomicFile::write(&path, b"whole").unwrap();
    AtomicFile::sweep(&path);
    assert_eq!(names(directory.path()), ["state"]);
}

/// Sweeps that run all the time remove nothing that is being written.
#[test]
fn a_sweep_between_creating_and_locking_costs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|_| {
                let path = path.clone();
                scope.spawn(move || (0..200).for_each(|_| AtomicFile::write(&path, b"whole").unwrap()))
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            AtomicFile::sweep(&path);
        }
    });
    assert_eq!(names(directory.path()), ["state"]);
}

#[test]
fn edits_of_one_file_take_turns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("number");
    fs::write(&path, "0").unwrap();
    let add_one = || {
        let mut edit = FileEdit::open(&path).unwrap();
        let number: u64 = fs::read_to_string(&path).unwrap().parse().unwrap();
        edit.replace((number + 1).to_string().as_bytes()).unwrap();
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| add_one()));
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "200");
    assert_eq!(names(directory.path()), ["number"]);
}

#[cfg(unix)]
#[test]
fn a_file_stays_held_while_it_is_replaced_again_and_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let mut edit = FileEdit::try_open_or_new(&path).unwrap().unwrap();
    assert_eq!(edit.path(), path);
    for round in 0..3 {
        edit.replace(format!("round {round}").as_bytes()).unwrap();
        assert!(FileEdit::try_open(&path).unwrap().is_none());
        assert!(FileEdit::try_open_or_new(&path).unwrap().is_none());
    }
    drop(edit);
    let edit = FileEdit::try_open(&path).unwrap().unwrap();
    edit.remove().unwrap();
    assert!(names(directory.path()).is_empty());
    assert!(matches!(FileEdit::open(&path), Err(Error::Io { action: "read", .. })));
    assert!(matches!(FileEdit::open(directory.path()), Err(Error::Io { .. })));
}

#[test]
fn what_somebody_else_has_changed_is_neither_replaced_nor_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let theirs = |change: &dyn Fn()| {
        fs::write(&path, "ours").unwrap();
        let mut edit = FileEdit::open(&path).unwrap();
        change();
        let after = fs::read(&path).ok();
        assert!(matches!(edit.replace(b"new"), Err(Error::Changed { .. })));
        edit.remove().unwrap();
        assert_eq!(fs::read(&path).ok(), after);
    };
    theirs(&|| fs::write(&path, "hers").unwrap());
    theirs(&|| AtomicFile::write(&path, b"hers").unwrap());
    theirs(&|| fs::remove_file(&path).unwrap());
    let mut new = FileEdit::try_open_or_new(directory.path().join("new")).unwrap().unwrap();
    fs::write(directory.path().join("new"), "hers").unwrap();
    assert!(matches!(new.replace(b"ours"), Err(Error::Changed { .. })));
    // A name with control characters cannot reach a terminal.
    let path_of = |name: &str| Error::Changed { path: name.into() }.to_string();
    assert_eq!(path_of("a\u{1b}[31m"), r"cannot write `a\u001b[31m`: another program changed it after it was read");
    // Reading a file, or another name for it, is not a change.
    fs::write(&path, "ours").unwrap();
    let mut edit = FileEdit::open(&path).unwrap();
    File::open(&path).unwrap();
    fs::hard_link(&path, directory.path().join("another name")).unwrap();
    edit.replace(b"new").unwrap();
    assert_eq!(fs::read(directory.path().join("another name")).unwrap(), b"ours");
}
