//! The reader of parquet 59.

use std::fs::File;
use std::io::{BufReader, Error, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{ChunkReader, Length};

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

/// More reads at the end of a file than any reader has a reason for.
const MANY: u64 = 100_000;

/// A file that counts the reads at its end, and stops them after many.
struct Counted(File, Arc<AtomicU64>);

impl Length for Counted {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for Counted {
    type T = CountedPart;

    fn get_read(&self, start: u64) -> parquet::errors::Result<CountedPart> {
        Ok(CountedPart(self.0.get_read(start)?, Arc::clone(&self.1)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

struct CountedPart(BufReader<File>, Arc<AtomicU64>);

impl Read for CountedPart {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.1.fetch_add(1, Ordering::Relaxed) >= MANY {
            return Err(Error::other("stopped"));
        }
        Ok(read)
    }
}

#[test]
#[ignore = "shows a fault of a dependency"]
fn the_end_of_the_file_is_not_noticed_in_a_page_header() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/parquet/endless-header");
    let ends = Arc::new(AtomicU64::new(0));
    let file = Counted(File::open(path).unwrap(), Arc::clone(&ends));
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    assert!(reader.next().unwrap().is_err());
    let ends = ends.load(Ordering::Relaxed);
    println!("the end of a file of {} bytes was read {ends} times", std::fs::metadata(path).unwrap().len());
    assert!(ends > MANY);
}
