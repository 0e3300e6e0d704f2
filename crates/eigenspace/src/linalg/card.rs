//! What the engines need from a graphics card.
//!
//! | operation | |
//! |---|---|
//! | [`Card::upload`], [`Card::download`] | copies rows to the card and back |
//! | [`Card::differences`], [`Card::center`] | the two passes of `moments.rs`, with the same results to the bit |
//! | [`Card::gram`] | [ F ; X ] [ F ; X ]ᵀ, without the products of the rows of F |
//! | [`Card::eigen`], [`Card::rotate`] | its eigenvectors U, and U [ F ; X ] |
//! | [`Card::add_scatter`] | M + δ += XᵀX |
//!
//! Matrices are row-major. Work is queued; only operations that return numbers wait for it. `stand_in.rs` computes the same on
//! the CPU, to test the code around a card on machines that have none.

use std::any::Any;
use std::fmt;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};

use super::products::{mirror, orthogonality_loss, rotate, squared_lengths};
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

    /// Some consecutive rows.
    pub(crate) fn part(&self, which: &[usize]) -> Self {
        let first = which.first().copied().unwrap_or(0) as u64;
        let address = self.address + first * self.columns as u64 * self.cell();
        Self { address, rows: which.len(), ..*self }
    }
}

/// A graphics card, or what stands in for it.
pub(crate) trait Card: fmt::Debug + Send + Sync {
    /// Reserves a matrix of zeros.
    fn zeros(&self, rows: usize, columns: usize) -> Result<Matrix, DeviceError>;

    /// Copies rows to the matrix, from this row on. The rows may change as soon as this returns; the card may have them
    /// later.
    fn upload(&self, rows: ArrayView2<'_, f64>, to: &mut Matrix, first: usize) -> Result<(), DeviceError>;

    /// Checks that rows of another library are in the memory of the card, and waits until they are written.
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

    /// The lower triangle of A Aᵀ for A = [ F ; X ], of these numbers of rows. If `orthogonal`, the rows of F are orthogonal
    /// to each other, and only their lengths are computed.
    fn gram(&self, f: (&Matrix, usize), x: (&Matrix, usize), orthogonal: bool) -> Result<Matrix, DeviceError>;

    /// All eigenvalues of a symmetric matrix, non-increasing, and its eigenvectors.
    fn eigen(&self, lower: Matrix) -> Result<(Vec<f64>, Vectors), DeviceError>;

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

    /// The squared lengths of the first `rows` rows, and whether each has a cell beyond the limit of its column.
    fn lengths(&self, f: &Matrix, rows: usize, limits: &[f64]) -> Result<(Vec<f64>, Vec<bool>), DeviceError>;

    /// M + δ += XᵀX in the lower triangle, for the first `rows` rows of X.
    fn add_scatter(&self, m: &mut Matrix, low: &mut Matrix, x: &Matrix, rows: usize) -> Result<(), DeviceError>;
}

/// Eigenvectors on a card, one per row, in the order of the card.
#[derive(Debug)]
pub(crate) struct Vectors(
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "only cards read it"))] pub(crate) Matrix,
);

/// Fewer rows are decomposed sooner on the CPU.
const MIN_CARD_ROWS: usize = 512;

/// All eigenvalues of a symmetric matrix, given by its lower triangle, and the leading `keep` eigenvectors, one per row,
/// computed on a card. `None` if the CPU is faster, if the card has failed, or if the result fails its check.
pub(crate) fn eigen_on_card(
    card: &dyn Card,
    g: ArrayView2<'_, f64>,
    keep: usize,
) -> Option<(Array1<f64>, Array2<f64>)> {
    let size = g.nrows();
    if size < MIN_CARD_ROWS {
        return None;
    }
    let solve = || {
        let mut lower = card.zeros(size, size)?;
        card.upload(g, &mut lower, 0)?;
        let (values, u) = card.eigen(lower)?;
        let mut vectors = Array2::zeros((keep, size));
        card.download(&card.leading(&u, keep)?, vectors.view_mut())?;
        Ok::<_, DeviceError>((Array1::from(values), vectors))
    };
    let (values, vectors) = solve().ok()?;
    let mut whole = g.to_owned();
    mirror(&mut whole);
    let mut residual = rotate(vectors.view(), whole.view());
    for ((mut row, vector), value) in residual.rows_mut().into_iter().zip(vectors.rows()).zip(&values) {
        row.scaled_add(-value, &vector);
    }
    let allowed = (size as f64 + 16.0) * f64::EPSILON * values.first()?.abs();
    let small = squared_lengths(residual.view()).iter().all(|square| square.sqrt() <= allowed);
    (small && orthogonality_loss(vectors.view()) <= ORTHONORMALITY_TOLERANCE).then_some((values, vectors))
}

/// Largest accepted difference between an entry of the Gram matrix of eigenvectors and the identity.
const ORTHONORMALITY_TOLERANCE: f64 = 1e-12;
