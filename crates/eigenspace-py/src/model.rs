//! The eigenspace model, a value: every operation returns a new one.

use std::sync::Arc;

use eigenspace::{EigenspaceModel, Error};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::certificate::Certificate;
use crate::compute::compute;
use crate::options::{self, Shown};
use crate::rows::{Rows, View, affordable, checked, copies, counted_from, matrix, weights};
use crate::scaled::Scaled;

/// A PCA model that can absorb rows, merge, split, and say how exact it is.
#[pyclass(frozen, eq, module = "eigenspace._core")]
#[derive(PartialEq)]
pub(crate) struct Model {
    pub(crate) inner: Arc<EigenspaceModel>,
}

impl From<Arc<EigenspaceModel>> for Model {
    fn from(inner: Arc<EigenspaceModel>) -> Self {
        Self { inner }
    }
}

impl From<EigenspaceModel> for Model {
    fn from(inner: EigenspaceModel) -> Self {
        Arc::new(inner).into()
    }
}

/// The bytes of a model, and the note that came with it.
type WithNote = (Model, String);

#[pymethods]
impl Model {
    /// The model of no rows.
    #[staticmethod]
    fn empty(py: Python<'_>, features: &Bound<'_, PyAny>) -> PyResult<Self> {
        let features = options::whole(features, "the number of features")?;
        affordable(py, features.saturating_mul(4))?;
        compute(py, || if features == 0 { Err(Error::NoFeatures) } else { Ok(EigenspaceModel::empty(features).into()) })
    }

