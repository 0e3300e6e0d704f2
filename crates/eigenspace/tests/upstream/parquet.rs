//! The reader of parquet 59.

use std::fs::File;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::arrow::batch;
use crate::damage::{every_changed_byte, file_to_read};

#[test]
#[ignore = "shows a fault of a dependency"]
fn a_changed_byte_panics_or_aborts() {
    let batch = batch();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let failures = every_changed_byte(&bytes, "parquet::reads_a_file");
    assert!(failures.panics + failures.aborts > 0);
}

/// Reads a file, whatever the result; only [`a_changed_byte_panics_or_aborts`] gives it one.
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
