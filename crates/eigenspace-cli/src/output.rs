//! The only place that prints.

use std::io::{self, IsTerminal, Write};
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::advice::{advice, on_the_system};
use crate::data::DataError;
use crate::failure::Failure;

static QUIET: AtomicBool = AtomicBool::new(false);

/// No talk but errors from here on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether talk is wanted.
pub(crate) fn talks() -> bool {
    !QUIET.load(Ordering::Relaxed)
}

/// Whether a person is watching.
pub(crate) fn is_watched() -> bool {
    talks() && io::stderr().is_terminal()
}

/// Data, on standard output.
pub(crate) fn data(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let mut write = || {
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    // A full disk on the other side says nothing of the files that were written before.
    Ok(write().map_err(|source| Failure::Output { source })?)
}

/// Talk, on standard error.
pub(crate) fn talk(text: &str) {
    if talks() {
        // Nobody to talk to is no reason to stop.
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// `error: …`, `cause: …`, `hint: …`.
pub(crate) fn report(error: &anyhow::Error) {
    let mut text = format!("error: {error}\n");
    for cause in error.chain().skip(1) {
        text += &format!("  cause: {cause}\n");
    }
    if let Some(hint) = error.chain().find_map(hint) {
        text += &format!("\nhint: {hint}\n");
    }
    let _ = io::stderr().write_all(text.as_bytes());
}

/// What the innermost of our errors advises.
fn hint(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let library = error.downcast_ref::<eigenspace::Error>().and_then(advice);
    library
        .or_else(|| error.downcast_ref::<io::Error>().and_then(on_the_system).map(str::to_owned))
        .or_else(|| error.downcast_ref::<Failure>().and_then(Failure::hint))
        .or_else(|| error.downcast_ref::<DataError>().and_then(DataError::hint).map(str::to_owned))
}

/// True if whoever read our output has gone away, which is their right.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe))
}

/// Runs a command; a mistake of ours is said in one sentence, without a backtrace.
pub(crate) fn without_panics<T>(command: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    static PLACE: Mutex<String> = Mutex::new(String::new());
    // Decoders of broken files may panic and be caught, so a panic alone is nothing to speak of.
    std::panic::set_hook(Box::new(|panic| {
        if let (Some(place), Ok(mut last)) = (panic.location(), PLACE.lock()) {
            *last = format!("{}:{}", place.file(), place.line());
        }
    }));
    std::panic::catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        let place = PLACE.lock().map(|place| place.clone()).unwrap_or_default();
        Err(Failure::Mistake { place }.into())
    })
}
