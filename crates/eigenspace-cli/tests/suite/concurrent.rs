//! Several commands that use one file at the same time.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::files::{csv, npy};
use crate::oracle::table;
use crate::support::{Folder, Said, finish, same_files};

/// A model of 100 rows, and four files of 300 more.
fn fitted() -> Folder {
    let folder = Folder::with("t.npy", npy(&table(100, 5, 91), "<f8", false));
    for i in 0..4 {
        folder.write(&format!("u{i}.npy"), npy(&table(300, 5, 92 + i), "<f8", false));
    }
    folder.done("fit t.npy -o m.safetensors -q");
    folder
}

fn rows(folder: &Folder, model: &str) -> u64 {
    folder.json(&format!("inspect {model} --json"))["count"].as_u64().unwrap()
}

fn start(folder: &Folder, line: &str) -> Child {
    let mut command = folder.command(line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> Said {
    child.wait_with_output().unwrap().into()
}

/// Waits for a file whose name says that it is not complete.
fn wait_for_temporary(folder: &Folder) {
    let begun = || folder.listing().keys().any(|name| name.ends_with(".tmp"));
    let started = Instant::now();
    while !begun() {
        assert!(started.elapsed() < Duration::from_secs(120), "nothing was begun in two minutes");
        std::thread::sleep(Duration::from_millis(1));
    }
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
    let folder = fitted();
    let model = folder.read("m.safetensors");
    for _ in 0..5 {
        folder.write("m.safetensors", &model);
        let lines = (0..4).map(|i| format!("update m.safetensors u{i}.npy"));
        let started: Vec<Child> = lines.map(|line| start(&folder, &line)).collect();
        for said in started.into_iter().map(end) {
            assert_eq!(said.code, Some(0), "{said}");
        }
        assert_eq!(rows(&folder, "m.safetensors"), 1300);
    }
    assert!(folder.listing().keys().all(|name| !name.starts_with('.')), "{:?}", folder.listing().keys());
}

#[test]
fn merges_and_splits_into_one_of_their_models_take_turns_too() {
    let folder = fitted();
    for i in 0..3 {
        folder.done(&format!("fit u{i}.npy -o p{i}.safetensors -q"));
    }
    folder.done("merge m.safetensors p2.safetensors -o m.safetensors -q");
    std::os::unix::fs::symlink("m.safetensors", folder.path("link")).unwrap();
    let lines = [
        "merge m.safetensors p0.safetensors -o m.safetensors -q",
        "merge p1.safetensors m.safetensors -o link -q",
        "split m.safetensors p2.safetensors -o ./m.safetensors -q",
        "update link u3.npy -q",
    ];
    let started: Vec<Child> = lines.iter().map(|line| start(&folder, line)).collect();
    for (line, said) in lines.iter().zip(started.into_iter().map(end)) {
        assert_eq!(said.code, Some(0), "{line}\n{said}");
    }
    assert_eq!(rows(&folder, "m.safetensors"), 1000);
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
}

#[test]
fn whoever_has_to_wait_is_told_and_a_killed_command_holds_nobody() {
    let folder = fitted();
    // Standard input that does not end keeps the first at work.
    let mut first = start(&folder, "update m.safetensors -");
    wait_for_lock(&folder.path("m.safetensors"));
    let second = start(&folder, "update m.safetensors u0.npy");
    let third = start(&folder, "update m.safetensors u1.npy");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(rows(&folder, "m.safetensors"), 100, "reading needs no lock");
    first.kill().unwrap();
    first.wait().unwrap();
    for said in [second, third].map(end) {
        assert_eq!(said.code, Some(0), "{said}");
        assert!(said.err.starts_with("waiting for another command that is changing `m.safetensors`\n"), "{said}");
    }
    assert_eq!(rows(&folder, "m.safetensors"), 700);
}

#[test]
fn a_file_that_another_program_has_changed_is_not_written_over() {
    let folder = fitted();
    folder.done("fit u0.npy -o other.safetensors -q");
    for removed in [false, true] {
        let mut child = start(&folder, "update m.safetensors - -q");
        wait_for_lock(&folder.path("m.safetensors"));
        // More than a pipe holds: when all is written, the model was read, and the rows are being read.
        child.stdin.as_mut().unwrap().write_all(csv(&table(2000, 5, 99)).as_bytes()).unwrap();
        if removed {
            fs::remove_file(folder.path("m.safetensors")).unwrap();
        } else {
            // As `cp` does it, into the same file.
            folder.write("m.safetensors", folder.read("other.safetensors"));
        }
        let before = folder.listing();
        let said = end(child);
        assert_eq!(said.code, Some(2), "{said}");
        assert_eq!(
            said.err,
            "error: cannot write `m.safetensors`: another program changed it after it was read\n\n\
             hint: run the command again to use the file as it is now; nothing was written\n"
        );
        same_files(&before, &folder.listing());
    }
}

#[test]
fn a_checkpoint_belongs_to_one_fit_at_a_time() {
    let folder = fitted();
    folder.write("f.ckpt", "of somebody who is at work");
    let held = File::open(folder.path("f.ckpt")).unwrap();
    held.lock().unwrap();
    let said = folder.refused("fit t.npy -o n.safetensors --checkpoint f.ckpt -q");
    assert_eq!(
        said.err,
        "error: cannot use the checkpoint `f.ckpt`: another fit is using it\n\n\
         hint: wait until the other fit has ended, or name another file with --checkpoint\n"
    );
}

/// The command as process 1 of a container that shares the folder; `--kill-child` ends it with its parent.
fn as_process_1(folder: &Folder, line: &str) -> Command {
    let mut command = Command::new("unshare");
    let is_root = std::os::unix::fs::MetadataExt::uid(&folder.path(".").metadata().unwrap()) == 0;
    command.args(if is_root { vec![] } else { vec!["-r"] });
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", env!("CARGO_BIN_EXE_eigenspace")]);
    command.args(line.split_whitespace()).current_dir(folder.path("."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Fails by name where containers cannot be made.
fn needs_containers(folder: &Folder) {
    let said = finish(&mut as_process_1(folder, "--version"), b"");
    assert_eq!(said.code, Some(0), "this test makes a process namespace with `unshare`, and could not:\n{said}");
}

#[test]
fn a_killed_process_1_does_not_block_its_output() {
    let folder = fitted();
    needs_containers(&folder);
    let mut child = as_process_1(&folder, "project m.safetensors - -o z.csv -q").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(csv(&table(20, 5, 99)).as_bytes()).unwrap();
    wait_for_temporary(&folder);
    let mut output = child.stdout.take().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // The process inside is killed a moment after its parent, and its end of the pipe closes with it.
    output.read_to_end(&mut Vec::new()).unwrap();
    drop(input);
    let said = finish(&mut as_process_1(&folder, "project m.safetensors t.npy -o z.csv -q"), b"");
    assert_eq!(said.code, Some(0), "{said}");
    assert!(folder.listing().keys().all(|name| !name.ends_with(".tmp")), "the next command removes what was left");
}

#[test]
fn writers_in_other_containers_are_left_alone() {
    let folder = fitted();
    needs_containers(&folder);
    let mut writer = start(&folder, "project m.safetensors - -o z.csv -q");
    writer.stdin.as_mut().unwrap().write_all(csv(&table(20, 5, 99)).as_bytes()).unwrap();
    wait_for_temporary(&folder);
    let said = finish(&mut as_process_1(&folder, "project m.safetensors t.npy -o z.csv -q"), b"");
    assert_eq!(said.code, Some(0), "{said}");
    let said = end(writer);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(folder.text("z.csv").lines().count(), 21);
}
