//! Count, weight, mean and the scatter of each feature, which are never truncated.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | n, w | `count`, `weight` | number of rows, and their total weight |
//! | μ | `mean` + `mean_low` | D, as the sum of two numbers |
//! | q | `scatter` | D, Σ (x_j − μ_j)² per feature |
//! | c | returned by [`Moments::absorb`], [`Moments::merge`] and [`Moments::split`] | D, the row that the difference of two means adds |
//!
//! Merging two sets of rows adds one rank-one term to the sum of their scatters:
//!
//! ```text
//! M₃ = M₁ + M₂ + c cᵀ        c = √(w₁ w₂ / w₃) (μ₁ − μ₂)
//! ```
//!
//! For a block of m rows with mean b that is stacked below n earlier rows, the extra row is not
//! needed: if the block is centered at the right point t between the two means, its own rows
//! contain the term:
//!
//! ```text
//! Σ (x − t)(x − t)ᵀ = M_b + c cᵀ     for   t = μ + β (b − μ),   β = 1 − √(n / (n + m))
//! ```
//!
//! because Σ (x − t)(x − t)ᵀ = M_b + m (1 − β)² (b − μ)(b − μ)ᵀ and m (1 − β)² = n m / (n + m).
//! (The specification centers at the *new* mean, β = m / (n + m), which loses the shift of the old
//! rows.) For the first block β = 1; for one row 1 − β = √(n / (n + 1)), Brand's rank-one update.
//! Weighted rows count with their weight in n, m, b and every sum, and are multiplied by the root
//! of their weight.
//!
//! The mean is stored as the sum of two numbers, its value and the rounding error of that value.
//! Differences from it are then as precise as the rows, however far from zero they are: the scatter
//! of rows near 4e15 with a spread of 1 has all its digits.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice, concatenate};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::linalg::{SUMMED_ROWS, columns_of, contiguous};
use crate::model::two_words::TwoWords;
use crate::model::weight::{Weight, WeightKind};

/// Number of columns centered by one task: few enough for a block to stay in the cache of a core
/// between two passes.
const PANEL: usize = 128;

/// Count, weight, mean and scatter of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moments {
    count: u64,
    weight: Weight,
    /// Σ w², for reliability weights.
    squared_weight: f64,
    mean: Array1<f64>,
    /// The rounding error of `mean`.
    mean_low: Array1<f64>,
    scatter: Array1<f64>,
    /// Number of missing cells that were filled.
    imputed: u64,
    /// What the weights mean.
    weights: WeightKind,
    /// Whether rows are not centered: the mean stays zero, and the scatter is Σ x xᵀ.
    about_origin: bool,
}

/// The moments of earlier rows together with a block.
pub(crate) struct Absorbed {
    moments: Moments,
    /// The difference between the mean of the block and the point that it was summed around.
    step: Array1<f64>,
    c: Array1<f64>,
    /// Upper bound on the number of roundings of a row in the mean.
    roundings: f64,
}

impl Absorbed {
    pub(crate) fn new(moments: Moments, step: Array1<f64>, c: Array1<f64>, roundings: f64) -> Self {
        Self { moments, step, c, roundings }
    }

    /// These moments together with a block of no rows.
    fn nothing(moments: Moments) -> Self {
        let nothing = Array1::zeros(moments.features());
        Self { moments, step: nothing.clone(), c: nothing, roundings: 0.0 }
    }

    pub(crate) fn moments(&self) -> &Moments {
        &self.moments
    }

    pub(crate) fn into_moments(self) -> Moments {
        self.moments
    }

    /// The difference between the mean of the block and the point that it was summed around.
    pub(crate) fn step(&self) -> &Array1<f64> {
        &self.step
    }

    pub(crate) fn c(&self) -> &Array1<f64> {
        &self.c
    }

    /// Upper bound on the number of roundings of a row in the mean.
    pub(crate) fn roundings(&self) -> f64 {
        self.roundings
    }

