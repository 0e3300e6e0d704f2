//! Processes that are killed in the middle of a query.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use eigenspace::EigenspaceModel;

use crate::process::{Cluster, LONGEST, Process, printed_here, write_csv, write_npy};
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

/// Reads rows, and computes states.
const READING: usize = 1;
/// Merges states, and computes models.
const MERGING: usize = 2;

/// Whether an executor has finished a task of this stage.
fn has_results(cluster: &Cluster, executor: usize, stage: usize) -> bool {
    let jobs = fs::read_dir(cluster.work_of(executor)).into_iter().flatten().flatten();
    jobs.map(|job| job.path().join(stage.to_string())).any(|directory| has_files(&directory))
}

/// Waits until an executor has finished a task of a stage. Its results are lost with it.
fn wait_for_results(cluster: &Cluster, stage: usize, query: &mut Process) {
    let start = Instant::now();
    while !has_results(cluster, 0, stage) {
        assert!(!query.has_ended() && start.elapsed() < LONGEST, "{}", query.heard());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills an executor when it has finished a task of this stage, and returns what the query prints.
fn kill_an_executor(cluster: &mut Cluster, stage: usize, words: &[&str]) -> String {
    let mut query = cluster.begin(words);
    wait_for_results(cluster, stage, &mut query);
    cluster.executors[0].kill();
    assert!(!query.has_ended(), "the query ended before the kill: {}", query.heard());
    let (code, printed, heard) = query.finish();
    assert_eq!(code, Some(0), "{heard}\nscheduler:\n{}", cluster.scheduler.heard());
    assert!(heard.starts_with("the cluster lost an executor; starting again, attempt 2 of 4\n"), "{heard}");
    printed
}

fn kill_while_reading(policy: &str) {
    let mut cluster = Cluster::start(2, &["--policy", policy]);
    let all = data(&cluster);
    kill_an_executor(&mut cluster, READING, &["--models", "out", QUERY]);
    let model = EigenspaceModel::load(cluster.place().join("out/m.safetensors")).unwrap();
    Reference::of(&all).check_within(&model, 2.0 * ROWS as f64 * f64::EPSILON);
}

/// Many groups, whose models take a moment to compute, so that most of the time goes into the
/// second stage.
fn kill_while_merging(policy: &str) {
    const WIDTH: usize = 150;
    const GROUPS: usize = 200;
    let mut cluster = Cluster::start(2, &["--policy", policy]);
    let cell = |index: usize| match index % WIDTH {
        0 => (index / WIDTH % GROUPS) as f64,
        column => ((index * 7919 + column * column) % 1009) as f64 / 100.0,
    };
    let cells: Vec<f64> = (0..160 * GROUPS * WIDTH).map(cell).collect();
    write_npy(&cluster.place().join("rows.npy"), WIDTH, &cells);
    let query = "SELECT g, pca_count(m) AS n, round(pca_explained(m)[1], 9) AS share, round(pca_mean(m)[2], 9) AS mean
        FROM (SELECT features[1] AS g, pca(features, 2) AS m FROM 'rows.npy' GROUP BY features[1]) ORDER BY g";
    let printed = kill_an_executor(&mut cluster, MERGING, &[query]);
    assert_eq!(printed, printed_here(cluster.place(), &[query]));
}

#[test]
fn a_query_survives_an_executor_that_asks_for_tasks() {
    kill_while_reading("pull");
    kill_while_merging("pull");
}

#[test]
fn a_query_survives_an_executor_that_gets_tasks() {
    kill_while_reading("push");
    kill_while_merging("push");
}

#[test]
fn all_executors_killed() {
    let mut cluster = Cluster::start(2, &[]);
    data(&cluster);
    let mut query = cluster.begin(&["--wait", "2", "--models", "out", QUERY]);
    wait_for_results(&cluster, READING, &mut query);
    cluster.executors.iter_mut().for_each(Process::kill);
    let (code, _, heard) = query.finish();
    assert_eq!(code, Some(1), "{heard}");
    let address = &cluster.address;
    assert!(heard.starts_with("the cluster lost an executor; starting again, "), "{heard}");
    let expected = format!("error: the scheduler at {address} has had no executors for 2 seconds\n");
    assert!(heard.contains(&expected), "{heard}");
    assert!(!cluster.place().join("out").exists());
}

fn lose_the_scheduler(policy: &str, lose: impl FnOnce(&mut Cluster)) -> Cluster {
    let mut cluster = Cluster::start(2, &["--policy", policy]);
    data(&cluster);
    let mut query = cluster.begin(&["--models", "out", QUERY]);
    wait_for_results(&cluster, READING, &mut query);
    lose(&mut cluster);
    let (code, _, heard) = query.finish();
    assert_eq!(code, Some(1), "{heard}");
    let expected = format!("error: lost the connection to the scheduler at {} during the query", cluster.address);
    assert!(heard.starts_with(&expected) && heard.contains("\nhint: start the scheduler"), "{heard}");
    assert!(!cluster.place().join("out").exists());
    cluster
}

#[test]
fn the_scheduler_killed() {
    lose_the_scheduler("pull", |cluster| cluster.scheduler.kill());
    // Executors that get tasks end too; those that ask for tasks wait for another scheduler.
    let mut cluster = lose_the_scheduler("push", |cluster| cluster.scheduler.kill());
    for executor in &mut cluster.executors {
        let (code, _, heard) = executor.finish();
        assert_eq!(code, Some(1), "{heard}");
        assert!(heard.contains("error: the executor stopped, because the scheduler at "), "{heard}");
    }
}

/// Nothing is written, and the cluster goes on.
#[test]
fn the_client_killed() {
    let cluster = Cluster::start(2, &[]);
    let all = data(&cluster);
    let mut query = cluster.begin(&["--models", "out", "--wait", "5", QUERY]);
    wait_for_results(&cluster, READING, &mut query);
    query.kill();
    let printed = cluster.printed(&["SELECT pca_count(pca(a, b, 1)) AS n FROM 'data/*.csv'"]);
    assert!(printed.contains(&format!("| {} |", all.len())), "{printed}");
    assert!(!cluster.place().join("out").exists());
}

/// As if its machine had lost its network.
#[test]
fn a_scheduler_that_does_not_answer() {
    lose_the_scheduler("pull", |cluster| cluster.scheduler.signal("-STOP"));
}

/// A new scheduler at the same address knows nothing of the query; its executors come back by
/// themselves.
#[test]
fn the_scheduler_started_again() {
    let mut cluster = Cluster::start(2, &[]);
    let all = data(&cluster);
    let mut query = cluster.begin(&[QUERY]);
    wait_for_results(&cluster, READING, &mut query);
    cluster.scheduler.kill();
    let port = cluster.address.rsplit(':').next().unwrap().to_owned();
    cluster.scheduler = Process::start(cluster.place(), &["scheduler", "--port", &port, "--timeout", "10"]);
    cluster.scheduler.line_with("scheduler listening on ");
    let (code, _, heard) = query.finish();
    assert_eq!(code, Some(1), "{heard}");
    let expected = format!("error: lost the connection to the scheduler at {} during the query", cluster.address);
    assert!(heard.starts_with(&expected), "{heard}");
    let printed = cluster.printed(&["SELECT pca_count(pca(a, b, 1)) AS n FROM 'data/*.csv'"]);
    assert!(printed.contains(&format!("| {} |", all.len())), "{printed}");
}
