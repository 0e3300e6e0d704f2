//! The factor engine: at most `max_rank` directions, compressed once per block.
//!
//! ```text
//! A = [ F ; X − 1tᵀ ],   A Aᵀ = Uᵀ diag(λ) U,   F ← U_r A,   lost += λ_{r+1}
//! ```
//!
//! F is a *factor*, not a basis: its rows are the directions times their singular values. A
//! compression rotates A by an orthonormal U and drops the last rows. It divides by nothing, so FᵀF
//! = Aᵀ U_rᵀ U_r A differs from AᵀA only by the dropped eigenvalues and by rounding, however
//! ill-conditioned A is. Orthonormal directions are computed only when the stream is read
//! (`decompose.rs`).
//!
//! Cost of a compression: (m² + 2 r m) D + 2 r (r + m) D for the products, because the rows of F
//! are already orthogonal, and r eigenvectors of a matrix of size r + m.
//!
//! Dense rows, more rows than features, and sparse rows differ in how A is prepared and rotated;
//! the rest is one function, [`Factor::reduce`]. It also merges two factors: A = [ F₁ ; F₂ ; c ],
//! with c of `moments.rs`.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView2, Axis, Slice, concatenate};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::linalg::{self, Eigen};
use crate::model::bound::{Bound, Rounding, UNIT};
use crate::model::decompose::{self, rotation};
use crate::model::moments::Moments;
use crate::model::truncation::{Cut, Rank};
use crate::stream::buffer::RowBuffer;

/// After this number of compressions, the products of the rows of F are computed again; in between,
/// the rows are assumed to be orthogonal, as rotations leave them.
const TRUSTED_COMPRESSIONS: u64 = 16;

/// Moments and error bound of the rows inside F; F itself is in the buffer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Factor {
    moments: Moments,
    bound: Bound,
    /// Number of compressions so far.
    compressions: u64,
}

/// Determines which directions a compression keeps.
pub(crate) struct Rule<'a> {
    /// Largest number of directions to keep.
    pub(crate) limit: Rank,
    /// Whether directions are compared in standardized units.
    pub(crate) standardized: bool,
    /// Chooses the number of directions from the squared singular values and the total scatter.
    pub(crate) cut: &'a dyn Fn(&[f64], f64) -> Cut,
}

/// A compression whose Gram matrix has been computed.
struct Prepared {
    /// The moments of all rows, and their bound before the compression.
    moments: Moments,
    bound: Bound,
    /// A Aᵀ, in standardized units if the rule requires it.
    gram: Array2<f64>,
    units: Option<Array1<f64>>,
    /// t, if pending rows are sparse and therefore centered inside the products.
    center: Option<Array1<f64>>,
    /// Bound on the error of the products, in addition to the rounding of the rotation.
    cancellation: f64,
    rounding: Rounding,
}

impl Factor {
    /// The factor of rows with these moments and this bound.
    pub(crate) fn new(moments: Moments, bound: Bound) -> Self {
        Self { moments, bound, compressions: 0 }
    }

    /// The same after so many compressions.
    pub(crate) fn restored(moments: Moments, bound: Bound, compressions: u64) -> Self {
        Self { moments, bound, compressions }
    }

    pub(crate) fn moments(&self) -> &Moments {
        &self.moments
    }

    pub(crate) fn moments_mut(&mut self) -> &mut Moments {
        &mut self.moments
    }

    pub(crate) fn bound(&self) -> &Bound {
        &self.bound
    }

    pub(crate) fn compressions(&self) -> u64 {
        self.compressions
    }

    /// Multiplies the weight of every row inside F.
    pub(crate) fn forget(&mut self, buffer: &mut RowBuffer, weight: f64) {
        self.moments = self.moments.scaled(weight);
        self.bound = std::mem::replace(&mut self.bound, Bound::exact(0)).scaled(weight);
        let root = weight.sqrt();
        buffer.factor_mut().mapv_inplace(|x| x * root);
    }

