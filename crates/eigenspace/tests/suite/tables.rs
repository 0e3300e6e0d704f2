//! Tables of text, Parquet and Arrow IPC as rows: every expected number is computed here.

mod hostile;
mod parallel;
mod parquet_and_arrow;
mod text;

use std::path::Path;

use eigenspace::io::Error;
use eigenspace::io::source::{self, ReadOptions, RowBlock, Values};

/// A directory for the files of one test.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a new file: many of them over one another make some file systems wait for the disk.
fn anew(path: &Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

/// All rows of a source.
#[derive(Debug, Clone, PartialEq, Default)]
struct Everything {
    /// As bits, so that NaN equals NaN.
    rows: Vec<Vec<u64>>,
    labels: Vec<String>,
    weights: Vec<u64>,
    /// The file name and the row of each row in it.
    places: Vec<(String, u64)>,
}

impl Everything {
    fn add(&mut self, block: &RowBlock) {
        let values = block.values.to_f64();
        assert_eq!(block.rows(), values.nrows());
        self.rows.extend(values.rows().into_iter().map(|row| bits(&row.to_vec())));
        self.labels.extend(block.labels.iter().flatten().cloned());
        self.weights.extend(bits(block.weights.as_deref().unwrap_or_default()));
        let name = block.origin.path.file_name().unwrap().to_string_lossy();
        self.places.extend((0..block.rows() as u64).map(|row| (name.to_string(), block.origin.first + row)));
    }

    fn after(&self, skipped: usize) -> Self {
        let past = skipped.min(self.rows.len());
        let labels = self.labels.get(past..).unwrap_or_default().to_vec();
        let weights = self.weights.get(past..).unwrap_or_default().to_vec();
        Self { rows: self.rows[past..].to_vec(), labels, weights, places: self.places[past..].to_vec() }
    }
}

/// The bits of numbers, with one NaN for all.
fn bits(row: &[f64]) -> Vec<u64> {
    row.iter().map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }).collect()
}

/// Rows as [`Everything`] holds them.
fn rows_of(rows: &[&[f64]]) -> Vec<Vec<u64>> {
    rows.iter().map(|row| bits(row)).collect()
}

/// Skips some rows, then reads all others in blocks of this size.
fn read_after<P: AsRef<Path>>(
    inputs: &[P],
    options: &ReadOptions,
    skip: u64,
    size: usize,
) -> Result<Everything, Error> {
    let mut source = source::open(inputs, options)?;
    source.skip(skip)?;
    let mut all = Everything::default();
    while let Some(block) = source.next_block(size)? {
        assert!((1..=size).contains(&block.rows()));
        assert_eq!(block.values.dim().1, source.columns().count);
        all.add(&block);
    }
    assert!(source.next_block(size)?.is_none(), "the end is the end");
    Ok(all)
}

/// Reads all rows of one file, and checks that neither the block size nor skipping changes them.
fn read(path: &Path, options: &ReadOptions) -> Everything {
    let all = read_after(&[path], options, 0, 1000).unwrap();
    for size in [1, 7] {
        assert_eq!(read_after(&[path], options, 0, size).unwrap(), all, "blocks of {size}");
    }
    let count = all.rows.len();
    for skip in [1, 2, count / 2, count.saturating_sub(1), count, count + 5] {
        assert_eq!(read_after(&[path], options, skip as u64, 3).unwrap(), all.after(skip), "skipping {skip}");
        let skipped = source::open(&[path], options).unwrap().skip(skip as u64).unwrap();
        assert_eq!(skipped, skip.min(count) as u64);
    }
    if let Some(rows) = source::open(&[path], options).unwrap().rows() {
        assert_eq!(rows, count as u64);
    }
    all
}

/// The column names of a file.
fn names(path: &Path, options: &ReadOptions) -> Option<Vec<String>> {
    source::open(&[path], options).unwrap().columns().names.clone()
}

/// Whether a file is given in 32 bits.
fn is_narrow(path: &Path, options: &ReadOptions) -> bool {
    let block = source::open(&[path], options).unwrap().next_block(1).unwrap().unwrap();
    matches!(block.values, Values::F32(_))
}

/// The message of an error, its cause, and its hint if there is one.
fn refusal(path: &Path, options: &ReadOptions) -> String {
    let error = read_after(&[path], options, 0, 5).expect_err("it must be refused");
    told(&error)
}

fn told(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    match error.hint() {
        Some(hint) => format!("{cause}\n{hint}"),
        None => cause,
    }
}

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
