//! Computation in a thread pool, with the interpreter lock released.
//!
//! Other Python threads keep running during a computation. The pool belongs to the process that
//! created it. Threads do not survive a `fork`, so a forked child (as in Python's
//! `multiprocessing`) creates a new pool instead of waiting forever for threads that do not exist.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use eigenspace::{Method, Truncation};
use ndarray::Array2;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{IntoException, bug, refusal};
use crate::memory::{affordable, packed_by_a_thread};
use crate::options::whole_or;

/// The pool, the process that it belongs to, and the requested number of threads (0: one per core).
struct Pool {
    process: u32,
    wanted: usize,
    threads: Option<Arc<ThreadPool>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { process: 0, wanted: 0, threads: None });

/// Runs `work`, which holds at most `cells` numbers at a time, and turns errors and panics into
/// exceptions.
///
/// Take locks outside of `work`: while a thread of the pool waits for a part of its work, it may
/// start other work.
pub(crate) fn compute<T: Send, E: IntoException + Send>(
    py: Python<'_>,
    cells: usize,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = pool(py)?;
    affordable(py, cells)?;
    finished(py, py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work)))))
}

/// Like [`compute`], but in the calling thread instead of the pool.
pub(crate) fn compute_here<T: Send, E: IntoException + Send>(
    py: Python<'_>,
    cells: usize,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    affordable(py, cells)?;
    finished(py, py.detach(|| catch_unwind(AssertUnwindSafe(work))))
}

fn finished<T, E: IntoException>(py: Python<'_>, result: std::thread::Result<Result<T, E>>) -> PyResult<T> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.into_exception(py)),
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
            // An existing pool belongs to the parent process. It must not be dropped, because its
            // threads cannot be stopped from here.
            std::mem::forget(pool.threads.replace(Arc::clone(&threads)));
            pool.process = process;
            Ok(threads)
        }
    }
}

/// Starts the pool and lets each thread allocate its buffers now. Otherwise a thread would allocate
/// them in its first product, where a failure could not be reported.
fn started(py: Python<'_>, wanted: usize) -> PyResult<ThreadPool> {
    let threads = ThreadPoolBuilder::new().num_threads(wanted).build();
    let threads = threads.map_err(|error| PyMemoryError::new_err(format!("cannot start threads: {error}")))?;
    affordable(py, packed_by_a_thread().saturating_mul(threads.current_num_threads()))?;
    let rows = Array2::from_shape_fn((64, 256), |(i, j)| ((i * 7 + j * 3) % 11) as f64);
    threads.broadcast(|_| eigenspace::EigenspaceModel::fit_with(rows.view(), Method::Gram, Truncation::None).is_ok());
    Ok(threads)
}

/// Return the number of threads used for computing.
#[pyfunction]
pub(crate) fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(pool(py)?.current_num_threads())
}

/// Set the number of threads used for computing; None means one per core. The results do not depend
/// on it.
#[pyfunction]
#[pyo3(signature = (number=None))]
pub(crate) fn set_threads(py: Python<'_>, number: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let hint = "pass a number from 1 to 1024, or None for one thread per core";
    let expected = "a number from 1 to 1024";
    let number = number.map(|number| whole_or(number, "number of threads", expected, hint)).transpose()?;
    if let Some(number) = number
        && !(1..=1024).contains(&number)
    {
        let words = format!("invalid number of threads {number}: expected {expected}");
        return Err(refusal(py, words, hint));
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let parents = pool.threads.take();
    if pool.process != std::process::id() {
        std::mem::forget(parents);
    }
    pool.wanted = number.unwrap_or(0);
    Ok(())
}
