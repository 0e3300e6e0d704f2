//! Checks for enough memory before the work starts, so that a lack of it is an error and not an
//! abort.
//!
//! A failed allocation aborts a Rust program, so commands that need a lot of memory first test
//! whether the system would grant it. The library estimates how much they need
//! (`stream/memory.rs`).
//!
//! If an estimate is too low, the program still aborts, but with exit code 2 ([`exit_on_abort`]).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use eigenspace::internal::memory;
use eigenspace::{EigenspaceModel, Plan};

use crate::failure::Failure;

/// Scratch memory that matrix products allocate in each thread, whatever their size.
const SCRATCH: u64 = 64 << 20;
/// Products below this many bytes allocate no scratch memory.
const SMALL: u64 = 1 << 20;

/// The hint for a lack of memory that no option can reduce.
pub(crate) const FREE_MEMORY: &str = "free memory, or use a machine with more memory; nothing was written";
/// The hint for a fit.
const FIT_LESS: &str =
    "keep fewer directions with -k and --max-rank, use --engine factor, or free memory; nothing was written";
/// The hint for models that are merged or split.
const FIT_SMALLER_MODELS: &str = "fit the models again with a smaller --max-rank, or free memory; nothing was written";

/// Fails if memory cannot hold this many numbers at a time.
fn need(numbers: usize, hint: &'static str) -> Result<(), Failure> {
    let bytes = (numbers as u64).saturating_mul(8);
    let scratch = if bytes < SMALL { 0 } else { SCRATCH * (1 + rayon::current_num_threads() as u64) };
    let bytes = bytes.saturating_add(scratch);
    let fits = usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if fits { Ok(()) } else { Err(Failure::OutOfMemory { bytes: Some(bytes), hint }) }
}

/// Checks the memory for reading a model file.
pub(crate) fn for_model(path: &Path) -> Result<(), Failure> {
    // Other problems with the file are reported when it is read.
    need(memory::model_of_bytes(path.metadata().map_or(0, |file| file.len())), FREE_MEMORY)
}

/// Checks the memory for fitting rows, or for adding them to a model of this rank.
pub(crate) fn for_stream(plan: &Plan, features: usize, rank: usize, rows: Option<u64>) -> Result<(), Failure> {
    need(memory::fit_by_stream(plan, features, rank, rows), FIT_LESS)
}

/// Checks the memory for merging models.
pub(crate) fn for_merge<'a>(models: impl IntoIterator<Item = &'a EigenspaceModel>) -> Result<(), Failure> {
    need(memory::merge(models), FIT_SMALLER_MODELS)
}

/// Checks the memory for removing the rows of a part.
pub(crate) fn for_split(whole: &EigenspaceModel, part: &EigenspaceModel) -> Result<(), Failure> {
    need(memory::split(whole, part.rank()), FIT_SMALLER_MODELS)
}

/// Checks the memory for removing this many rows.
#[cfg(feature = "explore")]
pub(crate) fn for_removal(whole: &EigenspaceModel, rows: usize) -> Result<(), Failure> {
    need(memory::remove(whole, rows), FIT_SMALLER_MODELS)
}

/// Makes an abort for lack of memory exit with code 2, like any other error.
pub(crate) fn exit_on_abort() {
    let always = Arc::new(AtomicBool::new(true));
    // If this fails, the program still ends, with the exit code of a signal.
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 2, always);
}
