//! The eigenspace model. It is immutable: every operation returns a new model.

use std::sync::Arc;

use eigenspace::{EigenspaceModel, Error};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::certificate::Certificate;
use crate::compute::compute;
use crate::errors::Named;
use crate::memory::{self, affordable};
use crate::metadata::Metadata;
use crate::options::{self, ComponentsArgument, Settings};
use crate::rows::{Rows, checked, matrix, weights};

/// A PCA model that can be updated, merged and split, and that bounds its own error.
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

/// Copies bytes into a Python object; returns a `MemoryError` if there is no memory for the copy.
pub(crate) fn to_python<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |copy| {
        copy.copy_from_slice(bytes);
        Ok(())
    })
}

impl Model {
    /// An error about rows, with the names of the model's features.
    fn named(&self, error: Error) -> Named {
        Named::of(error, self.inner.metadata())
    }
}

#[pymethods]
impl Model {
    /// Return the model of no rows.
    #[staticmethod]
    fn empty(py: Python<'_>, features: &Bound<'_, PyAny>) -> PyResult<Self> {
        let features = options::whole(features, "number of features")?;
        let cells = memory::matrix(features, 4);
        compute(py, cells, || {
            if features == 0 { Err(Error::NoFeatures) } else { Ok(EigenspaceModel::empty(features).into()) }
        })
    }

