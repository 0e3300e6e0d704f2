//! Memory: asked for before the work, so that too little of it is an error and not an abort.
//!
//! A failed allocation ends a Rust program, so commands that hold much at a time estimate it first, and try whether the
//! system would give as much. The estimates are of the largest matrices, in numbers of 8 bytes:
//!
//! | command | numbers |
//! |---|---|
//! | any, of a model of rank r | 3 r D, for the file, the tensors and the model |
//! | fit and update, D × D scatter | 6 D² |
//! | fit and update, factor of q rows | 4 q D + 5 q² |
//! | merge and split, q directions in all | 6 q D + 5 q² |
//!
//! What they miss still ends the program, but with exit code 2 ([`exit_on_abort`]).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use eigenspace::{Engine, Plan};

use crate::failure::Failure;

/// What products set aside in each thread, whatever their size.
const SCRATCH: u64 = 64 << 20;
/// Below this nothing is set aside.
const SMALL: u64 = 1 << 20;
/// Rows gathered from a source that does not know how many it has.
const UNKNOWN_ROWS: u64 = 512;

/// Refuses work that needs so many numbers at a time, if memory does not have room for them.
pub(crate) fn need(numbers: u64) -> Result<(), Failure> {
    let bytes = numbers.saturating_mul(8);
    let scratch = if bytes < SMALL { 0 } else { SCRATCH * (1 + rayon::current_num_threads() as u64) };
    let bytes = bytes.saturating_add(scratch);
    let fits = usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if fits { Ok(()) } else { Err(Failure::OutOfMemory { bytes: Some(bytes) }) }
}

/// To read a model file.
pub(crate) fn for_model(path: &Path) -> Result<(), Failure> {
    // Whatever else is wrong with the file is found by reading it.
    let bytes = path.metadata().map_or(0, |file| file.len());
    need((bytes / 8).saturating_mul(3))
}

/// To fit rows, or add them to a model of some rank.
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

/// To merge models, or split them, of so many directions together.
pub(crate) fn for_directions(directions: usize, features: usize) -> Result<(), Failure> {
    need(decomposition(directions as u64 + 2, features as u64, 6))
}

fn decomposition(rows: u64, features: u64, copies: u64) -> u64 {
    let small = rows.min(features);
    let rows = rows.saturating_mul(features).saturating_mul(copies);
    rows.saturating_add(small.saturating_mul(small).saturating_mul(5))
}

/// Exit code 2, as for any error, where the program would abort: out of memory in spite of all.
pub(crate) fn exit_on_abort() {
    let always = Arc::new(AtomicBool::new(true));
    // Without it the program ends all the same, with the code of a signal.
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 2, always);
}
