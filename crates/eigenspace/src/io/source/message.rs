//! The messages of Arrow IPC, and checks before they are decoded.
//!
//! | bytes | field |
//! |---|---|
//! | 4 | `ff ff ff ff`; missing in old files |
//! | 4 | length of the metadata, which contains the number of rows and the ranges of the body |
//! | … | metadata (a flatbuffer) |
//! | … | body |
//!
//! The decoder slices the body at the ranges in the metadata, and reserves as much memory as a
//! compressed buffer announces. This module first checks both against the actual number of bytes.
//!
//! We frame the messages ourselves instead of using the readers of `arrow_ipc`. Those allocate what
//! a file announces before they look at what it contains: a file of a few hundred bytes that
//! announces a buffer of 2^62 bytes makes the allocator abort the process, and an abort cannot be
//! caught as a panic can. A cap on the size of the file does not help, because the announced size
//! is not the size of the file.

use std::io::{Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::Schema;

use crate::io::source::SourceError;
use crate::io::source::table::guarded;
use crate::printable::grouped;

/// The name of the format in error messages.
pub(super) const FORMAT: &str = "Arrow IPC file";

/// Upper bound on the compression ratio of LZ4 and Zstandard.
const MAX_COMPRESSION_RATIO: i64 = 1 << 16;

/// Why bytes were not read.
pub(super) enum Failure {
    /// The file could not be read.
    Io(std::io::Error),
    /// The bytes are invalid.
    Data(SourceError),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Data(error)
    }
}

pub(super) fn malformed(problem: impl ToString) -> SourceError {
    SourceError::Malformed { format: FORMAT, problem: problem.to_string() }
}

fn cut_short() -> SourceError {
    malformed("it was cut short, or is still being written")
}

/// Appends exactly `count` bytes, without reserving memory for more than the reader has.
fn fill(from: &mut impl Read, count: u64, into: &mut Vec<u8>) -> Result<(), Failure> {
    into.reserve(usize::try_from(count).unwrap_or(usize::MAX).min(1 << 22));
    match from.take(count).read_to_end(into)? as u64 == count {
        true => Ok(()),
        false => Err(cut_short().into()),
    }
}

/// The bytes of a message.
pub(super) struct Message {
    bytes: Vec<u8>,
    /// Start of the metadata.
    start: usize,
    /// Start of the body.
    body: usize,
}

impl Message {
    /// The next message of a stream; `None` at its end.
    pub(super) fn next(from: &mut impl Read) -> Result<Option<Self>, Failure> {
        let mut bytes = Vec::new();
        if from.take(4).read_to_end(&mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes == [0xff; 4] {
            fill(from, 4, &mut bytes)?;
        }
        let start = bytes.len();
        let length = bytes.last_chunk().map(|length| i32::from_le_bytes(*length)).ok_or_else(cut_short)?;
        if length == 0 {
            return Ok(None);
        }
        fill(from, u64::try_from(length).map_err(malformed)?, &mut bytes)?;
        let mut message = Self { body: bytes.len(), bytes, start };
        let body = message.header()?.bodyLength();
        fill(from, u64::try_from(body).map_err(malformed)?, &mut message.bytes)?;
        Ok(Some(message))
    }

    fn header(&self) -> Result<arrow_ipc::Message<'_>, SourceError> {
        root_as_message(&self.bytes[self.start..self.body]).map_err(malformed)
    }

    /// The kind of the message.
    pub(super) fn kind(&self) -> Result<MessageHeader, SourceError> {
        Ok(self.header()?.header_type())
    }

    /// The schema in the message.
    pub(super) fn schema(&self) -> Result<(Schema, MetadataVersion), SourceError> {
        let header = self.header()?;
        let schema = header.header_as_schema().ok_or_else(|| malformed("it does not begin with a schema"))?;
        Ok((decode_schema(schema)?, header.version()))
    }

    /// Decodes a dictionary and passes it to the decoder.
    pub(super) fn read_dictionary(self, decoder: &mut FileDecoder) -> Result<(), SourceError> {
        let header = self.header()?;
        let batch = header.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
        self.check(batch)?;
        let block = self.block()?;
        guarded(FORMAT, || decoder.read_dictionary(&block, &self.bytes.into()))
    }

    /// Decodes a batch of rows.
    pub(super) fn read_batch(self, decoder: &FileDecoder) -> Result<RecordBatch, SourceError> {
        let header = self.header()?;
        self.check(header.header_as_record_batch())?;
        let block = self.block()?;
        let batch = guarded(FORMAT, || decoder.read_record_batch(&block, &self.bytes.into()))?;
        batch.ok_or_else(|| malformed("a batch is empty"))
    }

    /// The message as a block that starts at position 0.
    fn block(&self) -> Result<Block, SourceError> {
        let metadata = i32::try_from(self.body).map_err(malformed)?;
        Ok(Block::new(0, metadata, i64::try_from(self.bytes.len() - self.body).map_err(malformed)?))
    }