    /// Reduces all rows of the buffer to the directions that the rule keeps.
    pub(crate) fn compress(
        &mut self,
        buffer: &mut RowBuffer,
        weights: Option<&[f64]>,
        rule: &Rule<'_>,
    ) -> Result<(), Error> {
        if buffer.len() > buffer.features() {
            // With more rows than features, dense rows take little memory.
            buffer.make_dense();
        }
        let ones = vec![1.0; if buffer.is_sparse() { buffer.pending() } else { 0 }];
        let sparse_weights = weights.unwrap_or(&ones);
        let prepared = match buffer.is_sparse() {
            true => self.prepare_sparse(buffer, sparse_weights, rule)?,
            false => self.prepare_dense(buffer, weights, rule)?,
        };
        self.reduce(buffer, sparse_weights, prepared, rule);
        Ok(())
    }

    /// Adds the rows inside another factor F₂, A = [ F ; F₂ ; c ], and returns a buffer with the
    /// factor of both.
    pub(crate) fn merge(
        &mut self,
        own: ArrayView2<'_, f64>,
        other: &Self,
        others: ArrayView2<'_, f64>,
        rule: &Rule<'_>,
    ) -> Result<RowBuffer, Error> {
        // The set of rows with the larger weight comes first, which is more precise.
        let heavier = self.moments.weight().value() >= other.moments.weight().value();
        let ((one, f1), (two, f2)) =
            if heavier { ((&*self, own), (other, others)) } else { ((other, others), (&*self, own)) };
        let (moments, c) = one.moments.merge(&two.moments)?;
        let weights = (one.moments.weight().value(), two.moments.weight().value());
        let bound = one.bound.combined(&two.bound, weights, moments.scatter(), &c);
        let mut buffer = RowBuffer::starting_with(concatenate![Axis(0), f1, f2, c.view().insert_axis(Axis(0))]);
        let prepared = prepare_rows(&mut buffer, moments, bound, false, rule);
        self.reduce(&mut buffer, &[], prepared, rule);
        Ok(buffer)
    }

    /// Rotates the rows of the buffer and drops the last of them.
    fn reduce(&mut self, buffer: &mut RowBuffer, sparse_weights: &[f64], prepared: Prepared, rule: &Rule<'_>) {
        let eigen = Eigen::of(prepared.gram.view(), rule.limit.of(prepared.gram.nrows()) + 1);
        let (cut, eigenvalue_error) =
            rule.cut_of(&eigen.values, eigen.size(), &prepared.moments, prepared.units.as_ref());
        let mut u = eigen.vectors(0..cut.keep);
        for (mut row, value) in u.rows_mut().into_iter().zip(&eigen.values).filter(|_| cut.shrink > 0.0) {
            row *= cut.shrinkage(*value);
        }
        match &prepared.center {
            None => linalg::rotate_in_place(u.view(), buffer.all_mut()),
            Some(center) => rotate_sparse(u.view(), buffer, center, sparse_weights),
        }
        let significant = significant_row_count(buffer.first(cut.keep), &prepared.moments);
        buffer.keep_factor(significant);
        let largest = linalg::squared_lengths(buffer.factor()).iter().fold(0.0, |a: f64, b| a.max(*b));
        self.record(largest, prepared, cut.lost, eigenvalue_error);
    }

    /// Centers dense rows in place and computes the Gram matrix.
    fn prepare_dense(
        &self,
        buffer: &mut RowBuffer,
        weights: Option<&[f64]>,
        rule: &Rule<'_>,
    ) -> Result<Prepared, Error> {
        let absorbed = self.moments.absorb(buffer.raw_mut(), weights)?;
        let bound = self.bound.absorbed(&self.moments, &absorbed);
        Ok(prepare_rows(buffer, absorbed.into_moments(), bound, self.is_trusted(), rule))
    }

