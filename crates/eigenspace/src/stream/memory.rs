//! Estimates of the memory that an operation needs, made before it begins. A failed allocation ends
//! the process, so the command and the Python package first compare an estimate with the memory
//! that is available.
//!
//! An estimate is an upper bound on the cells of 8 bytes that an operation allocates, with its
//! result. Only matrices and vectors as long as a row are counted:
//!
//! | operation | cells |
//! |---|---|
//! | decomposing q rows: C(q) | 3 (q + 8) D + 5 min(q, D)² |
//! | copying a model of rank r | (r + 3) D |
//! | a model to bytes | 5 (r + 3) D |
//! | a model from b bytes, or from a file of this length | 3 b / 8 |
//! | covariance | 4 D² + k D |
//! | batch fit of n rows | C(n) |
//! | batch fit by iteration | 1000 min(n, D), and 2 n D for dense rows |
//! | updating a model of rank r with n rows | C(n + r) |
//! | merging models with q rows in all, r + 1 for each | 2 (r + 3) D for each, and C(min(q, 2 D) + 1) |
//! | splitting off a part, p = r + 1 rows, from a whole of rank w | C(p) + 2 p D + C(w + p) + (w + p) D |
//! | removing n rows | C(n), and splitting off a part of rank min(n, D) |
//! | another pass, to begin and to finish | 3 and 4 copies of the model |
//! | fit by a stream: scatter, blocks of m rows | 6 D² + 2 m D |
//! | fit by a stream: factor of q rows | q D + C(q) |
//! | continuing from a model | 3 copies of it, and 3 D² with the scatter engine |
//! | what a stream of q rows holds | 2 (q + 4) D + min(q, D)², and 2 D² with the scatter engine |
//! | converting n rows for an update of a stream | C(min(n, 512)), with n = 0 for sparse rows |
//! | one update of a stream, which buffers rows | the buffer at its new size |
//! | the same if it adds to the scatter | 3 D² + 2 m D |
//! | the same if it compresses a factor of q rows | C(q) |
//! | merging accumulators | twice what both hold, and C(512) |
//! | reading q rows | (5/2 q + 16) D + 4 min(q, D)² + 2²³, and 8 D² with the scatter engine |
//!
//! Reading keeps half of 4 min(q, D)², the products of rows, for the next read; its 5/2 q D are
//! twice the rows and once in f32, and the constant is what was observed besides matrices.

use crate::model::batch::is_iterative;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::truncation::Truncation;
use crate::rows::block::Block;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::plan::{Engine, Plan};
use crate::stream::read::MAX_DENSE_READ_CELLS;
use crate::stream::state::EngineState;

/// Vectors that an iterative fit holds at a time, about.
const KRYLOV_VECTORS: usize = 1000;
/// Number of rows assumed for a source of unknown length.
const UNKNOWN_ROWS: usize = 512;
/// The most dense rows that an update holds at a time in addition to the buffer.
const ROWS_AT_A_TIME: usize = 512;
/// Number of cells that a read allocates in addition to the matrices, as observed.
const READ_CELLS: usize = 1 << 23;

/// A matrix.
pub fn matrix(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns)
}

fn square(size: usize) -> usize {
    matrix(size, size)
}

/// Decomposing dense rows: three copies of them, vectors as long as a row, and small square
/// matrices.
pub fn decomposition(rows: usize, features: usize) -> usize {
    let copies = matrix(rows.saturating_add(8), features).saturating_mul(3);
    copies.saturating_add(square(rows.min(features)).saturating_mul(5))
}

/// A copy of a model.
pub fn model(model: &EigenspaceModel) -> usize {
    matrix(model.rank().saturating_add(3), model.features())
}

/// The bytes of a model: its tensors, the file that contains them, and another copy.
pub fn bytes_of_model(model: &EigenspaceModel) -> usize {
    self::model(model).saturating_mul(5)
}

/// Reading a model from this many bytes: the bytes, the tensors and the model.
pub fn model_of_bytes(bytes: u64) -> usize {
    usize::try_from(bytes / 8).unwrap_or(usize::MAX).saturating_mul(3)
}

/// The covariance of the features, or its inverse: the identity, its product with the components,
/// and the sum.
pub fn covariance(model: &EigenspaceModel) -> usize {
    let features = model.features();
    square(features).saturating_mul(4).saturating_add(matrix(features, model.n_components()))
}

/// Batch PCA.
pub fn fit(rows: &Block<'_>, truncation: Truncation) -> usize {
    let (count, features, sparse) = (rows.nrows(), rows.ncols(), rows.sparse().is_some());
    match truncation {
        Truncation::Rank(rank) if is_iterative(count, features, rank, sparse) => {
            let copies = if sparse { 0 } else { matrix(count, features).saturating_mul(2) };
            copies.saturating_add(iterative_fit(count, features))
        }
        _ => decomposition(count, features),
    }
}

/// Batch PCA by iteration, on rows of which no copy is needed.
pub fn iterative_fit(rows: usize, features: usize) -> usize {
    matrix(KRYLOV_VECTORS, rows.min(features))
}

/// Adding rows to a model.
pub fn update(model: &EigenspaceModel, rows: usize) -> usize {
    decomposition(rows.saturating_add(model.rank()), model.features())
}

