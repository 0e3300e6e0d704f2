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

/// The hint for a lack of memory that no option can reduce.
pub(crate) const FREE_MEMORY: &str = "free memory, or use a machine with more memory; nothing was written";
/// The hint for a fit.
const FIT_LESS: &str =
    "keep fewer directions with -k and --max-rank, use --engine factor, or free memory; nothing was written";
/// The hint for models that are merged or split.
const FIT_SMALLER_MODELS: &str = "fit the models again with a smaller --max-rank, or free memory; nothing was written";

/// Fails if memory cannot hold this many numbers at a time.
fn need(numbers: u64, hint: &'static str) -> Result<(), Failure> {
    let bytes = numbers.saturating_mul(8);
    let scratch = if bytes < SMALL { 0 } else { SCRATCH * (1 + rayon::current_num_threads() as u64) };
    let bytes = bytes.saturating_add(scratch);
    let fits = usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if fits { Ok(()) } else { Err(Failure::OutOfMemory { bytes: Some(bytes), hint }) }
}

/// Checks the memory for reading a model file.
pub(crate) fn for_model(path: &Path) -> Result<(), Failure> {
    // Other problems with the file are reported when it is read.
    let bytes = path.metadata().map_or(0, |file| file.len());
    need((bytes / 8).saturating_mul(3), FREE_MEMORY)
}

/// Checks the memory for fitting rows, or for adding them to a model of this rank.
pub(crate) fn for_stream(plan: &Plan, features: usize, rank: usize, rows: Option<u64>) -> Result<(), Failure> {
    let features = features as u64;
    if plan.engine == Engine::Scatter {
        let block = (plan.block_rows as u64).min(rows.unwrap_or(UNKNOWN_ROWS)).saturating_mul(features);
        let numbers = features.saturating_mul(features).saturating_mul(6).saturating_add(block.saturating_mul(2));
        return need(numbers, FIT_LESS);
    }
    let most = plan.max_rank.unwrap_or(0).saturating_add(plan.block_rows).max(plan.exact_rows);
    let rows = rows.unwrap_or(UNKNOWN_ROWS).saturating_add(rank as u64).min(most as u64);
    need(decomposition(rows, features, 4), FIT_LESS)
}

/// Checks the memory for merging or splitting models with this many directions in total.
pub(crate) fn for_directions(directions: usize, features: usize) -> Result<(), Failure> {
    need(decomposition(directions as u64 + 2, features as u64, 6), FIT_SMALLER_MODELS)
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
