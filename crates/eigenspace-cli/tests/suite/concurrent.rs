//! Several commands that use one file at the same time.

#[cfg(target_os = "linux")]
mod containers;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::files::{csv, npy};
use crate::oracle::table;
use crate::support::{Directory, Said, same_files};

/// A model of 100 rows, and four files of 300 more.
fn fitted() -> Directory {
    let directory = Directory::with("t.npy", npy(&table(100, 5, 91), "<f8", false));
    for i in 0..4 {
        directory.write(&format!("u{i}.npy"), npy(&table(300, 5, 92 + i), "<f8", false));
    }
    directory.done("fit t.npy -o m.safetensors -q");
    directory
}

fn rows(directory: &Directory, model: &str) -> u64 {
    directory.json(&format!("inspect {model} --json"))["count"].as_u64().unwrap()
}

fn start(directory: &Directory, line: &str) -> Child {
    let mut command = directory.command(line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> Said {
    child.wait_with_output().unwrap().into()
}

/// Waits until somebody has locked a file.
fn wait_for_lock(path: &Path) {
    let started = Instant::now();
    while File::open(path).unwrap().try_lock().is_ok() {
        assert!(started.elapsed() < Duration::from_secs(120), "nobody has locked it in two minutes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn updates_at_the_same_time_are_all_in_the_model() {
    let directory = fitted();
    let model = directory.read("m.safetensors");
    for _ in 0..5 {
        directory.write("m.safetensors", &model);
        let lines = (0..4).map(|i| format!("update m.safetensors u{i}.npy"));
        let started: Vec<Child> = lines.map(|line| start(&directory, &line)).collect();
        for said in started.into_iter().map(end) {
            assert_eq!(said.code, Some(0), "{said}");
        }
        assert_eq!(rows(&directory, "m.safetensors"), 1300);
    }
    assert!(directory.listing().keys().all(|name| !name.starts_with('.')), "{:?}", directory.listing().keys());
}

#[cfg(unix)]
#[test]
fn merges_and_splits_into_one_of_their_models_take_turns_too() {
    let directory = fitted();
    for i in 0..3 {
        directory.done(&format!("fit u{i}.npy -o p{i}.safetensors -q"));
    }
    directory.done("merge m.safetensors p2.safetensors -o m.safetensors -q");
    std::os::unix::fs::symlink("m.safetensors", directory.path("link")).unwrap();
    let lines = [
        "merge m.safetensors p0.safetensors -o m.safetensors -q",
        "merge p1.safetensors m.safetensors -o link -q",
        "split m.safetensors p2.safetensors -o ./m.safetensors -q",
        "update link u3.npy -q",
    ];
    let started: Vec<Child> = lines.iter().map(|line| start(&directory, line)).collect();
    for (line, said) in lines.iter().zip(started.into_iter().map(end)) {
        assert_eq!(said.code, Some(0), "{line}\n{said}");
    }
    assert_eq!(rows(&directory, "m.safetensors"), 1000);
    assert!(fs::symlink_metadata(directory.path("link")).unwrap().is_symlink());
}

#[test]
fn whoever_has_to_wait_is_told_and_a_killed_command_holds_nobody() {
    let directory = fitted();
    // Standard input that does not end keeps the first at work.
    let mut first = start(&directory, "update m.safetensors -");
    wait_for_lock(&directory.path("m.safetensors"));
    let second = start(&directory, "update m.safetensors u0.npy");
    let third = start(&directory, "update m.safetensors u1.npy");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(rows(&directory, "m.safetensors"), 100, "reading needs no lock");
    first.kill().unwrap();
    first.wait().unwrap();
    for said in [second, third].map(end) {
        assert_eq!(said.code, Some(0), "{said}");
        assert!(said.err.starts_with("waiting for another command that is changing `m.safetensors`\n"), "{said}");
    }
    assert_eq!(rows(&directory, "m.safetensors"), 700);
}

#[test]
fn a_file_that_another_program_has_changed_is_not_written_over() {
    let directory = fitted();
    directory.done("fit u0.npy -o other.safetensors -q");
    for removed in [false, true] {
        let mut child = start(&directory, "update m.safetensors - -q");
        wait_for_lock(&directory.path("m.safetensors"));
        // More than a pipe holds: when all is written, the model was read, and the rows are being
        // read.
        child.stdin.as_mut().unwrap().write_all(csv(&table(2000, 5, 99)).as_bytes()).unwrap();
        if removed {
            fs::remove_file(directory.path("m.safetensors")).unwrap();
        } else {
            // As `cp` does it, into the same file.
            directory.write("m.safetensors", directory.read("other.safetensors"));
        }
        let before = directory.listing();
        let said = end(child);
        assert_eq!(said.code, Some(2), "{said}");
        assert_eq!(
            said.err,
            "error: cannot write `m.safetensors`: another program changed it after it was read\n\n\
             hint: run the command again to use the file as it is now; nothing was written\n"
        );
        same_files(&before, &directory.listing());
    }
}

#[test]
fn a_checkpoint_belongs_to_one_fit_at_a_time() {
    let directory = fitted();
    directory.write("f.ckpt", "of somebody who is at work");
    let held = File::open(directory.path("f.ckpt")).unwrap();
    held.lock().unwrap();
    let said = directory.refused("fit t.npy -o n.safetensors --checkpoint f.ckpt -q");
    assert_eq!(
        said.err,
        "error: cannot use the checkpoint `f.ckpt`: another fit is using it\n\n\
         hint: wait until the other fit has ended, or use another file with --checkpoint\n"
    );
}
