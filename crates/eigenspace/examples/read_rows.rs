//! Reads all rows of some files without fitting a model, and prints how many there are and how long
//! it took. With `eigenspace fit` on the same files, it shows whether reading or computing takes
//! longer.
//!
//! ```text
//! cargo run --release --example read_rows --features parquet -- data.parquet
//! ```
//!
//! Without arguments, it reads a small table that it has written itself.
#![allow(clippy::print_stdout)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use eigenspace::io::source::{self, ReadOptions, Values};

/// About this number of cells is read at a time, and at most this number of rows, as `eigenspace
/// fit` does.
const CELLS: usize = 1 << 20;
const ROWS: usize = 8192;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        let directory = tempfile::tempdir()?;
        let table = directory.path().join("waves.csv");
        std::fs::write(&table, waves())?;
        return read(&[table]);
    }
    read(&paths)
}

/// Reads the files block by block, so that only one block is in memory at a time.
fn read(paths: &[impl AsRef<Path>]) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut rows = source::open(paths, &ReadOptions::default())?;
    let columns = rows.columns().count;
    let (mut count, mut sum) = (0, 0.0);
    while let Some(block) = rows.next_block((CELLS / columns.max(1)).clamp(1, ROWS))? {
        count += block.rows();
        let last = block.rows() - 1;
        sum += match &block.values {
            Values::F32(rows) => rows.row(last).iter().map(|x| f64::from(*x)).sum::<f64>(),
            Values::F64(rows) => rows.row(last).sum(),
        };
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{{\"rows\": {count}, \"columns\": {columns}, \"last_rows_sum\": {sum}, \"seconds\": {seconds}}}");
    Ok(())
}

/// A table of 10,000 rows of three waves, as text.
fn waves() -> String {
    let mut table = String::from("slow,medium,fast\n");
    for i in 0..10_000 {
        let angle = f64::from(i) / 1_000.0;
        writeln!(table, "{},{},{}", angle.sin(), (3.0 * angle).sin(), (9.0 * angle).sin()).expect("a string can grow");
    }
    table
}
