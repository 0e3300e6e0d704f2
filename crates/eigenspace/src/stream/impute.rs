//! Fills missing cells with the estimate of a model.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | x_o, x_m | | the observed cells, and the missing ones |
//! | V_o, V_m | `basis` | the corresponding columns of V_k |
//! | λ, σ² | `squared`, `noise` | variances of the components, and the mean variance of the other directions |
//!
//! The estimate is the conditional mean of the missing cells, for normally distributed rows with the model's covariance:
//!
//! ```text
//! z = (V_o V_oᵀ + σ² diag(1/λ))⁻¹ V_o (x_o − μ_o)        x_m = μ_m + V_mᵀ z        V_o V_oᵀ = I − V_m V_mᵀ
//! ```
//!
//! (M. Brand, *Incremental singular value decomposition of uncertain data with missing values*, ECCV
//! 2002; σ² limits the influence of a few observed cells.) Cells are filled when their block is compressed, from the rows
//! before it, so the result does not depend on how the rows are divided into blocks. For the first block there are no
//! such rows: its missing cells start as the means of their features and are improved in a few rounds from the block
//! itself. The model counts the filled cells.
//!
//! A feature without any value so far has no mean. Its cells in earlier rows get the mean of the first block that has
//! values. A model cannot be read while a feature has no value at all.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};

use crate::error::Error;
use crate::linalg;
use crate::model::bound::Bound;
use crate::model::decompose::{Route, reduce};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::moments::Moments;
use crate::model::truncation::{Components, Truncation};
use crate::rows::block::Block;
use crate::rows::missing::Missing;

/// Number of rounds in which the first block improves its own estimates.
const REFINEMENT_ROUNDS: usize = 10;
/// Estimated scores are limited to this number of standard deviations, because a row with few observed cells could
/// extrapolate further.
const MAX_DEVIATIONS: f64 = 5.0;
/// Share of variance of the components used for filling, if no number of components is set.
const FILLING_SHARE: f64 = 0.9;

/// The model from which missing cells are filled.
pub(crate) struct ImputationModel {
    mean: Array1<f64>,
    /// The rounding error of `mean`.
    mean_low: Array1<f64>,
    basis: Array2<f64>,
    /// σ² / λ_i.
    ridge: Vec<f64>,
    /// Largest magnitude of an estimated score.
    score_limits: Vec<f64>,
}

impl ImputationModel {
    /// Uses the leading components of a model, and its noise.
    pub(crate) fn of(model: &EigenspaceModel, components: Components) -> Self {
        let wanted = if let Components::Number(_) = components { components } else { Components::Share(FILLING_SHARE) };
        let (squared, total) = (model.spectrum.squared(), model.moments.total());
        let k = wanted.resolve(&squared, total).min(model.features().saturating_sub(1));
        let shown: f64 = squared.iter().take(k).sum();
        let noise = (total - shown).max(0.0) / (model.features() - k).max(1) as f64;
        // Keeps the equations solvable if the components have all the variance.
        let least = 1e-9 * squared.first().copied().unwrap_or(0.0);
        let ridge = squared.iter().take(k).map(|value| noise.max(least) / value).collect();
        let score_limits =
            squared.iter().take(k).map(|value| MAX_DEVIATIONS * (value / model.weight()).sqrt()).collect();
        let (mean, mean_low) = (model.mean().to_owned(), model.moments.mean_low.clone());
        Self { mean, mean_low, basis: model.basis.first(k).to_owned(), ridge, score_limits }
    }

    /// Fills the listed cells of a row.
    fn fill(&self, mut row: ArrayViewMut1<'_, f64>, missing: &[usize]) {
        let mean = self.mean.iter().zip(&self.mean_low);
        let mut centered = Array1::from_iter(row.iter().zip(mean).map(|(x, (mean, low))| (x - mean) - low));
        for &j in missing {
            centered[j] = 0.0;
        }
        let k = self.basis.nrows();
        let mut system = Array2::<f64>::eye(k);
        for (i, ridge) in self.ridge.iter().enumerate() {
            system[[i, i]] += ridge;
        }
        for &j in missing {
            let column = self.basis.column(j);
            for a in 0..k {
                for b in 0..=a {
                    system[[a, b]] -= column[a] * column[b];
                }
            }
        }
        let z = linalg::cholesky(system.view()).map(|c| {
            let mut z = solve(&c, self.basis.dot(&centered));
            z.iter_mut().zip(&self.score_limits).for_each(|(z, limit)| *z = z.clamp(-limit, *limit));
            z
        });
        for &j in missing {
            let estimate = z.as_ref().map_or(0.0, |z| self.basis.column(j).dot(z));
            row[j] = self.mean[j] + (self.mean_low[j] + estimate);
        }
    }
}

