//! Another pass over the rows of a model, for directions that one pass could not find.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | A | | n × D, the centered rows, each multiplied by the root of its weight; M = AᵀA |
//! | V | `model.basis()` | r × D, the directions found so far |
//! | Y | `images` | r × D, = V M, summed over the rows |
//!
//! ```text
//! Y = Σ (A_b Vᵀ)ᵀ A_b,   V M Vᵀ = Q Θ Qᵀ,   F = Θ^(−1/2) Qᵀ Y        0 ≤ M − FᵀF ≤ (I − P) M (I − P),   P = VᵀV
//! ```
//!
//! A stream drops the weakest directions of each block. If the spectrum falls slowly, some of them
//! would have become strong later, and the directions that were kept are inaccurate. Multiplying
//! them by M, whose rows are read again, turns them toward the leading ones: a part outside of
//! these shrinks by λ_(r+1) / λ_k or more (a step of subspace iteration, then the method of
//! Rayleigh and Ritz in the span of V M).
//!
//! What the model has dropped lies outside of V, so its bound still holds: (I − P) M (I − P) = (I −
//! P) E (I − P) ≤ lost. The trace of M is exact, and what remains of it is a bound too.
//!
//! Rows are collected and multiplied at fixed row counts, so the result does not depend on how they
//! are divided into blocks. Cost: 4 r D operations for each row (4 r z for z non-zeros); memory: 3
//! r D numbers.

use std::sync::Arc;

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayViewMut2, Axis};

use crate::error::Error;
use crate::linalg::{self, Lanes, Operator, PANEL, Slices};
use crate::model::bound::{Rounding, UNIT, largest};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::iterative::{Known, factor_of_images, scale_of_rows};
use crate::rows::block::Block;
use crate::rows::missing::Missing;
use crate::stream::buffer::RowBuffer;

/// Number of rows that are multiplied at a time.
const DENSE_ROWS: usize = 256;
const SPARSE_ROWS: usize = 4096;
/// Directions that are multiplied together with sparse rows.
const WIDTH: usize = 16;
/// The sums of a pass must agree with those of the model to this share of the spread of a feature.
const AGREEMENT: f64 = 1e-6;

/// Another pass over the rows of a model: see [`EigenspaceModel::refine`].
#[derive(Debug, Clone)]
pub struct Refinement {
    model: Arc<EigenspaceModel>,
    missing: Missing,
    buffer: RowBuffer,
    images: Array2<f64>,
    /// V and Y for sparse rows, some directions at a time; empty before the first sparse row.
    lanes: Vec<(Lanes<WIDTH>, Lanes<WIDTH>)>,
    /// Of the rows of this pass: number, weight, Σ √w a and Σ a² of each feature.
    count: u64,
    weight: f64,
    sum: Array1<f64>,
    squares: Array1<f64>,
    /// Number of times that rows were multiplied, and most cells in a row.
    multiplied: usize,
    longest_row: usize,
}

