//! Another pass over the rows of a model.

use eigenspace::{Error, Metadata};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::compute::compute;
use crate::errors::Named;
use crate::memory;
use crate::model::Model;
use crate::rows::{Rows, checked, weights};
use crate::shared::Shared;

/// Another pass over the rows of a model. It must see all of them, in any order, before it is
/// finished.
#[pyclass(frozen, module = "eigenspace._core")]
pub(crate) struct Refinement {
    pass: Shared<eigenspace::Refinement>,
    /// That of the model, for errors.
    metadata: Metadata,
}

#[pymethods]
impl Refinement {
    /// Begin a pass; `missing` is the policy for missing cells of the first pass.
    #[new]
    fn new(py: Python<'_>, model: &Model, missing: &str) -> PyResult<Self> {
        let missing = checked(py, missing.parse())?;
        let cells = memory::begin_pass(&model.inner);
        let pass = compute(py, cells, || Ok::<_, Error>(model.inner.refine()?.missing(missing)))?;
        Ok(Self { pass: pass.into(), metadata: model.inner.metadata().clone() })
    }

    /// Read rows of the model. Errors count rows from `first`.
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
        let mut pass = self.pass.hold(py)?;
        let pass = &mut *pass;
        py.check_signals()?;
        compute(py, memory::convert(&block), || {
            pass.update(block).map_err(|error| Named::of(error.counted_from(first), &self.metadata))
        })
    }

    /// Return the model of the same rows with more accurate directions.
    fn finish(&self, py: Python<'_>, model: &Model) -> PyResult<Model> {
        let pass = self.pass.hold(py)?.clone();
        let cells = memory::finish_pass(&model.inner);
        Ok(compute(py, cells, || pass.finish())?.into())
    }
}
