//! Estimates of the memory that a call needs, made before it begins.
//!
//! A failed allocation in native code ends the interpreter. Every call that allocates much
//! therefore states how many numbers it holds at a time, and [`affordable`] raises a `MemoryError`
//! if they do not fit into memory. Estimates are upper bounds: they include all products computed
//! in a call and the copies made for results.

use eigenspace::{Accumulator, EigenspaceModel, EigenspaceStream, Engine, Plan};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use crate::errors::with_hint;

/// Extra cells for allocations other than matrices.
const OVERHEAD_CELLS: usize = 1 << 21;
/// Calls with fewer cells than this need almost no extra memory.
const SMALL: usize = 1 << 16;

/// Returns a `MemoryError` if this many numbers do not fit into memory.
pub(crate) fn affordable(py: Python<'_>, cells: usize) -> PyResult<()> {
    let cells = if cells < SMALL { cells } else { cells.saturating_add(OVERHEAD_CELLS) };
    let mut probe: Vec<f64> = Vec::new();
    match probe.try_reserve_exact(cells) {
        Ok(()) => Ok(()),
        Err(_) => {
            let mib = cells as f64 * 8.0 / (1_u64 << 20) as f64;
            let size = if mib < 1024.0 { format!("{mib:.0} MiB") } else { format!("{:.0} GiB", mib / 1024.0) };
            let error = PyMemoryError::new_err(format!("cannot allocate {size} of memory"));
            Err(with_hint(
                py,
                error,
                Some("use fewer features, smaller blocks of rows, fewer components or a smaller max_rank"),
            ))
        }
    }
}

/// The packing buffers of a thread for matrix products: twice the size of the last-level cache, or
/// of a typical one if its size is unknown.
pub(crate) fn packed_by_a_thread() -> usize {
    let size = |index: usize| {
        let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()?;
        let kib: usize = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kib << 10)
    };
    let cache = (0..5).filter_map(size).max().unwrap_or(32 << 20);
    cache.saturating_mul(2) / size_of::<f64>()
}

/// The number of cells in this many bytes.
pub(crate) fn cells(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(size_of::<f64>() as u64)).unwrap_or(usize::MAX)
}

/// A matrix.
pub(crate) fn matrix(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns)
}

/// Decomposing dense rows: three copies of them, vectors as long as a row, and small square
/// matrices.
pub(crate) fn decomposition(rows: usize, features: usize) -> usize {
    let small = rows.min(features);
    let copies = matrix(rows.saturating_add(8), features).saturating_mul(3);
    copies.saturating_add(matrix(small, small).saturating_mul(5))
}

/// The covariance of the features, or its inverse: the identity, its product with the components,
/// and the sum.
pub(crate) fn covariance(model: &EigenspaceModel) -> usize {
    let features = model.features();
    matrix(features, features).saturating_mul(4).saturating_add(matrix(features, model.n_components()))
}

/// A copy of a model.
pub(crate) fn model(model: &EigenspaceModel) -> usize {
    matrix(model.rank().saturating_add(3), model.features())
}

/// The bytes of a model: its tensors, the file that contains them, and the copy for Python.
pub(crate) fn bytes_of_model(model: &EigenspaceModel) -> usize {
    self::model(model).saturating_mul(5)
}

/// Reading a model from this many bytes.
pub(crate) fn model_of_bytes(bytes: u64) -> usize {
    usize::try_from(bytes / 8).unwrap_or(usize::MAX).saturating_mul(3)
}

/// Merging models as a tree: copies of all models, the results of one level, and the largest merge.
pub(crate) fn merge(models: &[&EigenspaceModel]) -> usize {
    let copies = models.iter().fold(0_usize, |sum, one| sum.saturating_add(model(one)));
    let features = models.first().map_or(0, |model| model.features());
    let rows = models.iter().fold(1_usize, |sum, one| sum.saturating_add(one.rank() + 1));
    let rows = rows.min(features.saturating_mul(2).saturating_add(1));
    copies.saturating_mul(2).saturating_add(decomposition(rows, features))
}

/// Splitting off a part of this rank: the component of the part outside the model, and a basis of
/// both.
pub(crate) fn split(whole: &EigenspaceModel, rank: usize) -> usize {
    let leaving = rank.saturating_add(1);
    let both = whole.rank().saturating_add(leaving);
    decomposition(leaving, whole.features())
        .saturating_add(matrix(leaving, whole.features()).saturating_mul(2))
        .saturating_add(decomposition(both, whole.features()))
        .saturating_add(matrix(both, whole.features()))
}

/// A stream: its buffer with its spare capacity, the scatter matrix, the model that was last read,
/// and the products of rows.
pub(crate) fn stream(stream: &EigenspaceStream) -> usize {
    state(stream.plan(), stream.features(), stream.count())
}

/// An accumulator, which holds what a stream holds.
pub(crate) fn accumulator(accumulator: &Accumulator) -> usize {
    let features = accumulator.features().unwrap_or(0);
    accumulator.options().plan(features).map_or(0, |plan| state(plan, features, accumulator.count()))
}

fn state(plan: Plan, features: usize, count: u64) -> usize {
    let most = plan.max_rank.unwrap_or(features).saturating_add(plan.block_rows).max(plan.exact_rows);
    let rows = usize::try_from(count).unwrap_or(usize::MAX).min(most);
    let scatter = if plan.engine == Engine::Scatter { matrix(features, features) } else { 0 };
    let products = matrix(rows.min(features), rows.min(features));
    matrix(rows.saturating_add(4), features)
        .saturating_mul(2)
        .saturating_add(scatter.saturating_mul(2))
        .saturating_add(products)
}
