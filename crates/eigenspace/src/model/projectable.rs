//! The kinds of rows that have scores, and the precision in which each is multiplied.
//!
//! ```text
//! Rows: a view, an array, sparse rows, a block │ TypedRows: one element type, one precision
//!       values of a file                       │
//! ```
//!
//! Callers pass any [`Rows`]. What is computed of them is an [`Operation`] on rows whose precision
//! the compiler knows.

use ndarray::{Array2, ArrayRef2, ArrayView1, ArrayView2, Axis};

use crate::error::Error;
use crate::linalg::Real;
use crate::model::moments::Moments;
use crate::model::scores::{combinations, products, sparse_products};
use crate::rows::block::Block;
use crate::rows::element::Element;
use crate::rows::sparse::SparseRows;
use crate::rows::values::{Values, in_precision};

mod sealed {
    pub trait Sealed {}
}

/// Rows or scores: a view of an array of any [`Element`] type, a reference to such an array,
/// [`SparseRows`], a [`Block`], or a reference to the [`Values`] of a file. The result has their
/// precision. Weights of a block are ignored.
///
/// ```
/// use eigenspace::{EigenspaceModel, SparseRows};
/// use ndarray::{Array2, array};
///
/// let rows = array![[0.0, 2.0], [1.0, 0.0], [3.0, 5.0]];
/// let model = EigenspaceModel::fit(&rows)?;
/// let dense: Array2<f64> = model.project(&rows)?;
/// let narrow: Array2<f32> = model.project(&rows.mapv(|x| x as f32))?;
/// let sparse: Array2<f64> = model.project(SparseRows::new(2, &[0, 1, 2, 4], &[1, 0, 0, 1], &[2.0, 1.0, 3.0, 5.0])?)?;
/// assert_eq!((dense.dim(), narrow.dim(), sparse.dim()), ((3, 2), (3, 2), (3, 2)));
/// # Ok::<(), eigenspace::Error>(())
/// ```
pub trait Rows<'a>: sealed::Sealed + Copy + Into<Block<'a>> {
    /// The result: `Array2<f32>` for rows of `f32`, `u8` and `u16`, `Array2<f64>` for other rows
    /// and for blocks, and values for values.
    type Scores: Clone + Send + Sync;

    /// The result of an operation on these rows.
    #[doc(hidden)]
    fn apply(self, operation: &impl Operation) -> Result<Self::Scores, Error>;
}

/// A computation that gives one row of results for each row.
#[doc(hidden)]
pub trait Operation {
    fn of<'a, R: TypedRows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error>;
}

/// Rows of one element type.
#[doc(hidden)]
pub trait TypedRows<'a>: Rows<'a, Scores = Array2<<Self as TypedRows<'a>>::Score>> {
    /// The precision of the result.
    type Score: Real;

    /// The scores of the rows.
    fn scores(self, onto: &Projection<'_>) -> Result<Array2<Self::Score>, Error>;
    /// The scores of the rows with these indices.
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<Self::Score>, Error>;
    /// The rows with these scores, which were checked: 1μᵀ + Z B.
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<Self::Score>, Error>;
}

/// A center and the directions that scores are taken along.
pub struct Projection<'p> {
    /// The moments of the model, to see whether the mean is far from the origin.
    pub(crate) moments: &'p Moments,
    /// The mean in two words.
    pub(crate) mean: ArrayView1<'p, f64>,
    pub(crate) mean_low: ArrayView1<'p, f64>,
    pub(crate) basis: ArrayView2<'p, f64>,
    /// Whether the mean may be subtracted after the product.
    pub(crate) near_origin: bool,
}

impl<'a, E: Element> TypedRows<'a> for ArrayView2<'a, E> {
    type Score = E::Work;

    fn scores(self, onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        products(self, (onto.mean, onto.mean_low), onto.basis, onto.near_origin)
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.select(Axis(0), which).view().scores(onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<E::Work>, Error> {
        combinations(self, mean, basis)
    }
}

impl<'a> TypedRows<'a> for SparseRows<'a> {
    type Score = f64;

    /// Without making the rows dense.
    fn scores(self, onto: &Projection<'_>) -> Result<Array2<f64>, Error> {
        Block::from(self).check(onto.mean.len())?;
        sparse_products(self, onto.moments, onto.mean, onto.mean_low, onto.basis)
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<f64>, Error> {
        Block::from(self).scores_of(which, onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
        Block::from(self).combined(mean, basis)
    }
}

impl<'a> TypedRows<'a> for Block<'a> {
    type Score = f64;

    fn scores(self, onto: &Projection<'_>) -> Result<Array2<f64>, Error> {
        match self.sparse() {
            Some(rows) => rows.scores(onto),
            None => self.all_widened().view().scores(onto),
        }
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<f64>, Error> {
        self.select(which).view().scores(onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
        combinations(self.all_widened().view(), mean, basis)
    }
}

impl<E: Element> sealed::Sealed for ArrayView2<'_, E> {}
impl<'a, E: Element> Rows<'a> for ArrayView2<'a, E> {
    type Scores = Array2<E::Work>;

    fn apply(self, operation: &impl Operation) -> Result<Array2<E::Work>, Error> {
        operation.of(self)
    }
}

impl<E: Element> sealed::Sealed for &Array2<E> {}
impl<'a, E: Element> Rows<'a> for &'a Array2<E> {
    type Scores = Array2<E::Work>;

    fn apply(self, operation: &impl Operation) -> Result<Array2<E::Work>, Error> {
        operation.of(self.view())
    }
}

impl<E: Element> sealed::Sealed for &ArrayRef2<E> {}
impl<'a, E: Element> Rows<'a> for &'a ArrayRef2<E> {
    type Scores = Array2<E::Work>;

    fn apply(self, operation: &impl Operation) -> Result<Array2<E::Work>, Error> {
        operation.of(self.view())
    }
}

impl sealed::Sealed for SparseRows<'_> {}
impl<'a> Rows<'a> for SparseRows<'a> {
    type Scores = Array2<f64>;

    fn apply(self, operation: &impl Operation) -> Result<Array2<f64>, Error> {
        operation.of(self)
    }
}

impl sealed::Sealed for Block<'_> {}
impl<'a> Rows<'a> for Block<'a> {
    type Scores = Array2<f64>;

    fn apply(self, operation: &impl Operation) -> Result<Array2<f64>, Error> {
        operation.of(self)
    }
}

impl sealed::Sealed for &Values {}
impl<'a> Rows<'a> for &'a Values {
    type Scores = Values;

    fn apply(self, operation: &impl Operation) -> Result<Values, Error> {
        Ok(in_precision!(self, rows => operation.of(rows.view())?.into()))
    }
}
