//! The streaming engine: rows in, models out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use eigenspace::{EigenspaceStream, Error};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::compute::{compute, compute_here, pool};
use crate::model::Model;
use crate::options::Settings;
use crate::rows::{Rows, View, affordable, checked, copies, counted_from, weights};

/// More dense rows than this are never held at a time when memory is short.
const MOST_ROWS: usize = 512;

/// Rows in, models out. Threads may share one: each call waits for the one before.
#[pyclass(frozen, module = "eigenspace._core")]
pub(crate) struct Stream {
    /// Who comes next; without it a thread that adds row after row would always be first.
    turn: Mutex<()>,
    inner: Mutex<EigenspaceStream>,
}

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
        let bytes = self.with(py, |stream| Ok(stream.checkpoint("")))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The same rows, with other settings from now on.
    fn with_settings(&self, py: Python<'_>, settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let settings = Settings::of(settings)?;
        let components = settings.components();
        let options = settings.options(py)?;
        let changed = self.with(py, |stream| {
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
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::from(compute_here(py, || Ok(self.hold().clone()))?))
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
        let grown = compute_here(py, || Ok(self.hold().cells_to_update(&block)))?;
        affordable(py, copies(waiting, block.ncols()).saturating_add(grown))?;
        let pool = pool()?;
        compute_here(py, || {
            let mut stream = self.hold();
            let stream = &mut *stream;
            let only_copies = stream.only_copies(&block);
            let mut work = || stream.update(block).map_err(|error| counted_from(first, error));
            // A copy is done before another thread would wake up.
            if only_copies { work() } else { pool.install(work) }
        })
    }

    /// The model of all rows so far.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        self.readable(py)?;
        Ok(self.with(py, |stream| stream.model())?.into())
    }

    /// A model that is good for looking at its components, and cheaper.
    fn shown(&self, py: Python<'_>) -> PyResult<Model> {
        self.readable(py)?;
        Ok(self.with(py, |stream| stream.shown())?.into())
    }

    /// Rows absorbed.
    #[getter]
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        compute_here(py, || Ok(self.hold().count()))
    }
}

impl From<EigenspaceStream> for Stream {
    fn from(stream: EigenspaceStream) -> Self {
        Self { turn: Mutex::new(()), inner: Mutex::new(stream) }
    }
}

impl Stream {
    /// Works on the stream in the pool, when its turn has come. The interpreter is free while it waits: whoever
    /// has the stream may need it to go on.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&EigenspaceStream) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let pool = pool()?;
        compute_here(py, || {
            let stream = self.hold();
            let stream = &*stream;
            pool.install(|| work(stream))
        })
    }

    /// Waits for the threads that came before; never to be called with the interpreter, nor in the pool, whose
    /// threads may begin other work while they wait.
    fn hold(&self) -> MutexGuard<'_, EigenspaceStream> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a reading for which there is no memory.
    fn readable(&self, py: Python<'_>) -> PyResult<()> {
        affordable(py, compute_here(py, || Ok(self.hold().cells_to_read()))?)
    }
}
