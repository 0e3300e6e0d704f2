//! A block of rows: the only place where the caller's numbers are checked.
//!
//! ```text
//! X ∈ ℝ^(m × D),   |x_ij| ≤ 10^140
//! ```
//!
//! A block is refused or accepted as a whole, before anything is computed from it.

use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

use crate::element::Element;
use crate::error::Error;
use crate::linalg::vectorised;

/// Largest magnitude accepted: its square, summed over 10^27 cells, still is a finite f64.
const LARGEST: f64 = 1e140;
/// Rows checked by one task.
const CHECK_ROWS: usize = 64;

/// Checks width and values; names the first bad cell in row order.
pub(crate) fn check<E: Element>(rows: ArrayView2<'_, E>, features: usize) -> Result<(), Error> {
    if rows.ncols() != features {
        return Err(Error::WidthMismatch { expected: features, found: rows.ncols() });
    }
    if features == 0 {
        return Err(Error::NoFeatures);
    }
    // Counting, rather than stopping at the first, keeps the loop free of branches.
    let good = |x: &E| x.to_f64().abs() <= LARGEST; // false for NaN too
    let count = |bad: u32, x: &E| bad + u32::from(!good(x));
    let bad = |row: ArrayView1<'_, E>| match row.to_slice() {
        Some(row) => vectorised(|| row.iter().fold(0, count)),
        None => row.iter().fold(0, count),
    };
    let clean = rows
        .axis_chunks_iter(Axis(0), CHECK_ROWS)
        .into_par_iter()
        .all(|chunk| chunk.rows().into_iter().all(|row| bad(row) == 0));
    if clean { Ok(()) } else { Err(first_bad(rows)) }
}

fn first_bad<E: Element>(rows: ArrayView2<'_, E>) -> Error {
    for ((row, column), x) in rows.indexed_iter() {
        let value = x.to_f64();
        if !value.is_finite() {
            return Error::NonFinite { row, column, value };
        }
        if value.abs() > LARGEST {
            return Error::TooLarge { row, column, value, limit: LARGEST };
        }
    }
    Error::NoFeatures // not reached: some cell failed the same comparison above
}

/// The one copy of the caller's rows, widened.
pub(crate) fn widened<E: Element>(rows: ArrayView2<'_, E>) -> Array2<f64> {
    let mut copy = Array2::zeros(rows.dim());
    copy.zip_mut_with(&rows, |out, x| *out = x.to_f64());
    copy
}
