//! Sparse rows that are all in memory, stored by columns, with their moments.
//!
//! ```text
//! A = diag(√w) (X − 1μᵀ) = B − √w μᵀ
//! ```
//!
//! B has the stored cells. Subtracting the mean only inside the products is precise if √w μ_j is
//! not much longer than a column of A: at least half of the weight is in cells that are not stored.
//! Other columns are stored in full, centered.

use ndarray::Array1;

use crate::error::Error;
use crate::linalg::{Slices, two_sum};
use crate::model::moments::{Absorbed, Moments};
use crate::model::weight::Weight;
use crate::rows::block::Block;

/// Storing columns in full may add this many cells for each stored one.
const MAX_FILL: usize = 4;

/// Sparse rows by columns.
pub(crate) struct SparseColumns {
    columns: Vec<Vec<(u32, f64)>>,
    /// √w of each row.
    roots: Vec<f64>,
    /// The mean of each column whose mean is subtracted in products.
    means: Vec<f64>,
    pub(crate) longest_row: usize,
    pub(crate) longest_column: usize,
}

impl SparseColumns {
    /// The rows with a positive weight, and their moments; `None` if that would store too many
    /// cells.
    pub(crate) fn of(rows: &Block<'_>, before: &Moments) -> Result<Option<(Self, Absorbed)>, Error> {
        let Some(sparse) = rows.sparse() else { return Ok(None) };
        let selected: Vec<usize> = (0..rows.nrows()).filter(|&i| rows.weight(i) > 0.0).collect();
        if selected.is_empty() || u32::try_from(selected.len().max(rows.ncols())).is_err() {
            return Ok(None);
        }
        let weights: Vec<f64> = selected.iter().map(|&i| rows.weight(i)).collect();
        let mut lengths = vec![0_usize; rows.ncols()];
        selected.iter().for_each(|&i| sparse.row(i).for_each(|(j, _)| lengths[j] += 1));
        let mut columns: Vec<Vec<(u32, f64)>> = lengths.iter().map(|length| Vec::with_capacity(*length)).collect();
        for (i, &row) in selected.iter().enumerate() {
            for (j, x) in sparse.row(row) {
                match columns[j].last_mut() {
                    // Repeated cells are added.
                    Some(last) if last.0 as usize == i => last.1 += x,
                    _ => columns[j].push((i as u32, x)),
                }
            }
        }
        let count = before.count().checked_add(selected.len() as u64).ok_or(Error::CountOverflow)?;
        let weight = Weight::default().checked_plus(Weight::of(&weights))?;
        let total = weight.value();
        let (mut high, mut low, mut scatter) =
            (before.mean().clone(), before.mean_low().clone(), before.scatter().clone());
        let mut step = Array1::zeros(rows.ncols());
        let stored: usize = lengths.iter().sum();
        let (mut cells, mut means) = (0, vec![0.0; rows.ncols()]);
        for (j, column) in columns.iter_mut().enumerate() {
            let held: f64 = column.iter().map(|(i, _)| weights[*i as usize]).sum();
            let full = column.len() == selected.len();
            // A column that is stored in every row is summed as differences, so that the mean of a
            // constant column is exact.
            let near = if full && !before.is_about_origin() { column[0].1 } else { 0.0 };
            if !before.is_about_origin() {
                step[j] = column.iter().map(|(i, x)| weights[*i as usize] * (x - near)).sum::<f64>() / total;
                (high[j], low[j]) = two_sum(near, step[j]);
            }
            let (mean, mean_low) = (high[j], low[j]);
            let filled = full || (held > 0.5 * total && !before.is_about_origin());
            if filled {
                cells += selected.len();
                if cells > MAX_FILL * stored + rows.ncols() {
                    return Ok(None);
                }
                let mut whole: Vec<(u32, f64)> =
                    (0..selected.len() as u32).map(|i| (i, (0.0 - mean) - mean_low)).collect();
                column.iter().for_each(|(i, x)| whole[*i as usize].1 = (x - mean) - mean_low);
                *column = whole;
                scatter[j] = column.iter().map(|(i, x)| weights[*i as usize] * x * x).sum();
            } else {
                means[j] = mean;
                let near: f64 = column.iter().map(|(i, x)| weights[*i as usize] * (x - mean).powi(2)).sum();
                scatter[j] = near + (total - held).max(0.0) * mean * mean;
            }
            if scatter[j] == 0.0 {
                (*column, means[j]) = (Vec::new(), 0.0);
            }
        }
        let mut in_row = vec![0_usize; selected.len()];
        columns.iter().flatten().for_each(|(i, _)| in_row[*i as usize] += 1);
        let longest_column = columns.iter().map(Vec::len).max().unwrap_or(0);
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        for (i, x) in columns.iter_mut().flatten() {
            *x *= roots[*i as usize];
        }
        let longest_row = in_row.into_iter().max().unwrap_or(0);
        let c = Array1::zeros(rows.ncols());
        let squared_weight = weights.iter().map(|w| w * w).sum();
        let moments =
            before.clone().with_rows(count, weight, squared_weight).with_mean(high, low).with_scatter(scatter);
        let absorbed = Absorbed::new(moments, step, c, (longest_column + 16) as f64);
        Ok(Some((Self { columns, roots, means, longest_row, longest_column }, absorbed)))
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.roots.len()
    }

    /// A by columns, for products with A Aᵀ.
    pub(crate) fn by_columns(self) -> Slices {
        let mut offsets = vec![0];
        self.columns.iter().for_each(|column| offsets.push(offsets[offsets.len() - 1] + column.len()));
        let (indices, values) = self.columns.into_iter().flatten().unzip();
        Slices { offsets, indices, values, across: self.means, within: self.roots }
    }

    /// A by rows, for products with AᵀA.
    pub(crate) fn by_rows(self) -> Slices {
        let mut offsets = vec![0_usize; self.rows() + 1];
        self.columns.iter().flatten().for_each(|(i, _)| offsets[*i as usize + 1] += 1);
        (0..self.rows()).for_each(|i| offsets[i + 1] += offsets[i]);
        let (mut indices, mut values) = (vec![0; offsets[self.rows()]], vec![0.0; offsets[self.rows()]]);
        let mut next = offsets.clone();
        for (j, column) in self.columns.iter().enumerate() {
            for (i, x) in column {
                let place = &mut next[*i as usize];
                (indices[*place], values[*place]) = (j as u32, *x);
                *place += 1;
            }
        }
        Slices { offsets, indices, values, across: self.roots, within: self.means }
    }
}