impl EigenspaceModel {
    /// Begins another pass over the rows of this model, which makes its directions more accurate if
    /// some were dropped.
    ///
    /// A stream reads every row once. If the variances decrease slowly, dropping directions can
    /// make the others inaccurate, and the [certificate](Self::certificate) says so. Read the same
    /// rows again, in any order: each pass brings the directions closer to those of batch PCA. The
    /// model keeps its rank.
    ///
    /// ```
    /// use eigenspace::{EigenspaceModel, FitOptions, subspace_distance};
    /// use ndarray::{Array2, Axis};
    ///
    /// let rows = Array2::from_shape_fn((900, 1200), |(i, j)| ((i * 37 + j * j * (1 + i % 13)) % 97) as f64);
    /// let once = FitOptions::new().components(4).max_rank(12).stream(1200).and_then(|mut stream| {
    ///     stream.update(&rows)?;
    ///     stream.model()
    /// })?;
    /// let mut pass = once.refine()?;
    /// for block in rows.axis_chunks_iter(Axis(0), 100) {
    ///     pass.update(block)?;
    /// }
    /// let twice = pass.finish()?;
    /// let exact = EigenspaceModel::fit(&rows)?.with_components(4)?;
    /// let error = |model: &EigenspaceModel| subspace_distance(model.components(), exact.components());
    /// assert!(error(&twice)? < error(&once)?);
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn refine(&self) -> Result<Refinement, Error> {
        if self.imputed() > 0 {
            return Err(Error::RefineImputed { cells: self.imputed() });
        }
        let features = self.features();
        Ok(Refinement {
            model: Arc::new(self.clone()),
            missing: Missing::Refuse,
            buffer: RowBuffer::starting_with(Array2::zeros((0, features))),
            images: Array2::zeros((self.rank(), features)),
            lanes: Vec::new(),
            count: 0,
            weight: 0.0,
            sum: Array1::zeros(features),
            squares: Array1::zeros(features),
            multiplied: 0,
            longest_row: 0,
        })
    }
}

