//! Updates and reads within a memory budget: an estimate is made first, and nothing changes if it
//! is too large.
//!
//! ```text
//! 8 cells (memory.rs) > max_bytes  ─►  Error::MemoryBudget
//! ```

use std::sync::Arc;

use crate::error::Error;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::rows::block::Block;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::preview::Preview;

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
}

fn within(action: &'static str, cells: usize, allowed: u64) -> Result<(), Error> {
    let needed = (cells as u64).saturating_mul(size_of::<f64>() as u64);
    if needed > allowed { Err(Error::MemoryBudget { action, needed, allowed }) } else { Ok(()) }
}
