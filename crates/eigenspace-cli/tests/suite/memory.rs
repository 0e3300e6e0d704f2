//! Files much larger than the memory used to process them.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::files::npy_header;
use crate::support::Directory;

/// Allowed in each case.
const LIMIT: u64 = 256 << 20;

/// Numbers that are the same in every run.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Writes an array of f64 in pieces, so that the test itself stays small. The order of its numbers
/// does not matter here, so the bytes are the same for rows first and columns first.
fn write_array(path: &Path, rows: usize, columns: usize, fortran: bool) {
    let mut file = File::create(path).unwrap();
    file.write_all(&npy_header("<f8", fortran, &format!("({rows}, {columns})"))).unwrap();
    let mut state = 7_u64;
    let mut left = rows * columns;
    while left > 0 {
        let piece = left.min(1 << 19);
        let bytes: Vec<u8> =
            (0..piece).flat_map(|_| ((next(&mut state) >> 11) as f64 / (1_u64 << 53) as f64).to_le_bytes()).collect();
        file.write_all(&bytes).unwrap();
        left -= piece;
    }
    file.sync_all().unwrap();
}

/// Runs a command and gives the most memory that it held, in bytes.
fn peak(directory: &Directory, line: &str) -> u64 {
    let mut child = directory.command(line).stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let ended = loop {
        // The system keeps the high-water mark itself; only the last moments before the end can be
        // missed.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mark = text
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .and_then(|mark| mark.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        most = most.max(mark.unwrap_or(0) << 10);
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(ended.success(), "{line}");
    assert!(most > 0, "no memory was seen at all");
    most
}

/// Fits and projects an array of so many bytes within the limit.
#[expect(clippy::print_stderr, reason = "the figures are what one runs it for")]
fn stays_small(gigabytes: usize, columns: usize, fortran: bool) {
    let directory = Directory::new();
    let rows = (gigabytes << 30) / (8 * columns);
    write_array(&directory.path("t.npy"), rows, columns, fortran);
    let order = if fortran { "columns first" } else { "rows first" };
    for (verb, line) in [
        ("fit", "fit t.npy -k 20 -o m.safetensors -q"),
        ("project", "project m.safetensors t.npy -o coordinates.npy -q"),
    ] {
        let most = peak(&directory, line);
        let (megabytes, limit) = (most >> 20, LIMIT >> 20);
        let what = format!("{verb}: {rows} x {columns}, {gigabytes} GiB, {order}: {megabytes} MiB of {limit}");
        eprintln!("{what}");
        assert!(most < LIMIT, "{what}");
    }
    assert_eq!(fs::metadata(directory.path("coordinates.npy")).unwrap().len(), 128 + (rows * 20 * 8) as u64);
}

#[test]
#[ignore = "two gigabytes on disk; run by cargo xtask memory"]
fn two_gigabytes_of_rows_fit_in_a_quarter_of_one() {
    stays_small(2, 1000, false);
}

#[test]
#[ignore = "one gigabyte on disk; run by cargo xtask memory"]
fn an_array_with_columns_first_needs_no_more() {
    stays_small(1, 1000, true);
}

#[test]
#[ignore = "two gigabytes on disk; run by cargo xtask memory"]
fn wide_rows_need_no_more() {
    stays_small(2, 20_000, false);
}

/// The rows that are kept, and the model that is made of them: two matrices, and what every process
/// needs.
#[test]
fn a_wide_text_needs_twice_its_matrix() {
    let (directory, rows, columns) = (Directory::new(), 300_u64, 30_000_u64);
    let mut file = std::io::BufWriter::new(File::create(directory.path("wide.csv")).unwrap());
    let mut state = 7_u64;
    for _ in 0..rows {
        let cells: Vec<String> = (0..columns).map(|_| (next(&mut state) % 9973).to_string()).collect();
        writeln!(file, "{}", cells.join(",")).unwrap();
    }
    drop(file);
    let (most, matrix) = (peak(&directory, "fit wide.csv -k 5 -o m.safetensors -q"), rows * columns * 8);
    assert!(most < 2 * matrix + (96 << 20), "{} MiB for {} MiB", most >> 20, matrix >> 20);
}
