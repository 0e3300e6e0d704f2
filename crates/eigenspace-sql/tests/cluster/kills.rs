//! Processes that are killed in the middle of a query.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use eigenspace::EigenspaceModel;

use crate::process::{Cluster, LONGEST, Process, write_csv};
use crate::reference::{D, Reference, rows};

/// Each file is a partition, and takes a moment to read.
const FILES: usize = 16;
const ROWS: usize = FILES * 20_000;
const QUERY: &str = "SELECT pca(a, b, c, d, 2) AS m FROM 'data/*.csv'";

fn data(cluster: &Cluster) -> Vec<[f64; D]> {
    let all = rows(ROWS);
    write_csv(&cluster.place().join("data"), &all, FILES);
    all
}

/// Whether there is a file with content in a directory or below.
fn has_files(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().any(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => has_files(&entry.path()),
        Ok(found) => found.len() > 0,
        Err(_) => false,
    })
}

/// Waits until an executor has finished a part of the query, which is lost with it.
fn wait_for_results(cluster: &Cluster, executor: usize, query: &mut Process) {
    let start = Instant::now();
    while !has_files(&cluster.work_of(executor)) {
        assert!(!query.has_ended() && start.elapsed() < LONGEST, "{}", query.heard());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kill_an_executor(policy: &str) {
    let mut cluster = Cluster::start(2, &["--policy", policy]);
    let all = data(&cluster);
    let mut query = cluster.begin(&["--models", "out", QUERY]);
    wait_for_results(&cluster, 0, &mut query);
    cluster.executors[0].kill();
    assert!(!query.has_ended(), "the query ended before the kill: {}", query.heard());
    let (code, _, heard) = query.finish();
    assert_eq!(code, Some(0), "{heard}\nscheduler:\n{}", cluster.scheduler.heard());
    let model = EigenspaceModel::load(cluster.place().join("out/m.safetensors")).unwrap();
    Reference::of(&all).check_within(&model, 2.0 * ROWS as f64 * f64::EPSILON);
    // The scheduler noticed.
    assert!(cluster.scheduler.heard().contains("warn: "), "{}", cluster.scheduler.heard());
}

#[test]
fn a_query_survives_an_executor_that_asks_for_tasks() {
    kill_an_executor("pull");
}

#[test]
fn a_query_survives_an_executor_that_gets_tasks() {
    kill_an_executor("push");
}

#[test]
fn all_executors_killed() {
    let mut cluster = Cluster::start(2, &[]);
    data(&cluster);
    let mut query = cluster.begin(&["--models", "out", QUERY]);
    wait_for_results(&cluster, 0, &mut query);
    cluster.executors.iter_mut().for_each(Process::kill);
    let (code, _, heard) = query.finish();
    assert_eq!(code, Some(1), "{heard}");
    assert!(heard.starts_with("error: the cluster lost all its executors"), "{heard}");
    assert!(!cluster.place().join("out").exists());
}

fn lose_the_scheduler(lose: impl FnOnce(&mut Cluster)) {
    let mut cluster = Cluster::start(2, &[]);
    data(&cluster);
    let mut query = cluster.begin(&["--models", "out", QUERY]);
    wait_for_results(&cluster, 0, &mut query);
    lose(&mut cluster);
    let (code, _, heard) = query.finish();
    assert_eq!(code, Some(1), "{heard}");
    let expected = format!("error: lost the connection to the scheduler at {} during the query", cluster.address);
    assert!(heard.starts_with(&expected) && heard.contains("\nhint: start the scheduler"), "{heard}");
    assert!(!cluster.place().join("out").exists());
}

#[test]
fn the_scheduler_killed() {
    lose_the_scheduler(|cluster| cluster.scheduler.kill());
}

/// As if its machine had lost its network.
#[test]
fn a_scheduler_that_does_not_answer() {
    lose_the_scheduler(|cluster| cluster.scheduler.signal("-STOP"));
}

/// A new scheduler at the same address knows nothing of the query; its executors come back by themselves.
#[test]
fn the_scheduler_started_again() {
    let mut cluster = Cluster::start(2, &[]);
    let all = data(&cluster);
    let mut query = cluster.begin(&[QUERY]);
    wait_for_results(&cluster, 0, &mut query);
    cluster.scheduler.kill();
    let port = cluster.address.rsplit(':').next().unwrap().to_owned();
    cluster.scheduler = Process::start(cluster.place(), &["scheduler", "--port", &port, "--timeout", "10"]);
    cluster.scheduler.line_with("scheduler listening on ");
    let (code, _, heard) = query.finish();
    assert_eq!(code, Some(1), "{heard}");
    assert!(heard.starts_with("error: ") && heard.contains("\nhint: "), "{heard}");
    let printed = cluster.printed(&["SELECT pca_count(pca(a, b, 1)) AS n FROM 'data/*.csv'"]);
    assert!(printed.contains(&format!("| {} |", all.len())), "{printed}");
}
