//! Missing cells: refused, left out with their row, or filled by what the model knows.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | x_o, x_m | | the cells that are there, and those that are not |
//! | V_o, V_m | `basis` | the columns of V_k that belong to them |
//! | λ, σ² | `variances`, `noise` | variances of the components, and of what is beyond them |
//!
//! The conditional mean of the missing cells, for rows that are normal with the model's covariance:
//!
//! ```text
//! z = (V_o V_oᵀ + σ² diag(1/λ))⁻¹ V_o (x_o − μ_o)        x_m = μ_m + V_mᵀ z        V_o V_oᵀ = I − V_m V_mᵀ
//! ```
//!
//! (M. Brand, *Incremental singular value decomposition of uncertain data with missing values*, ECCV
//! 2002; the σ² keeps a few cells from deciding everything.) Cells are filled when their block is
//! compressed, from the rows before it, so the answer does not depend on how rows were cut. The
//! first block has nothing before it: its cells start at the means of their features and are
//! improved in a few rounds from the block itself. The model counts the cells that were filled.
//!
//! A feature that first appears late has no mean until then. Its cells in earlier rows are held open and get the
//! mean of the first block that has some; a model cannot be read while a feature has none at all.

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

/// Rounds by which the first block improves its own guesses.
const ROUNDS: usize = 10;
/// Coordinates are not believed to be further out than so many standard deviations, however the few cells of a row
/// that are there extrapolate.
const REACH: f64 = 5.0;
/// Share of the variance that components must hold to be used for filling, when no number is set.
const SHARE: f64 = 0.9;

/// What is known before a block arrives, as far as filling needs it.
pub(crate) struct Guess {
    mean: Array1<f64>,
    /// What `mean` rounds off.
    mean_low: Array1<f64>,
    basis: Array2<f64>,
    /// σ² / λ_i.
    ridge: Vec<f64>,
    /// How far coordinates are believed to reach.
    reach: Vec<f64>,
}

impl Guess {
    /// From a model: its leading components and its noise.
    pub(crate) fn of(model: &EigenspaceModel, components: Components) -> Self {
        let wanted = if let Components::Number(_) = components { components } else { Components::Share(SHARE) };
        let (squared, total) = (model.spectrum.squared(), model.moments.total());
        let k = wanted.resolve(&squared, total).min(model.features().saturating_sub(1));
        let shown: f64 = squared.iter().take(k).sum();
        let noise = (total - shown).max(0.0) / (model.features() - k).max(1) as f64;
        // Enough to keep the equations solvable when the components hold everything.
        let least = 1e-9 * squared.first().copied().unwrap_or(0.0);
        let ridge = squared.iter().take(k).map(|value| noise.max(least) / value).collect();
        let reach = squared.iter().take(k).map(|value| REACH * (value / model.weight()).sqrt()).collect();
        let (mean, mean_low) = (model.mean().to_owned(), model.moments.mean_low.clone());
        Self { mean, mean_low, basis: model.basis.first(k).to_owned(), ridge, reach }
    }

    /// Fills the cells of a row that are listed.
    fn fill(&self, mut row: ArrayViewMut1<'_, f64>, holes: &[usize]) {
        let mean = self.mean.iter().zip(&self.mean_low);
        let mut centered = Array1::from_iter(row.iter().zip(mean).map(|(x, (mean, low))| (x - mean) - low));
        for &j in holes {
            centered[j] = 0.0;
        }
        let k = self.basis.nrows();
        let mut system = Array2::<f64>::eye(k);
        for (i, ridge) in self.ridge.iter().enumerate() {
            system[[i, i]] += ridge;
        }
        for &j in holes {
            let column = self.basis.column(j);
            for a in 0..k {
                for b in 0..=a {
                    system[[a, b]] -= column[a] * column[b];
                }
            }
        }
        let z = linalg::cholesky(system.view()).map(|c| {
            let mut z = solve(&c, self.basis.dot(&centered));
            z.iter_mut().zip(&self.reach).for_each(|(z, reach)| *z = z.clamp(-reach, *reach));
            z
        });
        for &j in holes {
            let estimate = z.as_ref().map_or(0.0, |z| self.basis.column(j).dot(z));
            row[j] = self.mean[j] + (self.mean_low[j] + estimate);
        }
    }
}

