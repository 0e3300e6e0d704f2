//! A block of rows: the only place where the caller's numbers are checked.
//!
//! ```text
//! X ∈ ℝ^(m × D),   |x_ij| ≤ 10^140,   weights w_i ≥ 0
//! ```
//!
//! A block is accepted or rejected as a whole, before anything is computed from it. A row with
//! weight zero is ignored, whatever its cells contain.

use std::collections::BTreeSet;

use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayRef2, ArrayView1, ArrayView2, Axis, CowArray, Ix2};
use rayon::slice::ParallelSlice;

use crate::error::Error;
use crate::linalg::{Make, vectorized};
use crate::rows::element::{Dense, Element, LARGEST_MAGNITUDE};
use crate::rows::missing::Missing;
use crate::rows::sparse::SparseRows;

/// Number of cells that one task checks or copies: enough to be worth a task.
const TASK_CELLS: usize = 1 << 17;

/// Number of rows that one task checks or copies. Fewer rows are handled by the calling thread.
pub(crate) fn rows_per_task(features: usize) -> usize {
    (TASK_CELLS / features.max(1)).max(1)
}

/// Rows of any element type, with optional weights.
///
/// Functions that take rows accept anything that can be converted to a block: an array, a view of
/// one, sparse rows, or a block with weights.
///
/// ```
/// use eigenspace::{Block, EigenspaceModel, Truncation};
/// use ndarray::array;
///
/// let pixels = array![[0_u8, 255], [10, 250], [200, 3]];
/// let once = EigenspaceModel::empty(2).update(pixels.view(), Truncation::None)?;
/// let twice = EigenspaceModel::empty(2).update(Block::from(pixels.view()).weighted(&[2.0, 2.0, 2.0]), Truncation::None)?;
/// assert_eq!((once.weight(), twice.weight()), (3.0, 6.0));
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    rows: Rows<'a>,
    weights: Option<&'a [f64]>,
}

/// Dense rows of any element type, or sparse rows.
#[derive(Debug, Clone, Copy)]
enum Rows<'a> {
    Dense(Dense<'a>),
    Sparse(SparseRows<'a>),
}

/// Evaluates the first expression with a view of any element type, or the second one with sparse
/// rows.
macro_rules! each {
    ($rows:expr, $view:ident => $body:expr, $sparse:ident => $other:expr) => {
        match $rows {
            Rows::Sparse($sparse) => $other,
            Rows::Dense(Dense::F64($view)) => $body,
            Rows::Dense(Dense::F32($view)) => $body,
            Rows::Dense(Dense::U8($view)) => $body,
            Rows::Dense(Dense::U16($view)) => $body,
            Rows::Dense(Dense::I32($view)) => $body,
        }
    };
}

impl<'a, E: Element> From<ArrayView2<'a, E>> for Block<'a> {
    fn from(rows: ArrayView2<'a, E>) -> Self {
        Self { rows: Rows::Dense(E::dense(rows)), weights: None }
    }
}

impl<'a, E: Element> From<&'a Array2<E>> for Block<'a> {
    fn from(rows: &'a Array2<E>) -> Self {
        rows.view().into()
    }
}

impl<'a, E: Element> From<&'a ArrayRef2<E>> for Block<'a> {
    fn from(rows: &'a ArrayRef2<E>) -> Self {
        rows.view().into()
    }
}

impl<'a> From<SparseRows<'a>> for Block<'a> {
    fn from(rows: SparseRows<'a>) -> Self {
        Self { rows: Rows::Sparse(rows), weights: None }
    }
}

