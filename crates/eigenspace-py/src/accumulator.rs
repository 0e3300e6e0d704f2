//! The accumulator: it absorbs the rows of a partition, and accumulators are merged.

use eigenspace::{Error, Metadata as LibraryMetadata};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::compute::{compute, compute_here};
use crate::errors::Named;
use crate::memory;
use crate::metadata::Metadata;
use crate::model::{Model, to_python};
use crate::options::Settings;
use crate::rows::{Rows, checked, weights};
use crate::shared::Shared;

/// The mergeable state of a fit. Threads may share an accumulator: calls take turns.
#[pyclass(frozen, module = "eigenspace._core")]
pub(crate) struct Accumulator(Shared<eigenspace::Accumulator>);

impl From<eigenspace::Accumulator> for Accumulator {
    fn from(accumulator: eigenspace::Accumulator) -> Self {
        Self(accumulator.into())
    }
}

#[pymethods]
impl Accumulator {
    /// Create an empty accumulator; errors name the partition.
    #[new]
    #[pyo3(signature = (settings, partition=None))]
    fn new(py: Python<'_>, settings: &Bound<'_, PyAny>, partition: Option<String>) -> PyResult<Self> {
        let accumulator = checked(py, Settings::of(settings)?.options(py)?.accumulator())?;
        Ok(Self::from(match partition {
            Some(partition) => accumulator.with_partition(partition),
            None => accumulator,
        }))
    }

    /// Read an accumulator from bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        // Only half of a scatter is in the bytes.
        let cells = memory::model_of_bytes(data.len() as u64).saturating_mul(2);
        Ok(Self::from(compute(py, cells, || eigenspace::Accumulator::from_bytes(data))?))
    }

    /// Return the state as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let accumulator = self.0.hold(py)?;
        let accumulator = &*accumulator;
        let cells = accumulator.cells().saturating_mul(3);
        to_python(py, &compute(py, cells, || Ok::<_, Error>(accumulator.to_bytes()))?)
    }

    /// Return an independent copy.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::from(self.twin(py)?))
    }

    /// Remember the names of the features before the first row; afterward, raise an error if they
    /// differ.
    fn describe(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        let mut accumulator = self.0.hold(py)?;
        if accumulator.is_empty() {
            let metadata = accumulator.metadata().clone().with_feature_names(names);
            *accumulator = checked(py, accumulator.clone().with_metadata(metadata))?;
            return Ok(());
        }
        let known = accumulator.metadata().feature_names().is_some_and(|known| known.len() == names.len());
        if known { checked(py, accumulator.metadata().check_feature_names(&names)) } else { Ok(()) }
    }

    /// Absorb rows, all or none.
    #[pyo3(signature = (rows, weights=None))]
    fn absorb(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyArray1<f64>>>,
    ) -> PyResult<()> {
        let (rows, weights) = (Rows::of(rows)?, self::weights(weights)?);
        let view = checked(py, rows.view())?;
        let block = view.block(weights.as_deref());
        let mut accumulator = self.0.hold(py)?;
        let accumulator = &mut *accumulator;
        // Handle pending signals before anything changes.
        py.check_signals()?;
        let cells = memory::convert(&block).saturating_add(accumulator.cells_to_absorb(&block));
        compute(py, cells, || accumulator.absorb(block).map_err(|error| Named::of(error, accumulator.metadata())))
    }

    /// Add the rows of another accumulator.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return self.merge(py, &Self::from(self.twin(py)?));
        }
        // Always in the same order, so that two threads that merge the same two accumulators do not
        // wait for each other.
        let (mut accumulator, other) = if std::ptr::from_ref(self) < std::ptr::from_ref(other) {
            let own = self.0.hold(py)?;
            (own, other.0.hold(py)?)
        } else {
            let theirs = other.0.hold(py)?;
            (self.0.hold(py)?, theirs)
        };
        let (accumulator, other) = (&mut *accumulator, &*other);
        compute(py, accumulator.cells_to_merge(other), || accumulator.merge(other))
    }

    /// Return the model of all rows so far.
    fn finish(&self, py: Python<'_>) -> PyResult<Model> {
        let accumulator = self.0.hold(py)?;
        let accumulator = &*accumulator;
        Ok(compute(py, accumulator.cells_to_finish(), || accumulator.finish())?.into())
    }

    /// Rows absorbed.
    #[getter]
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.0.hold(py)?.count())
    }

    /// Number of features, or None before the first row.
    #[getter]
    fn features(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        Ok(self.0.hold(py)?.features())
    }

    /// The name of the partition, or None.
    #[getter]
    fn partition(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.0.hold(py)?.partition().map(str::to_owned))
    }

    /// What is known about the rows besides their values.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> PyResult<Metadata> {
        let metadata: &LibraryMetadata = &self.0.hold(py)?.metadata().clone();
        Ok(Metadata::from(metadata))
    }
}

impl Accumulator {
    /// A copy of the accumulator.
    fn twin(&self, py: Python<'_>) -> PyResult<eigenspace::Accumulator> {
        let accumulator = self.0.hold(py)?;
        let accumulator = &*accumulator;
        compute_here(py, accumulator.cells(), || Ok::<_, Error>(accumulator.clone()))
    }
}
