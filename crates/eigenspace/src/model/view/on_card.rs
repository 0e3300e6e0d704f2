//! Scores and reconstructed rows on a card.
//!
//! ```text
//! Z = (X − 1μᵀ) Bᵀ        X̂ = [ Z 1 ] [ B ; μᵀ ]
//! ```
//!
//! The card computes in f64, whatever the precision of the rows. What it cannot do, and whatever
//! the CPU does sooner, is computed on the CPU: sparse rows, rows with missing cells, few rows and
//! few components.

use std::sync::{Arc, OnceLock};

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice, concatenate};

use crate::device_error::DeviceError;
use crate::error::Error;
use crate::linalg::{Card, Matrix, Real, RowsOnCard};
use crate::model::projectable::Projection;
use crate::model::scores::{check_fits, fitting};
use crate::rows::block::{self, Block};
use crate::rows::element::LARGEST_MAGNITUDE;

/// Rows with fewer cells are projected on the CPU.
const MIN_CELLS: usize = 1 << 22;
/// The card pays from this number of components for each thread of the CPU: copying a row takes as
/// long as this number of products with it.
const COMPONENTS_PER_THREAD: usize = 3;
/// The same for reconstructed rows: writing them to new memory takes longer than copying rows from
/// memory.
const SCORES_PER_THREAD: usize = 16;
/// Cells that are on the card at a time.
const PIECE_CELLS: usize = 1 << 27;
/// The same for reconstructed rows, which are copied once more if they are f32.
const COMBINED_CELLS: usize = 1 << 25;

/// The card of a view, and the components on it.
#[derive(Debug, Clone)]
pub(crate) struct ViewOnCard {
    card: Arc<dyn Card>,
    basis: Arc<OnceLock<Matrix>>,
}

impl ViewOnCard {
    pub(crate) fn new(card: Arc<dyn Card>) -> Self {
        Self { card, basis: Arc::default() }
    }

    /// The same card without components.
    pub(crate) fn emptied(self) -> Self {
        Self::new(self.card)
    }

    /// Whether the card is faster than the CPU with this number of rows of the host.
    pub(crate) fn pays(&self, rows: usize, features: usize, components: usize) -> bool {
        let threads = rayon::current_num_threads();
        rows.saturating_mul(features) >= MIN_CELLS && components >= COMPONENTS_PER_THREAD * threads
    }

    /// Whether the card reconstructs this number of rows faster than the CPU.
    pub(crate) fn pays_for_rows(&self, rows: usize, features: usize, scores: usize) -> bool {
        let threads = rayon::current_num_threads();
        rows.saturating_mul(features) >= MIN_CELLS && scores >= SCORES_PER_THREAD * threads
    }

    /// The scores of dense rows.
    pub(crate) fn scores<T: Real>(&self, onto: &Projection<'_>, rows: Block<'_>) -> Result<Array2<T>, Error> {
        let (features, k) = (onto.basis.ncols(), onto.basis.nrows());
        if rows.ncols() != features {
            return Err(Error::WidthMismatch { expected: features, found: rows.ncols() });
        }
        let piece = (PIECE_CELLS / features.max(1)).clamp(1, rows.nrows().max(1));
        let mut x = self.card.zeros(piece, features)?;
        let mut home = vec![0.0; piece * features]; // never touched
        let all: Vec<usize> = (0..rows.nrows()).collect();
        let mut out = Array2::zeros((rows.nrows(), k));
        for (which, mut out) in all.chunks(piece).zip(out.axis_chunks_iter_mut(Axis(0), piece)) {
            let home = &mut home[..which.len() * features];
            if !rows.made(which, |make| self.card.upload_made(home, false, make, &mut x, 0))? {
                rows.unweighted().check(features)?; // names the cell
            }
            let scores = self.products(onto, &mut x, which.len())?;
            out.assign(&scores.mapv(T::narrow));
        }
        fitting(out)
    }

