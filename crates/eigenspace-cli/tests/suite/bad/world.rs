//! Closed pipes and full disks.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::files::{csv, npy};
use crate::oracle::table;
use crate::support::{Directory, finish, same_files};

#[test]
fn whoever_reads_the_output_may_stop() {
    let directory = Directory::with("t.npy", npy(&table(200_000, 4, 81), "<f8", false));
    directory.done("fit t.npy -o m.safetensors -q");
    directory.done("project m.safetensors t.npy -o c.npy -q");
    // Far more text than a pipe holds.
    for line in ["project m.safetensors t.npy", "reconstruct m.safetensors c.npy"] {
        let mut child = directory.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{line}");
        assert!(first == "PC1,PC2,PC3,PC4\n" || first == "c0,c1,c2,c3\n", "{first}");
    }
}

#[test]
fn short_output_into_a_closed_pipe_is_no_error_either() {
    let directory = Directory::with("t.csv", csv(&table(30, 3, 82)));
    directory.done("fit t.csv -o m.safetensors -q");
    for line in
        ["inspect m.safetensors", "inspect m.safetensors --json", "completions bash", "project m.safetensors t.csv"]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = directory.command(line).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.is_empty()), (Some(0), true), "{line}");
    }
}

/// Runs the command on a disk of 256 KiB that holds the files of `old`; what is on it afterwards is in `after`.
///
/// The disk is mounted in a namespace of its own, so that it is gone with the command whatever happens.
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
fn too_little_memory_is_an_error_and_not_an_abort() {
    let directory = Directory::new();
    let rows: Vec<Vec<f64>> = (0..40).map(|i| (0..20_000).map(|j| f64::from((i * j) % 97)).collect()).collect();
    directory.write("wide.npy", npy(&rows, "<f8", false));
    directory.done("fit wide.npy -o m -q");
    for line in [
        "fit wide.npy -o o",
        "fit wide.npy --engine scatter -o o",
        "update m wide.npy -o o",
        "merge m m -o o",
        "split m m -o o",
        "inspect m",
        "project m wide.npy -o o.npy",
    ] {
        let mut bash = Command::new("bash");
        let line = format!("ulimit -v 150000; \"$0\" {line} -q --threads 1");
        bash.args(["-c", &line, env!("CARGO_BIN_EXE_eigenspace")]).current_dir(directory.path("."));
        let said = finish(&mut bash, b"");
        assert_eq!(said.code, Some(2), "{line}\n{said}");
        assert!(said.err.starts_with("error: out of memory: this needs about "), "{line}\n{said}");
    }
    assert!(!directory.exists("o"));
}
