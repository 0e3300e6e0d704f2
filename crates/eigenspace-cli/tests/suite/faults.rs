//! Disks that are full or read-only, paths through files, and input that vanishes: the old file
//! stays, no temporary files are left, and the message says what to do.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::files::{csv, npy};
use crate::oracle::table;
use crate::people;
use crate::support::{Directory, Said, finish, same_files};

/// Commands that write a file back, or over an older one.
const LINES: [&str; 6] = [
    "fit t.npy -o m.safetensors -q",
    "update m.safetensors t.npy -q",
    "merge m.safetensors n.safetensors -o m.safetensors -q",
    "faces enroll r.safetensors late -q",
    "faces forget r.safetensors ada -q",
    "project m.safetensors t.npy -o z.csv -q",
];

fn world() -> Directory {
    let directory = Directory::with("t.npy", npy(&table(80, 40, 71), "<f8", false));
    directory.done("fit t.npy -o m.safetensors -q");
    directory.done("fit t.npy -o n.safetensors -q");
    directory.write("z.csv", "older\n");
    people::write(&directory, "known", 3, 1..=3);
    directory.done("faces train known -o r.safetensors -q");
    directory.write("late/dov/1.pgm", people::image(3, 1));
    directory
}

/// Runs a shell in the directory that knows the command as `$EIGENSPACE`.
fn shell(directory: &Directory, words: &[&str], script: &str) -> Said {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(["-euc", script]).current_dir(directory.path("."));
    finish(command.env("EIGENSPACE", env!("CARGO_BIN_EXE_eigenspace")), b"")
}

/// The system lets no file grow beyond 1 KiB, which needs no privilege and no disk of our own.
#[test]
fn a_file_that_may_not_grow_keeps_its_older_self() {
    let directory = world();
    let before = directory.listing();
    for line in LINES {
        let said = shell(&directory, &["sh"], &format!("trap '' XFSZ; ulimit -f 1; exec \"$EIGENSPACE\" {line}"));
        let name = line.split_whitespace().find(|word| word.contains(".csv")).unwrap_or(if line.starts_with("faces") {
            "r.safetensors"
        } else {
            "m.safetensors"
        });
        let expected = format!(
            "error: cannot write `{name}`\n  cause: File too large (os error 27)\n\n\
             hint: free disk space, or write to another disk; nothing was changed\n"
        );
        assert_eq!((said.code, said.err.as_str()), (Some(2), expected.as_str()), "{line}");
        same_files(&before, &directory.listing());
    }
}

/// Without the trap the signal ends the command at once, as a kill in the middle of writing does.
#[test]
fn what_the_system_cuts_off_is_removed_by_the_next_command() {
    for line in LINES {
        let directory = world();
        let before = directory.listing();
        let said = shell(&directory, &["sh"], &format!("ulimit -c 0; ulimit -f 1; exec \"$EIGENSPACE\" {line}"));
        assert_eq!(said.code, None, "{line}: {said}");
        let mut after = directory.listing();
        let litter: Vec<String> = after.keys().filter(|name| name.ends_with(".tmp")).cloned().collect();
        assert_eq!(litter.len(), 1, "{line}");
        after.remove(&litter[0]);
        same_files(&before, &after);
        directory.done(line);
        assert!(directory.listing().keys().eq(before.keys()), "{line}: {:?}", directory.listing().keys());
    }
}

/// Read-only for everybody, the superuser too: mounted so, in a namespace that ends with the
/// command.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_directory_is_left_as_it_is() {
    let directory = world();
    let before = directory.listing();
    let is_root = std::os::unix::fs::MetadataExt::uid(&directory.path(".").metadata().unwrap()) == 0;
    let unshare = ["unshare", if is_root { "-m" } else { "-rm" }, "sh"];
    let here = "mount --bind . . && mount -o remount,ro,bind . && cd \"$PWD\"";
    let said = shell(&directory, &unshare, &format!("{here} && ! touch x 2>&1"));
    assert_eq!(said.code, Some(0), "this test mounts a directory read-only, and could not:\n{said}");
    for line in LINES {
        let said = shell(&directory, &unshare, &format!("{here} && exec \"$EIGENSPACE\" {line}"));
        assert_eq!(said.code, Some(2), "{line}: {said}");
        assert!(said.err.contains("cause: Read-only file system (os error 30)"), "{line}: {said}");
        assert!(said.err.ends_with("hint: write to another directory; nothing was changed\n"), "{line}: {said}");
        same_files(&before, &directory.listing());
    }
}

#[test]
fn a_directory_that_is_a_file_is_named() {
    let directory = world();
    for line in LINES {
        let line = line.split(" -o ").next().unwrap().replace(" -q", "");
        let said = directory.refused(&format!("{line} -o t.npy/new.csv"));
        assert!(said.err.starts_with("error: cannot write `t.npy/new.csv`\n"), "{line}: {said}");
        let hint = "hint: write to an existing directory: a part of this path is a file\n";
        assert!(said.err.ends_with(hint), "{line}: {said}");
    }
}

#[test]
fn input_below_a_file_is_explained() {
    let directory = world();
    for line in ["inspect t.npy/x", "fit t.npy/x.csv -o new -q", "project m.safetensors t.npy/x.csv"] {
        let said = directory.refused(line);
        let hint =
            "cause: Not a directory (os error 20)\n\nhint: check the path: a part of it is a file, not a directory\n";
        assert!(said.err.ends_with(hint), "{line}: {said}");
    }
}

/// The second file is removed while the first, standard input, is read.
#[test]
fn input_that_vanishes_leaves_every_file_as_it_was() {
    let directory = world();
    let before = directory.listing();
    // More than a pipe holds: when all is written, somebody is reading it.
    let rows = csv(&table(400, 40, 72));
    for line in [
        "update m.safetensors - late.csv -q",
        "fit - late.csv -o m.safetensors -q",
        "project m.safetensors - late.csv -o z.csv -q",
    ] {
        directory.write("late.csv", &rows);
        let mut command = directory.command(line);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(rows.as_bytes()).unwrap();
        fs::remove_file(directory.path("late.csv")).unwrap();
        drop(input);
        let said: Said = child.wait_with_output().unwrap().into();
        let expected = "error: cannot read `late.csv`\n  cause: No such file or directory (os error 2)\n\n\
                        hint: check the spelling of the path and the current directory\n";
        assert_eq!((said.code, said.err.as_str()), (Some(2), expected), "{line}");
        same_files(&before, &directory.listing());
    }
}