impl Refinement {
    /// What to do with missing cells: refuse them, or skip their rows, as in the first pass.
    /// [`Missing::Impute`] counts as [`Missing::Refuse`].
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = if missing == Missing::Impute { Missing::Refuse } else { missing };
        self
    }

    /// Reads a block with any number of rows of the model, with the same weights as before. A block
    /// with an invalid cell is rejected as a whole.
    pub fn update<'a>(&mut self, rows: impl Into<Block<'a>>) -> Result<(), Error> {
        let block = rows.into();
        let selected = block.admit(self.model.features(), self.missing)?;
        self.count = self.count.checked_add(selected.len() as u64).ok_or(Error::CountOverflow)?;
        if self.count > self.model.count() {
            return Err(Error::RefineOther { expected: self.model.count(), found: self.count });
        }
        self.weight += selected.iter().map(|&row| block.weight(row)).sum::<f64>();
        linalg::inside(|| {
            let sparse = block.sparse().is_some();
            if self.buffer.pending() > 0 && self.buffer.is_sparse() != sparse {
                self.multiply();
            }
            let capacity = if sparse { SPARSE_ROWS } else { DENSE_ROWS };
            let mut rest = &selected[..];
            while !rest.is_empty() {
                let free = capacity - self.buffer.pending();
                let (which, later) = rest.split_at(free.min(rest.len()));
                self.buffer.append(&block, which, sparse, free, |_| 0);
                rest = later;
                if self.buffer.pending() == capacity {
                    self.multiply();
                }
            }
        });
        Ok(())
    }

    /// The model of the same rows with more accurate directions.
    pub fn finish(mut self) -> Result<EigenspaceModel, Error> {
        linalg::inside(|| self.multiply());
        self.check()?;
        if !self.model.bound.is_truncated() || self.model.rank() == 0 {
            // Nothing was dropped, so nothing can be found.
            return Ok(Arc::unwrap_or_clone(self.model));
        }
        Ok(linalg::inside(|| self.refined()))
    }

    /// Adds the images of the rows in the buffer.
    fn multiply(&mut self) {
        if self.buffer.pending() == 0 {
            return;
        }
        self.multiplied += 1;
        if self.buffer.is_sparse() {
            self.multiply_sparse()
        } else {
            self.multiply_dense()
        }
        self.buffer.keep_factor(0);
    }

    fn multiply_dense(&mut self) {
        let roots: Option<Vec<f64>> = self.buffer.own_weights().map(|w| w.iter().map(|w| w.sqrt()).collect());
        let moments = &self.model.moments;
        let mut rows = self.buffer.raw_mut();
        rows.axis_chunks_iter_mut(Axis(1), PANEL)
            .into_par_iter()
            .zip(moments.mean().axis_chunks_iter(Axis(0), PANEL))
            .zip(moments.mean_low().axis_chunks_iter(Axis(0), PANEL))
            .zip(self.sum.axis_chunks_iter_mut(Axis(0), PANEL))
            .zip(self.squares.axis_chunks_iter_mut(Axis(0), PANEL))
            .for_each(|((((mut rows, mean), low), mut sum), mut squares)| {
                for (i, row) in rows.rows_mut().into_iter().enumerate() {
                    let root = roots.as_ref().map_or(1.0, |roots| roots[i]);
                    let cells = row.into_iter().zip(mean).zip(low).zip(&mut sum).zip(&mut squares);
                    for ((((x, mean), low), sum), square) in cells {
                        *x = root * ((*x - mean) - low);
                        *sum += root * *x;
                        *square += *x * *x;
                    }
                }
            });
        let rows = self.buffer.raw();
        let along = linalg::cross(rows, self.model.basis());
        let work = self.images.len() * rows.nrows();
        linalg::for_each_panel(self.images.view_mut(), work, |start, panel: ArrayViewMut2<'_, f64>| {
            let columns = start..start + panel.ncols();
            linalg::multiply_add(panel, along.t(), linalg::columns_of(rows, columns));
        });
    }

    fn multiply_sparse(&mut self) {
        if self.lanes.is_empty() {
            let basis = self.model.basis();
            let some = |start: usize| linalg::rows_of(basis, start..basis.nrows().min(start + WIDTH));
            let zeros = || Lanes::zeros(basis.ncols());
            self.lanes =
                (0..basis.nrows()).step_by(WIDTH).map(|start| (linalg::by_columns(some(start)), zeros())).collect();
        }
        let slices = self.slices();
        for (directions, images) in &mut self.lanes {
            linalg::add(images, 1.0, &slices.apply(directions));
        }
    }

    /// The rows in the buffer, centered. A mean is subtracted inside the products unless it is
    /// large compared with the spread of its feature, which would cost digits: such a feature is
    /// stored in full.
    fn slices(&mut self) -> Slices {
        let moments = &self.model.moments;
        let weight = moments.weight().value();
        let subtracted = |j: usize| weight * moments.mean()[j] * moments.mean()[j] <= moments.scatter()[j];
        let full: Vec<usize> =
            (0..moments.features()).filter(|&j| !subtracted(j) && moments.mean()[j] != 0.0).collect();
        let within: Vec<f64> =
            (0..moments.features()).map(|j| if subtracted(j) { moments.mean()[j] } else { 0.0 }).collect();
        let (starts, columns, stored) = self.buffer.sparse().parts();
        let weights = self.buffer.own_weights().unwrap_or_else(|| vec![1.0; self.buffer.pending()]);
        let across: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for (row, &root) in across.iter().enumerate() {
            let cells = starts[row]..starts[row + 1];
            let mut missing = full.iter().copied().peekable();
            let center = |j: usize, x: f64| root * ((x - moments.mean()[j]) - moments.mean_low()[j]);
            for (&j, &x) in columns[cells.clone()].iter().zip(&stored[cells]) {
                while let Some(zero) = missing.next_if(|zero| *zero < j) {
                    indices.push(zero as u32);
                    values.push(center(zero, 0.0));
                }
                let own = missing.next_if(|next| *next == j).is_some();
                indices.push(j as u32);
                values.push(if own { center(j, x) } else { root * x });
                let difference = center(j, x);
                // What the cell adds beyond a zero in its place; zeros are added for all rows
                // together.
                let zero = center(j, 0.0);
                self.sum[j] += root * (difference - zero);
                self.squares[j] += difference * difference - zero * zero;
            }
            for zero in missing {
                indices.push(zero as u32);
                values.push(center(zero, 0.0));
            }
            self.longest_row = self.longest_row.max(indices.len() - offsets[offsets.len() - 1]);
            offsets.push(indices.len());
        }
        let added: f64 = weights.iter().sum();
        for (j, (sum, squares)) in self.sum.iter_mut().zip(&mut self.squares).enumerate() {
            let zero = (0.0 - moments.mean()[j]) - moments.mean_low()[j];
            *sum += added * zero;
            *squares += added * zero * zero;
        }
        Slices { offsets, indices, values, across, within }
    }

    /// Refuses a pass over other rows than those of the model.
    fn check(&self) -> Result<(), Error> {
        let moments = &self.model.moments;
        let weight = moments.weight().value();
        let other = Err(Error::RefineOther { expected: moments.count(), found: self.count });
        if self.count != moments.count() || (self.weight - weight).abs() > AGREEMENT * weight {
            return other;
        }
        for (j, (sum, squares)) in self.sum.iter().zip(&self.squares).enumerate() {
            // Squares of zeros in place of stored cells are subtracted again.
            let canceled = UNIT * (self.count as f64) * weight * moments.mean()[j] * moments.mean()[j];
            let allowed = AGREEMENT * moments.scatter()[j] + canceled + self.model.bound.scatter_noise()[j];
            let shift = if moments.is_about_origin() { 0.0 } else { sum * sum / weight.max(f64::MIN_POSITIVE) };
            if (squares - moments.scatter()[j]).abs() > allowed || shift > allowed {
                return other;
            }
        }
        Ok(())
    }

    fn refined(self) -> EigenspaceModel {
        let Self { model, mut images, lanes, multiplied, longest_row, .. } = self;
        for (start, (_, found)) in lanes.into_iter().enumerate().map(|(i, lanes)| (i * WIDTH, lanes)) {
            let end = model.rank().min(start + WIDTH);
            let mut rows = images.slice_axis_mut(Axis(0), (start..end).into());
            rows += &linalg::by_rows(&found, end - start);
        }
        let (moments, features) = (model.moments.clone(), model.features());
        // The images are those of rows that were multiplied by a power of two, which is exact.
        let scale = scale_of_rows(moments.total());
        let squared_scale = scale * scale;
        images *= squared_scale;
        // V M Vᵀ is symmetric up to rounding; its lower triangle is used.
        let (mut values, turn) = linalg::eigh(linalg::cross(images.view(), model.basis()).view());
        let vectors = linalg::rotate(turn.view(), model.basis());
        let images = linalg::rotate(turn.view(), images.view());
        // Sums over the features, over the rows of a block, and over the blocks.
        let sums = features.max(longest_row) + DENSE_ROWS.max(SPARSE_ROWS) + multiplied + 32;
        let rounding = 4.0 * sums as f64 * UNIT;
        let total = moments.total() * squared_scale;
        let (mut factor, mut rounded) = factor_of_images(&values, vectors.view(), images.view(), total, rounding);
        factor /= scale;
        rounded = rounded.with_whole_error(rounded.whole_error() / squared_scale);
        values /= squared_scale;
        let known_sums = model.bound.of_moments();
        // The rows were centered at the mean of the model, which is rounded, as are the differences
        // from it.
        let centered = Rounding::of_columns(4.0 * UNIT, usize::MAX);
        let (none, off) = (Array1::zeros(features), known_sums.mean_noise().clone());
        let scatter_noise = known_sums.scatter_noise().sum();
        let bound =
            known_sums.shifted(&none, &off, moments.scatter()).rounded(centered, moments.scatter(), moments.total());
        let outside = largest(model.bound.lost()) + model.bound.noise();
        let trace = (moments.total() - linalg::squared_lengths(factor.view()).sum()).max(0.0)
            + scatter_noise
            + rounded.whole_error() * factor.nrows() as f64;
        let (lost, failure_probability) =
            if trace <= outside { (trace, 0.0) } else { (outside, model.bound.failure_probability()) };
        let known = Known { moments, bound, lost, failure_probability, components: model.components };
        known.model(factor, rounded, (&values, vectors.view()), rounding).carrying(&model.metadata)
    }
}
