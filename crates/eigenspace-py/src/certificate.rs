//! Bounds on the error of a model.

use ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat};

use crate::errors::FormatError;
use crate::memory::{affordable, matrix};
use crate::options::whole;

/// Bounds on the difference between a model and the batch model of the same rows.
///
/// Eigenvalues and bounds are those of the scatter matrix, a sum over rows. Divide them by
/// ``weight - ddof`` to get variances.
#[pyclass(frozen, eq, module = "eigenspace")]
#[derive(PartialEq)]
pub(crate) struct Certificate {
    pub(crate) inner: eigenspace::Certificate,
    pub(crate) components: usize,
}

#[pymethods]
impl Certificate {
    /// Upper bound on the spectral norm of the difference between the model's scatter and that of
    /// all rows.
    #[getter]
    fn error_bound(&self) -> f64 {
        self.inner.error_bound()
    }

    /// The error bound relative to the largest eigenvalue; 1 if nothing can be guaranteed.
    #[getter]
    fn relative_error_bound(&self) -> f64 {
        self.inner.relative_error_bound()
    }

    /// Upper bound on the scatter that is missing from the model along any direction.
    #[getter]
    fn lost(&self) -> f64 {
        self.inner.lost()
    }

    /// Upper bound on the excess scatter of the model along any direction, after a split.
    #[getter]
    fn surplus(&self) -> f64 {
        self.inner.surplus()
    }

    /// Probability that all bounds hold: 1 if they are proven. After an iterative fit it is
    /// usually about 1 - 1e-12, because the part that was left out is bounded with random vectors.
    #[getter]
    fn confidence(&self) -> f64 {
        self.inner.confidence()
    }

    /// True if all bounds are proven, which means that the confidence is 1.
    #[getter]
    fn is_proven(&self) -> bool {
        self.inner.is_proven()
    }

    /// True if nothing beyond rounding was ever dropped, so that the model equals batch PCA.
    #[getter]
    fn is_exact(&self) -> bool {
        self.inner.is_exact()
    }

    /// Return an interval (low, high) for each eigenvalue of batch PCA that belongs to a reported
    /// component, largest first.
    fn eigenvalue_bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        affordable(py, matrix(self.components, 2))?;
        let mut bounds = Array2::zeros((self.components, 2));
        for (i, mut row) in bounds.rows_mut().into_iter().enumerate() {
            (row[0], row[1]) = self.inner.eigenvalue_bound(i);
        }
        Ok(bounds.into_pyarray(py))
    }

    /// Return an upper bound on the sine of the largest angle between the first k directions and
    /// those of batch PCA.
    fn angle_bound(&self, k: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.inner.angle_bound(whole(k, "k")?))
    }

    /// Return an interval for the share of the variance that the first k directions of batch PCA
    /// explain.
    fn captured_bounds(&self, k: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
        Ok(self.inner.captured_bounds(whole(k, "k")?))
    }

    /// Read a pickled certificate.
    #[staticmethod]
    fn _from_bytes(data: &[u8]) -> PyResult<Self> {
        let (inner, components) = postcard::from_bytes(data)
            .map_err(|error| FormatError::new_err(format!("cannot read the pickled certificate: {error}")))?;
        Ok(Self { inner, components })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let this = slf.get();
        let bytes = postcard::to_allocvec(&(&this.inner, this.components))
            .map_err(|error| FormatError::new_err(format!("cannot write the certificate: {error}")))?;
        Ok((slf.get_type().getattr("_from_bytes")?, (PyBytes::new(slf.py(), &bytes),)))
    }

    /// Return the certificate itself, because it is immutable.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Return the certificate itself, because it is immutable.
    fn __deepcopy__(slf: Py<Self>, memo: &Bound<'_, PyAny>) -> Py<Self> {
        let _ = memo;
        slf
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        if self.is_exact() {
            return Ok("Certificate(exact)".into());
        }
        let short = |value| PyFloat::new(py, value).call_method1("__format__", (".4g",));
        let (bound, relative) = (short(self.error_bound())?, short(self.relative_error_bound())?);
        Ok(format!("Certificate(error_bound={bound}, {relative} of the largest eigenvalue)"))
    }
}