    /// Compute the model of these rows by batch PCA.
    #[staticmethod]
    #[pyo3(signature = (rows, weights=None, method="auto", truncation="none", metadata=None))]
    fn fit(
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyArray1<f64>>>,
        method: &str,
        truncation: &str,
        metadata: Option<&Metadata>,
    ) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        let method = checked(py, method.parse())?;
        let (rows, weights) = (Rows::of(rows)?, self::weights(weights)?);
        let view = checked(py, rows.view())?;
        let block = view.block(weights.as_deref());
        let cells = memory::fit(&block, truncation);
        let metadata = metadata.map(Metadata::of_library).unwrap_or_default();
        let fit = || {
            let fitted = EigenspaceModel::fit_with(block, method, truncation);
            fitted.map_err(|error| Named::of(error, &metadata))?.with_metadata(metadata.clone()).map_err(Named::from)
        };
        Ok(compute(py, cells, fit)?.into())
    }

    /// Compute the model of these rows with the settings of a stream, iteratively if that is
    /// better.
    #[staticmethod]
    #[pyo3(signature = (rows, weights, settings, metadata))]
    fn fit_at_once(
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyArray1<f64>>>,
        settings: &Bound<'_, PyAny>,
        metadata: &Metadata,
    ) -> PyResult<Self> {
        let options = Settings::of(settings)?.options(py)?;
        let (rows, weights) = (Rows::of(rows)?, self::weights(weights)?);
        let view = checked(py, rows.view())?;
        let block = view.block(weights.as_deref());
        let cells = memory::iterative_fit(block.nrows(), block.ncols());
        let metadata = metadata.of_library();
        let fit = || {
            let fitted = options.fit(block).map_err(|error| Named::of(error, &metadata))?;
            fitted.with_metadata(metadata.clone()).map_err(Named::from)
        };
        Ok(compute(py, cells, fit)?.into())
    }

    /// Whether batch PCA computes this many directions iteratively.
    #[staticmethod]
    fn iterates(rows: usize, features: usize, rank: usize, sparse: bool) -> bool {
        eigenspace::internal::is_iterative(rows, features, rank, sparse)
    }

    /// Whether batch PCA adds these rows to a stream in pieces.
    #[staticmethod]
    #[pyo3(signature = (rows, features, rank, sparse))]
    fn is_in_pieces(rows: usize, features: usize, rank: Option<usize>, sparse: bool) -> bool {
        eigenspace::internal::is_in_pieces(rows, features, rank, sparse)
    }

    /// Whether a fit of a number of components keeps these rows until all directions are needed.
    #[staticmethod]
    fn is_held(rows: usize, features: usize, sparse: bool) -> bool {
        eigenspace::internal::is_held(rows, features, sparse)
    }

    /// Return the number of components with the largest evidence, of a model with all directions.
    fn likeliest_components(&self, py: Python<'_>) -> PyResult<usize> {
        let cells = memory::matrix(self.inner.features(), 8);
        compute(py, cells, || Ok::<_, Error>(eigenspace::internal::likeliest_components(&self.inner)))
    }

    /// Return the log evidence of each number of components, each smaller by the same number.
    fn log_evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let cells = memory::matrix(self.inner.features(), 8);
        let evidence = compute(py, cells, || Ok::<_, Error>(eigenspace::internal::log_evidence(&self.inner)))?;
        Ok(evidence.into_pyarray(py))
    }

    /// Read a model from bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Ok(compute(py, memory::model_of_bytes(data.len() as u64), || EigenspaceModel::from_bytes(data))?.into())
    }

    /// Read a model from a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        // If the length cannot be read, reading the file reports the error.
        let length = std::fs::metadata(&path).map_or(0, |file| file.len());
        Ok(compute(py, memory::model_of_bytes(length), || EigenspaceModel::load(path))?.into())
    }

    /// Return the bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let cells = memory::bytes_of_model(&self.inner);
        let bytes = compute(py, cells, || Ok::<_, eigenspace::Error>(self.inner.to_bytes()))?;
        to_python(py, &bytes)
    }

    /// Write the model file, completely or not at all.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        compute(py, memory::bytes_of_model(&self.inner), || self.inner.save(path))
    }

    /// What is known about the rows besides their values.
    #[getter]
    fn metadata(&self) -> Metadata {
        Metadata::from(self.inner.metadata())
    }

    /// Change the metadata.
    fn with_metadata(&self, py: Python<'_>, metadata: &Metadata) -> PyResult<Self> {
        let metadata = metadata.of_library();
        if metadata == *self.inner.metadata() {
            return Ok(Self { inner: Arc::clone(&self.inner) });
        }
        let copied = || EigenspaceModel::clone(&self.inner).with_metadata(metadata);
        Ok(compute(py, memory::model(&self.inner), copied)?.into())
    }

    /// Raise an error if features have other names than the model's, or another order.
    fn check_feature_names(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        checked(py, self.inner.metadata().check_feature_names(&names))
    }

    /// Add rows and return the new model.
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
        let cells = memory::update(&self.inner, block.nrows());
        Ok(compute(py, cells, || self.inner.update(block, truncation).map_err(|error| self.named(error)))?.into())
    }

    /// Remove rows and return the new model.
    #[pyo3(signature = (rows, weights=None))]
    fn remove(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyArray1<f64>>>,
    ) -> PyResult<Self> {
        let (rows, weights) = (Rows::of(rows)?, self::weights(weights)?);
        let view = checked(py, rows.view())?;
        let block = view.block(weights.as_deref());
        let cells = memory::remove(&self.inner, block.nrows());
        Ok(compute(py, cells, || self.inner.remove(block).map_err(|error| self.named(error)))?.into())
    }

    /// Return the model of the rows of both models.
    #[pyo3(signature = (other, truncation="none"))]
    fn merge(&self, py: Python<'_>, other: &Self, truncation: &str) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        let cells = memory::merge([&*self.inner, &*other.inner]);
        Ok(compute(py, cells, || self.inner.merge(&other.inner, truncation))?.into())
    }

    /// Merge all models, as a tree.
    #[staticmethod]
    #[pyo3(signature = (models, truncation="none"))]
    fn merge_all(py: Python<'_>, models: Vec<PyRef<'_, Self>>, truncation: &str) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        let models: Vec<&EigenspaceModel> = models.iter().map(|model| &*model.inner).collect();
        let cells = memory::merge(models.iter().copied());
        Ok(compute(py, cells, || EigenspaceModel::merge_all(models, truncation))?.into())
    }

    /// Return the model of the rows that are not in the part.
    fn split(&self, py: Python<'_>, part: &Self) -> PyResult<Self> {
        let cells = memory::split(&self.inner, part.inner.rank());
        Ok(compute(py, cells, || self.inner.split(&part.inner))?.into())
    }

    /// Drop directions.
    fn truncate(&self, py: Python<'_>, truncation: &str) -> PyResult<Self> {
        let truncation = options::truncation(py, truncation)?;
        Ok(compute(py, memory::model(&self.inner).saturating_mul(2), || self.inner.truncate(truncation))?.into())
    }

    /// Multiply the weight of all rows so far by this factor.
    fn forget(&self, py: Python<'_>, factor: f64) -> PyResult<Self> {
        Ok(compute(py, memory::model(&self.inner).saturating_mul(2), || self.inner.forget(factor))?.into())
    }

    /// Change the number of components.
    #[pyo3(signature = (components))]
    fn with_components(&self, py: Python<'_>, components: Option<ComponentsArgument>) -> PyResult<Self> {
        let components = options::components(components);
        Ok(compute(py, memory::model(&self.inner), || self.inner.with_components(components))?.into())
    }

    /// The meaning of the weights: "frequency" or "reliability".
    #[getter]
    fn weight_kind(&self) -> String {
        self.inner.weight_kind().to_string()
    }

    /// The share of variance that the kept directions explain, if it is below the share requested
    /// as `n_components`.
    #[getter]
    fn share_below_request(&self) -> Option<f64> {
        self.inner.share_below_request()
    }

    /// Change the meaning of the weights.
    fn with_weight_kind(&self, py: Python<'_>, kind: &str) -> PyResult<Self> {
        let kind = checked(py, kind.parse())?;
        Ok(compute(py, memory::model(&self.inner), || Ok::<_, eigenspace::Error>(self.inner.with_weight_kind(kind)))?
            .into())
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
    fn n_components_setting(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        options::n_components_setting(py, &self.inner)
    }

    #[getter]
    fn is_centered(&self) -> bool {
        self.inner.is_centered()
    }

    #[getter]
    fn imputed(&self) -> u64 {
        self.inner.imputed()
    }

    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        affordable(py, self.inner.features())?;
        Ok(self.inner.mean().to_pyarray(py))
    }

    /// All directions that are kept.
    fn basis<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        affordable(py, memory::model(&self.inner))?;
        Ok(self.inner.basis().to_pyarray(py))
    }

    /// All singular values that are kept.
    fn all_singular_values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.all_singular_values().to_pyarray(py)
    }

    fn feature_scatter<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        affordable(py, self.inner.features())?;
        Ok(self.inner.feature_scatter().to_pyarray(py))
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
        affordable(py, memory::matrix(self.inner.features(), 2))?;
        Ok(checked(py, self.inner.feature_variance(ddof))?.into_pyarray(py))
    }

    fn noise_variance(&self, py: Python<'_>) -> PyResult<f64> {
        checked(py, self.inner.noise_variance())
    }

    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(compute(py, memory::covariance(&self.inner), || self.inner.covariance())?.into_pyarray(py))
    }

    fn precision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(compute(py, memory::covariance(&self.inner), || self.inner.precision())?.into_pyarray(py))
    }

    fn variance_along(&self, py: Python<'_>, direction: &Bound<'_, PyArray1<f64>>, ddof: f64) -> PyResult<f64> {
        let direction = direction.try_readonly()?.as_array().to_owned();
        checked(py, self.inner.variance_along(direction.view(), ddof))
    }

    /// Return a copy of the rows in which missing cells are filled.
    fn fill_missing<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyArray2<f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = matrix(rows)?;
        let view = rows.as_array();
        let k = self.inner.n_components();
        let cells = memory::matrix(view.nrows().saturating_mul(2).saturating_add(k), view.ncols());
        affordable(py, cells.saturating_add(memory::matrix(k, k).saturating_mul(2)))?;
        let mut filled: Array2<f64> = view.to_owned();
        compute(py, 0, || self.inner.fill_missing(filled.view_mut()).map_err(|error| self.named(error)))?;
        Ok(filled.into_pyarray(py))
    }

    /// Return a limit for T² and one for Q. If rows are normally distributed, a share ``confidence``
    /// of them stays below each limit.
    fn limits(&self, py: Python<'_>, confidence: f64) -> PyResult<(f64, f64)> {
        let limits = checked(py, self.inner.limits(confidence))?;
        Ok((limits.hotelling, limits.squared_distance))
    }

    fn certificate(&self) -> Certificate {
        Certificate { inner: self.inner.certificate(), components: self.inner.n_components() }
    }

    fn orthogonality_loss(&self, py: Python<'_>) -> PyResult<f64> {
        compute(py, memory::decomposition(self.inner.rank(), self.inner.rank()), || {
            Ok::<_, eigenspace::Error>(self.inner.orthogonality_loss())
        })
    }
}
