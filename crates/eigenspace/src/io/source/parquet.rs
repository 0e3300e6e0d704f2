//! Parquet files. Only the chosen columns are decoded, and skipped row groups are not read.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::{ChunkReader, Length};

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::layout::Layout;
use crate::io::source::table::{Batches, Table, guarded};
use crate::io::source::{ReadOptions, RowSource, SourceError, thrift};

/// Largest number of rows decoded at a time.
const MAX_BATCH_ROWS: usize = 1 << 16;
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
    let file = Chunks(file);
    let metadata = guarded(FORMAT, || ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()));
    let metadata = metadata.map_err(at(path.as_ref()))?;
    let layout = Layout::new(metadata.schema().fields(), options).map_err(at(path.as_ref()))?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), layout.decoded.iter().copied());
    let rows = rows(&metadata, bytes).map_err(at(path.as_ref()))?;
    let groups = Groups { path: path.clone(), file, metadata, mask, position: 0, rows, reader: None };
    Ok(Box::new(Table::open(path, groups, layout, Some(rows))?))
}

const FORMAT: &str = "Parquet file";

/// A file whose parts are read by parquet. parquet 59.3 skips some fields of a page header without noticing the end of
/// the file, so that a few bytes keep it busy for minutes: here, the end is an error when it was found too often.
struct Chunks(File);

impl Length for Chunks {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for Chunks {
    type T = Chunk;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Chunk> {
        Ok(Chunk { bytes: self.0.get_read(start)?, ends: 0 })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// The rest of a file.
struct Chunk {
    bytes: BufReader<File>,
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

/// Checks the footer, if the end of the file says where it is; otherwise parquet reports what is wrong.
fn check_footer(file: &mut File, bytes: u64) -> io::Result<()> {
    let mut end = [0; FOOTER_END as usize];
    if bytes < FOOTER_END {
        return Ok(());
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
        _ => Ok(()),
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
        _ => Err(malformed("its row groups do not add up to the rows it announces")),
    }
}

/// The row groups of a file, from a position on.
struct Groups {
    path: Arc<PathBuf>,
    file: Chunks,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// Number of rows read or skipped.
    position: u64,
    rows: u64,
    /// The decoder from that position on, and its batch size.
    reader: Option<(ParquetRecordBatchReader, usize)>,
}

impl Groups {
    /// A decoder from the position on, with batches of `size` rows.
    fn reader(&self, size: usize) -> Result<ParquetRecordBatchReader, Error> {
        let mut offset = self.position;
        let groups = self.metadata.metadata().row_groups();
        let passed = groups.iter().map_while(|group| {
            offset = offset.checked_sub(u64::try_from(group.num_rows()).ok()?)?;
            Some(offset)
        });
        let passed = passed.count();
        let failed = |source| Error::Io { action: "read", path: self.path.to_path_buf(), source };
        let file = Chunks(self.file.0.try_clone().map_err(failed)?);
        guarded(FORMAT, || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_projection(self.mask.clone())
                .with_batch_size(size)
                .with_row_groups((passed..groups.len()).collect())
                .with_offset(usize::try_from(offset).unwrap_or(usize::MAX))
                .build()
        })
        .map_err(at(self.path.as_ref()))
    }
}

impl Batches for Groups {
    fn next_batch(&mut self, rows: usize) -> Result<Option<RecordBatch>, Error> {
        let size = rows.clamp(1, MAX_BATCH_ROWS);
        if self.position == self.rows {
            return Ok(None);
        }
        let mut reader = match self.reader.take() {
            Some(reader) if reader.1 >= size => reader,
            _ => (self.reader(size)?, size),
        };
        let batch = guarded(FORMAT, || reader.0.next().transpose()).map_err(at(self.path.as_ref()))?;
        let Some(batch) = batch.filter(|batch| batch.num_rows() > 0) else {
            let problem = malformed(format!("it announces {} rows and has {}", self.rows, self.position));
            return Err(at(self.path.as_ref())(problem));
        };
        self.position += batch.num_rows() as u64;
        self.reader = Some(reader);
        Ok(Some(batch))
    }

    fn skip_undecoded(&mut self, rows: u64) -> Result<u64, Error> {
        let passed = rows.min(self.rows - self.position);
        if passed > 0 {
            self.position += passed;
            self.reader = None;
        }
        Ok(passed)
    }
}