    /// Batch PCA of rows that are all there.
    #[staticmethod]
    #[pyo3(signature = (rows, weights=None, method="auto", truncation="none"))]
    fn batch(
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyArray1<f64>>>,
        method: &str,
        truncation: &str,
    ) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        let method = checked(py, method.parse())?;
        let (rows, weights) = (Rows::of(rows)?, self::weights(weights)?);
        let view = checked(py, rows.view())?;
        let block = view.block(weights.as_deref());
        affordable(py, copies(block.nrows(), block.ncols()))?;
        Ok(compute(py, || EigenspaceModel::batch_by(block, method, truncation))?.into())
    }

    /// The model of these bytes, and their note.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<WithNote> {
        let (model, note) = compute(py, || EigenspaceModel::from_bytes_with_note(data))?;
        Ok((model.into(), note))
    }

    /// The model of a file, and its note.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<WithNote> {
        let (model, note) = compute(py, || EigenspaceModel::load_with_note(path))?;
        Ok((model.into(), note))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>, note: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = compute(py, || Ok(self.inner.to_bytes_with_note(note)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf, note: &str) -> PyResult<()> {
        compute(py, || self.inner.save_with_note(path, note))
    }

    /// The model of the rows before and these.
    #[pyo3(signature = (rows, weights=None, truncation="none"))]
    fn update(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyArray1<f64>>>,
        truncation: &str,
    ) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        let (rows, weights) = (Rows::of(rows)?, self::weights(weights)?);
        let view = checked(py, rows.view())?;
        let block = view.block(weights.as_deref());
        affordable(py, copies(block.nrows(), block.ncols()))?;
        Ok(compute(py, || self.inner.update(block, truncation))?.into())
    }

    /// The model of the rows before without these.
    #[pyo3(signature = (rows, weights=None))]
    fn remove(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyArray1<f64>>>,
    ) -> PyResult<Self> {
        let (rows, weights) = (Rows::of(rows)?, self::weights(weights)?);
        let view = checked(py, rows.view())?;
        Ok(compute(py, || self.inner.remove(view.block(weights.as_deref())))?.into())
    }

    /// The model of the rows of both.
    #[pyo3(signature = (other, truncation="none"))]
    fn merge(&self, py: Python<'_>, other: &Self, truncation: &str) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        Ok(compute(py, || self.inner.merge(&other.inner, truncation))?.into())
    }

    /// The model of the rows of all, merged as a tree.
    #[staticmethod]
    #[pyo3(signature = (models, truncation="none"))]
    fn merge_all(py: Python<'_>, models: Vec<PyRef<'_, Self>>, truncation: &str) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        let models: Vec<&EigenspaceModel> = models.iter().map(|model| &*model.inner).collect();
        Ok(compute(py, || EigenspaceModel::merge_all(models, truncation))?.into())
    }

    /// The model of the rows of the whole that are not in the part.
    fn split(&self, py: Python<'_>, part: &Self) -> PyResult<Self> {
        Ok(compute(py, || self.inner.split(&part.inner))?.into())
    }

    /// The same model with fewer directions.
    fn truncate(&self, py: Python<'_>, truncation: &str) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        Ok(compute(py, || self.inner.truncate(truncation))?.into())
    }

    /// The same model in which every row so far weighs this factor as much.
    fn forget(&self, py: Python<'_>, factor: f64) -> PyResult<Self> {
        Ok(compute(py, || self.inner.forget(factor))?.into())
    }

    /// The same model showing another number of components.
    #[pyo3(signature = (components))]
    fn with_components(&self, py: Python<'_>, components: Option<Shown>) -> PyResult<Self> {
        let components = options::components(components);
        Ok(compute(py, || self.inner.with_components(components))?.into())
    }

    #[getter]
    fn count(&self) -> u64 {
        self.inner.count()
    }

    #[getter]
    fn weight(&self) -> f64 {
        self.inner.weight()
    }

    #[getter]
    fn features(&self) -> usize {
        self.inner.features()
    }

    #[getter]
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    #[getter]
    fn n_components(&self) -> usize {
        self.inner.n_components()
    }

    /// The setting for the number of components.
    #[getter]
    fn shown(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        options::shown(py, &self.inner)
    }

    #[getter]
    fn is_centred(&self) -> bool {
        self.inner.is_centred()
    }

    #[getter]
    fn imputed(&self) -> u64 {
        self.inner.imputed()
    }

    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.mean().to_pyarray(py)
    }

    /// All directions that are kept.
    fn basis<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.inner.basis().to_pyarray(py)
    }

    /// All singular values that are kept.
    fn singular_values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.singular_values().to_pyarray(py)
    }

    fn feature_scatter<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.feature_scatter().to_pyarray(py)
    }

    fn explained_variance<'py>(&self, py: Python<'py>, ddof: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(checked(py, self.inner.explained_variance(ddof))?.into_pyarray(py))
    }

    fn explained_variance_ratio<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.explained_variance_ratio().into_pyarray(py)
    }

    fn total_variance(&self, py: Python<'_>, ddof: f64) -> PyResult<f64> {
        checked(py, self.inner.total_variance(ddof))
    }

    fn feature_variance<'py>(&self, py: Python<'py>, ddof: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(checked(py, self.inner.feature_variance(ddof))?.into_pyarray(py))
    }

    fn noise_variance(&self, py: Python<'_>) -> PyResult<f64> {
        checked(py, self.inner.noise_variance())
    }

    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        affordable(py, self.inner.features().saturating_mul(self.inner.features()).saturating_mul(3))?;
        Ok(compute(py, || self.inner.covariance())?.into_pyarray(py))
    }

    fn precision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        affordable(py, self.inner.features().saturating_mul(self.inner.features()).saturating_mul(3))?;
        Ok(compute(py, || self.inner.precision())?.into_pyarray(py))
    }

    fn variance_along(&self, py: Python<'_>, direction: &Bound<'_, PyArray1<f64>>, ddof: f64) -> PyResult<f64> {
        let direction = direction.try_readonly()?.as_array().to_owned();
        checked(py, self.inner.variance_along(direction.view(), ddof))
    }

    /// Coordinates in the precision of the rows. Errors count rows from `first`.
    #[pyo3(signature = (rows, first=0))]
    fn project<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>, first: usize) -> PyResult<Bound<'py, PyAny>> {
        let rows = Rows::of(rows)?;
        let moved = |error| counted_from(first, error);
        Ok(match checked(py, rows.view())? {
            View::F64(rows) => compute(py, || self.inner.project(rows).map_err(moved))?.into_pyarray(py).into_any(),
            View::F32(rows) => compute(py, || self.inner.project(rows).map_err(moved))?.into_pyarray(py).into_any(),
            View::Sparse(rows) => {
                compute(py, || self.inner.project_sparse(rows).map_err(moved))?.into_pyarray(py).into_any()
            }
        })
    }

    /// The rows that have these coordinates, in their precision.
    fn reconstruct<'py>(&self, py: Python<'py>, coordinates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let coordinates = Rows::of(coordinates)?;
        let view = checked(py, coordinates.view())?;
        affordable(py, view.block(None).nrows().saturating_add(8).saturating_mul(self.inner.features()))?;
        Ok(match view {
            View::F64(rows) => compute(py, || self.inner.reconstruct(rows))?.into_pyarray(py).into_any(),
            View::F32(rows) => compute(py, || self.inner.reconstruct(rows))?.into_pyarray(py).into_any(),
            View::Sparse(_) => return Err(crate::errors::EigenspaceError::new_err("coordinates are not sparse")),
        })
    }

    /// A copy of the rows in which missing cells are filled.
    fn fill_missing<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyArray2<f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = matrix(rows)?;
        let mut filled: Array2<f64> = rows.as_array().to_owned();
        compute(py, || self.inner.fill_missing(filled.view_mut()))?;
        Ok(filled.into_pyarray(py))
    }

    /// Hotelling's T² of each row.
    fn hotelling<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyArray2<f64>>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = matrix(rows)?;
        let rows = rows.as_array();
        Ok(compute(py, || self.inner.hotelling(rows))?.into_pyarray(py))
    }

    /// Q, the squared distance of each row to the subspace.
    fn squared_distance<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyArray2<f64>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = matrix(rows)?;
        let rows = rows.as_array();
        Ok(compute(py, || self.inner.squared_distance(rows))?.into_pyarray(py))
    }

    /// The limits of T² and Q that this share of good rows stays below.
    fn limits(&self, py: Python<'_>, confidence: f64) -> PyResult<(f64, f64)> {
        let limits = checked(py, self.inner.limits(confidence))?;
        Ok((limits.hotelling, limits.squared_distance))
    }

    fn certificate(&self) -> Certificate {
        Certificate { inner: self.inner.certificate(), rank: self.inner.rank() }
    }

    fn orthogonality_loss(&self) -> f64 {
        self.inner.orthogonality_loss()
    }

    /// The model of the standardised rows.
    fn standardize(&self, py: Python<'_>) -> PyResult<Scaled> {
        Ok(compute(py, || self.inner.standardize())?.into())
    }
}
