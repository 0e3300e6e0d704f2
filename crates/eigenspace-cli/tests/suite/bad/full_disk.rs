//! Full disks: the old file stays.

use std::os::unix::fs::MetadataExt;
use std::process::Command;

use insta::assert_snapshot;

use crate::files::npy;
use crate::oracle::table;
use crate::support::{Directory, finish, same_files};

/// Runs the command on a disk of 256 KiB that holds the files of `old`; what is on it afterward is
/// in `after`.
///
/// The disk is mounted in a namespace of its own, so that it is gone with the command whatever
/// happens.
fn on_a_small_disk(directory: &Directory, line: &str) -> String {
    for name in ["disk", "after"] {
        std::fs::create_dir(directory.path(name)).unwrap();
    }
    let is_root = directory.path("disk").metadata().unwrap().uid() == 0;
    let mut command = Command::new("unshare");
    command.args([if is_root { "-m" } else { "-rm" }, "sh", "-euc"]).current_dir(directory.path("."));
    command.arg(format!(
        "mount -t tmpfs -o size=256k none disk; : > mounted; cp old/* disk; cd disk
         code=0; \"$EIGENSPACE\" {line} || code=$?; cp -a . ../after; exit $code"
    ));
    let said = finish(command.env("EIGENSPACE", env!("CARGO_BIN_EXE_eigenspace")), b"");
    assert!(directory.exists("mounted"), "this test mounts a small file system, and could not:\n{said}");
    said.to_string()
}

/// Every file of `old` is in `after` as it was, and no other.
fn nothing_changed(directory: &Directory) {
    let all = directory.listing();
    let below = |start: &str| {
        let files = all.iter().filter_map(|(name, bytes)| Some((name.strip_prefix(start)?.to_owned(), bytes.clone())));
        files.filter(|(name, _)| !name.is_empty()).collect()
    };
    same_files(&below("old/"), &below("after/"));
}

/// Rows whose model and coordinates do not fit beside the 130 KB that are there.
fn full_disk() -> Directory {
    let directory = Directory::with("t.npy", npy(&table(300, 150, 83), "<f8", false));
    // It begins like a model; other files are not replaced.
    let mut old = [7; 130_000];
    old[8] = b'{';
    directory.write("old/m.safetensors", old);
    directory
}

#[test]
fn a_full_disk_keeps_the_old_model() {
    let directory = full_disk();
    assert_snapshot!(on_a_small_disk(&directory, "fit ../t.npy -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot write `m.safetensors`
      cause: No space left on device (os error 28)

    hint: free disk space, or write to another disk; nothing was changed
    ");
    nothing_changed(&directory);
}

#[test]
fn a_full_disk_keeps_the_old_coordinates() {
    for name in ["c.npy", "c.csv", "c.tsv", "c.parquet"] {
        let directory = full_disk();
        directory.write(&format!("old/{name}"), [8; 1000]);
        directory.done("fit t.npy -o whole.safetensors -q");
        let said = on_a_small_disk(&directory, &format!("project ../whole.safetensors ../t.npy -o {name} -q"));
        let expected = format!(
            "exit: 2\n----- stderr -----\nerror: cannot write `{name}`\n  cause: No space left on device (os error 28)\n\n\
             hint: free disk space, or write to another disk; nothing was changed\n"
        );
        assert_eq!(said, expected);
        nothing_changed(&directory);
    }
}

#[test]
fn a_full_disk_stops_a_fit_at_its_checkpoint() {
    let directory = full_disk();
    directory.write("t.npy", npy(&table(9000, 150, 84), "<f8", false));
    let line = "fit ../t.npy -o ../new.safetensors --checkpoint f.ckpt --every 1 -q";
    assert_snapshot!(on_a_small_disk(&directory, line), @"
    exit: 2
    ----- stderr -----
    error: cannot write `f.ckpt`
      cause: No space left on device (os error 28)

    hint: free disk space, or write to another disk; nothing was changed
    ");
    nothing_changed(&directory);
    assert!(!directory.exists("new.safetensors"));
}

#[test]
fn scores_for_a_full_standard_output() {
    let directory = Directory::with("t.npy", npy(&table(300, 15, 83), "<f8", false));
    directory.done("fit t.npy -o m.safetensors -q");
    let mut command = Command::new(env!("CARGO_BIN_EXE_eigenspace"));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    command.args(["project", "m.safetensors", "t.npy"]).current_dir(directory.path(".")).stdout(full);
    let said = command.output().unwrap();
    let err = String::from_utf8_lossy(&said.stderr);
    assert!(err.starts_with("error: cannot write to standard output\n"), "{err}");
}
