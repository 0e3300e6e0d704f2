//! A model seen with its features multiplied by scales: standardised PCA.

use numpy::{IntoPyArray, PyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::compute::compute;
use crate::errors::EigenspaceError;
use crate::model::Model;
use crate::rows::{Rows, View, affordable, checked, counted_from};

/// A model in other units.
#[pyclass(frozen, module = "eigenspace._core")]
pub(crate) struct Scaled(eigenspace::Scaled);

impl From<eigenspace::Scaled> for Scaled {
    fn from(scaled: eigenspace::Scaled) -> Self {
        Self(scaled)
    }
}

#[pymethods]
impl Scaled {
    /// The model of the scaled rows.
    fn model(&self) -> Model {
        self.0.model().clone().into()
    }

    /// What each feature is multiplied by.
    fn scales<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.scales().to_pyarray(py)
    }

    /// Coordinates of rows in their own units. Errors count rows from `first`.
    #[pyo3(signature = (rows, first=0))]
    fn project<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>, first: usize) -> PyResult<Bound<'py, PyAny>> {
        let rows = Rows::of(rows)?;
        let moved = |error| counted_from(first, error);
        Ok(match checked(py, rows.view())? {
            View::F64(rows) => compute(py, || self.0.project(rows).map_err(moved))?.into_pyarray(py).into_any(),
            View::F32(rows) => compute(py, || self.0.project(rows).map_err(moved))?.into_pyarray(py).into_any(),
            View::Sparse(rows) => {
                compute(py, || self.0.project_sparse(rows).map_err(moved))?.into_pyarray(py).into_any()
            }
        })
    }

    /// The rows, in their own units, that have these coordinates.
    fn reconstruct<'py>(&self, py: Python<'py>, coordinates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let coordinates = Rows::of(coordinates)?;
        let view = checked(py, coordinates.view())?;
        affordable(py, view.block(None).nrows().saturating_add(8).saturating_mul(self.0.scales().len()))?;
        Ok(match view {
            View::F64(rows) => compute(py, || self.0.reconstruct(rows))?.into_pyarray(py).into_any(),
            View::F32(rows) => compute(py, || self.0.reconstruct(rows))?.into_pyarray(py).into_any(),
            View::Sparse(_) => return Err(EigenspaceError::new_err("coordinates are not sparse")),
        })
    }
}
