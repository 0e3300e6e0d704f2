//! The rows of a buffer minus the reference point, in f32, kept from one read to the next.
//!
//! ```text
//! B = [ F ; X − 1rᵀ ] · 2^e        e brings the longest row to about 1
//! ```
//!
//! Signs of components need the sizes of their entries, not their digits (`dual.rs`). Converting
//! the rows takes about as long as multiplying them, so the converted rows are kept, and each read
//! adds those that are new.

use ndarray::{Array2, ArrayView2, Axis, Slice};

use crate::linalg;
use crate::stream::buffer::RowBuffer;
use crate::stream::row_products::Reference;

/// Rows are converted again if the exponent would change by more than this.
const MAX_EXPONENT_CHANGE: f64 = 16.0;

/// The rows of one buffer, as far as they were converted.
#[derive(Debug, Clone, Default)]
pub(crate) struct NarrowRows {
    rows: Array2<f32>,
    used: usize,
    exponent: f64,
    /// The sum of the squares of each column.
    squares: Vec<f32>,
}

impl NarrowRows {
    /// Number of rows that are converted.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// B, as far as it is converted.
    pub(crate) fn view(&self) -> ArrayView2<'_, f32> {
        linalg::rows_of(self.rows.view(), 0..self.used)
    }

    /// The largest sum of squares of a column.
    pub(crate) fn largest_column(&self) -> f64 {
        self.squares.iter().fold(0.0, |largest: f64, x| largest.max(f64::from(*x)))
    }

    /// Converts the rows of the buffer that are new; `longest` is the squared length of the longest
    /// row.
    pub(crate) fn extend(&mut self, buffer: &RowBuffer, reference: &Reference, longest: f64) {
        let exponent = (-0.5 * longest.log2()).round();
        if self.used == 0 || (exponent - self.exponent).abs() > MAX_EXPONENT_CHANGE {
            *self = Self { exponent, squares: vec![0.0; buffer.features()], ..Self::default() };
        }
        let (start, end) = (self.used, buffer.len());
        if end > self.rows.nrows() {
            let mut larger = Array2::zeros(((end + end / 4).max(16), buffer.features()));
            if start > 0 {
                larger.slice_axis_mut(Axis(0), Slice::from(..start)).assign(&self.view());
            }
            self.rows = larger;
        }
        let mut new = self.rows.slice_axis_mut(Axis(0), Slice::from(start..end));
        reference.write_differences(buffer, start..end, 0..buffer.features(), self.exponent.exp2(), new.view_mut());
        for row in new.rows() {
            let row = linalg::contiguous(row);
            linalg::vectorized(
                #[inline(always)]
                || self.squares.iter_mut().zip(&*row).for_each(|(sum, x)| *sum += x * x),
            );
        }
        self.used = end;
    }
}