impl<'a> Block<'a> {
    /// The same rows with one weight each. Weights are non-negative numbers: a row with weight 2
    /// counts twice, a row with weight 0 is ignored.
    pub fn weighted(self, weights: &'a [f64]) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// Number of rows, including those with weight zero.
    pub fn nrows(&self) -> usize {
        each!(&self.rows, rows => rows.nrows(), sparse => sparse.nrows())
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        each!(&self.rows, rows => rows.ncols(), sparse => sparse.ncols())
    }

    /// Rejects rows with another number of columns, invalid cells and invalid weights.
    pub(crate) fn check(&self, features: usize) -> Result<(), Error> {
        self.admit(features, Missing::Refuse).map(drop)
    }

    /// Checks the block and returns the indices of the rows to use: those with a positive weight
    /// that the policy for missing cells does not leave out.
    pub(crate) fn admit(&self, features: usize, missing: Missing) -> Result<Vec<usize>, Error> {
        if let Some(weights) = self.weights {
            check_weights(weights, self.nrows())?;
        }
        let everything = self.weights.is_none() && missing == Missing::Refuse;
        each!(self.rows, rows => {
            check_width(rows, features)?;
            if everything {
                check(rows, features)?;
                return Ok((0..rows.nrows()).collect());
            }
            let mut selected = Vec::with_capacity(rows.nrows());
            for (i, row) in rows.rows().into_iter().enumerate().filter(|(i, _)| self.weight(*i) > 0.0) {
                if missing == Missing::Refuse {
                    check_row(row.iter(), i, self.weight(i))?;
                    selected.push(i);
                    continue;
                }
                check_observed_cells(row, i, self.weight(i))?;
                let holes = row.iter().filter(|x| x.to_f64().is_nan()).count();
                if holes == 0 || (missing == Missing::Impute && holes < features) {
                    selected.push(i);
                }
            }
            Ok(selected)
        }, sparse => {
            // A cell that is not stored is zero, not missing: there is nothing to skip or fill.
            if sparse.ncols() != features {
                return Err(Error::WidthMismatch { expected: features, found: sparse.ncols() });
            }
            let selected: Vec<usize> = (0..sparse.nrows()).filter(|&i| self.weight(i) > 0.0).collect();
            selected.iter().try_for_each(|&i| sparse.check_row(i, self.weight(i)))?;
            Ok(selected)
        })
    }

    /// The indices of all rows, if they are dense and none is left out; their values are not
    /// checked. Otherwise like [`admit`](Self::admit), and whether they were checked.
    pub(crate) fn admit_unchecked(&self, features: usize, missing: Missing) -> Result<(Vec<usize>, bool), Error> {
        if self.weights.is_some() || missing != Missing::Refuse || self.sparse().is_some() {
            return self.admit(features, missing).map(|selected| (selected, true));
        }
        each!(self.rows, rows => check_width(rows, features)?, _sparse => ());
        Ok(((0..self.nrows()).collect(), false))
    }

    /// The weight of a row.
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// The rows, if they are sparse.
    pub(crate) fn sparse(&self) -> Option<&SparseRows<'a>> {
        if let Rows::Sparse(sparse) = &self.rows { Some(sparse) } else { None }
    }

    /// Writes the selected rows to a buffer with the same number of rows.
    pub(crate) fn write(&self, which: &[usize], mut to: ndarray::ArrayViewMut2<'_, f64>) {
        each!(self.rows, rows => {
            let copy = |(mut to, which): (ndarray::ArrayViewMut2<'_, f64>, &[usize])| {
                for (mut to, &row) in to.rows_mut().into_iter().zip(which) {
                    to.zip_mut_with(&rows.row(row), |to, from| *to = from.to_f64());
                }
            };
            let task = rows_per_task(rows.ncols());
            if which.len() <= task {
                return copy((to, which));
            }
            to.axis_chunks_iter_mut(Axis(0), task).into_par_iter().zip(which.par_chunks(task)).for_each(copy);
        }, sparse => {
            to.fill(0.0);
            for (mut to, &row) in to.rows_mut().into_iter().zip(which) {
                sparse.row(row).for_each(|(j, x)| to[j] += x);
            }
        })
    }

    /// Passes to `work` what makes the cells of the selected dense rows, which follow each other: in
    /// f32 if every number of their type is one.
    pub(crate) fn made<T>(&self, which: &[usize], work: impl FnOnce(Make<'_>) -> T) -> T {
        if matches!(self.rows, Rows::Dense(Dense::F32(_) | Dense::U8(_) | Dense::U16(_))) {
            work(Make::Narrow(&|start, cells| self.make_cells(which, start, cells, |x| x as f32)))
        } else {
            work(Make::Wide(&|start, cells| self.make_cells(which, start, cells, |x| x)))
        }
    }

    /// Writes some cells of the selected dense rows from cell `start` on, and says whether they are
    /// acceptable.
    fn make_cells<T: Element>(&self, which: &[usize], start: usize, to: &mut [T], convert: impl Fn(f64) -> T) -> bool {
        each!(self.rows, rows => copy_cells(rows, which, start, to, |x| convert(x.to_f64())), _sparse => ());
        acceptable_cells(to)
    }

    /// The same rows without weights: for results of each row, which do not depend on them.
    pub(crate) fn unweighted(self) -> Self {
        Self { weights: None, ..self }
    }

    /// All rows in f64, those of weight zero included; copied unless they are dense and f64
    /// already.
    pub(crate) fn all_widened(&self) -> CowArray<'a, f64, Ix2> {
        if let Rows::Dense(Dense::F64(rows)) = self.rows {
            return rows.into();
        }
        self.select(&(0..self.nrows()).collect::<Vec<_>>()).into()
    }