    /// Checks the ranges of a batch, and the sizes that it announces, against the body.
    fn check(&self, batch: Option<arrow_ipc::RecordBatch<'_>>) -> Result<(), SourceError> {
        let batch = batch.ok_or_else(|| malformed("a message is of the wrong kind"))?;
        let body = &self.bytes[self.body..];
        for buffer in batch.buffers().into_iter().flatten() {
            let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
            let bytes = range.and_then(|range| body.get(range)).ok_or_else(|| malformed("a column is cut short"))?;
            let announced = bytes.first_chunk().map_or(0, |length| i64::from_le_bytes(*length));
            if batch.compression().is_some() && announced / MAX_COMPRESSION_RATIO > bytes.len() as i64 {
                return Err(malformed(format!(
                    "{} bytes cannot unpack to {}",
                    grouped(bytes.len()),
                    grouped(announced)
                )));
            }
        }
        let mut nodes = batch.nodes().into_iter().flatten();
        if batch.length() < 0
            || nodes.any(|node| node.length() < 0 || !(0..=node.length()).contains(&node.null_count()))
        {
            return Err(malformed("a column has less than no rows"));
        }
        Ok(())
    }
}

/// Converts the schema of a message to that of the arrow crate.
fn decode_schema(schema: arrow_ipc::Schema<'_>) -> Result<Schema, SourceError> {
    guarded(FORMAT, || match schema.endianness() {
        arrow_ipc::Endianness::Little => Ok(fb_to_schema(schema)),
        _ => Err("its numbers are big-endian"),
    })
}

/// The position of a message in a file.
pub(super) struct Place {
    offset: u64,
    metadata: u64,
    body: u64,
}

impl Place {
    /// A position that is inside the file.
    fn new(block: &Block, end: u64) -> Result<Self, SourceError> {
        let outside = || malformed("a batch is outside of the file");
        let offset = u64::try_from(block.offset()).map_err(|_| outside())?;
        let metadata = u64::try_from(block.metaDataLength()).map_err(|_| outside())?;
        let body = u64::try_from(block.bodyLength()).map_err(|_| outside())?;
        let last = offset.checked_add(metadata).and_then(|sum| sum.checked_add(body));
        match last.is_some_and(|last| last <= end) && metadata >= 8 {
            true => Ok(Self { offset, metadata, body }),
            false => Err(outside()),
        }
    }

    /// Reads the message with the first `body` bytes of its body.
    fn read(&self, from: &mut (impl Read + Seek), body: u64) -> Result<Message, Failure> {
        from.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        fill(from, self.metadata + body, &mut bytes)?;
        let start = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let metadata = usize::try_from(self.metadata).map_err(malformed)?;
        Ok(Message { bytes, start, body: metadata })
    }

    /// Reads the message.
    pub(super) fn message(&self, from: &mut (impl Read + Seek)) -> Result<Message, Failure> {
        self.read(from, self.body)
    }

    /// The number of rows in its metadata.
    pub(super) fn rows(&self, from: &mut (impl Read + Seek)) -> Result<u64, Failure> {
        let message = self.read(from, 0)?;
        let header = message.header()?;
        let batch = header.header_as_record_batch().ok_or_else(|| malformed("a message is of the wrong kind"))?;
        Ok(u64::try_from(batch.length()).map_err(malformed)?)
    }
}

/// The list at the end of a file.
pub(super) struct Footer {
    /// The columns.
    pub(super) schema: Schema,
    /// The version of all messages.
    pub(super) version: MetadataVersion,
    /// The positions of the dictionaries.
    pub(super) dictionaries: Vec<Place>,
    /// The positions of the batches.
    pub(super) batches: Vec<Place>,
}

impl Footer {
    /// Reads the end of a file.
    pub(super) fn read(from: &mut (impl Read + Seek)) -> Result<Self, Failure> {
        let end = from.seek(SeekFrom::End(0))?;
        let mut tail = Vec::new();
        from.seek(SeekFrom::Start(end.saturating_sub(10)))?;
        from.read_to_end(&mut tail)?;
        let length = tail.strip_suffix(b"ARROW1").and_then(|length| length.last_chunk()).ok_or_else(cut_short)?;
        let length = u64::try_from(i32::from_le_bytes(*length)).map_err(malformed)?;
        let start = end.checked_sub(10 + length).ok_or_else(cut_short)?;
        from.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        fill(from, length, &mut bytes)?;
        let footer = root_as_footer(&bytes).map_err(malformed)?;
        let schema = footer.schema().ok_or_else(|| malformed("it has no schema"))?;
        let (dictionaries, batches) = (footer.dictionaries(), footer.recordBatches());
        Ok(Self {
            schema: decode_schema(schema)?,
            version: footer.version(),
            dictionaries: dictionaries
                .into_iter()
                .flatten()
                .map(|block| Place::new(block, start))
                .collect::<Result<_, _>>()?,
            batches: batches.into_iter().flatten().map(|block| Place::new(block, start)).collect::<Result<_, _>>()?,
        })
    }
}
