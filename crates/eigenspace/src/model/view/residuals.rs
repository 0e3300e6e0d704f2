//! What k components leave out of rows.
//!
//! ```text
//! R = X − X̂        X̂ = 1μᵀ + Z V_k diag(1/σ)        Z: the scores of X
//! ```

use ndarray::Array2;

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
        let again = self.reconstruct(&self.project(rows.view())?)?;
        Ok(rows.into_owned() - again)
    }
}
