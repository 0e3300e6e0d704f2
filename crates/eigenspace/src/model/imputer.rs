//! Estimates the missing cells of a row from a model.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | x_o, x_m | | the cells that are there, and those that are not |
//! | V_o, V_m | `basis` | the columns of V_k that belong to them |
//! | λ, σ² | `ridge` | variances of the components, and of what is beyond them |
//!
//! The conditional mean of the missing cells, for rows that are normal with the model's covariance:
//!
//! ```text
//! z = (V_o V_oᵀ + σ² diag(1/λ))⁻¹ V_o (x_o − μ_o)        x_m = μ_m + V_mᵀ z        V_o V_oᵀ = I − V_m V_mᵀ
//! ```
//!
//! (M. Brand, *Incremental singular value decomposition of uncertain data with missing values*,
//! ECCV 2002; the σ² keeps a few cells from deciding everything.)

use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut1, ArrayViewMut2};

use crate::error::Error;
use crate::linalg;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::truncation::Components;
use crate::rows::block::Block;
use crate::rows::missing::Missing;

/// Estimated scores are at most this many standard deviations from the mean, however the few cells
/// of a row extrapolate.
const LARGEST_DEVIATION: f64 = 5.0;
/// Share of the variance that the components must explain to be used, when no number of them is
/// set.
const MIN_EXPLAINED_SHARE: f64 = 0.9;
/// σ² is at least this share of the largest variance, so that the equations can be solved if the
/// components explain everything.
const MIN_NOISE_SHARE: f64 = 1e-9;

/// What is needed from a model to fill missing cells.
pub(crate) struct Imputer {
    mean: Array1<f64>,
    /// What `mean` rounds off.
    mean_low: Array1<f64>,
    basis: Array2<f64>,
    /// σ² / λ_i.
    ridge: Vec<f64>,
    /// The largest plausible score along each component.
    largest: Vec<f64>,
}

impl Imputer {
    /// From a model: its leading components and its noise.
    pub(crate) fn of(model: &EigenspaceModel, components: Components) -> Self {
        let wanted =
            if let Components::Number(_) = components { components } else { Components::Share(MIN_EXPLAINED_SHARE) };
        let (squared, total) = (model.spectrum.squared(), model.moments.total());
        let k = wanted.resolve(&squared, total).min(model.features().saturating_sub(1));
        let explained: f64 = squared.iter().take(k).sum();
        let noise = (total - explained).max(0.0) / (model.features() - k).max(1) as f64;
        let least = MIN_NOISE_SHARE * squared.first().copied().unwrap_or(0.0);
        let ridge = squared.iter().take(k).map(|value| noise.max(least) / value).collect();
        let largest = squared.iter().take(k).map(|value| LARGEST_DEVIATION * (value / model.weight()).sqrt()).collect();
        let (mean, mean_low) = (model.mean().to_owned(), model.moments.mean_low().clone());
        Self { mean, mean_low, basis: model.basis.first(k).to_owned(), ridge, largest }
    }

    /// From the means of the features alone.
    pub(crate) fn of_mean(mean: Array1<f64>) -> Self {
        let features = mean.len();
        let (mean_low, basis) = (Array1::zeros(features), Array2::zeros((0, features)));
        Self { mean, mean_low, basis, ridge: Vec::new(), largest: Vec::new() }
    }

    /// Fills the cells that are listed for each row.
    pub(crate) fn fill(&self, mut rows: ArrayViewMut2<'_, f64>, missing: &[MissingCells]) {
        missing.iter().for_each(|(row, columns)| self.fill_row(rows.row_mut(*row), columns));
    }

    fn fill_row(&self, mut row: ArrayViewMut1<'_, f64>, missing: &[usize]) {
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
            z.iter_mut().zip(&self.largest).for_each(|(z, largest)| *z = z.clamp(-largest, *largest));
            z
        });
        for &j in missing {
            let estimate = z.as_ref().map_or(0.0, |z| self.basis.column(j).dot(z));
            row[j] = self.mean[j] + (self.mean_low[j] + estimate);
        }
    }
}

/// A row, and its columns that are missing.
pub(crate) type MissingCells = (usize, Vec<usize>);

/// The missing cells of each row that has some.
pub(crate) fn missing_cells(rows: &ArrayViewMut2<'_, f64>) -> Vec<MissingCells> {
    let missing = |row: ArrayView1<'_, f64>| -> Vec<usize> {
        row.iter().enumerate().filter(|(_, x)| x.is_nan()).map(|(j, _)| j).collect()
    };
    rows.rows().into_iter().map(missing).enumerate().filter(|(_, columns)| !columns.is_empty()).collect()
}

/// The number of cells that are listed.
pub(crate) fn count(missing: &[MissingCells]) -> u64 {
    missing.iter().map(|(_, columns)| columns.len() as u64).sum()
}

impl EigenspaceModel {
    /// Fills the cells that are not a number with the model's conditional estimate, from the
    /// components that it reports; returns how many there were. A row without any cell becomes the
    /// mean.
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
        let missing = missing_cells(&rows);
        let imputer = Imputer::of(self, Components::Number(self.n_components().max(1)));
        imputer.fill(rows.view_mut(), &missing);
        Ok(count(&missing))
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
