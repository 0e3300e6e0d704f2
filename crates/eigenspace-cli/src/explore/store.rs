//! The rows of the session, in an anonymous temporary file.
//!
//! ```text
//! row i at byte i · D · 8 (f64), or i · D · 4 if all rows came as f32
//! ```
//!
//! A million rows of 64 features are half a gigabyte, so only labels, names and weights stay in
//! memory. The file has no name and vanishes with the process.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use eigenspace::internal::{Random, from_raw, to_raw};
use eigenspace::io::Error;
use eigenspace::io::source::{Columns, Origin, RowBlock, RowSource, Values};
use ndarray::{Array2, Axis};

use crate::explore::reply::Refusal;

/// The class of a row without a label.
pub(super) const NO_CLASS: u16 = u16::MAX;
/// The seed of the order of points.
const ORDER_SEED: u64 = 18;
/// Rows that are read at a time have about this many bytes.
const BLOCK_BYTES: usize = 8 << 20;

/// Rows that were read, with their labels and names.
pub(super) struct RowStore {
    columns: Columns,
    kept: Mutex<Kept>,
    /// The rows in the order of the points, as many as there were when it was last asked for.
    order: Mutex<Arc<Vec<u32>>>,
}

/// What is in memory, and the file with the numbers.
struct Kept {
    file: File,
    rows: usize,
    /// Whether the numbers are f64; nothing before the first row.
    wide: Option<bool>,
    classes: Vec<u16>,
    labels: Vec<String>,
    numbers: HashMap<String, u16>,
    names: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
}

/// The label and the name of a row.
pub(super) struct RowName {
    pub(super) name: Option<String>,
    pub(super) label: Option<String>,
}

