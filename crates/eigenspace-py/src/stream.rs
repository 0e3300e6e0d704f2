//! The stream: it absorbs rows, and a model can be read from it at any time.

use eigenspace::internal::RowsOnCard;
use eigenspace::{EigenspaceStream, Engine, Error};
use numpy::{IntoPyArray, PyArray1};
use parking_lot::MutexGuard;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::compute::{compute, compute_here};
use crate::errors::Named;
use crate::memory::{self, affordable, decomposition};
use crate::metadata::Metadata;
use crate::model::{Model, to_python};
use crate::options::Settings;
use crate::rows::{Rows, checked, each, weights};
use crate::shared::Shared;

/// A model that is still absorbing rows. Threads may share a stream: calls take turns.
#[pyclass(frozen, module = "eigenspace._core")]
pub(crate) struct Stream(Shared<EigenspaceStream>);

#[pymethods]
impl Stream {
    /// Create an empty stream for rows with this many features, of which `rows` are already
    /// available.
    #[new]
    #[pyo3(signature = (features, settings, rows=0))]
    fn new(py: Python<'_>, features: usize, settings: &Bound<'_, PyAny>, rows: usize) -> PyResult<Self> {
        let options = Settings::of(settings)?.options(py)?;
        affordable(py, decomposition(0, features))?;
        Ok(Self::from(checked(py, options.stream_of(features, rows))?))
    }

    /// Whether a fit of all these rows at once is computed iteratively.
    #[staticmethod]
    fn iterates(
        py: Python<'_>,
        rows: usize,
        features: usize,
        sparse: bool,
        settings: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let options = Settings::of(settings)?.options(py)?;
        checked(py, options.iterates(rows, features, sparse))
    }

    /// Create a stream that continues from a model.
    #[staticmethod]
    fn resume(py: Python<'_>, model: &Model, settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let settings = Settings::of(settings)?;
        let kind = settings.weight_kind(py)?;
        let options = settings.options(py)?;
        let plan = checked(py, options.plan(model.inner.features()))?;
        let cells = memory::resume(&model.inner, &plan);
        Ok(Self::from(compute(py, cells, || options.resume(&model.inner.with_weight_kind(kind)))?))
    }

    /// Restore a stream from a checkpoint, which must have been made with these settings.
    #[staticmethod]
    fn restore(py: Python<'_>, checkpoint: &[u8], settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = Settings::of(settings)?.options(py)?;
        let cells = memory::model_of_bytes(checkpoint.len() as u64);
        Ok(Self::from(compute(py, cells, || EigenspaceStream::restore(checkpoint, &options))?.0))
    }

    /// Return the complete state. A restored stream that continues gives the same bytes.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        // A copy of the state, its bytes while they grow, and the bytes with their checksum.
        let held = |stream: &EigenspaceStream| stream.cells().saturating_mul(5);
        let bytes = self.with(py, held, |stream| Ok(stream.checkpoint("")))?;
        to_python(py, &bytes)
    }

    /// Return a stream of the same rows with other settings from now on.
    fn with_settings(&self, py: Python<'_>, settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let settings = Settings::of(settings)?;
        let (components, kind) = (settings.components(), settings.weight_kind(py)?);
        let options = settings.options(py)?;
        let held = |stream: &EigenspaceStream| stream.cells_to_read().saturating_add(stream.cells());
        let changed = self.with(py, held, |stream| {
            // A new number of components keeps the stream; any other change starts a new one from
            // the model.
            if stream.options().clone().components(components) != options {
                return options.resume(&stream.model()?.with_weight_kind(kind));
            }
            let mut changed = stream.clone();
            changed.set_components(components)?;
            Ok(changed)
        })?;
        Ok(Self::from(changed))
    }

    /// Return the same stream with other metadata.
    fn with_metadata(&self, py: Python<'_>, metadata: &Metadata) -> PyResult<Self> {
        let metadata = metadata.of_library();
        Ok(Self::from(self.with(py, EigenspaceStream::cells, |stream| stream.clone().with_metadata(metadata))?))
    }

    /// Return an independent copy of the stream.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let stream = self.hold(py)?;
        let stream = &*stream;
        Ok(Self::from(compute_here(py, stream.cells(), || Ok::<_, eigenspace::Error>(stream.clone()))?))
    }

    /// Absorb rows, all or none. Errors count rows from `first`.
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
        let mut stream = self.hold(py)?;
        let stream = &mut *stream;
        // Handle pending signals before anything changes.
        py.check_signals()?;
        let cells = memory::convert(&block).saturating_add(stream.cells_to_update(&block));
        let copies = !rows.is_sparse() && block.nrows() <= stream.rows_to_buffer();
        let absorb = || stream.update(block).map_err(|error| Named::of(error.counted_from(first), stream.metadata()));
        // A copy takes less time than waking up another thread.
        if copies { compute_here(py, cells, absorb) } else { compute(py, cells, absorb) }
    }

    /// Absorb rows that are in the memory of the card of this stream, all or none.
    fn update_from_card(
        &self,
        py: Python<'_>,
        address: u64,
        rows: usize,
        columns: usize,
        narrow: bool,
    ) -> PyResult<()> {
        let mut stream = self.hold(py)?;
        let stream = &mut *stream;
        py.check_signals()?;
        let cells = memory::convert_dense(rows, columns);
        compute(py, cells, || stream.update_from_card(RowsOnCard { address, rows, columns, narrow }))
    }

    /// Return the model of all rows so far.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        Ok(self.with(py, EigenspaceStream::cells_to_read, |stream| stream.model())?.into())
    }

    /// Return a model with the components but not all directions, which is cheaper. `once`: no more
    /// rows will come.
    #[pyo3(signature = (once=false))]
    fn preview(&self, py: Python<'_>, once: bool) -> PyResult<Model> {
        let read = |stream: &EigenspaceStream| if once { stream.preview_once() } else { stream.preview() };
        Ok(self.with(py, EigenspaceStream::cells_to_read, read)?.into_partial_model().into())
    }

    /// Return the scores of a few rows if they are known sooner than the components, otherwise
    /// None.
    fn project_few<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let rows = Rows::of(rows)?;
        let held = EigenspaceStream::cells_to_read;
        Ok(each!(checked(py, rows.view())?, rows => {
            self.with(py, held, |stream| stream.project_few(rows))?.map(|scores| scores.into_pyarray(py).into_any())
        }, _sparse => None))
    }

    /// Rows absorbed.
    #[getter]
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.hold(py)?.count())
    }

    /// What is kept between blocks: "scatter" or "factor".
    #[getter]
    fn engine(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(if self.hold(py)?.plan().engine == Engine::Scatter { "scatter" } else { "factor" })
    }
}

impl From<EigenspaceStream> for Stream {
    fn from(stream: EigenspaceStream) -> Self {
        Self(stream.into())
    }
}

impl Stream {
    /// Waits for the stream and runs `work` in the pool, after checking that `held` cells fit into
    /// memory.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        held: impl FnOnce(&EigenspaceStream) -> usize,
        work: impl FnOnce(&EigenspaceStream) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let stream = self.hold(py)?;
        let stream = &*stream;
        compute(py, held(stream), || work(stream).map_err(|error| Named::of(error, stream.metadata())))
    }

    /// Locks the stream.
    fn hold(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, EigenspaceStream>> {
        self.0.hold(py)
    }
}
