//! Fits that are killed and resumed.

mod refused;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::files::{npy_header, pgm};
use crate::support::Directory;

/// Wide enough for the factor engine.
const WIDE: usize = 1200;

/// Writes rows of f32 that no few directions describe, so that truncation has something to drop.
pub(crate) fn write_array(path: &Path, rows: usize, columns: usize, holes: bool) {
    let mut file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    file.write_all(&npy_header("<f4", false, &format!("({rows}, {columns})"))).unwrap();
    for i in 0..rows {
        for j in 0..columns {
            let hole = holes && i % 97 == 5 && j == i % columns;
            let value = if hole { f32::NAN } else { cell(i, j) };
            file.write_all(&value.to_le_bytes()).unwrap();
        }
    }
    file.flush().unwrap();
}

/// Noise, and a little that rows have in common.
fn cell(i: usize, j: usize) -> f32 {
    let mixed = ((i as u64) << 32 | j as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let noise = ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32 / (1 << 24) as f32;
    noise + 0.3 * ((i % 17) as f32 * 0.1) * ((j % 13) as f32 * 0.1)
}

/// Waits until the checkpoint was written so many times, and kills the fit; how it ended.
fn killed_after(mut child: Child, checkpoint: &Path, writes: usize) -> ExitStatus {
    let state = || fs::metadata(checkpoint).and_then(|found| found.modified()).ok();
    let (mut last, mut seen) = (state(), 0);
    let start = Instant::now();
    while seen < writes {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "no checkpoint in two minutes");
        let now = state();
        if now.is_some() && now != last {
            (last, seen) = (now, seen + 1);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap()
}

/// Kills a fit again and again, each time after so many checkpoints more. Where the fit was done
/// before it could be killed, all begins anew.
fn interrupt(directory: &Directory, line: &str, writes: &[usize]) {
    let killed = |&writes: &usize| {
        let child = directory.command(line).stdout(Stdio::null()).spawn().unwrap();
        let ended = killed_after(child, &directory.path("f.ckpt"), writes);
        assert!(ended.success() || ended.code().is_none(), "{ended}");
        ended.code().is_none()
    };
    for _ in 0..20 {
        if writes.iter().all(killed) {
            return;
        }
        fs::remove_file(directory.path("m.safetensors")).unwrap();
    }
    panic!("the fit was too quick to be killed {} times, in 20 attempts", writes.len());
}

/// Fits without interruption, then with at least three, and compares the two models byte by byte.
fn survives_being_killed(directory: &Directory, arguments: &str) {
    directory.done(&format!("fit {arguments} -o whole.safetensors -q"));
    let line = format!("fit {arguments} -o m.safetensors -q --checkpoint f.ckpt --every 1");
    interrupt(directory, &line, &[1, 2, 1]);
    assert!(directory.exists("f.ckpt") && !directory.exists("m.safetensors"));
    let said = directory.run(&line.replace(" -q", ""));
    assert_eq!(said.code, Some(0), "{said}");
    let row: u64 = said
        .err
        .strip_prefix("resuming from the checkpoint at row ")
        .unwrap()
        .split('\n')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(row > 0, "{said}");
    assert!(
        directory.read("m.safetensors") == directory.read("whole.safetensors"),
        "another model than without interruption"
    );
    assert!(!directory.exists("f.ckpt"), "a checkpoint that has done its work goes");
}

fn wide(holes: bool) -> Directory {
    let directory = Directory::new();
    write_array(&directory.path("t.npy"), 9000, WIDE, holes);
    directory
}

#[test]
fn an_array_with_truncation() {
    survives_being_killed(&wide(false), "t.npy -k 5 --max-rank 20");
}

#[test]
fn an_array_with_rows_left_out() {
    survives_being_killed(&wide(true), "t.npy -k 5 --missing skip");
}

#[test]
fn an_array_with_cells_filled() {
    survives_being_killed(&wide(true), "t.npy -k 5 --max-rank 20 --missing impute");
}

#[test]
fn an_array_with_weights() {
    let directory = wide(false);
    directory.write("w.csv", (0..9000).map(|i| format!("{}\n", f64::from(i % 7) / 3.0)).collect::<String>());
    survives_being_killed(&directory, "t.npy -k 5 --weights w.csv");
}

#[test]
fn an_array_that_is_forgotten() {
    survives_being_killed(&wide(false), "t.npy -k 5 --half-life 500 --truncation fd:30");
}

#[test]
fn several_arrays_in_a_directory() {
    let directory = Directory::new();
    fs::create_dir(directory.path("parts")).unwrap();
    for (name, rows) in [("1", 1500), ("2", 2000), ("10", 5000), ("11", 10)] {
        write_array(&directory.path(&format!("parts/{name}.npy")), rows, WIDE, false);
    }
    survives_being_killed(&directory, "parts -k 5");
}

#[test]
fn text() {
    let directory = Directory::new();
    let mut text = String::from("label");
    (0..60).for_each(|j| text += &format!(",c{j}"));
    for i in 0..90_000 {
        text += &format!("\nrow {i}");
        (0..60).for_each(|j| text += &format!(",{:.3}", cell(i, j)));
    }
    directory.write("t.csv", text);
    survives_being_killed(&directory, "t.csv --label label -k 3");
}

/// The checkpoint lies among the images, and is none of them.
#[test]
fn images_beside_their_checkpoint() {
    let directory = Directory::new();
    for i in 0..800 {
        directory.write(&format!("{}/{}.pgm", i % 8, i), pgm(120, 100, |at| (255.0 * cell(i, at)).min(255.0) as u8));
    }
    let line = "fit . -k 5 -o m.safetensors -q";
    directory.done(line);
    let expected = directory.read("m.safetensors");
    fs::remove_file(directory.path("m.safetensors")).unwrap();
    let line = format!("{line} --checkpoint f.ckpt --every 1");
    interrupt(&directory, &line, &[1, 1, 1]);
    directory.done(&line);
    assert!(directory.read("m.safetensors") == expected);
}
