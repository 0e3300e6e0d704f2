//! Checks for enough memory before the work starts, so that a lack of it is an error and not an
//! abort.
//!
//! A failed allocation aborts a Rust program, so commands that need a lot of memory estimate it
//! first and test whether the system would grant it. The estimates count the largest matrices, in
//! numbers of 8 bytes:
//!
//! | command | numbers |
//! |---|---|
//! | any command with a model of rank r | 3 r D, for the file, the tensors and the model |
//! | fit and update, D × D scatter | 6 D² |
//! | fit and update, factor of q rows | 4 q D + 5 q² |
//! | merge and split, q directions in all | 6 q D + 5 q² |
//!
//! If an estimate is too low, the program still aborts, but with exit code 2 ([`exit_on_abort`]).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use eigenspace::{Engine, Plan};

use crate::failure::Failure;

/// Scratch memory that matrix products allocate in each thread, whatever their size.
const SCRATCH: u64 = 64 << 20;
/// Products below this many bytes allocate no scratch memory.
const SMALL: u64 = 1 << 20;
/// Number of rows assumed for a source of unknown length.
const UNKNOWN_ROWS: u64 = 512;

/// Fails if memory cannot hold this many numbers at a time.
pub(crate) fn need(numbers: u64) -> Result<(), Failure> {
    let bytes = numbers.saturating_mul(8);
    let scratch = if bytes < SMALL { 0 } else { SCRATCH * (1 + rayon::current_num_threads() as u64) };
    let bytes = bytes.saturating_add(scratch);
    let fits = usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if fits { Ok(()) } else { Err(Failure::OutOfMemory { bytes: Some(bytes) }) }
}

/// Checks the memory for reading a model file.
pub(crate) fn for_model(path: &Path) -> Result<(), Failure> {
    // Other problems with the file are reported when it is read.
    let bytes = path.metadata().map_or(0, |file| file.len());
    need((bytes / 8).saturating_mul(3))
}

/// Checks the memory for fitting rows, or for adding them to a model of this rank.
pub(crate) fn for_stream(plan: &Plan, features: usize, rank: usize, rows: Option<u64>) -> Result<(), Failure> {
    let features = features as u64;
    if plan.engine == Engine::Scatter {
        let block = (plan.block_rows as u64).min(rows.unwrap_or(UNKNOWN_ROWS)).saturating_mul(features);
        return need(features.saturating_mul(features).saturating_mul(6).saturating_add(block.saturating_mul(2)));
    }
    let most = plan.max_rank.unwrap_or(0).saturating_add(plan.block_rows).max(plan.exact_rows);
    let rows = rows.unwrap_or(UNKNOWN_ROWS).saturating_add(rank as u64).min(most as u64);
    need(decomposition(rows, features, 4))
}

/// Checks the memory for merging or splitting models with this many directions in total.
pub(crate) fn for_directions(directions: usize, features: usize) -> Result<(), Failure> {
    need(decomposition(directions as u64 + 2, features as u64, 6))
}

fn decomposition(rows: u64, features: u64, copies: u64) -> u64 {
    let small = rows.min(features);
    let rows = rows.saturating_mul(features).saturating_mul(copies);
    rows.saturating_add(small.saturating_mul(small).saturating_mul(5))
}

/// Makes an abort for lack of memory exit with code 2, like any other error.
pub(crate) fn exit_on_abort() {
    let always = Arc::new(AtomicBool::new(true));
    // If this fails, the program still ends, with the exit code of a signal.
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 2, always);
}
