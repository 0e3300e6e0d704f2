//! Files that are truncated, damaged, or not tables at all: always an error, never a crash.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float32Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{Float64Array, RecordBatch};
use eigenspace::internal::Prefetch;
use eigenspace::io::Error;
use eigenspace::io::source::{self, Columns, ReadOptions, RowBlock, RowSource};

use super::parquet_and_arrow::{table, written};
use super::{anew, directory, read_after, refusal};
use crate::support::Random;

/// A small table with a column of each kind that has its own decoder.
fn small() -> RecordBatch {
    let mut lists = ListBuilder::new(Float32Builder::new());
    let mut kinds = StringDictionaryBuilder::<Int8Type>::new();
    for row in 0..20 {
        lists.append_value([Some(row as f32), None, Some(1.0)]);
        kinds.append_value(["cat", "dog"][row % 2]);
    }
    table(vec![
        ("x", Arc::new(Float64Array::from_iter((0..20).map(|row| (row != 3).then_some(f64::from(row).sqrt()))))),
        ("lists", Arc::new(lists.finish())),
        ("kind", Arc::new(kinds.finish())),
    ])
}

fn options() -> ReadOptions {
    ReadOptions::new().label("kind")
}

/// Reads what may be anything; only errors about the file are allowed.
fn survives(path: &Path, what: &str) -> bool {
    match read_after(&[path], &options(), 0, 6) {
        Ok(_) => true,
        Err(Error::Source { .. } | Error::Io { .. }) => false,
        Err(other) => panic!("{what}: {other:?}"),
    }
}

#[test]
fn tables_cut_at_any_length_are_refused() {
    let directory = directory();
    for path in written(directory.path(), &small(), 8) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().to_string();
        let cut = directory.path().join(format!("cut-{name}"));
        let mut read = 0;
        for length in 0..bytes.len() {
            anew(&cut, &bytes[..length]);
            read += usize::from(survives(&cut, &format!("{name} of {length} bytes")));
        }
        // A stream may end after each of its three batches; before the first, its lists have no
        // length.
        assert_eq!(read, if name.ends_with("arrows") { 3 } else { 0 }, "cuts of {name} that were not noticed");
    }
}

#[test]
fn tables_with_a_changed_byte_are_read_or_refused() {
    let directory = directory();
    let mut random = Random::new(7);
    for path in written(directory.path(), &small(), 8) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().to_string();
        let bad = directory.path().join(format!("bad-{name}"));
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << (random.uniform() * 8.0) as u32;
            anew(&bad, &changed);
            survives(&bad, &format!("{name} changed at {place}"));
        }
    }
}

#[test]
fn bytes_that_never_were_a_table_are_refused() {
    let directory = directory();
    let mut random = Random::new(8);
    for round in 0..200 {
        let noise: Vec<u8> = (0..round * 3).map(|_| (random.uniform() * 256.0) as u8).collect();
        for (name, start, end) in [
            ("a.parquet", &b"PAR1"[..], &b"PAR1"[..]),
            ("b.arrow", b"ARROW1\0\0", b"ARROW1"),
            ("c.arrow", b"", b""),
            ("d.arrow", b"\xff\xff\xff\xff\x10\x00\x00\x00", b""),
        ] {
            let path = directory.path().join(name);
            anew(&path, &[start, &noise, end].concat());
            assert!(!survives(&path, name));
        }
    }
    let old = directory.path().join("old.feather");
    std::fs::write(&old, b"FEA1\0\0\0\0FEA1").unwrap();
    assert_eq!(
        refusal(&old, &options()),
        "not a valid Arrow IPC file: it is Feather version 1, and only version 2 is read\nwrite the table again as Feather version 2, for example with pandas or pyarrow"
    );
}

/// Returns one block and then panics, like a decoder with a bug.
struct Panicking {
    rows: Box<dyn RowSource>,
    blocks: usize,
}

impl RowSource for Panicking {
    fn columns(&self) -> &Columns {
        self.rows.columns()
    }

    fn rows(&self) -> Option<u64> {
        self.rows.rows()
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        self.blocks += 1;
        assert!(self.blocks == 1, "this panic is part of a test");
        self.rows.next_block(rows)
    }
}

#[test]
fn a_reader_that_panics_is_an_error_after_the_rows_before() {
    let directory = directory();
    let path = directory.path().join("t.csv");
    anew(&path, b"a,b\n1,2\n3,5\n4,4\n");
    let rows = source::open(&[&path], &ReadOptions::new()).unwrap();
    let mut blocks = Prefetch::with_rows(Box::new(Panicking { rows, blocks: 0 }), 2);
    assert_eq!(blocks.next().unwrap().unwrap().rows(), 2);
    let error = blocks.next().unwrap().unwrap_err();
    assert!(matches!(error, Error::Reader));
    assert_eq!(error.to_string(), "internal error in the reader of the rows; please report this");
    assert!(blocks.next().is_none());
}

#[test]
fn no_inputs_are_refused_in_words_without_an_empty_path() {
    let error = source::open::<&Path>(&[], &ReadOptions::new()).err().unwrap();
    assert!(matches!(error, Error::NoInputs) && error.hint().is_some());
    assert_eq!(error.to_string(), "cannot read rows: no input was given");
}

#[test]
fn tables_with_many_changed_bytes_are_read_or_refused() {
    let directory = directory();
    let mut random = Random::new(9);
    for path in written(directory.path(), &small(), 8) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().to_string();
        let bad = directory.path().join(format!("bad-{name}"));
        for round in 0..1000 {
            let mut changed = bytes.clone();
            for _ in 0..=round % 4 {
                let place = (random.uniform() * bytes.len() as f64) as usize;
                changed[place] =
                    [0, 0xff, 0x7f, 0x80, (random.uniform() * 256.0) as u8][(random.uniform() * 5.0) as usize];
            }
            anew(&bad, &changed);
            survives(&bad, &format!("{name} in round {round}"));
        }
    }
}