    /// The same rows with the features of all parts, which are in order.
    pub(crate) fn side_by_side(parts: Vec<Self>) -> Self {
        let rows = |part: &Self| (part.moments.count, part.moments.weight, part.moments.squared_weight);
        assert!(parts.windows(2).all(|pair| rows(&pair[0]) == rows(&pair[1])), "all parts are of the same rows");
        let all = |values: fn(&Self) -> &Array1<f64>| match &parts[..] {
            [] => Array1::zeros(0),
            parts => {
                let views: Vec<_> = parts.iter().map(|part| values(part).view()).collect();
                concatenate(Axis(0), &views).expect("vectors can be concatenated")
            }
        };
        let (mean, mean_low) = (all(|part| &part.moments.mean), all(|part| &part.moments.mean_low));
        let (scatter, step, c) = (all(|part| &part.moments.scatter), all(|part| &part.step), all(|part| &part.c));
        match parts.into_iter().next() {
            None => Self { moments: Moments::empty(0), step, c, roundings: 0.0 },
            Some(Self { moments, roundings, .. }) => {
                Self { moments: Moments { mean, mean_low, scatter, ..moments }, step, c, roundings }
            }
        }
    }
}

impl Moments {
    /// The moments of zero rows.
    pub(crate) fn empty(features: usize) -> Self {
        Self {
            count: 0,
            weight: Weight::default(),
            squared_weight: 0.0,
            mean: Array1::zeros(features),
            mean_low: Array1::zeros(features),
            scatter: Array1::zeros(features),
            imputed: 0,
            weights: WeightKind::Frequency,
            about_origin: false,
        }
    }

    /// The same, centered at the origin or at the mean.
    pub(crate) fn about(self, origin: bool) -> Self {
        Self { about_origin: origin, ..self }
    }

    /// The same with this kind of weights.
    pub(crate) fn weighing(self, weights: WeightKind) -> Self {
        Self { weights, ..self }
    }

    /// The same with this number of rows, their total weight and Σ w².
    pub(crate) fn with_rows(self, count: u64, weight: Weight, squared_weight: f64) -> Self {
        Self { count, weight, squared_weight, ..self }
    }

    /// The same with this mean, and its rounding error.
    pub(crate) fn with_mean(self, mean: Array1<f64>, mean_low: Array1<f64>) -> Self {
        Self { mean, mean_low, ..self }
    }

    /// The same with this scatter of each feature.
    pub(crate) fn with_scatter(self, scatter: Array1<f64>) -> Self {
        Self { scatter, ..self }
    }

    /// Counts missing cells that were filled.
    pub(crate) fn count_imputed(&mut self, cells: u64) {
        self.imputed += cells;
    }

    /// Moments of no rows, like `nothing`, that count the same cells as filled.
    pub(crate) fn emptied(&self, nothing: Self) -> Self {
        Self { imputed: self.imputed, ..nothing }
    }

    /// Sets the means of features that were constant in all rows so far. Changing a constant
    /// changes nothing else.
    pub(crate) fn set_constants(&mut self, means: &[(usize, f64)]) {
        for (feature, mean) in means.iter().filter(|_| self.count > 0 && !self.about_origin) {
            (self.mean[*feature], self.mean_low[*feature]) = (*mean, 0.0);
        }
    }

    /// The moments of the same rows with each feature multiplied by a scale.
    pub(crate) fn rescaled(&self, scales: ArrayView1<'_, f64>) -> Self {
        Self {
            mean: &self.mean * &scales,
            mean_low: &self.mean_low * &scales,
            scatter: &self.scatter * &scales * scales,
            ..self.clone()
        }
    }

    /// Whether restored moments are consistent.
    pub(crate) fn is_consistent(&self, features: usize) -> bool {
        [&self.mean, &self.mean_low, &self.scatter].iter().all(|values| values.len() == features)
    }

