//! The stream reader of arrow-ipc 59.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use arrow_array::{Float64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

use crate::damage::{every_changed_byte, file_to_read};

pub(crate) fn batch() -> RecordBatch {
    let numbers = Float64Array::from_iter_values((0..64).map(f64::from));
    let names = StringArray::from_iter_values((0..64).map(|i| format!("row {i}")));
    RecordBatch::try_from_iter([("x", Arc::new(numbers) as _), ("name", Arc::new(names) as _)]).unwrap()
}

#[test]
#[ignore = "shows a fault of a dependency"]
fn a_changed_byte_panics_or_aborts() {
    let batch = batch();
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let failures = every_changed_byte(&bytes, "arrow::reads_a_file");
    assert!(failures.panics + failures.aborts > 0);
}

/// Reads a file, whatever the result; only [`a_changed_byte_panics_or_aborts`] gives it one.
#[test]
#[ignore = "started by another test"]
fn reads_a_file() {
    let Some(path) = file_to_read() else { return };
    if let Ok(reader) = StreamReader::try_new(BufReader::new(File::open(path).unwrap()), None) {
        reader.for_each(drop);
    }
}