    /// A copy in f64 of the rows with these indices.
    pub(crate) fn select(&self, which: &[usize]) -> Array2<f64> {
        let mut rows = Array2::zeros((which.len(), self.ncols()));
        self.write(which, rows.view_mut());
        rows
    }

    /// The indices of the rows with missing cells. A cell that a sparse row does not store is zero,
    /// not missing.
    pub(crate) fn incomplete(&self) -> BTreeSet<usize> {
        each!(self.rows, rows => {
            let has_missing = |row: &usize| rows.row(*row).iter().any(|x| x.to_f64().is_nan());
            (0..rows.nrows()).filter(has_missing).collect()
        }, _sparse => BTreeSet::new())
    }

    /// Rejects rows with another number of columns, and cells that are neither missing nor valid.
    pub(crate) fn check_observed(&self, features: usize) -> Result<(), Error> {
        self.unweighted().admit(features, Missing::Skip).map(drop)
    }

    /// A copy of the rows in f64, without those of weight zero, and their weights.
    pub(crate) fn widened(&self) -> (Array2<f64>, Option<Vec<f64>>) {
        self.widened_below(0)
    }

    /// The same, below `above` rows of zeros.
    pub(crate) fn widened_below(&self, above: usize) -> (Array2<f64>, Option<Vec<f64>>) {
        let which = self.rows_with_weight();
        let mut rows = Array2::zeros((above + which.len(), self.ncols()));
        self.write(&which, rows.slice_axis_mut(Axis(0), (above..).into()));
        (rows, self.weights_of(&which))
    }

    /// The same, in pieces of at most `rows` rows.
    pub(crate) fn pieces(&self, rows: usize) -> impl Iterator<Item = (Array2<f64>, Option<Vec<f64>>)> {
        let which = self.rows_with_weight();
        (0..which.len()).step_by(rows).map(move |start| {
            let which = &which[start..which.len().min(start + rows)];
            let mut copy = Array2::zeros((which.len(), self.ncols()));
            self.write(which, copy.view_mut());
            (copy, self.weights_of(which))
        })
    }

    /// The indices of the rows with a positive weight.
    fn rows_with_weight(&self) -> Vec<usize> {
        (0..self.nrows()).filter(|&row| self.weight(row) > 0.0).collect()
    }

    fn weights_of(&self, which: &[usize]) -> Option<Vec<f64>> {
        self.weights.map(|weights| which.iter().map(|&row| weights[row]).collect())
    }
}

/// Copies some cells of the selected rows, which follow each other, from cell `start` on.
fn copy_cells<E: Element, T>(
    rows: ArrayView2<'_, E>,
    which: &[usize],
    start: usize,
    mut to: &mut [T],
    convert: impl Fn(E) -> T,
) {
    let (columns, mut at) = (rows.ncols(), start);
    while !to.is_empty() {
        let (row, column) = (which[at / columns], at % columns);
        let (some, later) = to.split_at_mut((columns - column).min(to.len()));
        let from = rows.row(row);
        match from.as_slice().map(|from| &from[column..column + some.len()]) {
            Some(from) => some.iter_mut().zip(from).for_each(|(to, from)| *to = convert(*from)),
            None => some.iter_mut().zip(from.iter().skip(column)).for_each(|(to, from)| *to = convert(*from)),
        }
        at += some.len();
        to = later;
    }
}

fn check_weights(weights: &[f64], rows: usize) -> Result<(), Error> {
    if weights.len() != rows {
        return Err(Error::WeightCount { rows, weights: weights.len() });
    }
    match weights.iter().position(|w| !(0.0..=LARGEST_MAGNITUDE).contains(w)) {
        Some(row) => Err(Error::InvalidWeight { row, value: weights[row] }),
        None => Ok(()),
    }
}

