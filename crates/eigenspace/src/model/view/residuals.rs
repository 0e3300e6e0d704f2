//! What k components leave out of rows.
//!
//! ```text
//! R = X − X̂        X̂ = 1μᵀ + Z V_k diag(1/σ)        Z: the scores of X
//! ```

use ndarray::{Array2, Axis};

use crate::error::Error;
use crate::model::view::View;
use crate::rows::block::Block;

impl View {
    /// Rows minus their reconstruction from their scores, in the units of the rows. NaN in missing
    /// cells and in rows that are skipped.
    ///
    /// ```
    /// use eigenspace::{EigenspaceModel, View};
    /// use ndarray::array;
    ///
    /// let view = View::new(EigenspaceModel::fit(&array![[2.0, 0.0], [-2.0, 0.0]])?)?;
    /// assert_eq!(view.residuals(&array![[1.5, 0.25]])?, array![[0.0, 0.25]]);
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn residuals<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array2<f64>, Error> {
        let rows = rows.into().all_widened();
        let (scores, usable) = (self.project(rows.view())?, self.usable_rows(rows.view()));
        let again = self.reconstruct(&scores.select(Axis(0), &usable))?;
        let mut residuals = Array2::from_elem(rows.raw_dim(), f64::NAN);
        for (&row, again) in usable.iter().zip(again.rows()) {
            residuals.row_mut(row).assign(&(&rows.row(row) - &again));
        }
        Ok(residuals)
    }
}
