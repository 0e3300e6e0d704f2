//! A view of a model: raw or standardized, with a number of components.

use eigenspace::Missing;
use eigenspace::internal::RowsOnCard;
use numpy::ndarray::ArrayView2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2, ToPyArray};
use pyo3::prelude::*;

use crate::compute::{compute, compute_here};
use crate::errors::{Named, OfRow, refusal};
use crate::memory::{self, affordable};
use crate::model::Model;
use crate::rows::{Rows, View as RowView, array_of, checked, each, matrix};

/// A view of a model, which computes everything that estimators report. Errors count rows from
/// `first`.
#[pyclass(frozen, module = "eigenspace._core")]
pub(crate) struct View(eigenspace::View);

#[pymethods]
impl View {
    /// Create a view in the units of the rows, or standardized.
    #[new]
    fn new(py: Python<'_>, model: &Model, standardize: bool) -> PyResult<Self> {
        let cells = if standardize { memory::model(&model.inner).saturating_mul(5) } else { 0 };
        let raw = eigenspace::View::raw(std::sync::Arc::clone(&model.inner));
        Ok(Self(compute(py, cells, || raw.standardized(standardize))?))
    }

    /// Return the view with at least this many components; those beyond the model's have no
    /// variance.
    fn at_least(&self, components: usize) -> Self {
        Self(self.0.clone().at_least(components))
    }

    /// Return the view that computes the scores of many rows, and many rows from their scores, on a
    /// device.
    fn on(&self, py: Python<'_>, device: &str) -> PyResult<Self> {
        let view = self.0.clone();
        Ok(Self(compute(py, 0, || view.device(device.parse()?))?))
    }

    /// Return the scores of rows in the memory of the card of the view.
    fn project_from_card<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        rows: usize,
        columns: usize,
        narrow: bool,
        whiten: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (view, rows) = (self.0.clone().whiten(whiten), RowsOnCard { address, rows, columns, narrow });
        let cells = rows.rows.saturating_mul(self.0.n_components());
        Ok(compute(py, cells, || view.project_from_card(rows))?.into_pyarray(py))
    }

    /// Return the model in the units of the view.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        affordable(py, memory::model(self.0.model()))?;
        Ok(self.0.model().clone().into())
    }

    /// Return the factor of each feature, or None if the view is raw.
    fn scales<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.scales().map(|scales| scales.to_pyarray(py))
    }

    /// The number of components.
    #[getter]
    fn n_components(&self) -> usize {
        self.0.n_components()
    }

    /// Return the components, one per row.
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let components = || Ok::<_, eigenspace::Error>(self.0.components());
        Ok(compute(py, self.cells_of_components(), components)?.into_pyarray(py))
    }

    /// Return the singular values along the components.
    fn singular_values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.singular_values().into_pyarray(py)
    }

    /// Return the sample variance along each component.
    fn explained_variance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(checked(py, self.0.explained_variance())?.into_pyarray(py))
    }

    /// Return the share of the total variance along each component.
    fn explained_variance_ratio<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.explained_variance_ratio().into_pyarray(py)
    }

    /// Return the average variance along the directions that are not components.
    fn noise_variance(&self, py: Python<'_>) -> PyResult<f64> {
        checked(py, self.0.noise_variance())
    }

    /// Return the scores of rows, in their precision.
    #[pyo3(signature = (rows, whiten=false, missing="refuse", first=0))]
    fn project<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        whiten: bool,
        missing: &str,
        first: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = self.0.clone().whiten(whiten).missing(policy(py, missing)?);
        let rows = Rows::of(rows)?;
        let moved = |error: eigenspace::Error| self.named(error.counted_from(first));
        let rows = checked(py, rows.view())?;
        let (n, features) = (rows.block(None).nrows(), rows.block(None).ncols());
        // One row takes less time than it takes to wake another thread.
        let dense = !matches!(rows, RowView::Sparse(_));
        let here = n == 1 && self.is_plain(missing) && dense;
        // Dense rows are only copied to be filled, or for a card.
        let in_place = missing == "refuse" && dense && !self.0.is_on_card();
        let held = if in_place { self.cells_of_scores(n) } else { self.cells_of_rows(n) };
        Ok(array_of!(py, rows, rows => {
            let work = || view.project(rows).map_err(moved);
            if here { compute_here(py, features, work)? } else { compute(py, held, work)? }
        }))
    }

    /// Return the left singular vectors of rows: their scores divided by the singular values.
    #[pyo3(signature = (rows, missing="refuse", first=0))]
    fn left_singular_vectors<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        missing: &str,
        first: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = self.0.clone().missing(policy(py, missing)?);
        let rows = Rows::of(rows)?;
        let moved = |error: eigenspace::Error| self.named(error.counted_from(first));
        let rows = checked(py, rows.view())?;
        let cells = self.cells_of_rows(rows.block(None).nrows());
        Ok(array_of!(py, rows, rows => compute(py, cells, || view.left_singular_vectors(rows).map_err(moved))?))
    }

    /// Return how far distances between rows are kept: pairs, share, mean, least and correlation.
    fn distances_kept(&self, py: Python<'_>, rows: &Bound<'_, PyArray2<f64>>) -> PyResult<(u64, f64, f64, f64, f64)> {
        let rows = matrix(rows)?;
        let rows = rows.as_array();
        let kept = compute(py, self.cells_of_rows(rows.nrows()), || self.0.distances_kept(rows))?;
        Ok((kept.pairs, kept.share, kept.mean, kept.least, kept.correlation))
    }

    /// Reconstruct rows, in their original units, from their scores, in an array of the same
    /// precision.
    #[pyo3(signature = (scores, out, whiten=false))]
    fn reconstruct<'py>(
        &self,
        py: Python<'py>,
        scores: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
        whiten: bool,
    ) -> PyResult<()> {
        let view = self.0.clone().whiten(whiten);
        let scores = Rows::of(scores)?;
        each!(checked(py, scores.view())?, scores => {
            let mut out = writable(scores, out)?;
            let out = out.as_array_mut();
            compute(py, self.cells_of_scores(scores.nrows()), || {
                view.reconstruct_into(scores, out).map_err(|error| OfRow("row", error))
            })
        }, _sparse => Err(refusal(py, "cannot reconstruct rows from sparse scores", "call toarray() first")))
    }

    /// Return T² and Q of each row.
    #[pyo3(signature = (rows, missing="refuse"))]
    fn readings<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyArray2<f64>>,
        missing: &str,
    ) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
        let view = self.0.clone().missing(policy(py, missing)?);
        let rows = matrix(rows)?;
        let rows = rows.as_array();
        let readings =
            compute(py, self.cells_of_rows(rows.nrows()), || view.readings(rows).map_err(|error| self.named(error)))?;
        Ok([readings.hotelling.into_pyarray(py), readings.squared_distance.into_pyarray(py)])
    }

    /// Return the log-likelihood of each row under probabilistic PCA.
    #[pyo3(signature = (rows, missing="refuse"))]
    fn log_likelihood<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyArray2<f64>>,
        missing: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let view = self.0.clone().missing(policy(py, missing)?);
        let rows = matrix(rows)?;
        let rows = rows.as_array();
        Ok(compute(py, self.cells_of_rows(rows.nrows()), || {
            view.log_likelihood(rows).map_err(|error| self.named(error))
        })?
        .into_pyarray(py))
    }

    /// Return the covariance of the features.
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(compute(py, self.cells_of_covariance(), || self.0.covariance())?.into_pyarray(py))
    }

    /// Return the inverse of the covariance.
    fn precision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(compute(py, self.cells_of_covariance(), || self.0.precision())?.into_pyarray(py))
    }

    /// Return the loadings of the features on the components, one row per feature.
    fn loadings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(compute(py, self.cells_of_components(), || self.0.loadings())?.into_pyarray(py))
    }

    /// Return the correlations of the features with the components, one row per feature.
    fn correlations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(compute(py, self.cells_of_components(), || self.0.correlations())?.into_pyarray(py))
    }
}

