//! Parquet files. Only the chosen columns are decoded, in parallel, and skipped row groups are not
//! read.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Fields, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use rayon::prelude::*;

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::layout::Layout;
use crate::io::source::positioned::Rest;
use crate::io::source::table::{Batches, Table, guarded};
use crate::io::source::{ReadOptions, RowSource, SourceError, thrift};

/// Largest number of rows decoded at a time.
const MAX_BATCH_ROWS: usize = 1 << 16;
/// Number of cells of a batch from which on its columns are divided among threads.
const PARALLEL_CELLS: usize = 1 << 14;
/// Number of parts into which the columns are divided, for each thread.
const PARTS_PER_THREAD: usize = 4;
/// Number of times that a reader may find the end of the file.
const MAX_ENDS: u32 = 64;
/// Bytes at the end of a file that give the length of the footer.
const FOOTER_END: u64 = 8;

/// Opens a file.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    let path = Arc::new(path.to_owned());
    let failed = |source| Error::Io { action: "read", path: path.to_path_buf(), source };
    let mut file = File::open(path.as_ref()).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    check_footer(&mut file, bytes).map_err(|problem| at(path.as_ref())(malformed(problem)))?;
    let file = Chunks(Arc::new(file));
    let metadata = guarded(FORMAT, || ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()));
    let metadata = metadata.map_err(at(path.as_ref()))?;
    let layout = Layout::new(metadata.schema().fields(), options).map_err(at(path.as_ref()))?;
    let rows = rows(&metadata, bytes).map_err(at(path.as_ref()))?;
    let (path_of_groups, columns) = (path.clone(), layout.decoded.clone());
    let groups =
        Groups { path: path_of_groups, file, metadata, columns, whole: false, position: 0, rows, readers: None };
    Ok(Box::new(Table::open(path, groups, layout, Some(rows))?))
}

const FORMAT: &str = "Parquet file";

/// A file whose parts are read by parquet, several at the same time.
#[derive(Clone)]
struct Chunks(Arc<File>);

impl Chunks {
    fn from(&self, start: u64) -> Rest<Arc<File>> {
        Rest::new(self.0.clone(), start)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        Length::len(self.0.as_ref())
    }
}

impl ChunkReader for Chunks {
    type T = Chunk;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Chunk> {
        Ok(Chunk { bytes: BufReader::new(self.from(start)), ends: 0 })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let mut bytes = Vec::with_capacity(length);
        let read = self.from(start).take(length as u64).read_to_end(&mut bytes)?;
        match read == length {
            true => Ok(bytes.into()),
            false => Err(ParquetError::EOF(format!("Expected to read {length} bytes, read only {read}"))),
        }
    }
}

/// The rest of a file. parquet 59.3 skips some fields of a page header without noticing the end of
/// the file, so that a few bytes keep it busy for a long time: here, the end is an error when it was
/// found too often.
struct Chunk {
    bytes: BufReader<Rest<Arc<File>>>,
    /// How often its end was found.
    ends: u32,
}

impl Read for Chunk {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.ends += u32::from(read == 0 && !buffer.is_empty());
        if self.ends > MAX_ENDS {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "a page header goes on behind the end of the file"));
        }
        Ok(read)
    }
}

/// Checks that the file begins and ends like a Parquet file, and then its footer.
fn check_footer(file: &mut File, bytes: u64) -> io::Result<()> {
    let (mut signature, mut end) = (Vec::new(), [0; FOOTER_END as usize]);
    file.take(4).read_to_end(&mut signature)?;
    match &signature[..] {
        b"PAR1" => {}
        b"PARE" => return Ok(()), // encrypted, as parquet reports
        _ => return Err(io::Error::other("it does not start with the signature of Parquet")),
    }
    let cut = || Err(io::Error::other("its end is missing or damaged"));
    if bytes < FOOTER_END {
        return cut();
    }
    file.seek(SeekFrom::End(-(FOOTER_END as i64)))?;
    file.read_exact(&mut end)?;
    let [a, b, c, d, magic @ ..] = end;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    match (bytes - FOOTER_END).checked_sub(length) {
        Some(start) if magic == *b"PAR1" => {
            file.seek(SeekFrom::Start(start))?;
            thrift::check(BufReader::new(file), length)
        }
        _ => cut(),
    }
}

fn malformed(problem: impl ToString) -> SourceError {
    SourceError::Malformed { format: FORMAT, problem: problem.to_string() }
}

