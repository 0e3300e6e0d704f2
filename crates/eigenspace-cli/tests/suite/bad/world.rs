//! Closed pipes and too little memory.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::files::{csv, npy};
use crate::oracle::table;
use crate::support::{Directory, finish};

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
