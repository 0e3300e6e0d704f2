//! Reports the errors of a command, with their hints, and turns panics into errors.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use eigenspace::internal::{DataError, printable, system_hint};

use crate::advice::advice;
use crate::failure::Failure;
use crate::memory::FREE_MEMORY;
use crate::output;

/// Prints an error as `error: …`, `cause: …`, `hint: …`.
pub(crate) fn error(error: &anyhow::Error) {
    let line = |words: &str| printable(words).into_owned();
    let mut text = format!("error: {}\n", line(&error.to_string()));
    for cause in error.chain().skip(1) {
        text += &format!("  cause: {}\n", line(&cause.to_string()));
    }
    if let Some(hint) = error.chain().find_map(hint) {
        text += &format!("\nhint: {}\n", line(&hint));
    }
    output::error(&text);
}

/// The hint of an error in the chain.
pub(crate) fn hint(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    advice(error)
        .or_else(|| error.downcast_ref::<io::Error>().and_then(system_hint).map(str::to_owned))
        .or_else(|| error.downcast_ref::<DataError>().and_then(DataError::hint).map(str::to_owned))
}

/// Whether the reader of the output has closed the pipe, which is not an error.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe))
}

/// Runs a command and turns a panic into an internal error, without a backtrace.
pub(crate) fn without_panics<T>(command: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    static PLACE: Mutex<String> = Mutex::new(String::new());
    // Decoders of broken files may panic and be caught, so the hook only records the location.
    std::panic::set_hook(Box::new(|panic| {
        if let (Some(place), Ok(mut last)) = (panic.location(), PLACE.lock()) {
            *last = format!("{}:{}", place.file(), place.line());
        }
    }));
    std::panic::catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|payload| {
        // Some libraries panic if an allocation fails.
        let refused = |text: &String| ["AllocError", "CapacityOverflow"].iter().any(|error| text.contains(error));
        if payload.downcast_ref::<String>().is_some_and(refused) {
            return Err(Failure::OutOfMemory { bytes: None, hint: FREE_MEMORY }.into());
        }
        let place = PLACE.lock().map(|place| place.clone()).unwrap_or_default();
        Err(Failure::Internal { place }.into())
    })
}
