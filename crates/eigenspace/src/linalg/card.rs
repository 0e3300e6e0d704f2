//! What the engines need from a graphics card.
//!
//! | operation | |
//! |---|---|
//! | [`Card::upload`], [`Card::download`] | copies rows to the card and back |
//! | [`Card::differences`], [`Card::center`] | the two passes of `moments.rs`, with the same results to the bit |
//! | [`Card::gram`] | [ F ; X ] [ F ; X ]ᵀ, without the products of the rows of F |
//! | [`Card::eigen`], [`Card::rotate`] | its eigenvectors U, and U [ F ; X ] |
//! | [`Card::add_scatter`] | M + δ += XᵀX |
//! | [`Card::products`], [`Card::combinations`] | X Bᵀ and Z B, for scores and reconstructed rows |
//! | [`Card::copy`], [`Card::add`] | copies and sums of matrices on the card |
//! | [`Card::residuals`] | how far eigenvectors are from being exact |
//!
//! Matrices are row-major. Work is queued; only operations that return numbers wait for it.
//! `stand_in.rs` computes the same on the CPU, to test the code around a card on machines that have
//! none.

use std::any::Any;
use std::fmt;

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};

use crate::device_error::DeviceError;

/// A matrix in the memory of a card.
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// What the card stores; only the card that made it knows the type.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "only cards read it"))]
    pub(crate) memory: Box<dyn Any + Send + Sync>,
}

/// Numbers in doubled precision, as in `moments.rs`: values, and their rounding errors.
pub(crate) type Words<'a> = (&'a [f64], &'a [f64]);

/// Writes numbers from a cell on, and says whether they are valid.
#[derive(Clone, Copy)]
pub(crate) enum Make<'a> {
    Wide(&'a (dyn Fn(usize, &mut [f64]) -> bool + Sync)),
    /// In f32, without loss. They are copied as f32, which takes half the time, and converted on
    /// the card.
    Narrow(&'a (dyn Fn(usize, &mut [f32]) -> bool + Sync)),
}

/// Number of rows that are summed before the sum is added to the others, which keeps long sums
/// precise: on cards and in `moments.rs`.
pub(crate) const SUMMED_ROWS: usize = 32;
/// Numbers that are converted at a time.
pub(crate) const CONVERTED: usize = 2048;

impl Make<'_> {
    /// Writes all numbers on the CPU, and says whether they are valid.
    pub(crate) fn write(&self, home: &mut [f64]) -> bool {
        match self {
            Make::Wide(make) => make(0, home),
            Make::Narrow(make) => {
                let mut narrow = [0.0_f32; CONVERTED];
                let mut good = true;
                for (i, home) in home.chunks_mut(CONVERTED).enumerate() {
                    let narrow = &mut narrow[..home.len()];
                    good &= make(i * CONVERTED, narrow);
                    home.iter_mut().zip(narrow).for_each(|(to, from)| *to = f64::from(*from));
                }
                good
            }
        }
    }
}

/// Rows that another library has put in the memory of a card.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct RowsOnCard {
    /// Address of the first number.
    pub address: u64,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns. Rows are contiguous and follow each other.
    pub columns: usize,
    /// Whether the numbers are f32; otherwise they are f64.
    pub narrow: bool,
}

impl RowsOnCard {
    /// Bytes of a number.
    pub(crate) fn cell(&self) -> u64 {
        if self.narrow { 4 } else { 8 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.rows as u64).saturating_mul(self.columns as u64).saturating_mul(self.cell())
    }

    /// The error if they are not in the memory of the card.
    pub(crate) fn missing(&self) -> DeviceError {
        DeviceError::NotOnDevice { address: self.address, bytes: self.bytes() }
    }

    /// Some consecutive rows.
    pub(crate) fn part(&self, which: &[usize]) -> Self {
        let first = which.first().copied().unwrap_or(0) as u64;
        let address = self.address + first * self.columns as u64 * self.cell();
        Self { address, rows: which.len(), ..*self }
    }
}

/// A graphics card, or what stands in for it.
pub(crate) trait Card: fmt::Debug + Send + Sync {
    /// What messages call it.
    fn name(&self) -> String;

