//! What users see if a cluster is not there, or a query fails on it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::process::{Cluster, Process, write_csv};
use crate::reference::rows;

fn failure(words: &[&str]) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let (code, printed, heard) = Process::start(directory.path(), words).finish();
    assert_eq!(printed, "", "{words:?}");
    (code, heard)
}

/// A port on which nothing listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_scheduler_that_is_not_there() {
    let address = format!("127.0.0.1:{}", free_port());
    for scheme in ["", "df://", "http://"] {
        let (code, heard) = failure(&["--cluster", &format!("{scheme}{address}"), "SELECT 1"]);
        assert_eq!(code, Some(1));
        assert!(heard.starts_with(&format!("error: cannot reach a scheduler at {address}: ")), "{heard}");
        assert!(heard.contains("\nhint: start one there with `eigenspace-sql scheduler --port "), "{heard}");
    }
    let (code, heard) = failure(&["executor", "--scheduler", &address, "--wait", "1"]);
    assert_eq!(code, Some(1));
    assert!(heard.contains("; waiting up to 1 seconds\n"), "{heard}");
    assert!(heard.contains(&format!("error: cannot reach a scheduler at {address}: ")), "{heard}");
}

/// A server that gives this answer once.
fn server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        assert!(stream.read(&mut request).unwrap() > 0);
        stream.write_all(answer.as_bytes()).unwrap();
    });
    address
}

#[test]
fn something_else_than_a_scheduler_of_this_version() {
    let address = server("HTTP/1.1 200 OK\r\nServer: ballista/54.1.0\r\n\r\nready");
    let (code, heard) = failure(&["--cluster", &address, "SELECT 1"]);
    assert_eq!(code, Some(1));
    let expected = format!("error: the scheduler at {address} has Ballista 54.1.0, this command has 55.");
    assert!(heard.starts_with(&expected) && heard.contains("\nhint: use the same version"), "{heard}");
    let address = server("HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\nhello");
    let (code, heard) = failure(&["--cluster", &address, "SELECT 1"]);
    assert_eq!(code, Some(1));
    assert!(heard.starts_with(&format!("error: what listens at {address} is not a scheduler\n")), "{heard}");
}

#[test]
fn command_lines() {
    for words in [
        &["--cluster", "", "SELECT 1"][..],
        &["--cluster", "a:b", "SELECT 1"],
        &["--wait", "x", "SELECT 1"],
        &["executor"],
        &["executor", "--scheduler", "a:1:2"],
        &["scheduler", "--policy", "both"],
        &["scheduler", "--timeout", "3"],
        &["scheduler", "--bind", "nowhere"],
        &["scheduler", "SELECT 1"],
    ] {
        let (code, heard) = failure(words);
        assert!(code == Some(2) && heard.starts_with("error: "), "{words:?}: {heard}");
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let number = port.local_addr().unwrap().port().to_string();
    let (code, heard) = failure(&["scheduler", "--port", &number]);
    assert_eq!(code, Some(1));
    assert!(heard.starts_with(&format!("error: cannot listen on 127.0.0.1:{number}: ")), "{heard}");
    let (code, heard) = failure(&["scheduler", "--bind", "0.0.0.0", "--policy", "push", "--port", "0"]);
    assert_eq!(code, Some(1));
    assert!(heard.starts_with("warning: anybody who can connect to 0.0.0.0 can run queries"), "{heard}");
    assert!(heard.contains("\nhint: name this machine with --host"), "{heard}");
}

#[test]
fn a_cluster_without_executors() {
    let cluster = Cluster::start(0, &[]);
    let start = Instant::now();
    let heard = cluster.failed(&["--wait", "2", "SELECT 1"]);
    assert!(start.elapsed() >= Duration::from_secs(2));
    let address = &cluster.address;
    let lines: Vec<_> = heard.lines().collect();
    assert_eq!(lines.len(), 3, "{heard}");
    let waiting = format!("the scheduler at {address} has no executors; waiting up to 2 seconds; start one with ");
    assert!(lines[0].starts_with(&waiting), "{heard}");
    assert_eq!(lines[1], format!("error: the scheduler at {address} has had no executors for 2 seconds"));
    assert_eq!(lines[2], format!("hint: start one with `eigenspace-sql executor --scheduler {address}`"));
}

/// Errors of executors and of the scheduler arrive with their text and their hint, and are not
/// tried again.
#[test]
fn errors_of_a_query() {
    let cluster = Cluster::start(2, &[]);
    let place = cluster.place();
    write_csv(&place.join("data"), &rows(300), 3);
    let lines = "site,a,b,c,d\nnorth,1.5,2.5,3.5,4.5\nnorth,1.5,NaN,3.5,4.5\n";
    fs::write(place.join("data/part07.csv"), lines).unwrap();
    for call in ["pca(a, b, c, d, 2)", "pca([a, b, c, d], 2)"] {
        let heard = cluster.failed(&[&format!("SELECT {call} FROM 'data/*.csv' WHERE site = 'north'")]);
        let column = if call.contains('[') { "1" } else { "`b`" };
        let expected = format!(
            "error: pca: in partition 3, row 1, column {column}: the value is NaN, expected a finite number (partitions are counted from 0, and rows within their group and partition)\nhint: "
        );
        assert!(heard.starts_with(&expected), "{heard}");
    }
    for (query, start) in [
        ("SELECT pca(a, b, 0) FROM 'data/*.csv'", "error: pca: "),
        ("SELECT pca(DISTINCT a, b, 1) FROM 'data/*.csv'", "error: pca: DISTINCT is not supported"),
        ("SELECT pca(a, 1) FROM 'none.csv'", "error: cannot read `none.csv`: there is no such file\nhint: "),
        ("SELECT pca(a, 1) FROM 'none.npy'", "error: cannot read `none.npy`: No such file"),
        ("SELEC 1", "error: invalid query: "),
        ("CREATE TABLE u AS SELECT 1", "error: this statement is not a query"),
        ("COPY (SELECT 1) TO 'copied.csv'", "error: this statement is not a query"),
        ("SELECT 1 / 0", "error: "),
    ] {
        let heard = cluster.failed(&[query]);
        assert!(heard.starts_with(start), "{query}: {heard}");
    }
    // Names of files with characters that have a meaning elsewhere.
    for name in ["sp ace.csv", "quo'te.csv", "per%20cent.csv", "ha#sh.csv", "semi;colon.csv", "d.o.t.csv"] {
        fs::write(place.join(name), "a,\"b c\"\n1,2\n3,5\n").unwrap();
        let query = format!("SELECT pca_count(pca(a, \"b c\", 1)) AS n FROM '{}'", name.replace('\'', "''"));
        assert!(cluster.printed(&[&query]).contains("| 2 |"), "{name}");
    }
    let cases = [("st*r.csv", "the name of a file has one of the characters"), ("part[1].csv", "write ? instead")];
    for (name, words) in cases {
        fs::write(place.join(name), "a,b\n1,2\n").unwrap();
        let heard = cluster.failed(&[&format!("SELECT * FROM '{name}'")]);
        assert!(heard.starts_with("error: ") && heard.contains(words), "{name}: {heard}");
    }
    // The cluster still works.
    let printed = cluster.printed(&["SELECT pca_count(pca(a, b, 1)) AS n FROM 'data/*.csv' WHERE NOT isnan(b)"]);
    assert!(printed.contains("| 301 |"), "{printed}");
}
