//! Scores of rows, and rows from their scores.
//!
//! ```text
//! Z = (X − 1μᵀ) diag(σ) V_kᵀ        X̂ = 1μᵀ + Z V_k diag(1/σ)        whitened: Z diag(√(w − 1) / s)
//! ```

use std::collections::BTreeSet;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2, Slice};

use crate::error::Error;
use crate::linalg::{self, Real, RowsOnCard};
use crate::model::few_rows::FEW_ROWS;
use crate::model::project::checked_scores;
use crate::model::projectable::{Operation, Projection, Rows, TypedRows};
use crate::model::scores::{combinations_into, divided, fitting};
use crate::model::view::View;
use crate::rows::block::Block;
use crate::rows::element::Element;
use crate::rows::missing::Missing;

impl View {
    /// The scores of rows, in their precision. Rows with missing cells are refused, have NaN
    /// scores, or are filled. Sparse rows are not made dense; a cell that they do not store is
    /// zero, not missing.
    pub fn project<'a, R: Rows<'a>>(&self, rows: R) -> Result<R::Scores, Error> {
        rows.apply(&Project { view: self, divisors: self.divisors()? })
    }

    /// The scores of rows that are in the memory of the card of this view.
    #[doc(hidden)]
    pub fn project_from_card(&self, rows: RowsOnCard) -> Result<Array2<f64>, Error> {
        let Some(on_card) = &self.on_card else { return Err(rows.missing().into()) };
        let (basis, divisors) = (self.basis_of_rows(), self.divisors()?);
        let onto = self.onto(basis.view(), rows.rows);
        linalg::inside(|| divided(on_card.scores_from_card(&onto, rows)?, divisors.as_ref()))
    }

    /// U: the left singular vectors of the rows that the model was fitted on, in the units of the
    /// view: their scores divided by the singular values, as
    /// [`EigenspaceModel::left_singular_vectors`](crate::EigenspaceModel::left_singular_vectors)
    /// computes them. They are 0 along components without variance.
    pub fn left_singular_vectors<'a, R: Rows<'a>>(&self, rows: R) -> Result<R::Scores, Error> {
        rows.apply(&Project { view: self, divisors: Some(self.singular_values()) })
    }

    /// The rows, in their own units, that have these scores. If there are fewer columns than
    /// components, they are the scores of the first components.
    pub fn reconstruct<'a, R: Rows<'a>>(&self, scores: R) -> Result<R::Scores, Error> {
        scores.apply(&Reconstruct { view: self, basis: self.basis_of_scores(scores.into())? })
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
            for (mut direction, deviation) in basis.rows_mut().into_iter().zip(self.score_deviations()?) {
                direction *= deviation;
            }
        }
        Ok(basis)
    }

    /// The scores of complete rows on the card of the view; `None` if there is none, it has failed,
    /// or the CPU is faster.
    fn scores_on_card<T: Real>(&self, onto: &Projection<'_>, rows: Block<'_>) -> Option<Result<Array2<T>, Error>> {
        let on_card = self.on_card.as_ref().filter(|_| rows.sparse().is_none())?;
        if !on_card.pays(rows.nrows(), self.features(), self.n_components()) {
            return None;
        }
        match linalg::inside(|| on_card.scores(onto, rows)) {
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
    pub(super) fn onto<'p>(&'p self, basis: ArrayView2<'p, f64>, rows: usize) -> Projection<'p> {
        let (mean, mean_low) = self.raw.center();
        // A few rows are always centered before the product.
        let near_origin = rows > FEW_ROWS && self.model().near_origin();
        Projection { moments: &self.model().moments, mean, mean_low, basis, near_origin }
    }

    /// The components as they act on rows in their own units, copied only if they differ from those
    /// of the model.
    pub(super) fn basis_of_rows(&self) -> CowArray<'_, f64, Ix2> {
        if self.scaled.is_none() && self.extra == 0 {
            return self.raw.components().into();
        }
        let mut basis = self.components();
        if let Some(scales) = self.scales() {
            basis *= &scales;
        }
        basis.into()
    }

    /// What scores are divided by: their standard deviations if the view is whitened.
    fn divisors(&self) -> Result<Option<Array1<f64>>, Error> {
        if self.whiten { self.score_deviations().map(Some) } else { Ok(None) }
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
    pub fn usable_rows<'a>(&self, rows: impl Into<Block<'a>>) -> Vec<usize> {
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

/// Scores in the units of a view, divided by one number for each component if there are divisors.
struct Project<'v> {
    view: &'v View,
    divisors: Option<Array1<f64>>,
}

impl Operation for Project<'_> {
    fn of<'a, R: TypedRows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        let (view, divisors, block) = (self.view, self.divisors.as_ref(), rows.into());
        let basis = view.basis_of_rows();
        let onto = view.onto(basis.view(), block.nrows());
        let Some(incomplete) = view.incomplete(&block)? else {
            return match view.scores_on_card(&onto, block) {
                Some(scores) => divided(scores?, divisors),
                None => divided(rows.scores(&onto)?, divisors),
            };
        };
        let complete: Vec<usize> = (0..block.nrows()).filter(|row| !incomplete.contains(row)).collect();
        let mut out = Array2::from_elem((block.nrows(), view.n_components()), R::Score::narrow(f64::NAN));
        let scores = divided(rows.scores_of(&complete, &onto)?, divisors)?;
        complete.iter().zip(scores.rows()).for_each(|(&row, scores)| out.row_mut(row).assign(&scores));
        if view.missing == Missing::Impute {
            let incomplete: Vec<usize> = incomplete.into_iter().collect();
            let filled = view.filled(block.select(&incomplete))?;
            let scores = fitting(divided(filled.view().scores(&onto)?, divisors)?.mapv(R::Score::narrow))?;
            incomplete.iter().zip(scores.rows()).for_each(|(&row, scores)| out.row_mut(row).assign(&scores));
        }
        Ok(out)
    }
}

/// Rows in their own units from their scores in a view.
struct Reconstruct<'v> {
    view: &'v View,
    basis: CowArray<'v, f64, Ix2>,
}

impl Operation for Reconstruct<'_> {
    fn of<'a, R: TypedRows<'a>>(&self, scores: R) -> Result<Array2<R::Score>, Error> {
        let (view, basis, block) = (self.view, self.basis.view(), scores.into());
        let mut out = Array2::zeros((0, 0));
        let on_card = view.combinations_on_card(block, basis, || {
            out = Array2::zeros((block.nrows(), view.features()));
            out.view_mut()
        });
        match on_card {
            Some(done) => done.map(|()| out),
            None => scores.combined(view.raw.mean(), basis),
        }
    }
}