    /// Reserves a matrix of zeros.
    fn zeros(&self, rows: usize, columns: usize) -> Result<Matrix, DeviceError>;

    /// Copies rows to the matrix, from this row on. The rows may change as soon as this returns;
    /// the card may have them later.
    fn upload(&self, rows: ArrayView2<'_, f64>, to: &mut Matrix, first: usize) -> Result<(), DeviceError>;

    /// Makes the numbers of `home` and copies them to the card, from this row on. `make` writes the
    /// part that starts at a cell, and says whether its numbers are valid. Returns whether all of
    /// them are. If not `keep`, the numbers are only on the card afterward, and `home` is
    /// undefined, as it is if the card fails.
    fn upload_made(
        &self,
        home: &mut [f64],
        keep: bool,
        make: Make<'_>,
        to: &mut Matrix,
        first: usize,
    ) -> Result<bool, DeviceError>;

    /// Whether the absolute values of the first `rows` rows are at most this limit.
    fn within(&self, x: &Matrix, rows: usize, limit: f64) -> Result<bool, DeviceError>;

    /// Checks that rows of another library are in the memory of the card, and waits until they are
    /// written.
    fn check(&self, rows: RowsOnCard) -> Result<(), DeviceError>;

    /// Copies such rows, which were checked, to the first rows of a matrix.
    fn take_over(&self, rows: RowsOnCard, to: &mut Matrix) -> Result<(), DeviceError>;

    /// Copies the first rows of a matrix from the card, as many as fit.
    fn download(&self, from: &Matrix, to: ArrayViewMut2<'_, f64>) -> Result<(), DeviceError>;

    /// Σ weight (x − near) per column over the first `rows` rows.
    fn differences(
        &self,
        x: &Matrix,
        rows: usize,
        near: Words<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Vec<f64>, DeviceError>;

    /// x = root (x − center) in the first `rows` rows, and the sums of squares per column.
    fn center(
        &self,
        x: &mut Matrix,
        rows: usize,
        center: Words<'_>,
        roots: Option<&[f64]>,
    ) -> Result<Vec<f64>, DeviceError>;

    /// The lower triangle of A Aᵀ for A = [ F ; X ], of these numbers of rows. If `orthogonal`, the
    /// rows of F are orthogonal to each other, and only their lengths are computed.
    fn gram(&self, f: (&Matrix, usize), x: (&Matrix, usize), orthogonal: bool) -> Result<Matrix, DeviceError>;

    /// At least the leading `wanted` eigenvalues of a symmetric matrix, non-increasing, and their
    /// eigenvectors.
    fn eigen(&self, lower: Matrix, wanted: usize) -> Result<(Vec<f64>, Vectors), DeviceError>;

    /// The leading eigenvectors, one per row.
    fn leading(&self, u: &Vectors, keep: usize) -> Result<Matrix, DeviceError>;

    /// out = diag(scales) U [ F ; X ] for the leading eigenvectors U, one for each scale.
    fn rotate(
        &self,
        u: &Vectors,
        scales: &[f64],
        f: (&Matrix, usize),
        x: (&Matrix, usize),
        out: &mut Matrix,
    ) -> Result<(), DeviceError>;

    /// The squared lengths of the first `rows` rows, and whether each has a cell beyond the limit
    /// of its column.
    fn lengths(&self, f: &Matrix, rows: usize, limits: &[f64]) -> Result<(Vec<f64>, Vec<bool>), DeviceError>;

    /// M + δ += XᵀX in the lower triangle, for the first `rows` rows of X.
    fn add_scatter(&self, m: &mut Matrix, low: &mut Matrix, x: &Matrix, rows: usize) -> Result<(), DeviceError>;

    /// Copies the first `rows` rows of a matrix to the first rows of another one with as many
    /// columns.
    fn copy(&self, from: &Matrix, rows: usize, to: &mut Matrix) -> Result<(), DeviceError>;

    /// A += B for matrices of the same shape.
    fn add(&self, to: &mut Matrix, more: &Matrix) -> Result<(), DeviceError>;

    /// X Bᵀ for the first rows of X, of this number.
    fn products(&self, x: (&Matrix, usize), b: &Matrix) -> Result<Matrix, DeviceError>;

    /// Z B.
    fn combinations(&self, z: &Matrix, b: &Matrix) -> Result<Matrix, DeviceError>;

    /// ‖v M − λ v‖² for the leading eigenvectors v of a symmetric matrix, given by its lower
    /// triangle, one for each value λ.
    fn residuals(&self, lower: &Matrix, u: &Vectors, values: &[f64]) -> Result<Vec<f64>, DeviceError>;
}

/// Reserves a copy of a matrix.
pub(crate) fn copy_of(card: &dyn Card, from: &Matrix) -> Result<Matrix, DeviceError> {
    let mut copy = card.zeros(from.rows, from.columns)?;
    card.copy(from, from.rows, &mut copy)?;
    Ok(copy)
}

/// Eigenvectors on a card, one per row, in the order of the card.
#[derive(Debug)]
pub(crate) struct Vectors(
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "only cards read it"))] pub(crate) Matrix,
);