impl RowStore {
    pub(super) fn new(columns: Columns) -> anyhow::Result<Self> {
        let kept = Kept {
            file: temporary()?,
            rows: 0,
            wide: None,
            classes: Vec::new(),
            labels: Vec::new(),
            numbers: HashMap::new(),
            names: None,
            weights: None,
        };
        Ok(Self { columns, kept: Mutex::new(kept), order: Mutex::default() })
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    pub(super) fn features(&self) -> usize {
        self.columns.count
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn rows(&self) -> usize {
        self.kept().rows
    }

    /// Appends a block.
    pub(super) fn append(&self, block: &RowBlock) -> anyhow::Result<()> {
        let mut kept = self.kept();
        let wide = !block.values.is_f32();
        match kept.wide {
            None => kept.wide = Some(wide),
            Some(false) if wide => kept.widen(self.features())?,
            Some(_) => {}
        }
        let bytes = to_raw(&block.values, kept.wide == Some(true));
        kept.file.seek(SeekFrom::End(0)).and_then(|_| kept.file.write_all(&bytes)).with_context(no_space)?;
        let (first, count) = (kept.rows, block.rows());
        kept.rows += count;
        kept.label(first, count, block.labels.as_deref());
        extend(&mut kept.names, first, count, block.origin.names.as_deref(), String::new());
        extend(&mut kept.weights, first, count, block.weights.as_deref(), 1.0);
        Ok(())
    }

    /// The rows from `first` on, at most `count` of them.
    pub(super) fn read(&self, first: usize, count: usize) -> anyhow::Result<Values> {
        self.kept().read(self.features(), first, count)
    }

    /// One row.
    pub(super) fn row(&self, row: usize) -> anyhow::Result<Values> {
        let rows = self.rows();
        if row >= rows {
            let last =
                rows.checked_sub(1).map_or_else(|| "there are none yet".into(), |last| format!("the last is {last}"));
            return Err(Refusal::missing(format!("there is no row {row}: {last}"), "rows count from 0").into());
        }
        self.read(row, 1)
    }

    /// Some rows, and their weights if they have any.
    pub(super) fn select(&self, rows: &[usize]) -> anyhow::Result<(Array2<f64>, Option<Vec<f64>>)> {
        let mut selected = Array2::zeros((rows.len(), self.features()));
        for (mut to, &row) in selected.rows_mut().into_iter().zip(rows) {
            to.assign(&self.row(row)?.to_f64().index_axis_move(Axis(0), 0));
        }
        let weights = self.kept().weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        Ok((selected, weights))
    }

    /// The first so many rows in a shuffled order, the same in every run: each first part of it is
    /// a fair sample.
    pub(super) fn order(&self, rows: usize) -> Arc<Vec<u32>> {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        if order.len() != rows {
            let mut shuffled: Vec<u32> = (0..u32::try_from(rows).unwrap_or(u32::MAX)).collect();
            Random::new(ORDER_SEED).shuffle(&mut shuffled);
            *order = Arc::new(shuffled);
        }
        Arc::clone(&order)
    }

    /// Passes all rows that there are now to `each`, in blocks, with the number of the first.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, &Values) -> anyhow::Result<()>) -> anyhow::Result<usize> {
        let (rows, step) = (self.rows(), self.block_rows());
        for first in (0..rows).step_by(step) {
            each(first, &self.read(first, step.min(rows - first))?)?;
        }
        Ok(rows)
    }

    fn block_rows(&self) -> usize {
        (BLOCK_BYTES / 8 / self.features().max(1)).clamp(1, 1 << 16)
    }

    /// The distinct labels, in the order in which they appeared.
    pub(super) fn labels(&self) -> Option<Vec<String>> {
        let kept = self.kept();
        (!kept.labels.is_empty()).then(|| kept.labels.clone())
    }

    /// The class of each row, or nothing if no row has a label.
    pub(super) fn classes(&self) -> Option<Vec<u16>> {
        let kept = self.kept();
        (!kept.labels.is_empty()).then(|| kept.classes.clone())
    }

    pub(super) fn has_names(&self) -> bool {
        self.kept().names.is_some()
    }

    pub(super) fn name_of(&self, row: usize) -> RowName {
        self.kept().name_of(row)
    }

    /// The rows whose name or label contains a text, whatever its case: how many, and the first of
    /// them.
    pub(super) fn find(&self, text: &str, most: usize) -> (usize, Vec<usize>) {
        let kept = self.kept();
        let text = text.to_lowercase();
        let labels: Vec<bool> = kept.labels.iter().map(|label| label.to_lowercase().contains(&text)).collect();
        let named = |row: usize| kept.names.as_ref().is_some_and(|names| names[row].to_lowercase().contains(&text));
        let labeled =
            |row: usize| kept.classes.get(row).is_some_and(|&class| labels.get(usize::from(class)) == Some(&true));
        let number = text.parse().ok().filter(|&row| row < kept.rows);
        let others = (0..kept.rows).filter(|&row| Some(row) != number && (named(row) || labeled(row)));
        let found: Vec<usize> = number.into_iter().chain(others).collect();
        (found.len(), found.into_iter().take(most).collect())
    }

    /// The rows as a source that can be read again.
    pub(super) fn source(self: &Arc<Self>) -> Box<dyn RowSource> {
        Box::new(Stored { store: Arc::clone(self), rows: self.rows(), next: 0 })
    }
}

impl Kept {
    fn width(&self) -> usize {
        if self.wide == Some(false) { 4 } else { 8 }
    }

    fn read(&mut self, features: usize, first: usize, count: usize) -> anyhow::Result<Values> {
        let count = count.min(self.rows.saturating_sub(first));
        let width = self.width();
        let mut bytes = vec![0; count * features * width];
        let start = (first * features * width) as u64;
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut bytes));
        read.context("cannot read the temporary file with the rows")?;
        Ok(from_raw(&bytes, features, width == 8))
    }

    /// Writes the rows again as f64, because one of them came as f64.
    fn widen(&mut self, features: usize) -> anyhow::Result<()> {
        let mut file = temporary()?;
        let step = (BLOCK_BYTES / 8 / features.max(1)).max(1);
        for first in (0..self.rows).step_by(step) {
            let values = self.read(features, first, step)?;
            file.write_all(&to_raw(&values, true)).with_context(no_space)?;
        }
        (self.file, self.wide) = (file, Some(true));
        Ok(())
    }

    fn label(&mut self, first: usize, count: usize, labels: Option<&[String]>) {
        self.classes.resize(first, NO_CLASS);
        for i in 0..count {
            let class = labels.and_then(|labels| labels.get(i)).map_or(NO_CLASS, |label| self.class(label));
            self.classes.push(class);
        }
    }

    /// The number of a label; too many distinct labels are not numbered.
    fn class(&mut self, label: &str) -> u16 {
        if let Some(&class) = self.numbers.get(label) {
            return class;
        }
        match u16::try_from(self.labels.len()) {
            Ok(class) if class < NO_CLASS => {
                self.labels.push(label.to_owned());
                self.numbers.insert(label.to_owned(), class);
                class
            }
            _ => NO_CLASS,
        }
    }

    fn name_of(&self, row: usize) -> RowName {
        let class = self.classes.get(row).copied().unwrap_or(NO_CLASS);
        RowName {
            name: self.names.as_ref().and_then(|names| names.get(row).cloned()).filter(|name| !name.is_empty()),
            label: self.labels.get(usize::from(class)).cloned(),
        }
    }
}

