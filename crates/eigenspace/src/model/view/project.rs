//! Scores of rows, and rows from their scores.
//!
//! ```text
//! Z = (X − 1μᵀ) diag(σ) V_kᵀ        X̂ = 1μᵀ + Z V_k diag(1/σ)        whitened: Z diag(√(w − 1) / s)
//! ```

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2, Slice};

use crate::error::Error;
use crate::linalg::Real;
use crate::model::few_rows::FEW_ROWS;
use crate::model::project::{combinations, combinations_into, fitting, products, sparse_products};
use crate::model::view::View;
use crate::rows::block::{self, Block};
use crate::rows::element::Element;
use crate::rows::missing::Missing;
use crate::rows::sparse::SparseRows;

impl View {
    /// The scores of rows, in their precision. Rows with missing cells are refused, have NaN scores, or are filled.
    pub fn project<E: Element>(&self, rows: ArrayView2<'_, E>) -> Result<Array2<E::Work>, Error> {
        let Some(incomplete) = self.incomplete(rows)? else { return self.scores(rows) };
        let complete: Vec<usize> = (0..rows.nrows()).filter(|row| !incomplete.contains(row)).collect();
        let mut out = Array2::from_elem((rows.nrows(), self.n_components()), E::Work::narrow(f64::NAN));
        let scores = self.scores(rows.select(Axis(0), &complete).view())?;
        complete.iter().zip(scores.rows()).for_each(|(&row, scores)| out.row_mut(row).assign(&scores));
        if self.missing == Missing::Impute {
            let incomplete: Vec<usize> = incomplete.into_iter().collect();
            let filled = self.filled(rows.select(Axis(0), &incomplete).view())?;
            let scores = fitting(self.scores(filled.view())?.mapv(E::Work::narrow))?;
            incomplete.iter().zip(scores.rows()).for_each(|(&row, scores)| out.row_mut(row).assign(&scores));
        }
        Ok(out)
    }

    /// The scores of sparse rows, which are not made dense. A cell that is not stored is zero, not missing.
    pub fn project_sparse(&self, rows: SparseRows<'_>) -> Result<Array2<f64>, Error> {
        Block::from(rows).check(self.features())?;
        let moments = &self.raw.moments;
        let (mean, mean_low) = (moments.mean.view(), moments.mean_low.view());
        let scores = sparse_products(rows, &self.model().moments, mean, mean_low, self.basis_of_rows().view())?;
        self.divided(scores)
    }

    /// The rows, in their own units, that have these scores. Fewer columns than components are the leading ones.
    pub fn reconstruct<E: Element>(&self, scores: ArrayView2<'_, E>) -> Result<Array2<E::Work>, Error> {
        combinations(scores, self.raw.mean(), self.basis_of_scores(scores)?.view())
    }

    /// The same, written to an array of the caller, one row for each row of scores. numpy allocates large arrays in large
    /// pages, which are several times faster to write for the first time than what this library can allocate.
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
        combinations_into(out, scores, self.raw.mean(), self.basis_of_scores(scores)?.view())
    }

    /// What the rows of these scores are combined from. The directions of the model are copied only if they are changed.
    fn basis_of_scores<E: Element>(&self, scores: ArrayView2<'_, E>) -> Result<CowArray<'_, f64, Ix2>, Error> {
        let (found, k) = (scores.ncols(), self.n_components());
        // Without completion and whitening, the other directions that are kept have scores too.
        let available = if self.whiten || self.extra > 0 { k } else { self.model().rank().max(k) };
        if found > available {
            return Err(Error::TooManyScores { available, found });
        }
        if found > 0 {
            block::check(scores, found)?;
        }
        let mut basis: CowArray<'_, f64, Ix2> =
            if self.extra > 0 { self.component_rows().into() } else { self.model().basis().into() };
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

    /// The scores of complete rows.
    fn scores<E: Element>(&self, rows: ArrayView2<'_, E>) -> Result<Array2<E::Work>, Error> {
        let moments = &self.raw.moments;
        let mean = (moments.mean.view(), moments.mean_low.view());
        let near_origin = rows.nrows() > FEW_ROWS && self.model().near_origin();
        let scores = if self.scaled.is_none() && self.extra == 0 {
            products(rows, mean, self.raw.components(), near_origin)?
        } else {
            products(rows, mean, self.basis_of_rows().view(), near_origin)?
        };
        self.divided(scores)
    }

    /// The components as they act on rows in their own units.
    fn basis_of_rows(&self) -> Array2<f64> {
        let mut basis = self.component_rows();
        if let Some(scales) = self.scales() {
            basis *= &scales;
        }
        basis
    }

    /// Scores divided by their standard deviations if the view is whitened; 0 along components without variance.
    fn divided<T: Real>(&self, mut scores: Array2<T>) -> Result<Array2<T>, Error> {
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
    pub(super) fn incomplete<E: Element>(
        &self,
        rows: ArrayView2<'_, E>,
    ) -> Result<Option<std::collections::BTreeSet<usize>>, Error> {
        if self.missing == Missing::Refuse {
            return Ok(None);
        }
        block::check_width(rows, self.features())?;
        let has_missing = |row: &usize| rows.row(*row).iter().any(|x| x.to_f64().is_nan());
        let incomplete: std::collections::BTreeSet<usize> = (0..rows.nrows()).filter(has_missing).collect();
        if incomplete.is_empty() {
            return Ok(None);
        }
        // Other bad cells are named by their places among all rows.
        block::check_observed(rows)?;
        Ok(Some(incomplete))
    }

    /// The rows that have results: all, or those without missing cells where the view skips the others.
    pub fn kept<E: Element>(&self, rows: ArrayView2<'_, E>) -> Vec<usize> {
        let complete = |row: &usize| rows.row(*row).iter().all(|x| !x.to_f64().is_nan());
        (0..rows.nrows()).filter(|row| self.missing != Missing::Skip || complete(row)).collect()
    }

    /// A copy of rows whose missing cells are filled.
    pub(super) fn filled<E: Element>(&self, rows: ArrayView2<'_, E>) -> Result<Array2<f64>, Error> {
        let mut filled = block::widened(rows);
        self.raw.fill_missing(filled.view_mut())?;
        Ok(filled)
    }
}
