//! Commands in process namespaces of their own, whose process numbers say nothing outside.

use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{end, fitted, start};
use crate::files::csv;
use crate::oracle::table;
use crate::support::{Directory, finish};

/// Waits for a file whose name says that it is not complete.
fn wait_for_temporary(directory: &Directory) {
    let begun = || directory.listing().keys().any(|name| name.ends_with(".tmp"));
    let started = Instant::now();
    while !begun() {
        assert!(started.elapsed() < Duration::from_secs(120), "nothing was begun in two minutes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The command as process 1 of a container that shares the directory; `--kill-child` ends it with
/// its parent.
fn as_process_1(directory: &Directory, line: &str) -> Command {
    let mut command = Command::new("unshare");
    let is_root = directory.path(".").metadata().unwrap().uid() == 0;
    command.args(if is_root { vec![] } else { vec!["-r"] });
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", env!("CARGO_BIN_EXE_eigenspace")]);
    command.args(line.split_whitespace()).current_dir(directory.path("."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Fails by name where containers cannot be made.
fn needs_containers(directory: &Directory) {
    let said = finish(&mut as_process_1(directory, "--version"), b"");
    assert_eq!(said.code, Some(0), "this test makes a process namespace with `unshare`, and could not:\n{said}");
}

#[test]
fn a_killed_process_1_does_not_block_its_output() {
    let directory = fitted();
    needs_containers(&directory);
    let mut child = as_process_1(&directory, "project m.safetensors - -o z.csv -q").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(csv(&table(20, 5, 99)).as_bytes()).unwrap();
    wait_for_temporary(&directory);
    let mut output = child.stdout.take().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // The process inside is killed a moment after its parent, and its end of the pipe closes with
    // it.
    output.read_to_end(&mut Vec::new()).unwrap();
    drop(input);
    let said = finish(&mut as_process_1(&directory, "project m.safetensors t.npy -o z.csv -q"), b"");
    assert_eq!(said.code, Some(0), "{said}");
    assert!(directory.listing().keys().all(|name| !name.ends_with(".tmp")), "the next command removes what was left");
}

#[test]
fn writers_in_other_containers_are_left_alone() {
    let directory = fitted();
    needs_containers(&directory);
    let mut writer = start(&directory, "project m.safetensors - -o z.csv -q");
    writer.stdin.as_mut().unwrap().write_all(csv(&table(20, 5, 99)).as_bytes()).unwrap();
    wait_for_temporary(&directory);
    let said = finish(&mut as_process_1(&directory, "project m.safetensors t.npy -o z.csv -q"), b"");
    assert_eq!(said.code, Some(0), "{said}");
    let said = end(writer);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(directory.text("z.csv").lines().count(), 21);
}
