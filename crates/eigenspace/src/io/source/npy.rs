//! NumPy arrays with any real element type, in C order (row by row) or Fortran order (column by
//! column).
//!
//! ```text
//! C order        rows i … i+m are contiguous:               one read per block
//! Fortran order  rows i … i+m of column j are contiguous:   one read per column and block
//! ```
//!
//! An array with more dimensions has one image per row: (n, height, width) or (n, height, width,
//! 3). Input that cannot be read at any position (standard input in Fortran order, a compressed
//! member of an `.npz`) is copied to a temporary file.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::{Array2, ShapeBuilder};

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::elements::Elements;
use crate::io::source::header::Header;
use crate::io::source::positioned::read_parts;
use crate::io::source::{Columns, Notice, Origin, ReadOptions, RowBlock, RowSource, SourceError, Values};
use crate::model::metadata::ImageShape;

/// Largest number of columns, so that a header alone cannot make us reserve more than a gigabyte.
const WIDEST: usize = 1 << 27;

/// The contents of the header.
pub(super) struct Layout {
    rows: u64,
    columns: Columns,
    elements: Elements,
    by_column: bool,
}

impl Layout {
    /// Reads a header.
    fn read(reader: impl Read, path: &Path, vector: bool) -> Result<Self, Error> {
        let malformed = |problem| at(path)(SourceError::Malformed { format: "NumPy array", problem });
        let Header { descr, by_column, shape } = Header::read(reader).map_err(malformed)?;
        let elements = Elements::of(&descr).ok_or_else(|| at(path)(SourceError::ElementType { dtype: descr }))?;
        let by_column = by_column && shape.len() > 1;
        let refused = || at(path)(SourceError::Shape { shape: shape.clone(), key: None });
        let sizes = shape.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<_>, _>>();
        let image = match sizes.map_err(|_| refused())?[..] {
            [_, _] => None,
            [_] if vector => None,
            [_, height, width] if !by_column => Some(ImageShape::new(width, height, 1)),
            [_, height, width, channels @ (1 | 3)] if !by_column => Some(ImageShape::new(width, height, channels)),
            _ => return Err(refused()),
        };
        let count = shape[1..].iter().try_fold(1_u64, |count, &size| count.checked_mul(size));
        let bytes = count.and_then(|count| count.checked_mul(shape[0].max(1))?.checked_mul(elements.size() as u64));
        let count = count.and_then(|count| usize::try_from(count).ok()).filter(|_| bytes.is_some());
        let count = count.filter(|count| *count <= WIDEST);
        let columns = Columns { image, ..Columns::unnamed(count.ok_or_else(refused)?) };
        if columns.count == 0 && shape[0] > 0 {
            return Err(at(path)(SourceError::NoColumns));
        }
        Ok(Self { rows: shape[0], columns, elements, by_column })
    }

    /// Number of bytes of one row.
    fn row_bytes(&self) -> usize {
        self.columns.count * self.elements.size()
    }

    /// Number of bytes of all rows.
    fn bytes(&self) -> u64 {
        self.rows * self.row_bytes() as u64
    }

    /// Converts bytes to the numbers of some rows. `read` passes the bytes, in the order of the
    /// array and in parts of whole numbers, to the function that it is given.
    fn values(
        &self,
        rows: usize,
        read: impl FnOnce(&mut dyn FnMut(&[u8])) -> std::io::Result<()>,
    ) -> std::io::Result<Values> {
        let (columns, room) = (self.columns.count, rows * self.columns.count);
        let shape = (rows, columns).set_f(self.by_column);
        const COMPLETE: &str = "all numbers of the rows were read";
        if self.elements.is_narrow() {
            let mut cells = Vec::with_capacity(room);
            read(&mut |bytes| self.elements.append_narrow(bytes, &mut cells))?;
            return Ok(Values::F32(Array2::from_shape_vec(shape, cells).expect(COMPLETE)));
        }
        let mut cells = Vec::with_capacity(room);
        read(&mut |bytes| self.elements.append_wide(bytes, &mut cells))?;
        Ok(Values::F64(Array2::from_shape_vec(shape, cells).expect(COMPLETE)))
    }
}

/// Opens a file.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return from_reader(Box::new(file), path, options);
    }
    in_file(file, 0, u64::MAX, path, options)
}

