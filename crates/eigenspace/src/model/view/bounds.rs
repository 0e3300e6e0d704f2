//! Bounds on the variances that a view reports.
//!
//! ```text
//! λ_i ∈ [low_i, high_i] / (w − 1)        ratio_i ∈ [low_i, high_i] / Σq        (certificate.rs: low_i, high_i)
//! Σ_{i≤j} ratio_i ∈ captured_bounds(j)
//! ```

use ndarray::Array1;

use crate::error::Error;
use crate::model::view::View;

impl View {
    /// An interval for the sample variance along each component ([`explained_variance`]); (0, 0) if
    /// there is only one row.
    ///
    /// [`explained_variance`]: Self::explained_variance
    ///
    /// ```
    /// use eigenspace::{EigenspaceModel, Truncation, View};
    /// use ndarray::array;
    ///
    /// let rows = array![[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
    /// let view = View::new(EigenspaceModel::fit(&rows)?.truncate(Truncation::Rank(1))?)?;
    /// let (low, high) = view.explained_variance_bounds()?[0];
    /// assert!((low - 8.0 / 3.0).abs() < 1e-12 && (high - 10.0 / 3.0).abs() < 1e-12);
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn explained_variance_bounds(&self) -> Result<Vec<(f64, f64)>, Error> {
        if self.model().count() <= 1 {
            return Ok(vec![(0.0, 0.0); self.n_components()]);
        }
        let divisor = self.model().divisor(1.0)?;
        Ok(self.bounds_divided_by(divisor))
    }

    /// An interval for the share of the total variance along each component; (0, 0) if there is no
    /// variance.
    pub fn explained_variance_ratio_bounds(&self) -> Vec<(f64, f64)> {
        let total = self.model().feature_scatter().sum();
        if total > 0.0 { self.bounds_divided_by(total) } else { vec![(0.0, 0.0); self.n_components()] }
    }

    fn bounds_divided_by(&self, divisor: f64) -> Vec<(f64, f64)> {
        let certificate = self.model().certificate();
        let bound = |i| certificate.eigenvalue_bound(i);
        (0..self.n_components()).map(bound).map(|(low, high)| (low / divisor, high / divisor)).collect()
    }

    /// The share of the total variance along the first j components together, for j from 1 to k.
    pub fn cumulative_variance_ratio(&self) -> Array1<f64> {
        let mut sum = 0.0;
        let add = |ratio: f64| {
            sum += ratio;
            sum.min(1.0)
        };
        self.explained_variance_ratio().into_iter().map(add).collect()
    }

    /// An interval for the share along the best j directions together, for j from 1 to k. It
    /// contains the [share](Self::cumulative_variance_ratio) along the first j components.
    pub fn cumulative_variance_ratio_bounds(&self) -> Vec<(f64, f64)> {
        let certificate = self.model().certificate();
        let bounds = |(i, held): (usize, f64)| {
            let (low, high) = certificate.captured_bounds(i + 1);
            (low.min(held), high.max(held))
        };
        self.cumulative_variance_ratio().into_iter().enumerate().map(bounds).collect()
    }
}