    pub(crate) fn features(&self) -> usize {
        self.mean.len()
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn weight(&self) -> Weight {
        self.weight
    }

    /// Σ w², for reliability weights.
    pub(crate) fn squared_weight(&self) -> f64 {
        self.squared_weight
    }

    pub(crate) fn mean(&self) -> &Array1<f64> {
        &self.mean
    }

    /// The rounding error of the mean.
    pub(crate) fn mean_low(&self) -> &Array1<f64> {
        &self.mean_low
    }

    pub(crate) fn scatter(&self) -> &Array1<f64> {
        &self.scatter
    }

    /// Number of missing cells that were filled.
    pub(crate) fn imputed(&self) -> u64 {
        self.imputed
    }

    /// What the weights mean.
    pub(crate) fn weight_kind(&self) -> WeightKind {
        self.weights
    }

    /// Whether rows are not centered.
    pub(crate) fn is_about_origin(&self) -> bool {
        self.about_origin
    }

    /// The trace of the scatter, exact whatever was truncated.
    pub(crate) fn total(&self) -> f64 {
        self.scatter.sum()
    }

    /// n centered rows span at most n − 1 directions; anything more is the rounding of their mean.
    pub(crate) fn rank_limit(&self) -> usize {
        let taken = u64::from(!self.about_origin);
        usize::try_from(self.count.saturating_sub(taken)).unwrap_or(usize::MAX)
    }

    /// Centers a block at t and multiplies each row by the root of its weight, in place.
    pub(crate) fn absorb(&self, rows: ArrayViewMut2<'_, f64>, weights: Option<&[f64]>) -> Result<Absorbed, Error> {
        self.absorb_copy(None, rows, weights, None)
    }

    /// The same for a copy of other rows, which is written. `sums`: what [`DifferenceSums`] says of
    /// these rows.
    pub(crate) fn absorb_copy(
        &self,
        source: Option<ArrayView2<'_, f64>>,
        mut rows: ArrayViewMut2<'_, f64>,
        weights: Option<&[f64]>,
        sums: Option<&[f64]>,
    ) -> Result<Absorbed, Error> {
        let Some((heaviest, most)) = heaviest(rows.nrows(), weights) else {
            return Ok(Absorbed::nothing(self.clone()));
        };
        let count = self.count.checked_add(rows.nrows() as u64).ok_or(Error::CountOverflow)?;
        let block_weight = weights.map_or_else(|| Weight::of_rows(rows.nrows()), Weight::of);
        let squared = weights.map_or(rows.nrows() as f64, |weights| weights.iter().map(|w| w * w).sum());
        let together = self.weight.checked_plus(block_weight)?;
        let (before, added, weight) = (self.weight.value(), block_weight.value(), together.value());
        let weight_of = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let beta = 1.0 - (before / weight).sqrt();
        // Differences from a point near the rows are summed, so a mean far from zero costs no
        // digits. The point is the mean so far, or the row with the largest weight if that is
        // larger.
        let at_a_row = most > before && !self.about_origin;
        let original =
            |rows: ArrayView1<'_, f64>| source.map_or_else(|| rows.to_owned(), |all| all.row(heaviest).to_owned());
        let near = if at_a_row { original(rows.row(heaviest)) } else { self.mean.clone() };
        let mut mean = self.mean.clone();
        let mut mean_low = self.mean_low.clone();
        let mut between = Array1::zeros(self.features());
        let mut scatter = self.scatter.clone();
        let mut step = Array1::zeros(self.features());
        // Rows whose sums are known are read once, from end to end.
        let width = if sums.is_some() { self.features().max(1) } else { PANEL };
        rows.axis_chunks_iter_mut(Axis(1), width)
            .into_par_iter()
            .zip(mean.axis_chunks_iter_mut(Axis(0), width))
            .zip(mean_low.axis_chunks_iter_mut(Axis(0), width))
            .zip(scatter.axis_chunks_iter_mut(Axis(0), width))
            .zip(step.axis_chunks_iter_mut(Axis(0), width))
            .zip(between.axis_chunks_iter_mut(Axis(0), width))
            .zip(near.axis_chunks_iter(Axis(0), width))
            .enumerate()
            .for_each(|(p, ((((((mut rows, mut mean), mut low), mut scatter), mut step), mut between), near))| {
                let columns = p * width..p * width + mean.len();
                let source = source.map(|source| columns_of(source, columns.clone()));
                let mean_before = TwoWords { high: mean.to_vec(), low: low.to_vec() };
                let near_low = if at_a_row { vec![0.0; near.len()] } else { low.to_vec() };
                let near = TwoWords { high: near.to_vec(), low: near_low };
                if let (Some(sums), false) = (sums, self.about_origin) {
                    step.assign(&(&ArrayView1::from(&sums[columns]) / added));
                } else if !self.about_origin {
                    let mut sum = vec![0.0; mean.len()];
                    let rows = source.unwrap_or(rows.view());
                    for (piece, some) in rows.axis_chunks_iter(Axis(0), SUMMED_ROWS).enumerate() {
                        let mut part = vec![0.0; mean.len()];
                        for (i, row) in some.rows().into_iter().enumerate() {
                            near.add_difference(&mut part, &contiguous(row), weight_of(piece * SUMMED_ROWS + i));
                        }
                        sum.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
                    }
                    step.assign(&(Array1::from(sum) / added));
                }
                between.assign(&(&step + &near.less(&mean_before)));
                // The point with this share of the way from the mean so far to that of the block,
                // and that rest of the way: rows that are nearly forgotten have a rest far below
                // the rounding of the share.
                let on_the_way = |share: f64, rest: f64| match at_a_row {
                    false => near.moved(step.view(), share),
                    true => near.moved((&step - &(&between * rest)).view(), 1.0),
                };
                let center = on_the_way(beta, (before / weight).sqrt());
                let mut squares = vec![0.0; mean.len()];
                for (piece, mut some) in rows.axis_chunks_iter_mut(Axis(0), SUMMED_ROWS).enumerate() {
                    let mut part = vec![0.0; mean.len()];
                    for (i, mut row) in some.rows_mut().into_iter().enumerate() {
                        let root = weight_of(piece * SUMMED_ROWS + i).sqrt();
                        if let Some(source) = source {
                            let from = contiguous(source.index_axis_move(Axis(0), piece * SUMMED_ROWS + i));
                            let to = row.as_slice_mut().expect("rows of a copy are contiguous");
                            center.subtract_from(&from, to, root, &mut part);
                            continue;
                        }
                        match row.as_slice_mut() {
                            Some(row) => center.subtract(row, root, &mut part),
                            None => {
                                let mut copy = row.to_vec();
                                center.subtract(&mut copy, root, &mut part);
                                row.assign(&Array1::from(copy));
                            }
                        }
                    }
                    squares.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
                }
                scatter += &Array1::from(squares);
                let moved = on_the_way(added / weight, before / weight);
                mean.assign(&ArrayView1::from(&moved.high));
                low.assign(&ArrayView1::from(&moved.low));
            });
        let shift = if self.count == 0 { 0.0 } else { (before / weight * added).sqrt() };
        let c = &between * shift;
        let squared_weight = self.squared_weight + squared;
        let moments = Self { count, weight: together, squared_weight, mean, mean_low, scatter, ..self.clone_flags() };
        let roundings = (SUMMED_ROWS + rows.nrows() / SUMMED_ROWS + 16) as f64;
        Ok(Absorbed { moments, step, c, roundings })
    }

    /// The moments of some features of the same rows.
    pub(crate) fn of_features(&self, columns: std::ops::Range<usize>) -> Self {
        let part = |values: &Array1<f64>| values.slice_axis(Axis(0), Slice::from(columns.clone())).to_owned();
        Self {
            count: self.count,
            weight: self.weight,
            squared_weight: self.squared_weight,
            mean: part(&self.mean),
            mean_low: part(&self.mean_low),
            scatter: part(&self.scatter),
            ..self.clone_flags()
        }
    }

    /// The same rows with every weight multiplied by `factor`.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self {
            weight: self.weight.times(factor),
            squared_weight: self.squared_weight * factor * factor,
            scatter: &self.scatter * factor,
            ..self.clone()
        }
    }

    /// Moments of no rows and no features that share what is not counted.
    fn clone_flags(&self) -> Self {
        Self { imputed: self.imputed, about_origin: self.about_origin, weights: self.weights, ..Self::empty(0) }
    }
}

/// The row with the largest weight, and its weight.
fn heaviest(rows: usize, weights: Option<&[f64]>) -> Option<(usize, f64)> {
    let weight_of = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let heavier = |best: (usize, f64), row| if weight_of(row) > best.1 { (row, weight_of(row)) } else { best };
    (rows > 0).then(|| weights.map_or((0, 1.0), |_| (1..rows).fold((0, weight_of(0)), heavier)))
}

mod difference_sums;
mod merge;
mod on_card;
pub(crate) use difference_sums::DifferenceSums;
#[cfg(test)]
mod tests;
