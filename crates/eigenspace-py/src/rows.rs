//! Rows from Python: a two-dimensional array of `float64` or `float32`, or compressed sparse rows.
//!
//! ```text
//! (features, offsets, columns, values)        offsets, columns: int64;  values: float64
//! ```
//!
//! Arrays of any memory layout are read in place. Unaligned cells and strides that are not
//! multiples of the cell size are possible in numpy but not in an `ndarray` view. Such arrays are
//! rejected here; the Python code copies them first.

use eigenspace::{Block, Error, SparseRows};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::{IntoException, refusal};
use crate::memory::affordable;

/// Rows that were passed as an argument, borrowed for the duration of a call.
pub(crate) enum Rows<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
    Sparse(Csr),
}

/// Sparse rows in the form that the library expects.
pub(crate) struct Csr {
    features: usize,
    offsets: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl<'py> Rows<'py> {
    /// Whether the rows are sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// Borrows the rows of an argument.
    pub(crate) fn of(argument: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = argument.cast::<PyArray2<f64>>() {
            viewable(array)?;
            return Ok(Self::F64(array.try_readonly()?));
        }
        if let Ok(array) = argument.cast::<PyArray2<f32>>() {
            viewable(array)?;
            return Ok(Self::F32(array.try_readonly()?));
        }
        if let Ok((features, offsets, columns, values)) = argument.extract() {
            return Ok(Self::Sparse(Csr::new(argument.py(), features, &offsets, &columns, &values)?));
        }
        let kind = argument.get_type();
        Err(PyTypeError::new_err(format!(
            "invalid rows: expected a 2-d array of float64 or float32, or sparse rows, found {kind}"
        )))
    }

    /// The view of the rows that is passed to the library.
    pub(crate) fn view(&self) -> Result<View<'_>, Error> {
        Ok(match self {
            Self::F64(array) => View::F64(array.as_array()),
            Self::F32(array) => View::F32(array.as_array()),
            Self::Sparse(rows) => {
                View::Sparse(SparseRows::new(rows.features, &rows.offsets, &rows.columns, &rows.values)?)
            }
        })
    }
}

/// A view of rows, which can be sent to other threads.
#[derive(Clone, Copy)]
pub(crate) enum View<'a> {
    F64(ndarray::ArrayView2<'a, f64>),
    F32(ndarray::ArrayView2<'a, f32>),
    Sparse(SparseRows<'a>),
}

/// Evaluates the first expression with dense rows of either precision, or the second one with
/// sparse rows.
macro_rules! each {
    ($rows:expr, $dense:ident => $body:expr, $sparse:ident => $other:expr) => {
        match $rows {
            $crate::rows::View::F64($dense) => $body,
            $crate::rows::View::F32($dense) => $body,
            $crate::rows::View::Sparse($sparse) => $other,
        }
    };
}
pub(crate) use each;

/// An array of Python from what is computed of rows, in the precision that they are projected in.
macro_rules! array_of {
    ($py:expr, $rows:expr, $name:ident => $computed:expr) => {
        $crate::rows::each!(
            $rows,
            $name => $computed.into_pyarray($py).into_any(),
            $name => $computed.into_pyarray($py).into_any()
        )
    };
}
pub(crate) use array_of;

impl<'a> View<'a> {
    /// The rows as a block, with weights if there are any.
    pub(crate) fn block(self, weights: Option<&'a [f64]>) -> Block<'a> {
        let block = each!(self, rows => Block::from(rows), rows => Block::from(rows));
        match weights {
            Some(weights) => block.weighted(weights),
            None => block,
        }
    }
}

impl Csr {
    fn new(
        py: Python<'_>,
        features: usize,
        offsets: &PyReadonlyArray1<'_, i64>,
        columns: &PyReadonlyArray1<'_, i64>,
        values: &PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        affordable(py, offsets.len().saturating_add(columns.len()).saturating_add(values.len()))?;
        let whole = |numbers: &PyReadonlyArray1<'_, i64>| -> PyResult<Vec<usize>> {
            let numbers = numbers.as_array();
            let negative = |&number: &i64| {
                usize::try_from(number).map_err(|_| {
                    let words = format!("invalid index or offset {number} of sparse rows: expected 0 or more");
                    refusal(py, words, "rebuild the matrix, for example with scipy.sparse.csr_array(X)")
                })
            };
            numbers.iter().map(negative).collect()
        };
        Ok(Self {
            features,
            offsets: whole(offsets)?,
            columns: whole(columns)?,
            values: values.as_array().iter().copied().collect(),
        })
    }
}

/// Copies the weights of an argument: one number for each row.
pub(crate) fn weights(argument: Option<&Bound<'_, PyArray1<f64>>>) -> PyResult<Option<Vec<f64>>> {
    argument
        .map(|array| {
            affordable(array.py(), array.len())?;
            Ok(array.try_readonly()?.as_array().iter().copied().collect())
        })
        .transpose()
}

/// Borrows a matrix of `float64`.
pub(crate) fn matrix<'py>(array: &Bound<'py, PyArray2<f64>>) -> PyResult<PyReadonlyArray2<'py, f64>> {
    viewable(array)?;
    Ok(array.try_readonly()?)
}

/// Returns an error if a view cannot express the memory layout of the array.
fn viewable<T: numpy::Element>(array: &Bound<'_, PyArray2<T>>) -> PyResult<()> {
    let size = size_of::<T>() as isize;
    let regular = array.strides().iter().all(|stride| stride % size == 0);
    let aligned = array.getattr("flags")?.getattr("aligned")?.is_truthy()?;
    if regular && aligned {
        return Ok(());
    }
    Err(refusal(array.py(), "cannot read the array: its cells are not aligned", "pass a copy of the array"))
}

/// Converts a library error to a Python exception.
pub(crate) fn checked<T>(py: Python<'_>, result: Result<T, impl IntoException>) -> PyResult<T> {
    result.map_err(|error| error.into_exception(py))
}
