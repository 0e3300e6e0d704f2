//! Rows whose precision is known only when the program runs, such as those of a file.
//!
//! ```text
//! Values = 32-bit floats | 64-bit floats
//! ```
//!
//! The choice between the two precisions is made here: other code uses `in_precision!`.

use ndarray::{Array2, Axis};

use crate::error::Error;
use crate::linalg::Real;
use crate::rows::block::Block;

/// Rows in the precision of their source: 32-bit and 16-bit floats stay f32, everything else is
/// f64. There will be no other variants, so a `match` can be complete.
///
/// Models and views project and reconstruct them in their own precision:
///
/// ```
/// use eigenspace::EigenspaceModel;
/// use eigenspace::io::source::Values;
/// use ndarray::array;
///
/// let rows = Values::from(array![[0.0_f32, 2.0], [1.0, 0.0], [3.0, 5.0]]);
/// let model = EigenspaceModel::fit(&rows)?;
/// let scores: Values = model.project(&rows)?;
/// assert!(scores.is_f32());
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Rows of 32-bit floats.
    F32(Array2<f32>),
    /// Rows of 64-bit floats.
    F64(Array2<f64>),
}

/// Evaluates an expression with the rows of some values, in either precision.
macro_rules! in_precision {
    ($values:expr, $rows:ident => $body:expr) => {
        match $values {
            $crate::rows::values::Values::F32($rows) => $body,
            $crate::rows::values::Values::F64($rows) => $body,
        }
    };
}
pub(crate) use in_precision;

impl Values {
    /// Rows and columns.
    pub fn dim(&self) -> (usize, usize) {
        in_precision!(self, rows => rows.dim())
    }

    /// Whether the rows are 32-bit floats.
    pub fn is_f32(&self) -> bool {
        matches!(self, Self::F32(_))
    }

    /// The rows as f64.
    pub fn to_f64(&self) -> Array2<f64> {
        in_precision!(self, rows => rows.mapv(Real::widen))
    }

    /// A copy of the rows with these indices.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        in_precision!(self, all => all.select(Axis(0), rows).into())
    }

    /// These rows and, after them, those of others; f32 if all are.
    pub(crate) fn concat<'a>(&'a self, later: impl Iterator<Item = &'a Self>) -> Result<Self, Error> {
        let all: Vec<&Self> = std::iter::once(self).chain(later).collect();
        let expected = self.dim().1;
        if let Some(found) = all.iter().map(|values| values.dim().1).find(|found| *found != expected) {
            return Err(Error::WidthMismatch { expected, found });
        }
        let shape = (all.iter().map(|values| values.dim().0).sum(), expected);
        let narrow = all.iter().all(|values| values.is_f32());
        Ok(if narrow { stacked::<f32>(&all, shape).into() } else { stacked::<f64>(&all, shape).into() })
    }
}

/// Rows of values one below another, in this precision.
fn stacked<T: Real>(all: &[&Values], shape: (usize, usize)) -> Array2<T> {
    let (mut out, mut start) = (Array2::zeros(shape), 0);
    for values in all {
        let end = start + values.dim().0;
        let mut to = out.slice_axis_mut(Axis(0), (start..end).into());
        in_precision!(values, rows => to.zip_mut_with(rows, |to, x| *to = T::narrow(x.widen())));
        start = end;
    }
    out
}

impl From<Array2<f32>> for Values {
    fn from(rows: Array2<f32>) -> Self {
        Self::F32(rows)
    }
}

impl From<Array2<f64>> for Values {
    fn from(rows: Array2<f64>) -> Self {
        Self::F64(rows)
    }
}

impl<'a> From<&'a Values> for Block<'a> {
    fn from(values: &'a Values) -> Self {
        in_precision!(values, rows => rows.into())
    }
}