/// The number of rows of all row groups. Checks that the row groups are inside the file.
fn rows(metadata: &ArrowReaderMetadata, bytes: u64) -> Result<u64, SourceError> {
    let mut rows = 0_u64;
    for group in metadata.metadata().row_groups() {
        let more = u64::try_from(group.num_rows()).map_err(|_| malformed("a row group has less than no rows"))?;
        rows = rows.checked_add(more).ok_or_else(|| malformed("more rows than can be counted"))?;
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            let range = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
            if range.and_then(|(start, size)| start.checked_add(size)).is_none_or(|end| end > bytes) {
                return Err(malformed("a column goes on behind the end of the file"));
            }
        }
    }
    match u64::try_from(metadata.metadata().file_metadata().num_rows()) {
        Ok(announced) if announced == rows => Ok(rows),
        _ => Err(malformed("its row groups do not add up to the number of rows in its footer")),
    }
}

/// The row groups of a file, from a position on.
struct Groups {
    path: Arc<PathBuf>,
    file: Chunks,
    metadata: ArrowReaderMetadata,
    /// The columns to decode, in order.
    columns: Vec<usize>,
    /// Whether one decoder reads all columns.
    whole: bool,
    /// Number of rows read or skipped.
    position: u64,
    rows: u64,
    readers: Option<Readers>,
}

/// Decoders from a position on, each for some of the columns, and their batch size.
struct Readers {
    parts: Vec<ParquetRecordBatchReader>,
    size: usize,
}

impl Groups {
    /// Decoders from the position on, with batches of `size` rows.
    fn readers(&self, size: usize) -> Result<Readers, Error> {
        let threads = if cfg!(any(unix, windows)) { rayon::current_num_threads() } else { 1 };
        let whole = self.whole || threads == 1 || size.saturating_mul(self.columns.len()) < PARALLEL_CELLS;
        let parts = if whole { 1 } else { PARTS_PER_THREAD * threads };
        let columns = self.columns.chunks(self.columns.len().div_ceil(parts).max(1));
        Ok(Readers { parts: columns.map(|columns| self.reader(columns, size)).collect::<Result<_, _>>()?, size })
    }

    /// A decoder of some columns.
    fn reader(&self, columns: &[usize], size: usize) -> Result<ParquetRecordBatchReader, Error> {
        let mut offset = self.position;
        let groups = self.metadata.metadata().row_groups();
        let passed = groups.iter().map_while(|group| {
            offset = offset.checked_sub(u64::try_from(group.num_rows()).ok()?)?;
            Some(offset)
        });
        let passed = passed.count();
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        guarded(FORMAT, || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), self.metadata.clone())
                .with_projection(mask)
                .with_batch_size(size)
                .with_row_groups((passed..groups.len()).collect())
                .with_offset(usize::try_from(offset).unwrap_or(usize::MAX))
                .build()
        })
        .map_err(at(self.path.as_ref()))
    }
}

impl Readers {
    /// The next batch with all columns. `None` if one decoder has to find out what is wrong.
    fn next_together(&mut self) -> Option<RecordBatch> {
        let next = |reader: &mut ParquetRecordBatchReader| guarded(FORMAT, || reader.next().transpose()).ok().flatten();
        let batches: Vec<RecordBatch> = self.parts.par_iter_mut().map(next).collect::<Option<_>>()?;
        let fields: Fields = batches.iter().flat_map(|batch| batch.schema_ref().fields().iter().cloned()).collect();
        let columns = batches.iter().flat_map(|batch| batch.columns().iter().cloned()).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).ok().filter(|batch| batch.num_rows() > 0)
    }
}

impl Batches for Groups {
    fn next_batch(&mut self, rows: usize) -> Result<Option<RecordBatch>, Error> {
        let size = rows.clamp(1, MAX_BATCH_ROWS);
        if self.position == self.rows {
            return Ok(None);
        }
        let mut readers = match self.readers.take() {
            Some(readers) if readers.size >= size => readers,
            _ => self.readers(size)?,
        };
        let batch = match &mut readers.parts[..] {
            [reader] => guarded(FORMAT, || reader.next().transpose()).map_err(at(self.path.as_ref()))?,
            _ => match readers.next_together() {
                None if !self.whole => {
                    self.whole = true;
                    return self.next_batch(rows);
                }
                batch => batch,
            },
        };
        let Some(batch) = batch.filter(|batch| batch.num_rows() > 0) else {
            let problem = malformed(format!("its footer says {} rows, but it has {}", self.rows, self.position));
            return Err(at(self.path.as_ref())(problem));
        };
        self.position += batch.num_rows() as u64;
        self.readers = Some(readers);
        Ok(Some(batch))
    }

    fn skip_undecoded(&mut self, rows: u64) -> Result<u64, Error> {
        let passed = rows.min(self.rows - self.position);
        if passed > 0 {
            self.position += passed;
            self.readers = None;
        }
        Ok(passed)
    }
}