    /// The scores of rows that another library has put on the card.
    pub(crate) fn scores_from_card(&self, onto: &Projection<'_>, rows: RowsOnCard) -> Result<Array2<f64>, Error> {
        let (features, k) = (onto.basis.ncols(), onto.basis.nrows());
        if rows.columns != features {
            return Err(Error::WidthMismatch { expected: features, found: rows.columns });
        }
        self.card.check(rows)?;
        let piece = (PIECE_CELLS / features.max(1)).clamp(1, rows.rows.max(1));
        let mut x = self.card.zeros(piece, features)?;
        let all: Vec<usize> = (0..rows.rows).collect();
        let mut out = Array2::zeros((rows.rows, k));
        for (which, mut out) in all.chunks(piece).zip(out.axis_chunks_iter_mut(Axis(0), piece)) {
            self.card.take_over(rows.part(which), &mut x)?;
            if !self.card.within(&x, which.len(), LARGEST_MAGNITUDE)? {
                let mut copy = Array2::zeros((which.len(), features));
                self.card.download(&x, copy.view_mut())?;
                block::check(copy.view(), features).map_err(|error| error.counted_from(which[0]))?;
            }
            out.assign(&self.products(onto, &mut x, which.len())?);
        }
        fitting(out)
    }

    /// (X − 1μᵀ) Bᵀ for the first rows of X, which are centered in place.
    fn products(&self, onto: &Projection<'_>, x: &mut Matrix, rows: usize) -> Result<Array2<f64>, DeviceError> {
        let (mean, mean_low) = (onto.mean.to_vec(), onto.mean_low.to_vec());
        self.card.center(x, rows, (&mean, &mean_low), None)?;
        let basis = self.basis(onto.basis)?;
        let mut scores = Array2::zeros((rows, basis.rows));
        self.card.download(&self.card.products((x, rows), basis)?, scores.view_mut())?;
        Ok(scores)
    }

    /// The components on the card. They are sent once, and are the same for every projection.
    fn basis(&self, basis: ArrayView2<'_, f64>) -> Result<&Matrix, DeviceError> {
        if self.basis.get().is_none() {
            let matrix = sent(&*self.card, basis)?;
            self.basis.set(matrix).unwrap_or_default(); // another thread was faster
        }
        self.basis.get().ok_or_else(|| DeviceError::Failed { reason: "the components are not there".into() })
    }

    /// The rows 1μᵀ + Z B, written to as many rows.
    pub(crate) fn combinations<T: Real>(
        &self,
        scores: ArrayView2<'_, f64>,
        mean: ArrayView1<'_, f64>,
        basis: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, T>,
    ) -> Result<(), Error> {
        let features = basis.ncols();
        let directions = sent(&*self.card, concatenate![Axis(0), basis, mean.insert_axis(Axis(0))].view())?;
        let piece = (COMBINED_CELLS / features.max(1)).clamp(1, scores.nrows().max(1));
        let mut home = Array2::zeros((0, features));
        for (scores, mut out) in scores.axis_chunks_iter(Axis(0), piece).zip(out.axis_chunks_iter_mut(Axis(0), piece)) {
            let ones = Array2::ones((scores.nrows(), 1));
            let z = sent(&*self.card, concatenate![Axis(1), scores, ones].view())?;
            let rows = self.card.combinations(&z, &directions)?;
            if let Some(wide) = T::wide(out.view_mut()) {
                self.card.download(&rows, wide)?;
                continue;
            }
            if home.nrows() < scores.nrows() {
                home = Array2::zeros((scores.nrows(), features));
            }
            let mut home = home.slice_axis_mut(Axis(0), Slice::from(..scores.nrows()));
            self.card.download(&rows, home.view_mut())?;
            ndarray::Zip::from(&mut out).and(&home).par_for_each(|to, from| *to = T::narrow(*from));
        }
        check_fits(out.view())
    }
}

/// A matrix of the host on the card.
fn sent(card: &dyn Card, rows: ArrayView2<'_, f64>) -> Result<Matrix, DeviceError> {
    let mut matrix = card.zeros(rows.nrows(), rows.ncols())?;
    card.upload(rows, &mut matrix, 0)?;
    Ok(matrix)
}

#[cfg(test)]
mod tests;
