//! Tables that are large enough to be read in parallel: the same rows and errors as with one
//! thread.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use eigenspace::io::source::ReadOptions;

use super::parquet_and_arrow::{table, written};
use super::{Everything, anew, bits, directory, read_after, told};
use crate::support::Random;

const ROWS: usize = 1200;
const COLUMNS: usize = 37;
/// The columns of lists have three numbers in each row.
const LISTS: [usize; 2] = [5, 30];

/// The number in a cell; `None` is a null.
fn cell(row: usize, column: usize) -> Option<f64> {
    match column % 3 {
        _ if LISTS.contains(&column) => Some((row * 7 + column) as f64),
        0 => (!(row + column).is_multiple_of(11)).then(|| ((row * 31 + column) as f64).sqrt()),
        1 => Some((row * column) as f64 - 1e4),
        _ => (row % 5 != 2).then(|| f64::from((row as f32 / (column + 1) as f32).sin())),
    }
}

/// A table with columns of several types, and names of rows.
fn wide() -> RecordBatch {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for column in 0..COLUMNS {
        let cells = (0..ROWS).map(|row| cell(row, column));
        let array: ArrayRef = match column % 3 {
            _ if LISTS.contains(&column) => {
                let mut lists = ListBuilder::new(Float32Builder::new());
                for number in cells.flatten() {
                    lists.append_value([Some(number as f32), None, Some(-1.5)]);
                }
                Arc::new(lists.finish())
            }
            0 => Arc::new(cells.collect::<Float64Array>()),
            1 => Arc::new(cells.map(|cell| cell.map(|cell| cell as i64)).collect::<Int64Array>()),
            _ => Arc::new(cells.map(|cell| cell.map(|cell| cell as f32)).collect::<Float32Array>()),
        };
        columns.push((format!("x{column}"), array));
    }
    let names: StringArray = (0..ROWS).map(|row| Some(format!("row {row}"))).collect();
    columns.insert(20, ("name".into(), Arc::new(names)));
    table(columns.iter().map(|(name, array)| (name.as_str(), array.clone())).collect())
}

fn options() -> ReadOptions {
    ReadOptions::new().label("name")
}

/// All rows, or the message of the error.
fn outcome(path: &Path, threads: usize, block: usize) -> Result<Everything, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| read_after(&[path], &options(), 0, block)).map_err(|error| told(&error))
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let directory = directory();
    let expected: Vec<Vec<u64>> = (0..ROWS)
        .map(|row| {
            let cells = (0..COLUMNS).flat_map(|column| {
                let first = cell(row, column).unwrap_or(f64::NAN);
                if LISTS.contains(&column) { vec![first, f64::NAN, -1.5] } else { vec![first] }
            });
            bits(&cells.collect::<Vec<_>>())
        })
        .collect();
    let labels: Vec<String> = (0..ROWS).map(|row| format!("row {row}")).collect();
    for path in written(directory.path(), &wide(), 500) {
        for threads in [1, 2, 5] {
            for block in [450, 1000, 5000] {
                let all = outcome(&path, threads, block).unwrap();
                assert!(all.rows == expected, "{}, {threads} threads, blocks of {block}", path.display());
                assert_eq!(all.labels, labels);
            }
        }
    }
}

#[test]
fn damaged_tables_are_read_or_refused_in_the_same_way_by_any_number_of_threads() {
    let directory = directory();
    let mut random = Random::new(16);
    let path = &written(directory.path(), &wide(), 500)[0];
    let bytes = std::fs::read(path).unwrap();
    let bad = directory.path().join("bad.parquet");
    let mut refused = 0;
    for round in 0..120 {
        let mut changed = bytes.clone();
        for _ in 0..=round % 3 {
            let place = (random.uniform() * bytes.len() as f64) as usize;
            changed[place] ^= 1 << (random.uniform() * 8.0) as u32;
        }
        anew(&bad, &changed);
        let expected = outcome(&bad, 1, 1000);
        assert!(outcome(&bad, 3, 1000) == expected, "round {round}: {:?}", expected.err());
        refused += usize::from(expected.is_err());
    }
    assert!((5..115).contains(&refused), "{refused} of 120 were refused");
}
