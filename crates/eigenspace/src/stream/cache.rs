//! What a stream keeps of its reads. It has no effect on results, only on the time that the next
//! read takes, and is no part of a checkpoint.
//!
//! | kept | until |
//! |---|---|
//! | the model, the preview, the dual | a row is added or a setting changes |
//! | the products of rows, the rows in f32 | the buffer is compressed |

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::model::eigenspace_model::EigenspaceModel;
use crate::stream::dual::Dual;
use crate::stream::narrow_rows::NarrowRows;
use crate::stream::preview::Preview;
use crate::stream::row_products::RowProducts;

/// The last reads of a stream.
#[derive(Debug, Default)]
pub(crate) struct ReadCache {
    pub(crate) model: OnceLock<Arc<EigenspaceModel>>,
    pub(crate) preview: OnceLock<Preview>,
    /// `None` if the leading directions are not determined by the products.
    pub(crate) dual: OnceLock<Option<Arc<Dual>>>,
    /// Number of rows projected through the dual.
    projected: AtomicUsize,
    products: Mutex<RowProducts>,
    narrow: Mutex<NarrowRows>,
}

impl ReadCache {
    /// Forgets everything that new rows or settings change.
    pub(crate) fn outdate(&mut self) {
        let (products, narrow) = (std::mem::take(&mut self.products), std::mem::take(&mut self.narrow));
        *self = Self { products, narrow, ..Self::default() };
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes the products out. Nothing is locked while they are used: a thread that waits for a
    /// part of a computation may run another read of the same stream, which then starts without
    /// them.
    pub(crate) fn take_products(&self) -> RowProducts {
        self.products.lock().map_or_else(|_| RowProducts::default(), |mut products| std::mem::take(&mut *products))
    }

    /// Puts the products back, unless another read has put back more.
    pub(crate) fn keep_products(&self, products: RowProducts) {
        if let Ok(mut kept) = self.products.lock()
            && kept.len() <= products.len()
        {
            *kept = products;
        }
    }

    /// Runs `work` with the rows in f32, which nothing locks meanwhile, and keeps them.
    pub(crate) fn with_narrow(&self, work: &dyn Fn(&mut NarrowRows)) {
        let mut narrow =
            self.narrow.lock().map_or_else(|_| NarrowRows::default(), |mut kept| std::mem::take(&mut *kept));
        work(&mut narrow);
        if let Ok(mut kept) = self.narrow.lock()
            && kept.len() <= narrow.len()
        {
            *kept = narrow;
        }
    }

    /// Counts rows that are projected, and returns how many that makes.
    pub(crate) fn count_projected(&self, rows: usize) -> usize {
        self.projected.fetch_add(rows, Ordering::Relaxed).saturating_add(rows)
    }
}

impl Clone for ReadCache {
    fn clone(&self) -> Self {
        // A copy converts its rows again when it needs them: they are half as large as the buffer.
        let products = self.products.lock().map_or_else(|_| RowProducts::default(), |products| products.clone());
        Self {
            model: self.model.clone(),
            preview: self.preview.clone(),
            dual: self.dual.clone(),
            projected: AtomicUsize::new(self.projected.load(Ordering::Relaxed)),
            products: Mutex::new(products),
            narrow: Mutex::default(),
        }
    }
}
