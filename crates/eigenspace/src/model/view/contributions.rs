//! Which features make a row unusual, and which components describe it.
//!
//! ```text
//! e = diag(σ)(x − μ)        z = V_k e        r = e − V_kᵀ z
//! T² = Σ_j e_j Σ_{i≤k} V_ij z_i (w − 1) / s_i²        Q = Σ_j r_j²        ‖e‖² = Σ_{i≤k} z_i² + Q
//! ```
//!
//! The terms of the two sums over the features j are their contributions. Those to T² may be
//! negative: such a feature is on the side of the mean where the other features of the row do not
//! suggest it. z_i² / ‖e‖² is the squared cosine of the angle between the centered row and
//! component i.

use ndarray::{Array1, Array2, ArrayView1};

use crate::error::Error;
use crate::linalg;
use crate::model::view::View;
use crate::rows::block::Block;
use crate::rows::missing::Missing;

/// What each feature of some rows contributes to their T² and Q; one row for each row, one column
/// for each feature.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Contributions {
    /// Contributions to T². They sum to T² of the row, and may be negative.
    pub hotelling: Array2<f64>,
    /// Contributions to Q, the squared residuals. They sum to Q of the row.
    pub squared_distance: Array2<f64>,
}

/// The features that contribute most to T² and Q of a row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LargestContributions {
    /// Features, counted from 0, those that contribute most first.
    pub features: Vec<usize>,
    /// What all other features together contribute to T².
    pub other_hotelling: f64,
    /// What all other features together contribute to Q.
    pub other_squared_distance: f64,
}

impl Contributions {
    /// For each row, the features that contribute most, by |contribution to T²| / T² + contribution
    /// to Q / Q.
    pub fn largest(&self, most: usize) -> Vec<LargestContributions> {
        let rows = self.hotelling.rows().into_iter().zip(self.squared_distance.rows());
        rows.map(|(hotelling, squared_distance)| LargestContributions::new(hotelling, squared_distance, most)).collect()
    }
}

impl LargestContributions {
    fn new(hotelling: ArrayView1<'_, f64>, squared_distance: ArrayView1<'_, f64>, most: usize) -> Self {
        let share = |part: f64, whole: f64| part / whole.max(f64::MIN_POSITIVE);
        let (t2, q) = (hotelling.sum(), squared_distance.sum());
        let weight = |j: usize| share(hotelling[j].abs(), t2) + share(squared_distance[j], q);
        let mut features: Vec<usize> = (0..hotelling.len()).collect();
        features.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
        let others = features.split_off(most.min(features.len()));
        let sum = |values: ArrayView1<'_, f64>| others.iter().map(|&j| values[j]).sum();
        Self { features, other_hotelling: sum(hotelling), other_squared_distance: sum(squared_distance) }
    }
}

impl View {
    /// What each feature contributes to T² and Q of each row. NaN for rows that are skipped.
    ///
    /// ```
    /// use eigenspace::{EigenspaceModel, View};
    /// use ndarray::array;
    ///
    /// let rows = array![[1.0, 1.0, 0.1], [2.0, 2.1, 0.0], [3.0, 2.9, 0.1], [4.0, 4.0, 0.0]];
    /// let view = View::new(EigenspaceModel::fit(&rows)?)?.with_components(1)?;
    /// let strange = array![[2.5, 2.5, 5.0]];
    /// let found = view.contributions(&strange)?.squared_distance;
    /// assert!(found[[0, 2]] > 0.99 * found.sum());      // the third feature is the strange one
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn contributions<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Contributions, Error> {
        let model = self.model();
        let divisor = model.divisor(1.0)?;
        let mut residual = self.centered(rows.into())?;
        let (components, deviations) = (model.components(), model.singular_values());
        let scores = linalg::cross(residual.view(), components);
        // In units of the smallest singular value, so that squares of small ones do not vanish.
        let unit = deviations.last().copied().unwrap_or(1.0);
        let mut toward = scores.clone();
        for (mut column, s) in toward.columns_mut().into_iter().zip(deviations) {
            column.mapv_inplace(|z| z / s * (unit / s));
        }
        let mut hotelling = linalg::rotate(toward.view(), components);
        hotelling.zip_mut_with(&residual, |toward, e| *toward *= e / unit * divisor);
        residual -= &linalg::rotate(scores.view(), components);
        Ok(Contributions { hotelling, squared_distance: residual.mapv(|r| r * r) })
    }

    /// The squared cosine of the angle between each centered row and each component: the share of
    /// the row's squared length that lies along the component. 0 for a row at the mean, NaN for
    /// rows that are skipped.
    pub fn squared_cosines<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array2<f64>, Error> {
        let centered = self.centered(rows.into())?;
        let length = |row: ArrayView1<'_, f64>| row.dot(&row).sqrt();
        let lengths: Array1<f64> = centered.rows().into_iter().map(length).collect();
        let mut cosines = linalg::cross(centered.view(), self.components().view());
        for (mut row, length) in cosines.rows_mut().into_iter().zip(lengths) {
            row.mapv_inplace(|z| if length == 0.0 { 0.0 } else { (z / length) * (z / length) });
        }
        Ok(cosines)
    }

    /// e: the rows in the units of the view, centered, with missing cells filled; NaN stays where
    /// rows are skipped.
    fn centered(&self, rows: Block<'_>) -> Result<Array2<f64>, Error> {
        let incomplete = self.incomplete(&rows)?;
        if incomplete.is_none() {
            rows.unweighted().check(self.features())?;
        }
        let mut cells = rows.all_widened().into_owned();
        if incomplete.is_some() && self.missing == Missing::Impute {
            cells = self.filled(cells)?;
        }
        let (mean, mean_low) = self.raw.center();
        cells -= &mean;
        cells -= &mean_low;
        if let Some(scales) = self.scales() {
            cells *= &scales;
        }
        Ok(cells)
    }
}
