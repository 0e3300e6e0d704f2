//! Reads the next block while the caller works on the current one.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use crate::io::error::Error;
use crate::io::source::{Columns, RowBlock, RowSource};

/// Size of a block in bytes, as f64.
const BLOCK_BYTES: usize = 8 << 20;
/// Largest number of rows of a block, however few columns it has.
const BLOCK_ROWS: usize = 8192;

/// The blocks of a source, read by a separate thread. At most three are in memory: one with the
/// caller, one waiting, and one being read.
pub struct Prefetch {
    columns: Columns,
    rows: Option<u64>,
    blocks: Receiver<Result<RowBlock, Error>>,
    reader: Option<JoinHandle<()>>,
}

impl Prefetch {
    /// Starts to read a source in blocks of about 8 MiB.
    pub fn new(source: Box<dyn RowSource>) -> Self {
        let cells = BLOCK_BYTES / size_of::<f64>();
        let rows = (cells / source.columns().count.max(1)).clamp(1, BLOCK_ROWS);
        Self::with_rows(source, rows)
    }

    /// Starts to read a source in blocks of at most this many rows.
    pub fn with_rows(mut source: Box<dyn RowSource>, block_rows: usize) -> Self {
        let (columns, rows) = (source.columns().clone(), source.rows());
        let (sender, blocks) = sync_channel(1);
        let reader = std::thread::spawn(move || {
            loop {
                let (block, last) = match source.next_block(block_rows.max(1)) {
                    Ok(None) => break,
                    Ok(Some(block)) => (Ok(block), false),
                    Err(error) => (Err(error), true),
                };
                // The receiver was dropped: no more blocks are needed.
                if sender.send(block).is_err() || last {
                    break;
                }
            }
        });
        Self { columns, rows, blocks, reader: Some(reader) }
    }

    /// Information about the columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Total number of rows, if known.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }
}

impl Iterator for Prefetch {
    type Item = Result<RowBlock, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Ok(block) = self.blocks.recv() {
            return Some(block);
        }
        // The thread has ended, either at the end of the rows or because a decoder panicked.
        let broke_down = self.reader.take().is_some_and(|reader| reader.join().is_err());
        broke_down.then_some(Err(Error::Reader))
    }
}