    /// Whether the rows of F are assumed to be orthogonal.
    pub(crate) fn is_trusted(&self) -> bool {
        !self.compressions.is_multiple_of(TRUSTED_COMPRESSIONS)
    }

    /// Computes the Gram matrix of sparse rows, which are centered inside the products.
    fn prepare_sparse(&self, buffer: &RowBuffer, weights: &[f64], rule: &Rule<'_>) -> Result<Prepared, Error> {
        let (absorbed, center) = buffer.sparse().absorb(&self.moments, weights)?;
        let (kept, f) = (buffer.kept(), buffer.factor());
        let units = rule.units(absorbed.moments());
        let scaled = units.as_ref().map(|units| (&f / units, buffer.sparse().rescaled(units), &center / units));
        let mut gram = match &scaled {
            None => buffer.sparse().gram(f, &center, weights),
            Some((f, sparse, center)) => sparse.gram(f.view(), center, weights),
        };
        if units.is_some() || self.compressions.is_multiple_of(TRUSTED_COMPRESSIONS) {
            let f = scaled.as_ref().map_or(f, |(f, ..)| f.view());
            let mut own = gram.slice_axis_mut(Axis(0), Slice::from(..kept));
            own.slice_axis_mut(Axis(1), Slice::from(..kept)).assign(&linalg::gram(f));
        }
        // Centering by subtraction inside the products loses digits if the mean is large compared
        // with the spread.
        let weight: f64 = weights.iter().sum();
        let outweighed = |q: &f64, center: &f64| if *q > 0.0 { weight * center * center / q } else { 0.0 };
        let worst = absorbed.moments().scatter().iter().zip(&center).map(|(q, t)| outweighed(q, t)).fold(0.0, f64::max);
        let scaled_center = scaled.as_ref().map_or(&center, |(.., center)| center);
        let cancellation = 64.0 * UNIT * weight * scaled_center.iter().map(|t| t * t).sum::<f64>();
        let rounding = rotation(2 * gram.nrows()).for_longer_columns(f64::sqrt(1.0 + worst));
        // The center is rounded to one f64.
        let off = center.mapv(|t| weight.sqrt() * UNIT * t.abs());
        let bound = self.bound.clone().shifted(absorbed.c(), &off, absorbed.moments().scatter());
        let bound = bound.absorbed(&self.moments, &absorbed);
        Ok(Prepared {
            moments: absorbed.into_moments(),
            bound,
            gram,
            units,
            center: Some(center),
            cancellation,
            rounding,
        })
    }

    /// The factor after a compression on a card that kept directions of these squared lengths.
    pub(crate) fn compressed(
        &self,
        (moments, bound): (Moments, Bound),
        size: usize,
        largest: f64,
        (lost, eigenvalue_error): (f64, f64),
    ) -> Self {
        let gram = Array2::zeros((0, 0));
        let rounding = rotation(2 * size);
        let mut after = self.clone();
        let prepared = Prepared { moments, bound, gram, units: None, center: None, cancellation: 0.0, rounding };
        after.record(largest, prepared, lost, eigenvalue_error);
        after
    }

    /// Adds what a compression dropped and rounded to the bound, and updates the moments. `largest`
    /// is the largest squared length of a row that was kept.
    fn record(&mut self, largest: f64, prepared: Prepared, lost: f64, eigenvalue_error: f64) {
        let Prepared { moments, bound, units, cancellation, rounding, .. } = prepared;
        let (q, eigenvalue_error) = (moments.scatter(), eigenvalue_error + cancellation);
        self.bound = match units {
            None => bound.losing(lost).rounded(rounding.with_whole_error(eigenvalue_error), q, largest),
            Some(units) => {
                bound.losing_in(&units, lost).rounded(rounding.with_feature_error(eigenvalue_error), q, largest)
            }
        };
        self.moments = moments;
        self.compressions += 1;
    }
}

