//! Commands that are killed at random moments. In every case the file is either the old one or the
//! new one, it can be loaded, and the next command that writes it removes leftover temporary files.
//!
//! Each command is killed a dozen times; `cargo xtask kill 300` sets `EIGENSPACE_KILLS` to kill it
//! 300 times.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::files::npy;
use crate::oracle::table;
use crate::people;
use crate::resume::write_array;
use crate::support::Directory;

fn rounds() -> u64 {
    std::env::var("EIGENSPACE_KILLS").map_or(12, |rounds| rounds.parse().unwrap())
}

/// A share of one that looks random.
fn share(round: u64) -> f64 {
    let mixed = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1_u64 << 24) as f64
}

/// Names of temporary files.
fn temporaries(directory: &Directory) -> Vec<String> {
    let names = fs::read_dir(directory.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.ends_with(".tmp")).collect()
}

fn spawn(directory: &Directory, line: &str) -> Child {
    directory.command(line).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a command at a moment of its run, or, every other time, of its writing. True if that came
/// before its end.
fn kill(directory: &Directory, mut child: Child, round: u64, whole: Duration) -> bool {
    if round.is_multiple_of(2) {
        std::thread::sleep(whole.mul_f64(share(round)));
    } else {
        let writes = || {
            let size = |name: &String| fs::metadata(directory.path(name)).map_or(0, |found| found.len());
            temporaries(directory).iter().any(|name| size(name) > 0)
        };
        while child.try_wait().unwrap().is_none() && !writes() {
            std::thread::sleep(Duration::from_micros(50));
        }
        // Mostly at once, sometimes when the new file has its name already.
        std::thread::sleep(whole.mul_f64(0.3 * share(round).powi(3)));
    }
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

/// What the kills of a command met with.
#[derive(Default, Debug)]
struct Tally {
    kills: u64,
    in_time: u64,
    older: u64,
    new: u64,
    temporaries: u64,
}

impl Tally {
    #[expect(clippy::print_stderr, reason = "the counts are what one runs it for")]
    fn say(&self, what: &str) {
        let Self { kills, in_time, older, new, temporaries } = self;
        eprintln!(
            "{what}: {kills} rounds, {in_time} killed before the end; the older file in {older}, the new one in {new}; \
             {temporaries} left a temporary file, removed by the next command"
        );
    }
}

/// Kills a command that writes `file` again and again; what is there already is the older file.
fn survives(directory: &Directory, line: &str, file: &str) {
    let path = directory.path(file);
    let older = fs::read(&path).ok();
    let start = Instant::now();
    directory.done(line);
    let whole = start.elapsed();
    let (new, names) = (directory.read(file), directory.listing().into_keys().collect::<Vec<_>>());
    assert!(older.as_ref() != Some(&new), "{line}: nothing would be changed");
    let restore = || match &older {
        Some(older) => fs::write(&path, older).unwrap(),
        None => fs::remove_file(&path).unwrap_or_default(),
    };
    let mut tally = Tally::default();
    for round in 0..rounds() {
        restore();
        tally.in_time += u64::from(kill(directory, spawn(directory, line), round, whole));
        let found = fs::read(&path).ok();
        assert!(found == older || found.as_ref() == Some(&new), "{line}: neither the older file nor the new one");
        if found.is_some() {
            directory.done(&format!("inspect {file}"));
        }
        tally.kills += 1;
        tally.older += u64::from(found == older);
        tally.new += u64::from(found != older);
        tally.temporaries += temporaries(directory).len() as u64;
        restore();
        directory.done(line);
        assert!(directory.read(file) == new, "{line}: another file after a kill");
        assert_eq!(directory.listing().into_keys().collect::<Vec<_>>(), names, "{line}: something was left");
    }
    tally.say(line);
}

/// Models of 100 columns, some 80 KB each.
fn models() -> Directory {
    let directory = Directory::new();
    for (name, seed) in [("a", 41), ("b", 42)] {
        directory.write(&format!("{name}.npy"), npy(&table(300, 100, seed), "<f8", false));
        directory.done(&format!("fit {name}.npy -o {name}.safetensors -q"));
    }
    directory
}

fn recognizer() -> Directory {
    let directory = Directory::new();
    people::write(&directory, "known", 5, 1..=8);
    people::write(&directory, "late", 6, 9..=12);
    directory.done("faces train known -o r.safetensors -q");
    directory
}

#[test]
fn a_killed_fit() {
    survives(&models(), "fit b.npy -o a.safetensors -q", "a.safetensors");
}

#[test]
fn a_killed_fit_of_a_new_model() {
    survives(&models(), "fit b.npy -o c.safetensors -q", "c.safetensors");
}

#[test]
fn a_killed_update() {
    survives(&models(), "update a.safetensors b.npy -q", "a.safetensors");
}

#[test]
fn a_killed_merge() {
    survives(&models(), "merge a.safetensors b.safetensors -o a.safetensors -q", "a.safetensors");
}

#[test]
fn a_killed_enrollment() {
    survives(&recognizer(), "faces enroll r.safetensors late -q", "r.safetensors");
}

#[test]
fn a_killed_forgetting() {
    survives(&recognizer(), "faces forget r.safetensors ada ben -q", "r.safetensors");
}

/// The fit is killed three times, each time further on, and then goes on to its end, with the bytes
/// of a fit that was never killed.
#[test]
fn a_killed_fit_with_a_checkpoint() {
    let directory = Directory::new();
    write_array(&directory.path("t.npy"), 9000, 300, false);
    let line = "fit t.npy -k 5 -o m.safetensors -q --checkpoint f.ckpt --every 1";
    let start = Instant::now();
    directory.done(line);
    let whole = start.elapsed();
    let new = directory.read("m.safetensors");
    let names: Vec<String> = directory.listing().into_keys().collect();
    let mut tally = Tally::default();
    for round in 0..rounds() {
        if round % 4 == 0 {
            fs::remove_file(directory.path("m.safetensors")).unwrap();
        }
        tally.in_time += u64::from(kill(&directory, spawn(&directory, line), round, whole));
        let found = fs::read(directory.path("m.safetensors")).ok();
        assert!(found.as_ref().is_none_or(|found| *found == new), "neither no model nor the whole one");
        tally.kills += 1;
        tally.older += u64::from(found.is_none());
        tally.new += u64::from(found.is_some());
        tally.temporaries += temporaries(&directory).len() as u64;
        if round % 4 == 3 {
            directory.done(line);
            assert!(directory.read("m.safetensors") == new, "another model than without kills");
            assert_eq!(directory.listing().into_keys().collect::<Vec<_>>(), names, "something was left");
        }
    }
    tally.say("fit --checkpoint");
}

/// One of three updates of a model is killed: the other two are in it, and the third is there as a
/// whole or not at all.
#[test]
fn one_of_several_updates_is_killed() {
    let directory = models();
    let older = directory.read("a.safetensors");
    let start = Instant::now();
    directory.done("update a.safetensors b.npy -q");
    let whole = 3 * start.elapsed();
    let mut tally = Tally::default();
    for round in 0..rounds() {
        directory.write("a.safetensors", &older);
        let mut started: Vec<Child> = (0..3).map(|_| spawn(&directory, "update a.safetensors b.npy -q")).collect();
        tally.in_time += u64::from(kill(&directory, started.remove(0), round, whole));
        for mut child in started {
            assert!(child.wait().unwrap().success());
        }
        let rows = directory.json("inspect a.safetensors --json")["count"].as_u64().unwrap();
        assert!(rows == 900 || rows == 1200, "{rows} rows");
        tally.kills += 1;
        tally.older += u64::from(rows == 900);
        tally.new += u64::from(rows == 1200);
        tally.temporaries += temporaries(&directory).len() as u64;
        directory.done("update a.safetensors b.npy -q");
        assert!(temporaries(&directory).is_empty(), "something was left");
    }
    tally.say("one update of three");
}
