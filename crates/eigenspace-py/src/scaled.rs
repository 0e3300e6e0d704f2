//! A model whose features are multiplied by scales: standardized PCA.

use numpy::{IntoPyArray, PyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::compute::compute;
use crate::errors::refusal;
use crate::memory::{self, affordable};
use crate::model::Model;
use crate::rows::{Rows, View, checked, counted_from};

/// A model of scaled rows.
#[pyclass(frozen, module = "eigenspace._core")]
pub(crate) struct Scaled(eigenspace::Scaled);

impl From<eigenspace::Scaled> for Scaled {
    fn from(scaled: eigenspace::Scaled) -> Self {
        Self(scaled)
    }
}

#[pymethods]
impl Scaled {
    /// Return the model of the scaled rows.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        affordable(py, memory::model(self.0.model()))?;
        Ok(self.0.model().clone().into())
    }

    /// Return the factor of each feature.
    fn scales<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.scales().to_pyarray(py)
    }

    /// Return the scores of rows in their original units. Errors count rows from `first`.
    #[pyo3(signature = (rows, first=0))]
    fn project<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>, first: usize) -> PyResult<Bound<'py, PyAny>> {
        let rows = Rows::of(rows)?;
        let moved = |error| counted_from(first, error);
        let view = checked(py, rows.view())?;
        let cells = memory::projection(view.block(None).nrows(), self.0.model());
        Ok(match view {
            View::F64(rows) => compute(py, cells, || self.0.project(rows).map_err(moved))?.into_pyarray(py).into_any(),
            View::F32(rows) => compute(py, cells, || self.0.project(rows).map_err(moved))?.into_pyarray(py).into_any(),
            View::Sparse(rows) => {
                compute(py, cells, || self.0.project(rows).map_err(moved))?.into_pyarray(py).into_any()
            }
        })
    }

    /// Reconstruct rows, in their original units, from their scores.
    fn reconstruct<'py>(&self, py: Python<'py>, coordinates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let coordinates = Rows::of(coordinates)?;
        let view = checked(py, coordinates.view())?;
        let cells = memory::reconstruction(view.block(None).nrows(), self.0.model());
        Ok(match view {
            View::F64(rows) => compute(py, cells, || self.0.reconstruct(rows))?.into_pyarray(py).into_any(),
            View::F32(rows) => compute(py, cells, || self.0.reconstruct(rows))?.into_pyarray(py).into_any(),
            View::Sparse(_) => {
                return Err(refusal(py, "cannot reconstruct rows from sparse scores", "call toarray() first"));
            }
        })
    }
}
