//! The stream reader of arrow-ipc 59.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use arrow_array::{Float64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

use crate::damage::{End, file_to_read, read_elsewhere};

pub(crate) fn batch() -> RecordBatch {
    let numbers = Float64Array::from_iter_values((0..64).map(f64::from));
    let names = StringArray::from_iter_values((0..64).map(|i| format!("row {i}")));
    RecordBatch::try_from_iter([("x", Arc::new(numbers) as _), ("name", Arc::new(names) as _)]).unwrap()
}

/// The length of the first compressed buffer when it is decompressed: eight bytes in front of the
/// LZ4 frame.
fn announced_length(bytes: &[u8]) -> std::ops::Range<usize> {
    let frame = bytes.windows(4).position(|four| four == [0x04, 0x22, 0x4D, 0x18]).unwrap();
    frame - 8..frame
}

#[test]
#[ignore = "shows a fault of a dependency"]
fn a_buffer_that_announces_too_many_bytes_ends_the_process() {
    let batch = batch();
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    assert_eq!(read_elsewhere(&bytes, "arrow::reads_a_file"), End::Returned);
    let range = announced_length(&bytes);
    bytes[range].copy_from_slice(&(1_i64 << 62).to_le_bytes());
    let end = read_elsewhere(&bytes, "arrow::reads_a_file");
    println!("a file of {} bytes: {end:?}", bytes.len());
    assert_eq!(end, End::Aborted);
}

/// Reads a file, whatever the result; only [`read_elsewhere`] gives it one.
#[test]
#[ignore = "started by another test"]
fn reads_a_file() {
    let Some(path) = file_to_read() else { return };
    if let Ok(reader) = StreamReader::try_new(BufReader::new(File::open(path).unwrap()), None) {
        reader.for_each(drop);
    }
}