impl EigenspaceModel {
    /// Fills the cells that are not a number with the model's conditional estimate, from the components that it
    /// shows; returns how many there were. A row without any cell becomes the mean.
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
        let holes = holes(&rows);
        let guess = Guess::of(self, Components::Number(self.n_components().max(1)));
        holes.iter().for_each(|(i, holes)| guess.fill(rows.row_mut(*i), holes));
        Ok(holes.iter().map(|(_, holes)| holes.len() as u64).sum())
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

/// The cells of each row that are missing.
fn holes(rows: &ArrayViewMut2<'_, f64>) -> Vec<(usize, Vec<usize>)> {
    let missing = |row: ArrayView1<'_, f64>| -> Vec<usize> {
        row.iter().enumerate().filter(|(_, x)| x.is_nan()).map(|(j, _)| j).collect()
    };
    rows.rows().into_iter().map(missing).enumerate().filter(|(_, holes)| !holes.is_empty()).collect()
}

/// Fills every missing cell of a block of raw rows; returns how many there were.
pub(crate) fn impute(
    mut rows: ArrayViewMut2<'_, f64>,
    weights: Option<&[f64]>,
    before: Option<Guess>,
    components: Components,
    about_origin: bool,
) -> Result<u64, Error> {
    let holes = holes(&rows);
    let cells = holes.iter().map(|(_, holes)| holes.len() as u64).sum();
    if cells == 0 {
        return Ok(0);
    }
    if let Some(guess) = before {
        holes.iter().for_each(|(i, holes)| guess.fill(rows.row_mut(*i), holes));
        return Ok(cells);
    }
    let start = Guess {
        mean: observed_mean(&rows.view(), weights),
        mean_low: Array1::zeros(rows.ncols()),
        basis: Array2::zeros((0, rows.ncols())),
        ridge: Vec::new(),
        reach: Vec::new(),
    };
    holes.iter().for_each(|(i, holes)| start.fill(rows.row_mut(*i), holes));
    for _ in 0..ROUNDS {
        let mut a = rows.to_owned();
        let moments = Moments::empty(a.ncols()).about(about_origin).absorb(a.view_mut(), weights)?.moments;
        let bound = Bound::exact(a.ncols());
        let reduced = reduce(a, Route::Auto, Truncation::None, &moments);
        let model = EigenspaceModel::from_reduced(moments, reduced, bound, components);
        let guess = Guess::of(&model, components);
        holes.iter().for_each(|(i, holes)| guess.fill(rows.row_mut(*i), holes));
    }
    Ok(cells)
}

/// Features that had no cell in any row before and have some in these, and the mean of those cells.
pub(crate) fn appeared(rows: ArrayView2<'_, f64>, weights: Option<&[f64]>, unseen: &[bool]) -> Vec<(usize, f64)> {
    let means = unseen.iter().any(|unseen| *unseen).then(|| observed_mean(&rows, weights));
    let there = |j: &usize| unseen[*j] && rows.column(*j).iter().any(|x| !x.is_nan());
    let with_mean = |j: usize| (j, means.as_ref().map_or(0.0, |means| means[j]));
    (0..unseen.len()).filter(there).map(with_mean).collect()
}

/// Gives the earlier rows the mean of the first cells that have come: until then any constant would have done, and a
/// constant moves nothing else.
pub(crate) fn hold(moments: &mut Moments, appeared: &[(usize, f64)]) {
    for (j, mean) in appeared.iter().filter(|_| moments.count > 0 && !moments.about_origin) {
        (moments.mean[*j], moments.mean_low[*j]) = (*mean, 0.0);
    }
}

/// The mean of the cells that are there; 0 for a feature without any.
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
