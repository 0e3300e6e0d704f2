//! Where the work is done: without the interpreter, in threads of this process.
//!
//! Other Python threads run on while a product is computed. The pool belongs to the process that made it: threads
//! do not survive a `fork`, so a child, as Python's `multiprocessing` makes them, gets a pool of its own instead of
//! waiting for ever on threads that are not there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use eigenspace::io::Error;
use eigenspace::{Method, Truncation};
use ndarray::Array2;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{bug, raise, refusal};
use crate::memory::{affordable, packed_by_a_thread};
use crate::options::whole;

/// The pool, the process that it belongs to, and the number of threads that was asked for (0: one for each core).
struct Pool {
    process: u32,
    wanted: usize,
    threads: Option<Arc<ThreadPool>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { process: 0, wanted: 0, threads: None });

/// Computes something that holds at most this many numbers at a time, and turns what can go wrong into an exception.
///
/// Locks are to be taken outside of `work`: a thread of the pool that waits for a part of its work may begin another.
pub(crate) fn compute<T: Send, E: Into<Error> + Send>(
    py: Python<'_>,
    cells: usize,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = pool(py)?;
    affordable(py, cells)?;
    finished(py, py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work)))))
}

/// The same in this thread, which is none of the pool.
pub(crate) fn compute_here<T: Send, E: Into<Error> + Send>(
    py: Python<'_>,
    cells: usize,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    affordable(py, cells)?;
    finished(py, py.detach(|| catch_unwind(AssertUnwindSafe(work))))
}

fn finished<T, E: Into<Error>>(py: Python<'_>, result: std::thread::Result<Result<T, E>>) -> PyResult<T> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raise(py, &error.into())),
        Err(panic) => Err(bug(&*panic)),
    }
}

fn pool(py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match &pool.threads {
        Some(threads) if pool.process == process => Ok(Arc::clone(threads)),
        _ => {
            let threads = Arc::new(started(py, pool.wanted)?);
            // What is there is a parent's: it is left alone, for its threads cannot be told to end from here.
            std::mem::forget(pool.threads.replace(Arc::clone(&threads)));
            pool.process = process;
            Ok(threads)
        }
    }
}

/// Threads that have all they keep: each asks for it at its first product, where it could not be refused.
fn started(py: Python<'_>, wanted: usize) -> PyResult<ThreadPool> {
    let threads = ThreadPoolBuilder::new().num_threads(wanted).build();
    let threads = threads.map_err(|error| PyMemoryError::new_err(format!("cannot start threads: {error}")))?;
    affordable(py, packed_by_a_thread().saturating_mul(threads.current_num_threads()))?;
    let rows = Array2::from_shape_fn((64, 256), |(i, j)| ((i * 7 + j * 3) % 11) as f64);
    threads.broadcast(|_| eigenspace::EigenspaceModel::fit_by(rows.view(), Method::Gram, Truncation::None).is_ok());
    Ok(threads)
}

/// The number of threads that eigenspace computes with.
#[pyfunction]
pub(crate) fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(pool(py)?.current_num_threads())
}

/// Computes with this many threads from now on, or with one for each core. The answers do not depend on it.
#[pyfunction]
#[pyo3(signature = (number=None))]
pub(crate) fn set_threads(py: Python<'_>, number: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let number = number.map(|number| whole(number, "the number of threads")).transpose()?;
    if let Some(number) = number
        && !(1..=1024).contains(&number)
    {
        let words = format!("invalid number of threads {number}: expected a number from 1 to 1024");
        return Err(refusal(py, words, "pass None for one thread per core"));
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let parents = pool.threads.take();
    if pool.process != std::process::id() {
        std::mem::forget(parents);
    }
    pool.wanted = number.unwrap_or(0);
    Ok(())
}