/// Eigenvalues, and the leading eigenvectors, one per row.
pub(crate) type Eigenpairs = (Array1<f64>, Array2<f64>);

/// Fewer rows are decomposed sooner on the CPU.
pub(crate) const MIN_CARD_ROWS: usize = 512;

/// The eigenpairs of [`checked_eigen`] for a matrix on the host, given by its lower triangle.
/// `None` if the CPU is faster, if the card has failed, or if the result fails its check.
pub(crate) fn eigen_on_card(card: &dyn Card, g: ArrayView2<'_, f64>, keep: usize) -> Option<Eigenpairs> {
    let size = g.nrows();
    if size < MIN_CARD_ROWS {
        return None;
    }
    let solve = || {
        let mut lower = card.zeros(size, size)?;
        card.upload(g, &mut lower, 0)?;
        checked_eigen(card, &lower, keep)
    };
    solve().unwrap_or_default()
}

/// The leading eigenvalues of a symmetric matrix on a card, given by its lower triangle: at least
/// one more than `keep`, if there are as many. And the leading `keep` eigenvectors. `None` if they
/// fail the check, which runs on the card too.
pub(crate) fn checked_eigen(card: &dyn Card, lower: &Matrix, keep: usize) -> Result<Option<Eigenpairs>, DeviceError> {
    let (values, u) = card.eigen(copy_of(card, lower)?, keep.saturating_add(1))?;
    if keep == 0 || values.len() < keep || values.iter().any(|value| !value.is_finite()) {
        return Ok(None);
    }
    let allowed = (lower.rows as f64 + 16.0) * f64::EPSILON * values[0].abs();
    let residuals = card.residuals(lower, &u, &values[..keep])?;
    if !residuals.iter().all(|square| square.sqrt() <= allowed) {
        return Ok(None);
    }
    let leading = card.leading(&u, keep)?;
    drop(u);
    let mut gram = Array2::zeros((keep, keep));
    card.download(&card.gram((&leading, 0), (&leading, keep), false)?, gram.view_mut())?;
    if !are_orthonormal(gram.view()) {
        return Ok(None);
    }
    let mut vectors = Array2::zeros((keep, lower.columns));
    card.download(&leading, vectors.view_mut())?;
    Ok(Some((Array1::from(values), vectors)))
}

/// Whether the lower triangle of the Gram matrix of some rows is that of the identity.
fn are_orthonormal(gram: ArrayView2<'_, f64>) -> bool {
    let near = |x: f64, expected: f64| (x - expected).abs() <= CARD_ORTHONORMALITY_TOLERANCE; // false for NaN
    gram.axis_iter(Axis(0))
        .into_par_iter()
        .enumerate()
        .all(|(i, row)| row.iter().take(i).all(|x| near(*x, 0.0)) && near(row[i], 1.0))
}

/// Largest accepted difference between an entry of the Gram matrix of eigenvectors and the
/// identity.
const CARD_ORTHONORMALITY_TOLERANCE: f64 = 1e-12;
