//! Compares the memory that a call needs with what is available, before it begins.
//!
//! A failed allocation in native code ends the interpreter. Every call that allocates much
//! therefore states how many numbers it holds at a time, and [`affordable`] raises a `MemoryError`
//! if they do not fit into memory. The estimates are the library's (`stream/memory.rs`); those of
//! calls that compute something else add up the matrices that they hold.

pub(crate) use eigenspace::internal::memory::{
    begin_pass, bytes_of_model, convert, convert_dense, covariance, decomposition, finish_pass, fit, iterative_fit,
    matrix, merge, model, model_of_bytes, remove, resume, split, update,
};
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