/// Computes the Gram matrix of centered dense rows; those of the factor are orthogonal if they are
/// `trusted`.
fn prepare_rows(buffer: &mut RowBuffer, moments: Moments, bound: Bound, trusted: bool, rule: &Rule<'_>) -> Prepared {
    let kept = buffer.kept();
    let tall = buffer.len() > buffer.features();
    if tall {
        // Replaces the rows by a smaller triangle with the same AᵀA.
        let triangle = linalg::no_more_rows_than_columns(buffer.all());
        buffer.shorten(triangle.nrows());
        buffer.all_mut().assign(&triangle);
    }
    let units = rule.units(&moments);
    let scaled = units.as_ref().map(|units| &buffer.all() / units);
    let matrix = scaled.as_ref().map_or(buffer.all(), |scaled| scaled.view());
    let trusted = trusted && !tall && units.is_none();
    let gram = linalg::gram_with_orthogonal_groups(matrix, if trusted { std::slice::from_ref(&kept) } else { &[] });
    let rotations = gram.nrows() * if tall { 2 } else { 1 };
    Prepared { moments, bound, gram, units, center: None, cancellation: 0.0, rounding: rotation(2 * rotations) }
}

/// F ← U₁ F + U₂ diag(√w) (X − 1tᵀ), in place: allocating memory would take longer than the
/// product.
fn rotate_sparse(u: ArrayView2<'_, f64>, buffer: &mut RowBuffer, center: &Array1<f64>, weights: &[f64]) {
    let (kept, keep) = (buffer.kept(), u.nrows());
    let (mut rotated, sparse) = buffer.factor_and_sparse(keep);
    let mut square = Array2::zeros((keep, rotated.nrows()));
    square.slice_axis_mut(Axis(1), Slice::from(..kept)).assign(&linalg::columns_of(u, 0..kept));
    linalg::rotate_in_place(square.view(), rotated.view_mut());
    rotated.slice_axis_inplace(Axis(0), Slice::from(..keep));
    rotated.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(k, mut row)| {
        let row = row.as_slice_mut().expect("rows of a factor are contiguous");
        sparse.add_rotated(|i| u[[k, kept + i]], center, weights, row);
    });
}

impl Rule<'_> {
    /// The units √q_j by which features are divided; `None` if they keep their units.
    fn units(&self, moments: &Moments) -> Option<Array1<f64>> {
        self.standardized.then(|| moments.scatter().mapv(|q| if q > 0.0 { q.sqrt() } else { 1.0 }))
    }

    /// The cut, and a bound on the error of the eigenvalues of the Gram matrix of this size if
    /// anything is dropped.
    pub(crate) fn cut_of(
        &self,
        values: &Array1<f64>,
        size: usize,
        moments: &Moments,
        units: Option<&Array1<f64>>,
    ) -> (Cut, f64) {
        let squared: Vec<f64> = values.iter().map(|value| value.max(0.0)).collect();
        let total = match units {
            None => moments.total(),
            Some(_) => moments.scatter().iter().filter(|q| **q > 0.0).count() as f64,
        };
        let cut = (self.cut)(&squared, total);
        if cut.keep >= moments.rank_limit().min(size) {
            return (Cut { lost: 0.0, shrink: 0.0, ..cut }, 0.0);
        }
        let eigenvalue_error = 8.0 * (size as f64 + 16.0) * UNIT * squared.first().copied().unwrap_or(0.0);
        // Dropped eigenvalues that cannot be distinguished from zero count as rounding.
        if cut.lost <= eigenvalue_error {
            (Cut { lost: 0.0, shrink: 0.0, ..cut }, 2.0 * eigenvalue_error)
        } else {
            (cut, eigenvalue_error)
        }
    }
}

/// The number of rows up to the last one that is more than rounding in any feature.
fn significant_row_count(rows: ArrayView2<'_, f64>, moments: &Moments) -> usize {
    decompose::significant_rows(rows, moments.scatter().view(), rows.nrows()).last().map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests;
