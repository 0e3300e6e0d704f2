//! Where the work is done: without the interpreter, in threads of this process.
//!
//! Other Python threads run on while a product is computed. The pool belongs to the process that made it: threads
//! do not survive a `fork`, so a child, as Python's `multiprocessing` makes them, gets a pool of its own instead of
//! waiting for ever on threads that are not there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use eigenspace::Error;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{EigenspaceError, InternalError, bug, raise};
use crate::options::whole;

/// The pool, the process that it belongs to, and the number of threads that was asked for (0: one for each core).
struct Pool {
    process: u32,
    wanted: usize,
    threads: Option<Arc<ThreadPool>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { process: 0, wanted: 0, threads: None });

/// Computes something and turns what can go wrong into an exception.
///
/// Locks are to be taken outside of `work`: a thread of the pool that waits for a part of its work may begin another.
pub(crate) fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    let pool = pool()?;
    finished(py, py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work)))))
}

/// The same in this thread, which is none of the pool.
pub(crate) fn compute_here<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    finished(py, py.detach(|| catch_unwind(AssertUnwindSafe(work))))
}

fn finished<T>(py: Python<'_>, result: std::thread::Result<Result<T, Error>>) -> PyResult<T> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raise(py, &error)),
        Err(panic) => Err(bug(&*panic)),
    }
}

pub(crate) fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match &pool.threads {
        Some(threads) if pool.process == process => Ok(Arc::clone(threads)),
        _ => {
            let threads = ThreadPoolBuilder::new().num_threads(pool.wanted).build();
            let threads = threads.map_err(|error| InternalError::new_err(format!("no threads: {error}")))?;
            let threads = Arc::new(threads);
            // What is there is a parent's: it is left alone, for its threads cannot be told to end from here.
            std::mem::forget(pool.threads.replace(Arc::clone(&threads)));
            pool.process = process;
            Ok(threads)
        }
    }
}

/// The number of threads that eigenspace computes with.
#[pyfunction]
pub(crate) fn threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}

/// Computes with this many threads from now on, or with one for each core. The answers do not depend on it.
#[pyfunction]
#[pyo3(signature = (number=None))]
pub(crate) fn set_threads(number: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let number = number.map(|number| whole(number, "the number of threads")).transpose()?;
    if number.is_some_and(|number| !(1..=1024).contains(&number)) {
        return Err(EigenspaceError::new_err("the number of threads must be from 1 to 1024, or None for one per core"));
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let parents = pool.threads.take();
    if pool.process != std::process::id() {
        std::mem::forget(parents);
    }
    pool.wanted = number.unwrap_or(0);
    Ok(())
}