pub(crate) fn check_width<E: Element>(rows: ArrayView2<'_, E>, features: usize) -> Result<(), Error> {
    if rows.ncols() != features {
        return Err(Error::WidthMismatch { expected: features, found: rows.ncols() });
    }
    if features == 0 { Err(Error::NoFeatures) } else { Ok(()) }
}

/// Whether a value is finite and not too large.
#[inline(always)]
pub(crate) fn acceptable<E: Element>(x: &E) -> bool {
    x.to_f64().abs() <= LARGEST_MAGNITUDE // false for NaN too
}

/// Whether all values are finite and not too large.
pub(crate) fn all_acceptable<E: Element>(rows: ArrayView2<'_, E>) -> bool {
    // Counting, instead of stopping at the first bad value, keeps the loop free of branches.
    let count = |bad: u32, x: &E| bad + u32::from(!acceptable(x));
    let bad = |row: ArrayView1<'_, E>| match row.to_slice() {
        Some(row) => vectorized(|| row.iter().fold(0, count)),
        None => row.iter().fold(0, count),
    };
    rows.rows().into_iter().all(|row| bad(row) == 0)
}

/// Whether these values are finite and not too large.
fn acceptable_cells<E: Element>(cells: &[E]) -> bool {
    let count = |bad: u32, x: &E| bad + u32::from(!acceptable(x));
    vectorized(|| cells.iter().fold(0, count)) == 0
}

/// Checks the number of columns and the values. The error names the first bad cell in row order.
pub(crate) fn check<E: Element>(rows: ArrayView2<'_, E>, features: usize) -> Result<(), Error> {
    check_width(rows, features)?;
    let task = rows_per_task(features);
    let clean = if rows.nrows() <= task {
        all_acceptable(rows)
    } else {
        rows.axis_chunks_iter(Axis(0), task).into_par_iter().all(all_acceptable)
    };
    if clean {
        return Ok(());
    }
    rows.rows().into_iter().enumerate().try_for_each(|(i, row)| check_row(row.iter(), i, 1.0))
}

/// Checks the values of the cells that are present.
fn check_observed_cells<E: Element>(cells: ArrayView1<'_, E>, row: usize, weight: f64) -> Result<(), Error> {
    let observed = cells.iter().filter(|x| !x.to_f64().is_nan());
    check_row(observed, row, weight).map_err(|error| with_column_among_all(error, cells))
}

/// Rejects cells that are not finite, or too large themselves or when multiplied by the root of the
/// weight.
fn check_row<'a, E: Element>(cells: impl Iterator<Item = &'a E>, row: usize, weight: f64) -> Result<(), Error> {
    let root = weight.sqrt().max(1.0);
    for (column, x) in cells.enumerate() {
        let value = x.to_f64();
        if !value.is_finite() {
            return Err(Error::NonFinite { row, column, value });
        }
        if root * value.abs() > LARGEST_MAGNITUDE {
            return Err(Error::TooLarge { row, column, value, limit: LARGEST_MAGNITUDE / root });
        }
    }
    Ok(())
}

/// Replaces the column of an error, which was counted among the present cells, by the one among all
/// cells.
fn with_column_among_all<E: Element>(error: Error, row: ArrayView1<'_, E>) -> Error {
    let among_all =
        |nth: usize| row.iter().enumerate().filter(|(_, x)| !x.to_f64().is_nan()).nth(nth).map_or(nth, |(j, _)| j);
    match error {
        Error::NonFinite { row, column, value } => Error::NonFinite { row, column: among_all(column), value },
        Error::TooLarge { row, column, value, limit } => {
            Error::TooLarge { row, column: among_all(column), value, limit }
        }
        other => other,
    }
}

/// A copy in f64 of rows that were checked.
pub(crate) fn widened<E: Element>(rows: ArrayView2<'_, E>) -> Array2<f64> {
    let mut copy = Array2::zeros(rows.dim());
    copy.zip_mut_with(&rows, |out, x| *out = x.to_f64());
    copy
}

#[cfg(test)]
mod tests {
    use super::Block;

    /// A block can be used where a shorter lifetime is expected, as a reference can. It compiles,
    /// or it does not.
    #[test]
    fn lifetimes_can_be_shortened() {
        fn shortened<'short, 'long: 'short>(rows: Block<'long>) -> Block<'short> {
            rows
        }
        let rows = ndarray::array![[1.0]];
        assert_eq!(shortened((&rows).into()).nrows(), 1);
    }
}
