//! Scores of rows, and rows from their scores.
//!
//! ```text
//! Z = (X − 1μᵀ) diag(σ) V_kᵀ        X̂ = 1μᵀ + Z V_k diag(1/σ)        whitened: Z diag(√(w − 1) / s)
//! ```

use std::collections::BTreeSet;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2, Slice};

use crate::error::Error;
use crate::linalg::{self, Real};
use crate::model::few_rows::FEW_ROWS;
use crate::model::project::{Projection, Rows, checked_scores};
use crate::model::scores::{combinations_into, fitting};
use crate::model::view::View;
use crate::rows::block::Block;
use crate::rows::element::Element;
use crate::rows::missing::Missing;

impl View {
    /// The scores of rows, in their precision. Rows with missing cells are refused, have NaN
    /// scores, or are filled. Sparse rows are not made dense; a cell that they do not store is
    /// zero, not missing.
    pub fn project<'a, R: Rows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        let own_basis;
        let basis = if self.scaled.is_none() && self.extra == 0 {
            self.raw.components()
        } else {
            own_basis = self.basis_of_rows();
            own_basis.view()
        };
        let block = rows.into();
        let onto = self.onto(basis, block.nrows());
        let Some(incomplete) = self.incomplete(&block)? else {
            return match self.scores_on_card(block) {
                Some(scores) => self.divided(scores?),
                None => self.divided(rows.scores(&onto)?),
            };
        };
        let complete: Vec<usize> = (0..block.nrows()).filter(|row| !incomplete.contains(row)).collect();
        let mut out = Array2::from_elem((block.nrows(), self.n_components()), R::Score::narrow(f64::NAN));
        let scores = self.divided(rows.scores_of(&complete, &onto)?)?;
        complete.iter().zip(scores.rows()).for_each(|(&row, scores)| out.row_mut(row).assign(&scores));
        if self.missing == Missing::Impute {
            let incomplete: Vec<usize> = incomplete.into_iter().collect();
            let filled = self.filled(block.select(&incomplete))?;
            let scores = fitting(self.divided(filled.view().scores(&onto)?)?.mapv(R::Score::narrow))?;
            incomplete.iter().zip(scores.rows()).for_each(|(&row, scores)| out.row_mut(row).assign(&scores));
        }
        Ok(out)
    }

    /// U: the left singular vectors of the rows that the model was fitted on, in the units of the
    /// view: their scores divided by the singular values, as
    /// [`EigenspaceModel::left_singular_vectors`](crate::EigenspaceModel::left_singular_vectors)
    /// computes them. They are 0 along components without variance.
    pub fn left_singular_vectors<'a, R: Rows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        let mut vectors = self.clone().whiten(false).project(rows)?;
        for (mut column, s) in vectors.columns_mut().into_iter().zip(self.singular_values()) {
            column.mapv_inplace(|z| R::Score::narrow(if s > 0.0 { z.widen() / s } else { 0.0 }));
        }
        fitting(vectors)
    }

    /// The rows, in their own units, that have these scores. If there are fewer columns than
    /// components, they are the scores of the first components.
    pub fn reconstruct<'a, R: Rows<'a>>(&self, scores: R) -> Result<Array2<R::Score>, Error> {
        let (block, basis) = (scores.into(), self.basis_of_scores(scores.into())?);
        let mut out = Array2::zeros((0, 0));
        let on_card = self.combinations_on_card(block, basis.view(), || {
            out = Array2::zeros((block.nrows(), self.features()));
            out.view_mut()
        });
        match on_card {
            Some(done) => done.map(|()| out),
            None => scores.combined(self.raw.mean(), basis.view()),
        }
    }

    /// The same, written to an array of the caller, one row for each row of scores. numpy allocates
    /// large arrays in large pages, which are several times faster to write for the first time than
    /// what this library can allocate.
    #[doc(hidden)]
    pub fn reconstruct_into<E: Element>(
        &self,
        scores: ArrayView2<'_, E>,
        out: ArrayViewMut2<'_, E::Work>,
    ) -> Result<(), Error> {
        let shape = [(self.features(), out.ncols()), (scores.nrows(), out.nrows())];
        if let Some((expected, found)) = shape.into_iter().find(|(expected, found)| expected != found) {
            return Err(Error::WidthMismatch { expected, found });
        }
        let (mut out, basis) = (out, self.basis_of_scores(scores.into())?);
        match self.combinations_on_card(scores.into(), basis.view(), || out.view_mut()) {
            Some(done) => done,
            None => combinations_into(out, scores, self.raw.mean(), basis.view()),
        }
    }

    /// What the rows of these scores are combined from. The directions of the model are copied only
    /// if they are changed.
    fn basis_of_scores(&self, scores: Block<'_>) -> Result<CowArray<'_, f64, Ix2>, Error> {
        let k = self.n_components();
        // Without completion and whitening, the other directions that are kept have scores too.
        let available = if self.whiten || self.extra > 0 { k } else { self.model().rank().max(k) };
        let found = checked_scores(scores, available)?;
        let mut basis: CowArray<'_, f64, Ix2> =
            if self.extra > 0 { self.components().into() } else { self.model().basis().into() };
        basis.slice_axis_inplace(Axis(0), Slice::from(..found));
        if let Some(scales) = self.scales() {
            basis /= &scales;
        }
        if self.whiten {
            let deviations = self.explained_variance()?.mapv(f64::sqrt);
            for (mut direction, deviation) in basis.rows_mut().into_iter().zip(deviations) {
                direction *= deviation;
            }
        }
        Ok(basis)
    }

    /// The scores of complete rows on the card of the view; `None` if there is none, it has failed,
    /// or the CPU is faster.
    fn scores_on_card<T: Real>(&self, rows: Block<'_>) -> Option<Result<Array2<T>, Error>> {
        let on_card = self.on_card.as_ref().filter(|_| rows.sparse().is_none())?;
        if !on_card.pays(rows.nrows(), self.features(), self.n_components()) {
            return None;
        }
        match linalg::inside(|| on_card.scores(self, rows)) {
            Err(Error::Device(_)) => None,
            scores => Some(scores),
        }
    }

    /// Rows from their scores on the card of the view; `None` as above.
    fn combinations_on_card<'o, T: Real>(
        &self,
        scores: Block<'_>,
        basis: ArrayView2<'_, f64>,
        out: impl FnOnce() -> ArrayViewMut2<'o, T>,
    ) -> Option<Result<(), Error>> {
        let on_card = self.on_card.as_ref()?;
        if !on_card.pays_for_rows(scores.nrows(), self.features(), scores.ncols()) {
            return None;
        }
        let (scores, out) = (scores.all_widened(), out());
        match linalg::inside(|| on_card.combinations(scores.view(), self.raw.mean(), basis, out)) {
            Err(Error::Device(_)) => None,
            done => Some(done),
        }
    }

    /// The projection of rows in their own units on a basis.
    fn onto<'p>(&'p self, basis: ArrayView2<'p, f64>, rows: usize) -> Projection<'p> {
        let (mean, mean_low) = self.raw.center();
        // A few rows are always centered before the product.
        let near_origin = rows > FEW_ROWS && self.model().near_origin();
        Projection { moments: &self.model().moments, mean, mean_low, basis, near_origin }
    }

    /// The components as they act on rows in their own units.
    pub(super) fn basis_of_rows(&self) -> Array2<f64> {
        let mut basis = self.components();
        if let Some(scales) = self.scales() {
            basis *= &scales;
        }
        basis
    }

    /// Scores divided by their standard deviations if the view is whitened; 0 along components
    /// without variance.
    pub(super) fn divided<T: Real>(&self, mut scores: Array2<T>) -> Result<Array2<T>, Error> {
        if !self.whiten {
            return Ok(scores);
        }
        let deviations = self.explained_variance()?.mapv(f64::sqrt);
        for (mut column, deviation) in scores.columns_mut().into_iter().zip(deviations) {
            let divided = |z: T| if deviation > 0.0 { z.widen() / deviation } else { 0.0 };
            column.mapv_inplace(|z| T::narrow(divided(z)));
        }
        fitting(scores)
    }

    /// The rows with missing cells, if the policy is not to refuse them and there are any.
    pub(super) fn incomplete(&self, rows: &Block<'_>) -> Result<Option<BTreeSet<usize>>, Error> {
        if self.missing == Missing::Refuse {
            return Ok(None);
        }
        // Other bad cells are named by their places among all rows.
        rows.check_observed(self.features())?;
        let incomplete = rows.incomplete();
        Ok(if incomplete.is_empty() { None } else { Some(incomplete) })
    }

    /// The indices of the rows that have results: all, or those without missing cells where the
    /// view skips the others.
    pub fn kept<'a>(&self, rows: impl Into<Block<'a>>) -> Vec<usize> {
        let rows = rows.into();
        let skipped = if self.missing == Missing::Skip { rows.incomplete() } else { BTreeSet::new() };
        (0..rows.nrows()).filter(|row| !skipped.contains(row)).collect()
    }

    /// The rows with their missing cells filled.
    pub(super) fn filled(&self, mut rows: Array2<f64>) -> Result<Array2<f64>, Error> {
        self.raw.fill_missing(rows.view_mut())?;
        Ok(rows)
    }
}
