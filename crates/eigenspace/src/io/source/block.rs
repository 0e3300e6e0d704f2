//! A block of rows on its way from a source to a stream.

use std::path::PathBuf;
use std::sync::Arc;

use crate::io::error::Error;
use crate::io::source::{Notice, Place, SourceError};
use crate::model::metadata::{ImageShape, Metadata};
use crate::rows::block::Block;
use crate::rows::element::LARGEST_MAGNITUDE;
use crate::rows::values::Values;

/// Some rows of a source, what comes with them, and where they are from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RowBlock {
    /// The numbers, one row per observation.
    pub values: Values,
    /// A weight for each row, if the source has a column of them.
    pub weights: Option<Vec<f64>>,
    /// A label for each row, if the source has a column of them (or directories named by class).
    pub labels: Option<Vec<String>>,
    /// Where the rows are from.
    pub origin: Origin,
}

impl RowBlock {
    /// Rows without weights and labels.
    pub fn new(values: Values, origin: Origin) -> Self {
        Self { values, weights: None, labels: None, origin }
    }

    /// Rows of this block; at least one.
    pub fn rows(&self) -> usize {
        self.values.dim().0
    }

    /// The rows as a stream takes them.
    pub fn as_block(&self) -> Block<'_> {
        let block = Block::from(&self.values);
        match &self.weights {
            Some(weights) => block.weighted(weights),
            None => block,
        }
    }

    /// The rows without missing cells.
    pub fn complete_rows(&self) -> Vec<usize> {
        let incomplete = Block::from(&self.values).incomplete();
        (0..self.rows()).filter(|row| !incomplete.contains(row)).collect()
    }

    /// A copy of the rows with these indices, and of what comes with them.
    pub fn select(&self, rows: &[usize]) -> Self {
        fn chosen<T: Clone>(list: Option<&Vec<T>>, rows: &[usize]) -> Option<Vec<T>> {
            list.map(|list| rows.iter().map(|&row| list[row].clone()).collect())
        }
        Self {
            values: self.values.select(rows),
            weights: chosen(self.weights.as_ref(), rows),
            labels: chosen(self.labels.as_ref(), rows),
            origin: Origin {
                lines: chosen(self.origin.lines.as_ref(), rows),
                names: chosen(self.origin.names.as_ref(), rows),
                ..self.origin.clone()
            },
        }
    }

    /// These rows and, after them, those of later blocks of the same source. Weights, labels, lines
    /// and names remain if all blocks have them; the values are f32 if all are.
    pub fn concat(self, later: &[Self]) -> Result<Self, crate::Error> {
        /// What all blocks have, one after another.
        fn all<T: Clone>(first: Option<Vec<T>>, later: impl Iterator<Item = Option<Vec<T>>>) -> Option<Vec<T>> {
            let lists: Option<Vec<Vec<T>>> = std::iter::once(first).chain(later).collect();
            lists.map(|lists| lists.concat())
        }
        Ok(Self {
            values: self.values.concat(later.iter().map(|block| &block.values))?,
            weights: all(self.weights, later.iter().map(|block| block.weights.clone())),
            labels: all(self.labels, later.iter().map(|block| block.labels.clone())),
            origin: Origin {
                lines: all(self.origin.lines, later.iter().map(|block| block.origin.lines.clone())),
                names: all(self.origin.names, later.iter().map(|block| block.origin.names.clone())),
                ..self.origin
            },
        })
    }
}

/// Where the rows of a block are from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Origin {
    /// The file, the directory, or `-` for standard input.
    pub path: Arc<PathBuf>,
    /// Number of the first row in it, from 0.
    pub first: u64,
    /// The line of each row, from 1, where the source is text.
    pub lines: Option<Vec<u64>>,
    /// A name for each row, where rows are files of their own.
    pub names: Option<Vec<String>>,
}

impl Origin {
    /// Rows of a file, counted from its first row.
    pub fn new(path: impl Into<PathBuf>, first: u64) -> Self {
        Self { path: Arc::new(path.into()), first, lines: None, names: None }
    }

    /// An error about a row of the block, with the place of that row in the source.
    pub fn locate(&self, error: crate::Error, columns: &Columns) -> Error {
        let problem = match error {
            crate::Error::NonFinite { row, column, value } if value.is_nan() => {
                let (place, of_model) = (self.place(row), columns.of_model);
                SourceError::Missing { place, column: columns.name(column), of_model }
            }
            // The cell is acceptable without its weight.
            error @ crate::Error::TooLarge { limit, .. } if limit < LARGEST_MAGNITUDE => {
                return error.counted_from(usize::try_from(self.first).unwrap_or(usize::MAX)).into();
            }
            crate::Error::NonFinite { row, column, value } | crate::Error::TooLarge { row, column, value, .. } => {
                SourceError::Value { place: self.place(row), column: columns.name(column), value }
            }
            crate::Error::InvalidWeight { row, value } => {
                SourceError::Weight { place: self.place(row), column: columns.weight.clone(), value }
            }
            crate::Error::WidthMismatch { expected, found } => SourceError::ColumnCount { expected, found },
            other => return other.into(),
        };
        Error::Source { path: self.path.as_ref().clone(), source: problem }
    }

