//! Arrow IPC: the file format (also called Feather, version 2) and the stream format.
//!
//! Both consist of messages: one for the schema, then one for each batch. A file also ends with a
//! list of them, so its rows can be counted and skipped. `message.rs` checks the lengths and
//! offsets in a message before it is decoded, because the decoder trusts them.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::MessageHeader;
use arrow_ipc::reader::FileDecoder;

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::layout::Layout;
use crate::io::source::message::{Failure, Footer, Message, Place, malformed};
use crate::io::source::table::{Batches, Table};
use crate::io::source::{ReadOptions, RowSource, SourceError};

/// Opens a file.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    let path = Arc::new(path.to_owned());
    let read = |source| Error::Io { action: "read", path: path.to_path_buf(), source };
    let mut file = BufReader::with_capacity(1 << 16, File::open(path.as_ref()).map_err(read)?);
    let mut start = Vec::new();
    (&mut file).take(6).read_to_end(&mut start).map_err(read)?;
    if start == b"ARROW1" {
        return whole_file(path, file, options);
    }
    if start.starts_with(b"FEA1") {
        return Err(at(path.as_ref())(malformed("it is Feather version 1, and only version 2 is read")));
    }
    stream(path, Box::new(std::io::Cursor::new(start).chain(file)), options)
}

/// Adds the path to a failure.
fn failed(path: &Path) -> impl Fn(Failure) -> Error {
    move |failure| match failure {
        Failure::Io(source) => Error::Io { action: "read", path: path.to_owned(), source },
        Failure::Data(source) => at(path)(source),
    }
}

fn whole_file(
    path: Arc<PathBuf>,
    mut file: BufReader<File>,
    options: &ReadOptions,
) -> Result<Box<dyn RowSource>, Error> {
    let footer = Footer::read(&mut file).map_err(failed(&path))?;
    let layout = Layout::new(&footer.schema.fields, options).map_err(at(path.as_ref()))?;
    let mut decoder = FileDecoder::new(Arc::new(footer.schema), footer.version).with_projection(layout.decoded.clone());
    for place in footer.dictionaries {
        let message = place.message(&mut file).map_err(failed(&path))?;
        message.read_dictionary(&mut decoder).map_err(at(path.as_ref()))?;
    }
    let mut places = VecDeque::with_capacity(footer.batches.len());
    let mut rows = 0_u64;
    for place in footer.batches {
        let more = place.rows(&mut file).map_err(failed(&path))?;
        rows = rows.saturating_add(more);
        places.push_back((place, more));
    }
    let batches = FileBatches { path: path.clone(), file, decoder, places };
    Ok(Box::new(Table::open(path, batches, layout, Some(rows))?))
}

fn stream(
    path: Arc<PathBuf>,
    mut bytes: Box<dyn Read + Send>,
    options: &ReadOptions,
) -> Result<Box<dyn RowSource>, Error> {
    let message = Message::next(&mut bytes).map_err(failed(&path))?;
    let message = message.ok_or_else(|| at(path.as_ref())(SourceError::Empty))?;
    let (schema, version) = message.schema().map_err(at(path.as_ref()))?;
    let layout = Layout::new(&schema.fields, options).map_err(at(path.as_ref()))?;
    let decoder = FileDecoder::new(Arc::new(schema), version).with_projection(layout.decoded.clone());
    let batches = StreamBatches { path: path.clone(), bytes, decoder };
    Ok(Box::new(Table::open(path, batches, layout, None)?))
}

/// The batches of a file, whose positions are known.
struct FileBatches {
    path: Arc<PathBuf>,
    file: BufReader<File>,
    decoder: FileDecoder,
    /// The positions of the remaining batches, and the number of rows of each.
    places: VecDeque<(Place, u64)>,
}

impl Batches for FileBatches {
    fn next_batch(&mut self, _rows: usize) -> Result<Option<RecordBatch>, Error> {
        let Some((place, _)) = self.places.pop_front() else { return Ok(None) };
        let message = place.message(&mut self.file).map_err(failed(&self.path))?;
        message.read_batch(&self.decoder).map(Some).map_err(at(self.path.as_ref()))
    }

    fn skip_undecoded(&mut self, rows: u64) -> Result<u64, Error> {
        let mut passed = 0;
        while let Some((_, more)) = self.places.front().filter(|(_, more)| *more <= rows - passed) {
            passed += more;
            self.places.pop_front();
        }
        Ok(passed)
    }
}

/// The batches of a stream, one after the other.
struct StreamBatches {
    path: Arc<PathBuf>,
    bytes: Box<dyn Read + Send>,
    decoder: FileDecoder,
}

impl Batches for StreamBatches {
    fn next_batch(&mut self, _rows: usize) -> Result<Option<RecordBatch>, Error> {
        while let Some(message) = Message::next(&mut self.bytes).map_err(failed(&self.path))? {
            match message.kind().map_err(at(self.path.as_ref()))? {
                MessageHeader::DictionaryBatch => {
                    message.read_dictionary(&mut self.decoder).map_err(at(self.path.as_ref()))?;
                }
                _ => return message.read_batch(&self.decoder).map(Some).map_err(at(self.path.as_ref())),
            }
        }
        Ok(None)
    }

    fn skip_undecoded(&mut self, _rows: u64) -> Result<u64, Error> {
        Ok(0)
    }
}
