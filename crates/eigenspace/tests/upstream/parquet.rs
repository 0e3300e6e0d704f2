//! The reader of parquet 59.

use std::fs::File;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::arrow::batch;
use crate::damage::{End, file_to_read, read_elsewhere};

#[test]
#[ignore = "shows a fault of a dependency"]
fn a_changed_byte_panics() {
    let batch = batch();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert_eq!(read_elsewhere(&bytes, "parquet::reads_a_file"), End::Returned);
    let changed = |offset: &usize| {
        let mut changed = bytes.clone();
        changed[*offset] ^= 0xFF;
        read_elsewhere(&changed, "parquet::reads_a_file") == End::Panicked
    };
    // From the end, where the metadata is.
    let offset = (0..bytes.len()).rev().find(changed);
    println!("a file of {} bytes: changing byte {offset:?} panics", bytes.len());
    assert!(offset.is_some());
}

/// Reads a file, whatever the result; only [`read_elsewhere`] gives it one.
#[test]
#[ignore = "started by another test"]
fn reads_a_file() {
    let Some(path) = file_to_read() else { return };
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).and_then(|builder| builder.build());
    if let Ok(reader) = reader {
        reader.for_each(drop);
    }
}