impl EigenspaceModel {
    /// Fills missing cells (NaN) with the model's conditional estimate, from its reported components, and returns their
    /// number. A row without any value becomes the mean.
    ///
    /// ```
    /// use eigenspace::EigenspaceModel;
    /// use ndarray::array;
    ///
    /// let line = EigenspaceModel::fit(array![[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]].view())?.with_components(1)?;
    /// let mut rows = array![[3.0, f64::NAN]];
    /// assert_eq!(line.fill_missing(rows.view_mut())?, 1);
    /// assert!((rows[[0, 1]] - 6.0).abs() < 1e-6);
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn fill_missing(&self, mut rows: ArrayViewMut2<'_, f64>) -> Result<u64, Error> {
        Block::from(rows.view()).admit(self.features(), Missing::Impute)?;
        let missing = missing(&rows);
        let imputation = ImputationModel::of(self, Components::Number(self.n_components().max(1)));
        missing.iter().for_each(|(i, missing)| imputation.fill(rows.row_mut(*i), missing));
        Ok(missing.iter().map(|(_, missing)| missing.len() as u64).sum())
    }
}

/// Solves C Cᵀ z = b for a lower triangular C.
fn solve(c: &Array2<f64>, mut b: Array1<f64>) -> Array1<f64> {
    let n = b.len();
    for i in 0..n {
        let done: f64 = (0..i).map(|j| c[[i, j]] * b[j]).sum();
        b[i] = (b[i] - done) / c[[i, i]];
    }
    for i in (0..n).rev() {
        let done: f64 = (i + 1..n).map(|j| c[[j, i]] * b[j]).sum();
        b[i] = (b[i] - done) / c[[i, i]];
    }
    b
}

/// The rows with missing cells, and the columns of these cells.
fn missing(rows: &ArrayViewMut2<'_, f64>) -> Vec<(usize, Vec<usize>)> {
    let missing = |row: ArrayView1<'_, f64>| -> Vec<usize> {
        row.iter().enumerate().filter(|(_, x)| x.is_nan()).map(|(j, _)| j).collect()
    };
    rows.rows().into_iter().map(missing).enumerate().filter(|(_, missing)| !missing.is_empty()).collect()
}

/// Fills every missing cell of a block and returns their number.
pub(crate) fn impute(
    mut rows: ArrayViewMut2<'_, f64>,
    weights: Option<&[f64]>,
    before: Option<ImputationModel>,
    components: Components,
    about_origin: bool,
) -> Result<u64, Error> {
    let missing = missing(&rows);
    let cells = missing.iter().map(|(_, missing)| missing.len() as u64).sum();
    if cells == 0 {
        return Ok(0);
    }
    if let Some(imputation) = before {
        missing.iter().for_each(|(i, missing)| imputation.fill(rows.row_mut(*i), missing));
        return Ok(cells);
    }
    let start = ImputationModel {
        mean: observed_mean(&rows.view(), weights),
        mean_low: Array1::zeros(rows.ncols()),
        basis: Array2::zeros((0, rows.ncols())),
        ridge: Vec::new(),
        score_limits: Vec::new(),
    };
    missing.iter().for_each(|(i, missing)| start.fill(rows.row_mut(*i), missing));
    for _ in 0..REFINEMENT_ROUNDS {
        let mut a = rows.to_owned();
        let moments = Moments::empty(a.ncols()).about(about_origin).absorb(a.view_mut(), weights)?.moments;
        let bound = Bound::exact(a.ncols());
        let reduced = reduce(a, Route::Auto, Truncation::None, &moments);
        let model = EigenspaceModel::from_reduced(moments, reduced, bound, components);
        let imputation = ImputationModel::of(&model, components);
        missing.iter().for_each(|(i, missing)| imputation.fill(rows.row_mut(*i), missing));
    }
    Ok(cells)
}

/// Features that had no value before and have some in these rows, with the mean of these values.
pub(crate) fn newly_observed(rows: ArrayView2<'_, f64>, weights: Option<&[f64]>, unseen: &[bool]) -> Vec<(usize, f64)> {
    let means = unseen.iter().any(|unseen| *unseen).then(|| observed_mean(&rows, weights));
    let there = |j: &usize| unseen[*j] && rows.column(*j).iter().any(|x| !x.is_nan());
    let with_mean = |j: usize| (j, means.as_ref().map_or(0.0, |means| means[j]));
    (0..unseen.len()).filter(there).map(with_mean).collect()
}

/// Sets the mean of these features in the earlier rows, where they were constant. Changing a constant changes nothing
/// else.
pub(crate) fn set_earlier_means(moments: &mut Moments, newly_observed: &[(usize, f64)]) {
    for (j, mean) in newly_observed.iter().filter(|_| moments.count > 0 && !moments.about_origin) {
        (moments.mean[*j], moments.mean_low[*j]) = (*mean, 0.0);
    }
}

/// The mean of the observed cells of each feature; 0 if there are none.
fn observed_mean(rows: &ArrayView2<'_, f64>, weights: Option<&[f64]>) -> Array1<f64> {
    let mut mean = Array1::zeros(rows.ncols());
    for (j, column) in rows.columns().into_iter().enumerate() {
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, x) in column.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            sum += weight * x;
            total += weight;
        }
        mean[j] = if total > 0.0 { sum / total } else { 0.0 };
    }
    mean
}
