//! Sparse pending rows. They stay sparse until they are compressed into the factor:
//!
//! ```text
//! r_i · r_j = √(w_i w_j) (x_i · x_j − x_i · t − x_j · t + t · t)        f · r_i = √w_i (f · x_i − f · t)
//! F ← U₁ F + U₂ diag(√w) X − (U₂ √w) tᵀ
//! ```
//!
//! The rows r_i = √w_i (x_i − t) are centered only inside the products, with t of `moments.rs`.
//!
//! Memory: the non-zeros of a block, and the D × r factor. Cost of a compression of rows with z
//! non-zeros, of which z_j in column j: r z for the products with F, Σ_j z_j² for those between
//! rows, and 2 r² D to rotate F.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::linalg::vectorized;
use crate::model::moments::{Absorbed, Moments};
use crate::model::two_words::TwoWords;
use crate::model::weight::Weight;

/// Pending sparse rows, with sorted columns and each column at most once.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SparseBuffer {
    offsets: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl SparseBuffer {
    pub(crate) fn rows(&self) -> usize {
        self.offsets.len()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn push(&mut self, cells: impl Iterator<Item = (usize, f64)>) {
        let mut cells: Vec<_> = cells.collect();
        cells.sort_by_key(|cell| cell.0);
        let start = self.columns.len();
        self.offsets.push(start);
        for (column, value) in cells {
            if self.columns.len() > start && self.columns.last() == Some(&column) {
                if let Some(last) = self.values.last_mut() {
                    *last += value;
                }
            } else {
                self.columns.push(column);
                self.values.push(value);
            }
        }
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let end = self.offsets.get(row + 1).copied().unwrap_or(self.columns.len());
        let range = self.offsets[row]..end;
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// Where each row starts and the last one ends, and the columns and values of all cells.
    pub(crate) fn parts(&self) -> (Vec<usize>, &[usize], &[f64]) {
        let offsets = self.offsets.iter().copied().chain([self.columns.len()]).collect();
        (offsets, &self.columns, &self.values)
    }

    /// Whether restored rows are consistent.
    pub(crate) fn is_consistent(&self, features: usize) -> bool {
        self.columns.len() == self.values.len()
            && self.columns.iter().all(|&column| column < features)
            && self.offsets.is_sorted()
            && self.offsets.last().is_none_or(|&last| last <= self.values.len())
    }

    /// The rows as a dense matrix.
    pub(crate) fn dense(&self, features: usize) -> Array2<f64> {
        let mut rows = Array2::zeros((self.rows(), features));
        for i in 0..self.rows() {
            self.row(i).for_each(|(j, x)| rows[[i, j]] = x);
        }
        rows
    }

    /// The same rows with each feature divided by a unit.
    pub(crate) fn rescaled(&self, units: &Array1<f64>) -> Self {
        let values = self.columns.iter().zip(&self.values).map(|(&j, x)| x / units[j]).collect();
        Self { values, ..self.clone() }
    }

    /// The moments with these rows, and the point t at which they are centered.
    pub(crate) fn absorb(&self, before: &Moments, weights: &[f64]) -> Result<(Absorbed, Array1<f64>), Error> {
        let count = before.count().checked_add(self.rows() as u64).ok_or(Error::CountOverflow)?;
        let block_weight = Weight::of(weights);
        let together = before.weight().checked_plus(block_weight)?;
        let (weight_before, added, weight) = (before.weight().value(), block_weight.value(), together.value());
        let beta = 1.0 - (weight_before / weight).sqrt();
        // A column that is stored in every row is summed as differences, so that the mean of a
        // constant column is exact.
        let mut stored = vec![(0_usize, 0.0); before.features()];
        for i in 0..self.rows() {
            self.row(i).for_each(|(j, x)| stored[j] = (stored[j].0 + 1, if i == 0 { x } else { stored[j].1 }));
        }
        let full = |j: usize| stored[j].0 == self.rows();
        let near = |j: usize| match full(j) {
            false => 0.0,
            true if before.count() > 0 => before.mean()[j],
            true => stored[j].1,
        };
        let mut from_near = Array1::<f64>::zeros(before.features());
        for (i, weight) in weights.iter().enumerate() {
            self.row(i).for_each(|(j, x)| from_near[j] += weight * (x - near(j)));
        }
        from_near /= added;
        if before.is_about_origin() {
            from_near.fill(0.0);
        }
        let from_mean = |(j, step): (usize, &f64)| (near(j) - before.mean()[j]) + (step - before.mean_low()[j]);
        let mut step: Array1<f64> = from_near.iter().enumerate().map(from_mean).collect();
        if before.is_about_origin() {
            step.fill(0.0);
        }
        let start = TwoWords { high: before.mean().to_vec(), low: before.mean_low().to_vec() };
        let center = Array1::from(start.moved(step.view(), beta).high);
        let TwoWords { high, low } = start.moved(step.view(), added / weight);
        // Σ w (x − t)²: of the cells that are stored one by one, of the others together.
        let mut scatter = Array1::<f64>::zeros(before.features());
        let mut others = Array1::from_elem(before.features(), added);
        for (i, weight) in weights.iter().enumerate() {
            self.row(i).for_each(|(j, x)| {
                scatter[j] += weight * (x - center[j]).powi(2);
                others[j] -= weight;
            });
        }
        for (j, q) in scatter.indexed_iter_mut().filter(|(j, _)| !full(*j)) {
            *q += others[j].max(0.0) * center[j] * center[j];
        }
        scatter += before.scatter();
        let squared_weight = before.squared_weight() + weights.iter().map(|w| w * w).sum::<f64>();
        let moments = before.clone().with_rows(count, together, squared_weight);
        let moments = moments.with_mean(high.into(), low.into()).with_scatter(scatter);
        let shift = if before.count() == 0 { 0.0 } else { (weight_before / weight * added).sqrt() };
        let c = &step * shift;
        let roundings = (self.rows() + 16) as f64;
        Ok((Absorbed::new(moments, from_near, c, roundings), center))
    }

    /// The lower triangle of the Gram matrix of [ F ; R ], where the rows of F are orthogonal to
    /// each other and R are the centered rows.
    pub(crate) fn gram(&self, f: ArrayView2<'_, f64>, center: &Array1<f64>, weights: &[f64]) -> Array2<f64> {
        let (r, m) = (f.nrows(), self.rows());
        let mut g = Array2::<f64>::zeros((r + m, r + m));
        let center_squared = center.dot(center);
        let along: Vec<f64> = (0..m).map(|i| self.row(i).map(|(j, x)| x * center[j]).sum()).collect();
        // For every column, multiply all pairs of its cells: Σ z_j² products, whatever the number
        // of rows.
        let mut by_column: Vec<(usize, usize, f64)> = Vec::with_capacity(self.columns.len());
        (0..m).for_each(|i| by_column.extend(self.row(i).map(|(j, x)| (j, i, x))));
        by_column.sort_unstable_by_key(|&(j, i, _)| (j, i));
        for column in by_column.chunk_by(|a, b| a.0 == b.0) {
            for (end, &(_, i, x)) in column.iter().enumerate() {
                for &(_, j, y) in &column[..=end] {
                    g[[r + i, r + j]] += x * y;
                }
            }
        }
        for i in 0..m {
            for j in 0..=i {
                let centered = g[[r + i, r + j]] - along[i] - along[j] + center_squared;
                g[[r + i, r + j]] = weights[i].sqrt() * weights[j].sqrt() * centered;
            }
        }
        let products: Vec<(f64, Vec<f64>)> = (0..r)
            .into_par_iter()
            .map(|k| {
                let row = f.row(k);
                let with_center: f64 =
                    if center_squared > 0.0 { row.iter().zip(center).map(|(x, t)| x * t).sum() } else { 0.0 };
                let with_rows = (0..m).map(|i| {
                    let product: f64 = self.row(i).map(|(j, x)| row[j] * x).sum();
                    weights[i].sqrt() * (product - with_center)
                });
                (row.iter().map(|x| x * x).sum(), with_rows.collect())
            })
            .collect();
        for (k, (squared, with_rows)) in products.into_iter().enumerate() {
            g[[k, k]] = squared;
            with_rows.into_iter().enumerate().for_each(|(i, product)| g[[r + i, k]] = product);
        }
        g
    }

    /// Adds row k of U R to a row.
    pub(crate) fn add_rotated(&self, u: impl Fn(usize) -> f64, center: &Array1<f64>, weights: &[f64], row: &mut [f64]) {
        let centered = center.iter().any(|t| *t != 0.0);
        let mut shift = 0.0;
        for (i, weight) in weights.iter().enumerate() {
            let factor = u(i) * weight.sqrt();
            shift += factor;
            self.row(i).for_each(|(j, x)| row[j] += factor * x);
        }
        if shift != 0.0 && centered {
            vectorized(|| row.iter_mut().zip(center).for_each(|(x, t)| *x -= shift * t));
        }
    }
}