/// Appends values that only some blocks have; the others get a default.
fn extend<T: Clone>(all: &mut Option<Vec<T>>, first: usize, count: usize, more: Option<&[T]>, default: T) {
    if let Some(more) = more {
        let all = all.get_or_insert_default();
        all.resize(first, default);
        all.extend_from_slice(more);
    } else if let Some(all) = all {
        all.resize(first + count, default);
    }
}

/// A file without a name, which vanishes with the process.
pub(super) fn temporary() -> anyhow::Result<File> {
    tempfile::tempfile().with_context(no_space)
}

fn no_space() -> String {
    format!("cannot keep the rows in a temporary file in `{}`", std::env::temp_dir().display())
}

/// Rows of a store, read in order.
struct Stored {
    store: Arc<RowStore>,
    rows: usize,
    next: usize,
}

impl RowSource for Stored {
    fn columns(&self) -> &Columns {
        &self.store.columns
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows as u64)
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        let (first, count) = (self.next, rows.min(self.rows - self.next));
        if count == 0 {
            return Ok(None);
        }
        let failed = |error: anyhow::Error| Error::Io {
            action: "read",
            path: PathBuf::from("rows"),
            source: std::io::Error::other(error),
        };
        let mut block =
            RowBlock::new(self.store.read(first, count).map_err(failed)?, Origin::new("rows", first as u64));
        let names: Vec<RowName> = (first..first + count).map(|row| self.store.name_of(row)).collect();
        if self.store.labels().is_some() {
            block.labels = Some(names.iter().map(|name| name.label.clone().unwrap_or_default()).collect());
        }
        if self.store.has_names() {
            block.origin.names = Some(names.into_iter().map(|name| name.name.unwrap_or_default()).collect());
        }
        self.next += count;
        Ok(Some(block))
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let skipped = usize::try_from(rows).unwrap_or(usize::MAX).min(self.rows - self.next);
        self.next += skipped;
        Ok(skipped as u64)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn block(values: Values, labels: Option<&[&str]>) -> RowBlock {
        let mut block = RowBlock::new(values, Origin::new("x.csv", 0));
        block.labels = labels.map(|labels| labels.iter().map(ToString::to_string).collect());
        block
    }

    #[test]
    fn rows_come_back_in_the_precision_in_which_they_came() {
        let store = RowStore::new(Columns::unnamed(2)).expect("a file");
        assert!(store.row(0).is_err());
        store.append(&block(Values::F32(array![[0.1, 2.0]]), Some(&["b"]))).expect("space");
        assert_eq!(store.row(0).expect("a row"), Values::F32(array![[0.1, 2.0]]));
        store.append(&block(Values::F64(array![[0.1, 4.0], [f64::NAN, -0.0]]), None)).expect("space");
        store.append(&block(Values::F32(array![[7.0, 8.0]]), Some(&["a"]))).expect("space");
        let all = store.read(0, 9).expect("rows").to_f64();
        assert_eq!(all.column(1).to_vec(), [2.0, 4.0, -0.0, 8.0]);
        assert_eq!((all[[0, 0]], all[[1, 0]]), (f64::from(0.1_f32), 0.1));
        assert!(all[[2, 0]].is_nan());
        assert_eq!(store.classes(), Some(vec![0, NO_CLASS, NO_CLASS, 1]));
        assert_eq!(store.labels(), Some(vec!["b".into(), "a".into()]));
        assert_eq!(store.find("A", 9), (1, vec![3]));
        assert_eq!(store.find("2", 9), (1, vec![2]));
        let arc = Arc::new(store);
        let mut source = arc.source();
        assert_eq!(source.skip(1).expect("rows"), 1);
        assert_eq!(
            source.next_block(2).expect("rows").map(|block| block.labels),
            Some(Some(vec![String::new(), String::new()]))
        );
        assert_eq!(source.next_block(2).expect("rows").map(|block| block.rows()), Some(1));
        assert!(source.next_block(2).expect("the end").is_none());
    }
}
