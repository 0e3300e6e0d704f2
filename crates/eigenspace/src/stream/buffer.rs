//! The row buffer: rows of the factor, followed by new rows, so that a compression works in place.
//!
//! ```text
//!  rows ──append──►  ┌───────────────────────────┐
//!                    │ F   r rows, FᵀF ≈ M       │  `kept` rows; none for the scatter engine
//!                    │ x x x  new rows           │  `pending` rows, dense or sparse
//!                    └───────────────────────────┘
//! ```

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::linalg;
use crate::model::weight::Weight;
use crate::rows::block::Block;
use crate::rows::sparse::SparseRows;
use crate::stream::forgetting::Forgetting;
use crate::stream::sparse_buffer::SparseBuffer;

/// Up to this number of cells, the buffer grows fourfold; unused rows are not touched.
const QUICK_GROWTH_CELLS: usize = 1 << 23;

/// The rows of a factor, then pending rows, which are not yet absorbed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RowBuffer {
    /// Unused rows, rows of the factor, dense pending rows, and unused rows.
    data: Array2<f64>,
    /// Number of unused rows before the factor; 0 unless the rows are on a card too.
    first: usize,
    /// Number of rows of the factor.
    kept: usize,
    /// Number of rows of `data` in use.
    used: usize,
    /// Sparse pending rows; pending rows are either all sparse or all dense.
    sparse: SparseBuffer,
    /// Weight and arrival time of each pending row.
    arrivals: Vec<Arrival>,
}

/// The weight of a pending row, and the time of the stream at which it arrived.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Arrival {
    weight: f64,
    time: u64,
}

impl RowBuffer {
    /// A buffer that starts with these rows of a factor.
    pub(crate) fn starting_with(factor: Array2<f64>) -> Self {
        let kept = factor.nrows();
        Self { data: factor, first: 0, kept, used: kept, sparse: SparseBuffer::default(), arrivals: Vec::new() }
    }

    pub(crate) fn features(&self) -> usize {
        self.data.ncols()
    }

    /// Number of rows of the factor.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    /// Number of pending rows.
    pub(crate) fn pending(&self) -> usize {
        self.arrivals.len()
    }

    /// Number of rows of the factor and of pending rows.
    pub(crate) fn len(&self) -> usize {
        self.kept + self.pending()
    }

