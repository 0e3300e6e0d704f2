//! Angles between subspaces.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::compute::compute;
use crate::memory::decomposition;
use crate::rows::matrix;

/// Return the principal angles between the row spaces of two matrices, smallest first.
#[pyfunction]
pub(crate) fn principal_angles<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyArray2<f64>>,
    b: &Bound<'py, PyArray2<f64>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (a, b) = (matrix(a)?, matrix(b)?);
    let (a, b) = (a.as_array(), b.as_array());
    let cells = decomposition(a.nrows().saturating_add(b.nrows()), a.ncols());
    Ok(compute(py, cells, || eigenspace::principal_angles(a, b))?.into_pyarray(py))
}

/// Return the sine of the largest principal angle between the row spaces of two matrices.
#[pyfunction]
pub(crate) fn subspace_distance(
    py: Python<'_>,
    a: &Bound<'_, PyArray2<f64>>,
    b: &Bound<'_, PyArray2<f64>>,
) -> PyResult<f64> {
    let (a, b) = (matrix(a)?, matrix(b)?);
    let (a, b) = (a.as_array(), b.as_array());
    let cells = decomposition(a.nrows().saturating_add(b.nrows()), a.ncols());
    compute(py, cells, || eigenspace::subspace_distance(a, b))
}