/// An array at this position of a file, with at most `length` bytes.
pub(super) fn in_file(
    mut file: File,
    start: u64,
    length: u64,
    path: &Path,
    options: &ReadOptions,
) -> Result<Box<dyn RowSource>, Error> {
    let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
    file.seek(std::io::SeekFrom::Start(start)).map_err(failed)?;
    let mut layout = Layout::read(&mut file, path, options.vector)?;
    let offset = file.stream_position().map_err(failed)?;
    let end = file.metadata().map_err(failed)?.len().min(start.saturating_add(length));
    let (expected, found) = ((offset - start).saturating_add(layout.bytes()), end.saturating_sub(start));
    if found < expected {
        return Err(at(path)(SourceError::Truncated { expected, found }));
    }
    if found > expected {
        let (file, bytes) = (path.display().to_string(), found - expected);
        layout.columns.notices.push(Notice::AfterArray { file, bytes });
    }
    Ok(Box::new(Array {
        path: Arc::new(path.to_owned()),
        layout,
        store: Store::File { file, offset },
        next: 0,
        arrived: 0,
    }))
}

/// Reads an array from a reader that cannot seek.
pub(super) fn from_reader(
    mut reader: Box<dyn Read + Send>,
    path: &Path,
    options: &ReadOptions,
) -> Result<Box<dyn RowSource>, Error> {
    let layout = Layout::read(&mut reader, path, options.vector)?;
    let store = if layout.by_column {
        let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
        let mut file = tempfile::tempfile().map_err(failed)?;
        let found = std::io::copy(&mut reader, &mut file).map_err(failed)?;
        if found < layout.bytes() {
            return Err(at(path)(SourceError::Truncated { expected: layout.bytes(), found }));
        }
        Store::File { file, offset: 0 }
    } else {
        Store::Reader(reader)
    };
    Ok(Box::new(Array { path: Arc::new(path.to_owned()), layout, store, next: 0, arrived: 0 }))
}

/// Where the numbers are.
enum Store {
    /// In a file, from this offset on, readable at any position.
    File { file: File, offset: u64 },
    /// In a reader, row by row.
    Reader(Box<dyn Read + Send>),
}

struct Array {
    path: Arc<PathBuf>,
    layout: Layout,
    store: Store,
    /// The next row.
    next: u64,
    /// Number of bytes of the array that a reader has returned.
    arrived: u64,
}

impl Array {
    fn failed(&self, source: std::io::Error) -> Error {
        if source.kind() == ErrorKind::UnexpectedEof {
            let expected = self.layout.bytes();
            let found = match &self.store {
                Store::Reader(_) => self.arrived,
                Store::File { file, offset } => file.metadata().map_or(0, |found| found.len().saturating_sub(*offset)),
            };
            return at(self.path.as_ref())(SourceError::Truncated { expected, found });
        }
        Error::Io { action: "read", path: self.path.as_ref().clone(), source }
    }

    fn read(&mut self, rows: usize) -> std::io::Result<Values> {
        let Self { layout, store, next, arrived, .. } = self;
        let row = layout.row_bytes();
        match store {
            Store::File { file, offset } if layout.by_column => {
                let size = layout.elements.size() as u64;
                layout.values(rows, |convert| {
                    (0..layout.columns.count as u64).try_for_each(|j| {
                        let start = *offset + (j * layout.rows + *next) * size;
                        read_parts(file, start, rows * layout.elements.size(), &mut *convert)
                    })
                })
            }
            Store::File { file, offset } => {
                let start = *offset + *next * row as u64;
                layout.values(rows, |convert| read_parts(file, start, rows * row, convert))
            }
            Store::Reader(reader) => {
                let mut bytes = Vec::with_capacity((rows * row).min(1 << 24));
                *arrived += reader.take((rows * row) as u64).read_to_end(&mut bytes)? as u64;
                if bytes.len() < rows * row {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                layout.values(rows, |convert| {
                    convert(&bytes);
                    Ok(())
                })
            }
        }
    }
}

impl RowSource for Array {
    fn columns(&self) -> &Columns {
        &self.layout.columns
    }

    fn rows(&self) -> Option<u64> {
        Some(self.layout.rows)
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        let left = self.layout.rows - self.next;
        let rows = usize::try_from(left).unwrap_or(usize::MAX).min(rows);
        if rows == 0 || self.layout.columns.count == 0 {
            return Ok(None);
        }
        let values = self.read(rows).map_err(|error| self.failed(error))?;
        let origin = Origin { path: Arc::clone(&self.path), first: self.next, lines: None, names: None };
        self.next += rows as u64;
        Ok(Some(RowBlock { values, weights: None, labels: None, origin }))
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let rows = rows.min(self.layout.rows - self.next);
        if let Store::Reader(reader) = &mut self.store {
            let bytes = rows * self.layout.row_bytes() as u64;
            let copied = std::io::copy(&mut reader.take(bytes), &mut std::io::sink());
            let copied = copied.map_err(|error| self.failed(error))?;
            self.arrived += copied;
            if copied < bytes {
                return Err(self.failed(ErrorKind::UnexpectedEof.into()));
            }
        }
        self.next += rows;
        Ok(rows)
    }
}