    /// Whether the pending rows are sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        self.sparse.rows() > 0
    }

    /// Appends the selected rows of a block, of at most `free` rows that may come before the buffer
    /// is emptied; `time(i)` is the arrival time of the i-th. If `sparse`, they stay sparse.
    pub(crate) fn append(
        &mut self,
        block: &Block<'_>,
        which: &[usize],
        sparse: bool,
        free: usize,
        time: impl Fn(usize) -> u64,
    ) {
        let arrival = |(i, &row): (usize, &usize)| Arrival { weight: block.weight(row), time: time(i) };
        self.arrivals.extend(which.iter().enumerate().map(arrival));
        if let (Some(rows), true) = (block.sparse(), sparse) {
            which.iter().for_each(|&row| self.sparse.push(rows.row(row)));
            return;
        }
        let end = self.used + which.len();
        if let Some(rows) = self.rows_after_growing(which.len(), free) {
            self.resize(rows);
        }
        block.write(which, self.data.slice_axis_mut(Axis(0), Slice::from(self.first + self.used..self.first + end)));
        self.used = end;
    }

    /// The new capacity in rows if the buffer must grow to hold `more` of at most `free` rows,
    /// otherwise `None`.
    pub(crate) fn rows_after_growing(&self, more: usize, free: usize) -> Option<usize> {
        let (end, there) = (self.used + more, self.data.nrows() - self.first);
        // While it is small, it grows faster: copying it takes longer than appending the rows.
        let small = QUICK_GROWTH_CELLS / self.features().max(1);
        let quick = (there * 4).min(self.used.saturating_add(free)).min(small);
        (end > there).then(|| end.max(there * 3 / 2).max(quick))
    }

    /// Makes room for this number of rows, which are at least those in use.
    fn resize(&mut self, rows: usize) {
        let shape = (rows, self.features());
        if self.first > 0 || rows < self.data.nrows() {
            let mut larger = Array2::zeros(shape);
            larger.slice_axis_mut(Axis(0), Slice::from(..self.used)).assign(&self.all());
            (self.data, self.first) = (larger, 0);
            return;
        }
        // Most systems extend a large allocation without copying it.
        let (mut cells, offset) = std::mem::take(&mut self.data).into_raw_vec_and_offset();
        debug_assert!(offset.is_none_or(|offset| offset == 0), "the memory of a buffer begins with its first row");
        cells.reserve_exact(shape.0 * shape.1 - cells.len());
        cells.resize(shape.0 * shape.1, 0.0);
        self.data = Array2::from_shape_vec(shape, cells).expect("the numbers of cells are equal");
    }

    /// The weights of the pending rows at time `now`; `None` if all of them are 1.
    pub(crate) fn weights(&self, forgetting: Forgetting, now: u64) -> Option<Vec<f64>> {
        let weight = |arrival: &Arrival| arrival.weight * forgetting.weight(now - arrival.time);
        let plain = forgetting == Forgetting::Never && self.arrivals.iter().all(|arrival| arrival.weight == 1.0);
        (!plain).then(|| self.arrivals.iter().map(weight).collect())
    }

    /// The weights of the pending rows before any forgetting; `None` if all of them are 1.
    pub(crate) fn own_weights(&self) -> Option<Vec<f64>> {
        let plain = self.arrivals.iter().all(|arrival| arrival.weight == 1.0);
        (!plain).then(|| self.arrivals.iter().map(|arrival| arrival.weight).collect())
    }

    /// The total weight of the pending rows before any forgetting.
    pub(crate) fn own_weight(&self) -> Weight {
        self.arrivals.iter().map(|arrival| Weight::of(&[arrival.weight])).fold(Weight::default(), Weight::plus)
    }

    /// Runs `then` with the pending rows and their weights.
    pub(crate) fn with_pending<R>(&self, then: impl FnOnce(Block<'_>) -> Result<R, Error>) -> Result<R, Error> {
        let (weights, (offsets, columns, values)) = (self.own_weights(), self.sparse.parts());
        let block = match self.is_sparse() {
            true => Block::from(SparseRows::new(self.features(), &offsets, columns, values)?),
            false => Block::from(self.raw()),
        };
        then(weights.as_deref().map_or(block, |weights| block.weighted(weights)))
    }

    /// The rows of the factor.
    pub(crate) fn factor(&self) -> ArrayView2<'_, f64> {
        linalg::rows_of(self.data.view(), self.first..self.first + self.kept)
    }

    /// The rows of the factor.
    pub(crate) fn factor_mut(&mut self) -> ArrayViewMut2<'_, f64> {
        self.data.slice_axis_mut(Axis(0), Slice::from(self.first..self.first + self.kept))
    }

    /// The pending rows, if they are dense.
    pub(crate) fn raw(&self) -> ArrayView2<'_, f64> {
        linalg::rows_of(self.data.view(), self.first + self.kept..self.first + self.used)
    }

    /// The pending rows, if they are dense.
    pub(crate) fn raw_mut(&mut self) -> ArrayViewMut2<'_, f64> {
        self.data.slice_axis_mut(Axis(0), Slice::from(self.first + self.kept..self.first + self.used))
    }

    /// The pending rows, if they are sparse.
    pub(crate) fn sparse(&self) -> &SparseBuffer {
        &self.sparse
    }

    /// The factor, and the pending rows if they are dense.
    pub(crate) fn all(&self) -> ArrayView2<'_, f64> {
        linalg::rows_of(self.data.view(), self.first..self.first + self.used)
    }

    /// The factor, and the pending rows if they are dense.
    pub(crate) fn all_mut(&mut self) -> ArrayViewMut2<'_, f64> {
        self.data.slice_axis_mut(Axis(0), Slice::from(self.first..self.first + self.used))
    }

    /// A dense copy of the factor and the pending rows.
    pub(crate) fn to_dense(&self) -> Array2<f64> {
        if !self.is_sparse() {
            return self.all().to_owned();
        }
        let mut all = Array2::zeros((self.used + self.sparse.rows(), self.features()));
        all.slice_axis_mut(Axis(0), Slice::from(..self.used)).assign(&self.all());
        all.slice_axis_mut(Axis(0), Slice::from(self.used..)).assign(&self.sparse.dense(self.features()));
        all
    }

    /// Makes sparse pending rows dense.
    pub(crate) fn make_dense(&mut self) {
        if self.is_sparse() {
            (self.data, self.first) = (self.to_dense(), 0);
            self.used = self.data.nrows();
            self.sparse.clear();
        }
    }

    /// Releases the memory of unused rows.
    pub(crate) fn trim(&mut self) {
        (self.data, self.first) = (self.all().to_owned(), 0);
    }

    /// Keeps only the first `rows` rows in use, which have replaced all others and have the same
    /// scatter.
    pub(crate) fn shorten(&mut self, rows: usize) {
        self.used = self.used.min(rows);
    }

    /// The first rows of the buffer, in use or not.
    pub(crate) fn first(&self, rows: usize) -> ArrayView2<'_, f64> {
        linalg::rows_of(self.data.view(), self.first..self.first + rows)
    }

    /// At least `rows` rows for a factor, of which those after the current ones are zero; and the
    /// sparse rows.
    pub(crate) fn factor_and_sparse(&mut self, rows: usize) -> (ArrayViewMut2<'_, f64>, &SparseBuffer) {
        if self.data.nrows() - self.first < rows {
            self.resize(rows);
        }
        let room = Slice::from(self.first..self.first + rows.max(self.kept));
        let mut room = self.data.slice_axis_mut(Axis(0), room);
        room.slice_axis_mut(Axis(0), Slice::from(self.kept..)).fill(0.0);
        (room, &self.sparse)
    }

    /// Makes the first `kept` rows the factor, and removes all pending rows.
    pub(crate) fn keep_factor(&mut self, kept: usize) {
        (self.kept, self.used) = (kept, kept);
        self.sparse.clear();
        self.arrivals.clear();
    }

    /// A buffer of memory whose rows before row `end` end with a factor of `kept` rows.
    pub(crate) fn ending_with(memory: Array2<f64>, end: usize, kept: usize) -> Self {
        let empty = Self::starting_with(memory);
        Self { first: end - kept, kept, used: kept, ..empty }
    }

    /// The memory of this number of rows after the rows in use; `None` if there are fewer.
    pub(crate) fn room_mut(&mut self, rows: usize) -> Option<ArrayViewMut2<'_, f64>> {
        let start = self.first + self.used;
        let fits = self.data.nrows() - start >= rows;
        fits.then(|| self.data.slice_axis_mut(Axis(0), Slice::from(start..start + rows)))
    }

    /// Adds rows that the memory already holds after the rows in use.
    pub(crate) fn adopt(&mut self, which: &[usize], weight: impl Fn(usize) -> f64, time: impl Fn(usize) -> u64) {
        let arrival = |(i, &row): (usize, &usize)| Arrival { weight: weight(row), time: time(i) };
        self.arrivals.extend(which.iter().enumerate().map(arrival));
        self.used += which.len();
    }

    /// Removes the dense rows that came after the first `pending` ones.
    pub(crate) fn forget_after(&mut self, pending: usize) {
        if self.pending() > pending && !self.is_sparse() {
            self.arrivals.truncate(pending);
            self.used = self.kept + pending;
        }
    }

    /// The memory of the buffer.
    pub(crate) fn into_memory(self) -> Array2<f64> {
        self.data
    }

    /// Whether a restored buffer is consistent and no row arrived after `now`.
    pub(crate) fn is_consistent(&self, features: usize, now: u64) -> bool {
        let dense = self.used.checked_sub(self.kept);
        self.features() == features
            && self.first.checked_add(self.used).is_some_and(|end| end <= self.data.nrows())
            && self.data.is_standard_layout()
            && dense.and_then(|dense| dense.checked_add(self.sparse.rows())) == Some(self.pending())
            && (dense == Some(0) || self.sparse.rows() == 0)
            && self.arrivals.iter().all(|arrival| arrival.time <= now)
            && self.sparse.is_consistent(features)
    }
}
