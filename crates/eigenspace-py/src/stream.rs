//! The streaming engine: rows in, models out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use eigenspace::EigenspaceStream;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::compute::{compute, compute_here};
use crate::model::Model;
use crate::options::Settings;
use crate::rows::{Rows, View, affordable, checked, copies, counted_from, weights};

/// More dense rows than this are never held at a time when memory is short.
const MOST_ROWS: usize = 512;

/// Rows in, models out. Threads may share one: each call waits for the one before.
#[pyclass(frozen, module = "eigenspace._core")]
pub(crate) struct Stream(Mutex<EigenspaceStream>);

#[pymethods]
impl Stream {
    /// An empty stream for rows of this width.
    #[new]
    fn new(py: Python<'_>, features: usize, settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = Settings::of(settings)?.options(py)?;
        affordable(py, copies(0, features))?;
        Ok(Self::from(checked(py, options.stream(features))?))
    }

    /// A stream that goes on from a model.
    #[staticmethod]
    fn resume(py: Python<'_>, model: &Model, settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = Settings::of(settings)?.options(py)?;
        Ok(Self::from(compute(py, || options.resume(&model.inner))?))
    }

    /// The stream of a checkpoint, which must have been made with these settings.
    #[staticmethod]
    fn restore(py: Python<'_>, checkpoint: &[u8], settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = Settings::of(settings)?.options(py)?;
        Ok(Self::from(compute(py, || EigenspaceStream::restore(checkpoint, &options))?.0))
    }

    /// All of its state, to go on later with the same bytes as result.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let stream = self.lock(py);
        let stream = &*stream;
        let bytes = compute(py, || Ok(stream.checkpoint("")))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The same rows, with other settings from now on.
    fn with_settings(&self, py: Python<'_>, settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let settings = Settings::of(settings)?;
        let components = settings.components();
        let options = settings.options(py)?;
        let stream = self.lock(py);
        let stream = &*stream;
        let changed = compute(py, || {
            // Another number of components is only looked at; anything else begins anew from the model.
            if stream.options().clone().components(components) != options {
                return options.resume(&*stream.model()?);
            }
            let mut changed = stream.clone();
            changed.set_components(components)?;
            Ok(changed)
        })?;
        Ok(Self::from(changed))
    }

    /// The same stream once more, to go two ways.
    fn copy(&self, py: Python<'_>) -> Self {
        let stream = self.lock(py);
        let stream = &*stream;
        Self::from(py.detach(|| stream.clone()))
    }

    /// Absorbs rows, all or none. Errors count rows from `first`.
    #[pyo3(signature = (rows, weights=None, first=0))]
    fn update(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyArray1<f64>>>,
        first: usize,
    ) -> PyResult<()> {
        let (rows, weights) = (Rows::of(rows)?, self::weights(weights)?);
        let view = checked(py, rows.view())?;
        let block = view.block(weights.as_deref());
        // Sparse rows wait as they are; of dense ones no more are held than wait for a compression.
        let waiting = if matches!(view, View::Sparse(_)) { 0 } else { block.nrows().min(MOST_ROWS) };
        affordable(py, copies(waiting, block.ncols()))?;
        let mut stream = self.lock(py);
        let stream = &mut *stream;
        let only_copies = stream.only_copies(&block);
        let work = || stream.update(block).map_err(|error| counted_from(first, error));
        if only_copies { compute_here(py, work) } else { compute(py, work) }
    }

    /// The model of all rows so far.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        let stream = self.lock(py);
        let stream = &*stream;
        Ok(compute(py, || stream.model())?.into())
    }

    /// A model that is good for looking at its components, and cheaper.
    fn shown(&self, py: Python<'_>) -> PyResult<Model> {
        let stream = self.lock(py);
        let stream = &*stream;
        Ok(compute(py, || stream.shown())?.into())
    }

    /// Rows absorbed.
    #[getter]
    fn count(&self, py: Python<'_>) -> u64 {
        self.lock(py).count()
    }
}

impl From<EigenspaceStream> for Stream {
    fn from(stream: EigenspaceStream) -> Self {
        Self(Mutex::new(stream))
    }
}

impl Stream {
    /// Waits for the thread that has the stream, which may need the interpreter to go on.
    fn lock<'a>(&'a self, py: Python<'_>) -> MutexGuard<'a, EigenspaceStream> {
        if let Ok(free) = self.0.try_lock() {
            return free;
        }
        loop {
            // A guard cannot be taken along, so the wait is repeated until the lock is free here.
            py.detach(|| drop(self.0.lock()));
            match self.0.try_lock() {
                Ok(free) => return free,
                Err(std::sync::TryLockError::Poisoned(poisoned)) => return PoisonError::into_inner(poisoned),
                Err(std::sync::TryLockError::WouldBlock) => {}
            }
        }
    }
}