impl View {
    /// An error about rows, with the names of the model's features.
    fn named(&self, error: eigenspace::Error) -> Named {
        Named::of(error, self.0.model().metadata())
    }

    /// The components, and copies of them in other units and in another precision.
    fn cells_of_components(&self) -> usize {
        memory::matrix(self.0.n_components(), self.0.features()).saturating_mul(4)
    }

    /// A copy of rows, and their scores.
    fn cells_of_rows(&self, rows: usize) -> usize {
        let columns = self.0.features().saturating_add(self.0.n_components().saturating_mul(2));
        memory::matrix(rows, columns).saturating_mul(2).saturating_add(self.cells_of_components())
    }

    /// A copy of the scores of rows, and of the components.
    fn cells_of_scores(&self, rows: usize) -> usize {
        memory::matrix(rows, self.0.model().rank()).saturating_add(self.cells_of_components())
    }

    /// Whether rows are multiplied by the components of the model as they are, without a copy.
    fn is_plain(&self, missing: &str) -> bool {
        missing == "refuse" && self.0.scales().is_none() && self.0.n_components() == self.0.model().n_components()
    }

    fn cells_of_covariance(&self) -> usize {
        memory::covariance(self.0.model()).saturating_add(self.cells_of_components())
    }
}

/// Borrows an array for results of the precision of these scores.
fn writable<'py, T: numpy::Element>(
    _scores: ArrayView2<'_, T>,
    out: &Bound<'py, PyAny>,
) -> PyResult<PyReadwriteArray2<'py, T>> {
    Ok(out.cast::<PyArray2<T>>()?.try_readwrite()?)
}

fn policy(py: Python<'_>, missing: &str) -> PyResult<Missing> {
    checked(py, missing.parse())
}
