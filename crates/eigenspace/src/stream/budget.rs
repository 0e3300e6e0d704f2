//! Updates and reads within a memory budget: an estimate is made first, and nothing changes if it
//! is too large.
//!
//! | operation | cells of 8 bytes |
//! |---|---|
//! | buffering rows | the buffer at its new size |
//! | adding to the scatter | 3 D² and the block twice |
//! | compressing a factor of q rows | 3 (q + 8) D + 5 min(q, D)² |
//! | reading | twice the buffer and once in f32, and 8 D² with the scatter engine, or 4 q² for the products of q rows |

use std::sync::Arc;

use crate::error::Error;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::rows::block::Block;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::plan::Engine;
use crate::stream::preview::Preview;
use crate::stream::read::MAX_DENSE_READ_CELLS;
use crate::stream::state::EngineState;

/// Number of cells allocated at a time in addition to the matrices, as observed.
const SCRATCH_CELLS: usize = 1 << 23;

impl EigenspaceStream {
    /// Like [`update`](Self::update), but fails without changing the stream if the update could
    /// allocate more than `max_bytes`.
    ///
    /// ```
    /// use eigenspace::{Error, FitOptions};
    /// use ndarray::Array2;
    ///
    /// let rows = Array2::<f64>::ones((10, 2000));
    /// let mut stream = FitOptions::new().stream(2000)?;
    /// assert!(matches!(stream.try_update(&rows, 1000), Err(Error::MemoryBudget { .. })));
    /// assert_eq!(stream.count(), 0);
    /// stream.try_update(&rows, 1_000_000)?;
    /// assert_eq!(stream.count(), 10);
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn try_update<'a>(&mut self, rows: impl Into<Block<'a>>, max_bytes: u64) -> Result<(), Error> {
        let block = rows.into();
        within("update the stream", self.cells_to_update(&block), max_bytes)?;
        self.update(block)
    }

    /// Like [`model`](Self::model), but fails if reading could allocate more than `max_bytes`. The
    /// error contains the estimate.
    pub fn try_model(&self, max_bytes: u64) -> Result<Arc<EigenspaceModel>, Error> {
        within("read the stream", self.cells_to_read(), max_bytes)?;
        self.model()
    }

    /// Like [`preview`](Self::preview), but fails if reading could allocate more than `max_bytes`.
    pub fn try_preview(&self, max_bytes: u64) -> Result<Preview, Error> {
        within("read the stream", self.cells_to_read(), max_bytes)?;
        self.preview()
    }

    /// Upper bound on the number of cells that an update with these rows allocates.
    fn cells_to_update(&self, rows: &Block<'_>) -> usize {
        let free = self.free_rows().max(1);
        let new_rows = if rows.sparse().is_some() { 0 } else { rows.nrows().min(free) };
        let buffer = self.state.buffer.rows_after_growing(new_rows, free).unwrap_or(0).saturating_mul(self.features());
        if self.only_copies(rows) { buffer } else { buffer.saturating_add(self.cells_to_compress()) }
    }

    fn cells_to_compress(&self) -> usize {
        let (plan, features) = (self.plan(), self.features());
        if plan.engine == Engine::Scatter {
            let rows = plan.block_rows.saturating_mul(features).saturating_mul(2);
            return features.saturating_mul(features).saturating_mul(3).saturating_add(rows);
        }
        let most = plan.max_rank.unwrap_or(features).saturating_add(plan.block_rows).max(plan.exact_rows);
        let count = usize::try_from(self.count()).unwrap_or(usize::MAX).saturating_add(plan.block_rows);
        let rows = count.min(most);
        let small = rows.min(features);
        let copies = rows.saturating_add(8).saturating_mul(features).saturating_mul(3);
        copies.saturating_add(small.saturating_mul(small).saturating_mul(5))
    }

    /// Upper bound on the number of cells that reading allocates.
    fn cells_to_read(&self) -> usize {
        let (buffer, features) = (&self.state.buffer, self.features());
        let rows = buffer.len();
        // Sparse rows that are compressed first are never made dense.
        let compressed = buffer.is_sparse() && rows * features > MAX_DENSE_READ_CELLS;
        let rows =
            if compressed { rows.min(2 * buffer.kept().max(self.plan().max_rank.unwrap_or(rows))) } else { rows };
        let scatter = match self.state.engine {
            EngineState::Scatter(_) => features.saturating_mul(8),
            EngineState::Factor(_) => 0,
        };
        // Half of a square of these is kept for the next read.
        let products = rows.min(features).saturating_mul(rows.min(features)).saturating_mul(4);
        // Twice the rows, and once more in half the precision.
        let matrices = (2 * rows + rows / 2 + 16).saturating_add(scatter).saturating_mul(features);
        matrices.saturating_add(products).saturating_add(SCRATCH_CELLS)
    }
}

fn within(action: &'static str, cells: usize, allowed: u64) -> Result<(), Error> {
    let needed = (cells as u64).saturating_mul(size_of::<f64>() as u64);
    if needed > allowed { Err(Error::MemoryBudget { action, needed, allowed }) } else { Ok(()) }
}
