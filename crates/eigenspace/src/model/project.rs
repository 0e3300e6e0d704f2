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

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use crate::error::Error;
use crate::linalg::Real;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::projectable::{Operation, Projection, Rows, TypedRows};
use crate::model::scores::{divided, fitting};
use crate::rows::block::Block;

/// A squared mean of up to this many times the variance adds at most two bits to the rounding of
/// scores.
const MAX_NEAR_MEAN_RATIO: f64 = 16.0;

impl EigenspaceModel {
    /// The k scores of each row.
    pub fn project<'a, R: Rows<'a>>(&self, rows: R) -> Result<R::Scores, Error> {
        rows.apply(&Project { model: self, divisors: None })
    }

    /// The scores divided by their standard deviation (ddof = 1), so that each has variance 1
    /// over the rows of the model. They are 0 along components without variance, and for a model of
    /// one row.
    pub fn whiten<'a, R: Rows<'a>>(&self, rows: R) -> Result<R::Scores, Error> {
        rows.apply(&Project { model: self, divisors: Some(self.score_deviations()?) })
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
    pub fn left_singular_vectors<'a, R: Rows<'a>>(&self, rows: R) -> Result<R::Scores, Error> {
        rows.apply(&Project { model: self, divisors: Some(self.singular_values().to_owned()) })
    }

    /// The rows with these scores. If there are fewer columns than directions, they are the scores
    /// of the first directions.
    pub fn reconstruct<'a, R: Rows<'a>>(&self, scores: R) -> Result<R::Scores, Error> {
        let found = checked_scores(scores.into(), self.rank())?;
        scores.apply(&Combine { mean: self.mean(), basis: self.basis.first(found) })
    }

    /// The rows with these whitened scores.
    pub fn reconstruct_whitened<'a, R: Rows<'a>>(&self, whitened: R) -> Result<R::Scores, Error> {
        let deviations = self.score_deviations()?;
        checked_scores(whitened.into(), deviations.len())?;
        whitened.apply(&CombineWhitened { model: self, deviations })
    }

    /// Whether the mean is small compared with the spread of the rows: ‖μ‖² ≤ MAX_NEAR_MEAN_RATIO
    /// tr(M) / w.
    pub(crate) fn near_origin(&self) -> bool {
        self.mean().dot(&self.mean()) * self.weight() <= MAX_NEAR_MEAN_RATIO * self.moments.total()
    }
}

/// Scores, divided by one number for each component if there are divisors.
struct Project<'m> {
    model: &'m EigenspaceModel,
    divisors: Option<Array1<f64>>,
}

impl Operation for Project<'_> {
    fn of<'a, R: TypedRows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        let scores = rows.scores(&Projection {
            moments: &self.model.moments,
            mean: self.model.mean(),
            mean_low: self.model.moments.mean_low().view(),
            basis: self.model.components(),
            near_origin: self.model.near_origin(),
        })?;
        divided(scores, self.divisors.as_ref())
    }
}

/// 1μᵀ + Z B.
struct Combine<'m> {
    mean: ArrayView1<'m, f64>,
    basis: ArrayView2<'m, f64>,
}

impl Operation for Combine<'_> {
    fn of<'a, R: TypedRows<'a>>(&self, scores: R) -> Result<Array2<R::Score>, Error> {
        scores.combined(self.mean, self.basis)
    }
}

/// Rows from their whitened scores, computed in f64.
struct CombineWhitened<'m> {
    model: &'m EigenspaceModel,
    deviations: Array1<f64>,
}

impl Operation for CombineWhitened<'_> {
    fn of<'a, R: TypedRows<'a>>(&self, whitened: R) -> Result<Array2<R::Score>, Error> {
        let block: Block<'_> = whitened.into();
        let mut scores = block.all_widened().into_owned();
        for (mut column, deviation) in scores.columns_mut().into_iter().zip(&self.deviations) {
            column *= *deviation;
        }
        fitting(self.model.reconstruct(&scores)?.mapv(R::Score::narrow))
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