    /// Where a row of the block is in the source.
    pub(super) fn place(&self, row: usize) -> Place {
        Place {
            row: self.first + row as u64,
            line: self.lines.as_ref().and_then(|lines| lines.get(row).copied()),
            file: self.names.as_ref().and_then(|names| names.get(row).cloned()),
        }
    }
}

/// What is known about the columns of a source.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Columns {
    /// D: how many there are.
    pub count: usize,
    /// Their names, where the source has names.
    pub names: Option<Vec<String>>,
    /// Whether these names are only numbers of columns, counted from 0 in a table without names.
    pub numbered: bool,
    /// The number of each column in its table, from 0; empty if all columns are read in order.
    pub numbers: Vec<usize>,
    /// How a message calls the column of weights, where the table has one.
    pub weight: Option<String>,
    /// Whether they are the columns of a model, so that none can be left out.
    pub of_model: bool,
    /// The shape of the image that a row holds, where it holds one.
    pub image: Option<ImageShape>,
    /// The image file that the shape was read from.
    pub image_file: Option<PathBuf>,
    /// What the reader left out, for the user.
    pub notices: Vec<Notice>,
}

impl Columns {
    /// This many columns without names.
    pub fn unnamed(count: usize) -> Self {
        Self { count, ..Self::default() }
    }

    /// Columns with these names.
    pub fn named(names: Vec<String>) -> Self {
        Self { count: names.len(), names: Some(names), ..Self::default() }
    }

    /// The metadata of a model that is fitted to these columns: their names and the shape of
    /// images.
    pub fn metadata(&self) -> Metadata {
        let names = self.names.clone().filter(|names| names.len() == self.count);
        let image = self.image.filter(|image| image.features() == Some(self.count));
        Metadata::new().with_feature_names(names).with_image(image)
    }

    /// Rejects images with another size, other channels or another number of bits per value than
    /// expected.
    pub fn check_image(&self, expected: ImageShape) -> Result<(), SourceError> {
        let Some(found) = self.image else { return Ok(()) };
        let size = |image: ImageShape| (image.width(), image.height());
        if size(expected) != size(found) {
            return Err(SourceError::ImageSize { expected: size(expected), found: size(found) });
        }
        if expected.channels() != found.channels() {
            return Err(SourceError::ImageColor { expected: expected.channels(), found: found.channels() });
        }
        match (expected.depth(), found.depth()) {
            (Some(expected), Some(found)) if expected != found => Err(SourceError::ImageDepth { expected, found }),
            _ => Ok(()),
        }
    }

    /// How a message calls a column: by its name in quotation marks, or by its number if it has no
    /// name of its own.
    pub fn name(&self, column: usize) -> String {
        let number = self.numbers.get(column).copied().unwrap_or(column);
        name_or_number(self.names.as_deref(), column, number)
    }
}

/// The name of a column in quotation marks; its number if the name is empty, or if several columns
/// have it.
pub(super) fn name_or_number(names: Option<&[String]>, column: usize, number: usize) -> String {
    let names = names.unwrap_or_default();
    match names.get(column) {
        Some(name) if !name.is_empty() && names.iter().filter(|other| *other == name).count() == 1 => {
            format!("`{name}`")
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn block(values: Values, labels: [&str; 2]) -> RowBlock {
        let labels = Some(labels.map(String::from).to_vec());
        let origin = Origin { lines: Some(vec![5, 7]), ..Origin::new("t.csv", 3) };
        RowBlock { values, weights: Some(vec![1.0, 2.0]), labels, origin }
    }

    #[test]
    fn rows_take_what_belongs_to_them_along() {
        let (one, two) = (array![[1.0, 2.0], [3.0, 4.0]], array![[5.0, 6.0], [7.0, 8.0]]);
        let (one, two) = (block(one.into(), ["a", "b"]), block(two.into(), ["c", "d"]));
        let both = one.clone().concat(std::slice::from_ref(&two)).expect("the same width");
        assert_eq!(both.weights, Some(vec![1.0, 2.0, 1.0, 2.0]));
        assert_eq!(both.origin.lines, Some(vec![5, 7, 5, 7]));
        assert_eq!(both.select(&[0, 1]), one);
        assert_eq!(both.select(&[2, 3]), two);
        assert_eq!(both.select(&[3]).labels, Some(vec!["d".to_owned()]));
        let bare = RowBlock::new(two.values, two.origin);
        assert_eq!(one.concat(&[bare]).expect("the same width").labels, None, "not all blocks have labels");
    }

    #[test]
    fn values_stay_narrow_if_all_are() {
        let narrow = block(array![[0.1_f32], [2.0]].into(), ["a", "b"]);
        let wide = block(array![[0.1], [2.0]].into(), ["a", "b"]);
        assert!(narrow.clone().concat(std::slice::from_ref(&narrow)).expect("the same width").values.is_f32());
        let mixed = narrow.clone().concat(&[wide]).expect("the same width").values;
        assert_eq!(mixed, array![[f64::from(0.1_f32)], [2.0], [0.1], [2.0]].into());
        let other = block(array![[0.1, 0.2], [2.0, 3.0]].into(), ["a", "b"]);
        assert!(narrow.concat(&[other]).is_err());
    }
}
