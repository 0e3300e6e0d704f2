//! Projects rows to scores, and reconstructs rows from scores.
//!
//! ```text
//! Z = (X − 1μᵀ) V_kᵀ        X̂ = 1μᵀ + Z V_k        whitened: Z diag(√(w − 1) / s)
//! ```
//!
//! Rows are multiplied in their own precision: f32 rows give f32 scores, which is faster and has an
//! error of about 1e-7 of their length. If the mean is not far from the origin (`near_origin`), it
//! is subtracted after the product, Z = X V_kᵀ − 1 (V_k μ)ᵀ, which then costs no digits. Otherwise
//! rows are centered in f64, panel by panel, before they are multiplied.

use ndarray::{Array2, ArrayRef2, ArrayView1, ArrayView2, Axis};

use crate::error::Error;
use crate::linalg::Real;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::moments::Moments;
use crate::model::scores::{combinations, fitting, products, sparse_products};
use crate::rows::block::Block;
use crate::rows::element::Element;
use crate::rows::sparse::SparseRows;

/// A squared mean of up to this many times the variance adds at most two bits to the rounding of
/// scores.
const MAX_NEAR_MEAN_RATIO: f64 = 16.0;

mod sealed {
    pub trait Sealed {}
}

/// Rows or scores: a view of an array of any [`Element`] type, a reference to such an array,
/// [`SparseRows`], or a [`Block`]. The result has their precision. Weights of a block are ignored.
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
    /// The precision of the result: f32 for rows of `f32`, `u8` and `u16`, f64 for all others, and
    /// for blocks.
    type Score: Real;

    /// The scores of the rows.
    #[doc(hidden)]
    fn scores(self, onto: &Projection<'_>) -> Result<Array2<Self::Score>, Error>;
    /// The scores of the rows with these indices.
    #[doc(hidden)]
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<Self::Score>, Error>;
    /// The rows with these scores, which were checked: 1μᵀ + Z B.
    #[doc(hidden)]
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

impl<E: Element> sealed::Sealed for ArrayView2<'_, E> {}
impl<'a, E: Element> Rows<'a> for ArrayView2<'a, E> {
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

impl<E: Element> sealed::Sealed for &Array2<E> {}
impl<'a, E: Element> Rows<'a> for &'a Array2<E> {
    type Score = E::Work;

    fn scores(self, onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.view().scores(onto)
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.view().scores_of(which, onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<E::Work>, Error> {
        self.view().combined(mean, basis)
    }
}

impl<E: Element> sealed::Sealed for &ArrayRef2<E> {}
impl<'a, E: Element> Rows<'a> for &'a ArrayRef2<E> {
    type Score = E::Work;

    fn scores(self, onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.view().scores(onto)
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.view().scores_of(which, onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<E::Work>, Error> {
        self.view().combined(mean, basis)
    }
}

impl sealed::Sealed for SparseRows<'_> {}
impl<'a> Rows<'a> for SparseRows<'a> {
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

impl sealed::Sealed for Block<'_> {}
impl<'a> Rows<'a> for Block<'a> {
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

impl EigenspaceModel {
    /// The k scores of each row.
    pub fn project<'a, R: Rows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        rows.scores(&Projection {
            moments: &self.moments,
            mean: self.mean(),
            mean_low: self.moments.mean_low.view(),
            basis: self.components(),
            near_origin: self.near_origin(),
        })
    }

    /// Whether the mean is small compared with the spread of the rows: ‖μ‖² ≤ MAX_NEAR_MEAN_RATIO
    /// tr(M) / w.
    pub(crate) fn near_origin(&self) -> bool {
        self.mean().dot(&self.mean()) * self.weight() <= MAX_NEAR_MEAN_RATIO * self.moments.total()
    }

    /// The scores divided by their standard deviation (ddof = 1), so that each has variance 1
    /// over the rows of the model.
    pub fn whiten<'a, R: Rows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        let deviations = self.deviations()?;
        let mut coordinates = self.project(rows)?;
        for (mut column, deviation) in coordinates.columns_mut().into_iter().zip(deviations) {
            column.mapv_inplace(|z| R::Score::narrow(z.widen() / deviation));
        }
        fitting(coordinates)
    }

    /// The left singular vectors of the rows. U has one row for each row that the model was fitted
    /// on, and one column for each component: X − 1μᵀ = U diag(s) V. Its columns are orthonormal.
    /// For other rows, these are their scores divided by the singular values. A column whose
    /// singular value is 0 is 0.
    ///
    /// ```
    /// use eigenspace::EigenspaceModel;
    /// use ndarray::{Array2, array};
    ///
    /// let rows = array![[1.0, 2.0, 0.0], [3.0, 5.0, 1.0], [4.0, 4.0, 7.0], [0.0, 1.0, 1.0]];
    /// let model = EigenspaceModel::fit(&rows)?;
    /// let u: Array2<f64> = model.left_singular_vectors(&rows)?;
    /// let identity = u.t().dot(&u);
    /// assert!((&identity - &Array2::<f64>::eye(3)).iter().all(|x| x.abs() < 1e-14));
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn left_singular_vectors<'a, R: Rows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        let mut vectors = self.project(rows)?;
        for (mut column, &s) in vectors.columns_mut().into_iter().zip(self.singular_values()) {
            column.mapv_inplace(|z| R::Score::narrow(if s > 0.0 { z.widen() / s } else { 0.0 }));
        }
        fitting(vectors)
    }

    /// The rows with these scores. If there are fewer columns than directions, they are the scores
    /// of the first directions.
    pub fn reconstruct<'a, R: Rows<'a>>(&self, scores: R) -> Result<Array2<R::Score>, Error> {
        let found = checked_scores(scores.into(), self.rank())?;
        scores.combined(self.mean(), self.basis.first(found))
    }

    /// The rows with these whitened scores.
    pub fn reconstruct_whitened<'a, R: Rows<'a>>(&self, whitened: R) -> Result<Array2<R::Score>, Error> {
        let (deviations, block) = (self.deviations()?, whitened.into());
        checked_scores(block, deviations.len())?;
        let mut scores = block.all_widened().into_owned();
        for (mut column, deviation) in scores.columns_mut().into_iter().zip(deviations) {
            column *= deviation;
        }
        fitting(self.reconstruct(&scores)?.mapv(R::Score::narrow))
    }

    /// The standard deviations of the k scores over the model's rows.
    fn deviations(&self) -> Result<Vec<f64>, Error> {
        Ok(self.explained_variance(1.0)?.iter().map(|v| v.sqrt()).collect())
    }
}

/// The number of columns of scores, after checking that there are at most as many as available and
/// all are finite.
pub(crate) fn checked_scores(scores: Block<'_>, available: usize) -> Result<usize, Error> {
    let found = scores.ncols();
    if found > available {
        return Err(Error::TooManyScores { available, found });
    }
    if found > 0 {
        scores.unweighted().check(found)?;
    }
    Ok(found)
}
