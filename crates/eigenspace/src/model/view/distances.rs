//! How well a projection preserves the distances between rows.
//!
//! ```text
//! d_ij = ‖x_i − x_j‖        d̂_ij = ‖z_i − z_j‖ ≤ d_ij        over all pairs i < j
//! share = Σ d̂² / Σ d²       for the rows of the model: Σ_{i≤k} s_i² / Σ_j q_j, the explained variance ratio
//! ```
//!
//! A projection shortens distances and never lengthens them. The share is determined by the
//! variance, because Σ_{i<j} d_ij² = n Σ_i ‖x_i − μ‖². The other numbers are not: they tell whether
//! single distances collapse, and whether rows that are near each other stay near.

use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

use crate::error::Error;
use crate::model::view::View;
use crate::rows::block::Block;

/// How well a projection on the components of a view preserves the distances between rows. All
/// values are 1 if every distance is preserved.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DistancesKept {
    /// Number of pairs of different rows.
    pub pairs: u64,
    /// The sum of the squared distances between scores, divided by that of the distances between
    /// rows.
    pub share: f64,
    /// The mean of the ratios of a distance between scores to the distance between the rows.
    pub mean: f64,
    /// The smallest of these ratios.
    pub least: f64,
    /// The correlation between the distances of scores and those of rows.
    pub correlation: f64,
}

/// Sums over pairs.
#[derive(Clone, Copy, Default)]
struct Sums {
    pairs: u64,
    ratios: f64,
    lost: f64,
    /// Of the distances between rows and between scores: sums, sums of squares, and the sum of
    /// products.
    rows: f64,
    scores: f64,
    rows_squared: f64,
    scores_squared: f64,
    products: f64,
}

impl View {
    /// How well the components preserve the distances between all pairs of these rows, in the units
    /// of the view and without whitening. n rows take n² D / 2 operations; for many rows, pass a
    /// sample of them. Pairs of equal rows do not count.
    ///
    /// ```
    /// use eigenspace::{EigenspaceModel, View};
    /// use ndarray::array;
    ///
    /// let rows = array![[0.0, 0.0], [4.0, 0.1], [8.0, 0.0], [4.0, -0.1]];
    /// let view = View::new(EigenspaceModel::fit(&rows)?.with_components(1)?)?;
    /// let kept = view.distances_kept(&rows)?;
    /// assert!(kept.share > 0.99);    // nearly all of the sum of squared distances,
    /// assert!(kept.least < 1e-9);    // but two of the points have become one
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn distances_kept<'a>(&self, rows: impl Into<Block<'a>>) -> Result<DistancesKept, Error> {
        let block = rows.into().unweighted();
        block.check(self.features())?;
        let mut rows = block.all_widened().into_owned();
        let scores = self.clone().whiten(false).project(rows.view())?;
        if let Some(scales) = self.scales() {
            rows *= &scales;
        }
        let of_row = |i: usize| (i + 1..rows.nrows()).fold(Sums::default(), |sums, j| sums.with(&rows, &scores, i, j));
        // One sum for each row, added in order, so that the result does not depend on the number of
        // threads.
        let sums: Vec<Sums> = (0..rows.nrows()).into_par_iter().map(of_row).collect();
        Ok(sums.into_iter().fold(Sums::default(), Sums::plus).kept())
    }
}

fn distance(table: &Array2<f64>, i: usize, j: usize) -> f64 {
    let square = |(a, b): (&f64, &f64)| (a - b) * (a - b);
    let (a, b): (ArrayView1<'_, f64>, ArrayView1<'_, f64>) = (table.row(i), table.row(j));
    a.iter().zip(&b).map(square).sum::<f64>().sqrt()
}

impl Sums {
    /// The sums with one more pair.
    fn with(self, rows: &Array2<f64>, scores: &Array2<f64>, i: usize, j: usize) -> Self {
        let (d, kept) = (distance(rows, i, j), distance(scores, i, j));
        if d == 0.0 {
            return self;
        }
        // Rounding can make a score longer than the row.
        let ratio = (kept / d).min(1.0);
        self.plus(Self {
            pairs: 1,
            ratios: ratio,
            lost: 1.0 - ratio,
            rows: d,
            scores: kept,
            rows_squared: d * d,
            scores_squared: kept * kept,
            products: d * kept,
        })
    }

    /// The sums of two sets of pairs; of `lost`, the largest.
    fn plus(self, other: Self) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            ratios: self.ratios + other.ratios,
            lost: self.lost.max(other.lost),
            rows: self.rows + other.rows,
            scores: self.scores + other.scores,
            rows_squared: self.rows_squared + other.rows_squared,
            scores_squared: self.scores_squared + other.scores_squared,
            products: self.products + other.products,
        }
    }

    fn kept(self) -> DistancesKept {
        if self.pairs == 0 {
            // Nothing can be lost.
            return DistancesKept { pairs: 0, share: 1.0, mean: 1.0, least: 1.0, correlation: 1.0 };
        }
        let n = self.pairs as f64;
        let [rows, scores] =
            [(self.rows, self.rows_squared), (self.scores, self.scores_squared)].map(|(sum, squares)| {
                // Below rounding, all distances are equal.
                let variance = squares / n - (sum / n).powi(2);
                if variance > 1e-14 * squares / n { variance } else { 0.0 }
            });
        let covariance = self.products / n - (self.rows / n) * (self.scores / n);
        let correlation = match (rows > 0.0, scores > 0.0) {
            (true, true) => (covariance / (rows * scores).sqrt()).clamp(-1.0, 1.0),
            (false, false) => 1.0,
            _ => 0.0,
        };
        DistancesKept {
            pairs: self.pairs,
            share: (self.scores_squared / self.rows_squared).min(1.0),
            mean: self.ratios / n,
            least: 1.0 - self.lost,
            correlation,
        }
    }
}