/// Merging models as a tree: copies of all models, the results of one level, and the largest merge.
pub fn merge<'a>(models: impl IntoIterator<Item = &'a EigenspaceModel>) -> usize {
    let (mut copies, mut rows, mut features) = (0_usize, 0_usize, 0);
    for one in models {
        copies = copies.saturating_add(model(one));
        rows = rows.saturating_add(one.rank() + 1);
        features = one.features();
    }
    let rows = rows.min(features.saturating_mul(2)).saturating_add(1);
    copies.saturating_mul(2).saturating_add(decomposition(rows, features))
}

/// Splitting off a part of this rank: the component of the part outside the model, and a basis of
/// both.
pub fn split(whole: &EigenspaceModel, rank: usize) -> usize {
    let (leaving, features) = (rank.saturating_add(1), whole.features());
    let both = whole.rank().saturating_add(leaving);
    decomposition(leaving, features)
        .saturating_add(matrix(leaving, features).saturating_mul(2))
        .saturating_add(decomposition(both, features))
        .saturating_add(matrix(both, features))
}

/// Removing rows: their model, and splitting it off.
pub fn remove(whole: &EigenspaceModel, rows: usize) -> usize {
    let features = whole.features();
    decomposition(rows, features).saturating_add(split(whole, rows.min(features)))
}

/// Beginning another pass over the rows of a model.
pub fn begin_pass(model: &EigenspaceModel) -> usize {
    self::model(model).saturating_mul(3)
}

/// Finishing it.
pub fn finish_pass(model: &EigenspaceModel) -> usize {
    self::model(model).saturating_mul(4)
}

/// A fit of rows by a stream that has not begun, or that continues from a model of this rank. If
/// the rank depends on the data, only the rows that are kept unchanged are counted.
pub fn fit_by_stream(plan: &Plan, features: usize, rank: usize, rows: Option<u64>) -> usize {
    let rows = rows.map_or(UNKNOWN_ROWS, |rows| usize::try_from(rows).unwrap_or(usize::MAX));
    if plan.engine == Engine::Scatter {
        let block = matrix(plan.block_rows.min(rows), features).saturating_mul(2);
        return square(features).saturating_mul(6).saturating_add(block);
    }
    let rows = rows.saturating_add(rank).min(most_rows(plan, 0));
    matrix(rows, features).saturating_add(decomposition(rows, features))
}

/// A stream that continues from a model.
pub fn resume(model: &EigenspaceModel, plan: &Plan) -> usize {
    let scatter = if plan.engine == Engine::Scatter { square(model.features()).saturating_mul(3) } else { 0 };
    self::model(model).saturating_mul(3).saturating_add(scatter)
}

/// Converting the rows of an update. Sparse rows are buffered as they are.
pub fn convert(rows: &Block<'_>) -> usize {
    convert_dense(if rows.sparse().is_some() { 0 } else { rows.nrows() }, rows.ncols())
}

/// The same for dense rows, which are held only until the next compression.
pub fn convert_dense(rows: usize, features: usize) -> usize {
    decomposition(rows.min(ROWS_AT_A_TIME), features)
}

/// The most rows of a factor and its buffer, if it keeps this many directions where the plan does
/// not say how many.
fn most_rows(plan: &Plan, otherwise: usize) -> usize {
    plan.max_rank.unwrap_or(otherwise).saturating_add(plan.block_rows).max(plan.exact_rows)
}

impl EigenspaceStream {
    /// Cells that the stream holds: its buffer with its spare capacity, the scatter matrix, the
    /// model that was last read, and the products of rows.
    #[doc(hidden)]
    pub fn cells(&self) -> usize {
        let (plan, features) = (self.plan(), self.features());
        let rows = usize::try_from(self.count()).unwrap_or(usize::MAX).min(most_rows(&plan, features));
        let scatter = if plan.engine == Engine::Scatter { square(features).saturating_mul(2) } else { 0 };
        let buffer = matrix(rows.saturating_add(4), features).saturating_mul(2);
        buffer.saturating_add(scatter).saturating_add(square(rows.min(features)))
    }

    /// Upper bound on the number of cells that an update with these rows allocates.
    #[doc(hidden)]
    pub fn cells_to_update(&self, rows: &Block<'_>) -> usize {
        let free = self.free_rows().max(1);
        let new_rows = if rows.sparse().is_some() { 0 } else { rows.nrows().min(free) };
        let buffer = matrix(self.state.buffer.rows_after_growing(new_rows, free).unwrap_or(0), self.features());
        if self.only_copies(rows) { buffer } else { buffer.saturating_add(self.cells_to_compress()) }
    }

    fn cells_to_compress(&self) -> usize {
        let (plan, features) = (self.plan(), self.features());
        if plan.engine == Engine::Scatter {
            let block = matrix(plan.block_rows, features).saturating_mul(2);
            return square(features).saturating_mul(3).saturating_add(block);
        }
        let count = usize::try_from(self.count()).unwrap_or(usize::MAX).saturating_add(plan.block_rows);
        decomposition(count.min(most_rows(&plan, features)), features)
    }

    /// Upper bound on the number of cells that reading allocates.
    #[doc(hidden)]
    pub fn cells_to_read(&self) -> usize {
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
        let products = square(rows.min(features)).saturating_mul(4);
        let matrices = matrix((2 * rows + rows / 2 + 16).saturating_add(scatter), features);
        matrices.saturating_add(products).saturating_add(READ_CELLS)
    }
}
