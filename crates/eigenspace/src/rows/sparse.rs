//! Sparse rows in compressed form (CSR), given as slices. They are never made dense all at once.
//!
//! ```text
//! row i:  (indices[p], values[p])  for p in offsets[i]..offsets[i + 1]
//! ```

use crate::error::Error;
use crate::rows::element::LARGEST_MAGNITUDE;

/// Rows that are given by their non-zero cells.
///
/// ```
/// use eigenspace::{FitOptions, SparseRows};
///
/// // [[0, 2, 0], [1, 0, 3], [0, 0, 5]]
/// let rows = SparseRows::new(3, &[0, 1, 3, 4], &[1, 0, 2, 2], &[2.0, 1.0, 3.0, 5.0])?;
/// let model = FitOptions::new().components(2).fit(rows)?;
/// assert_eq!(model.count(), 3);
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SparseRows<'a> {
    features: usize,
    offsets: &'a [usize],
    indices: &'a [usize],
    values: &'a [f64],
}

impl<'a> SparseRows<'a> {
    /// CSR from its three slices. The cells of a row may have any order; repeated cells are added.
    pub fn new(features: usize, offsets: &'a [usize], indices: &'a [usize], values: &'a [f64]) -> Result<Self, Error> {
        let good = offsets.first() == Some(&0)
            && offsets.last() == Some(&indices.len())
            && indices.len() == values.len()
            && offsets.is_sorted();
        if !good {
            return Err(Error::SparseSlices { offsets: offsets.len(), indices: indices.len(), values: values.len() });
        }
        let rows = Self { features, offsets, indices, values };
        for row in 0..rows.nrows() {
            if let Some((column, _)) = rows.row(row).find(|(column, _)| *column >= features) {
                return Err(Error::SparseColumn { row, column, features });
            }
        }
        Ok(rows)
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.features
    }

    /// The stored cells of a row, as pairs of column and value.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let range = self.offsets[row]..self.offsets[row + 1];
        self.indices[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// Rejects cells that are missing, infinite or too large.
    pub(crate) fn check_row(&self, row: usize, weight: f64) -> Result<(), Error> {
        let root = weight.sqrt().max(1.0);
        for (column, value) in self.row(row) {
            if value.is_nan() {
                return Err(Error::SparseMissing { row, column });
            }
            if !value.is_finite() {
                return Err(Error::NonFinite { row, column, value });
            }
            if root * value.abs() > LARGEST_MAGNITUDE {
                return Err(Error::TooLarge { row, column, value, limit: LARGEST_MAGNITUDE / root });
            }
        }
        Ok(())
    }
}
