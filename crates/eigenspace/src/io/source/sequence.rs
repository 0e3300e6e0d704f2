//! Reads several files one after the other, as one source.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::single::{STANDARD_INPUT, open_one};
use crate::io::source::{Columns, Notice, ReadOptions, RowBlock, RowSource, SourceError};

/// Files that are opened one after the other. All must have the columns of the first.
pub(super) struct Sequence {
    options: ReadOptions,
    columns: Columns,
    rows: Option<u64>,
    current: Option<Box<dyn RowSource>>,
    later: VecDeque<PathBuf>,
}

impl Sequence {
    /// Opens the first file. If it knows its number of rows, the others are opened too, to add up
    /// theirs, and closed again until it is their turn: a process can have only so many open files,
    /// and a pattern may stand for thousands.
    pub(super) fn open(paths: Vec<PathBuf>, options: ReadOptions) -> Result<Self, Error> {
        let mut later = VecDeque::from(paths);
        let first = later.pop_front().ok_or(Error::NoInputs)?;
        let current = open_one(&first, &options)?;
        let mut columns = current.columns().clone();
        let mut rows = current.rows();
        for path in &later {
            rows = match rows {
                Some(rows) if path != Path::new(STANDARD_INPUT) => {
                    let next = open_one(path, &options)?;
                    same_columns(&columns, next.columns(), path)?;
                    columns.notices.extend(next.columns().notices.iter().cloned());
                    next.rows().map(|more| rows + more)
                }
                _ => None,
            };
        }
        Ok(Self { options, columns, rows, current: Some(current), later })
    }

    /// Adds something to know about the files.
    pub(super) fn notify(&mut self, notice: Notice) {
        self.columns.notices.push(notice);
    }

    /// Opens the next file. False if there is none.
    fn advance(&mut self) -> Result<bool, Error> {
        self.current = None;
        let Some(path) = self.later.pop_front() else { return Ok(false) };
        let next = open_one(&path, &self.options)?;
        same_columns(&self.columns, next.columns(), &path)?;
        self.current = Some(next);
        Ok(true)
    }
}

impl RowSource for Sequence {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        while let Some(current) = &mut self.current {
            if let Some(block) = current.next_block(rows)? {
                return Ok(Some(block));
            }
            self.advance()?;
        }
        Ok(None)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let mut skipped = 0;
        while let Some(current) = &mut self.current {
            skipped += current.skip(rows - skipped)?;
            if skipped == rows || !self.advance()? {
                break;
            }
        }
        Ok(skipped)
    }
}

/// Rejects a file whose columns differ from those of the files before.
fn same_columns(before: &Columns, here: &Columns, path: &Path) -> Result<(), Error> {
    let refused = |source| Err(at(path)(source));
    if let Some(before) = before.image {
        here.check_image(before).or_else(refused)?;
    }
    if let (Some(expected), Some(found)) = (&before.names, &here.names)
        && let Some(column) = expected.iter().find(|&name| !found.contains(name))
    {
        return refused(SourceError::ColumnMissing { column: column.clone(), available: found.clone() });
    }
    if before.count != here.count {
        return refused(SourceError::ColumnCount { expected: before.count, found: here.count });
    }
    let (Some(expected), Some(found)) = (&before.names, &here.names) else { return Ok(()) };
    match expected.iter().zip(found).position(|(a, b)| a != b) {
        Some(column) => refused(SourceError::ColumnName {
            column: here.numbers.get(column).copied().unwrap_or(column),
            expected: expected[column].clone(),
            found: found[column].clone(),
        }),
        None => Ok(()),
    }
}
