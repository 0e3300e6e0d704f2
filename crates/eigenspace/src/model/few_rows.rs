//! Scores of a few rows, as products of vectors.
//!
//! ```text
//! z_i = (x − μ) · v_i        i = 1 … k
//! ```
//!
//! A matrix product would copy the components into the order that it reads them in, and another
//! thread would have to be woken. For one row both take longer than the arithmetic.

use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::error::Error;
use crate::linalg::{self, Real};
use crate::rows::block;
use crate::rows::element::Element;

/// Up to this number of rows, each is centered and multiplied by one component after the other, on
/// the calling thread, so that nothing is copied or sent to another thread.
pub(crate) const FEW_ROWS: usize = 4;

/// (X − 1μᵀ) Bᵀ for a few rows, in f64.
pub(crate) fn few_products<E: Element>(
    rows: ArrayView2<'_, E>,
    (mean, mean_low): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
    basis: ArrayView2<'_, f64>,
) -> Result<Array2<E::Work>, Error> {
    let (mean, mean_low) = (linalg::contiguous(mean), linalg::contiguous(mean_low));
    let components: Vec<_> = basis.rows().into_iter().map(linalg::contiguous).collect();
    let mut centered = vec![0.0; mean.len()];
    let mut out = Array2::zeros((rows.nrows(), basis.nrows()));
    for (row, mut out) in rows.rows().into_iter().zip(out.rows_mut()) {
        if !center(&mut centered, &linalg::contiguous(row), &mean, &mean_low) {
            block::check(rows, mean.len())?; // names the cell
        }
        for (start, four) in components.chunks(4).enumerate().map(|(i, four)| (4 * i, four)) {
            let scores = linalg::inner_products(&centered, std::array::from_fn(|i| &*four[i.min(four.len() - 1)]));
            scores.iter().take(four.len()).enumerate().for_each(|(i, z)| out[start + i] = E::Work::narrow(*z));
        }
    }
    Ok(out)
}

/// `to = from − mean`; whether every cell of `from` is acceptable.
pub(crate) fn center<E: Element, T: Real>(to: &mut [T], from: &[E], mean: &[f64], mean_low: &[f64]) -> bool {
    let mut refused = 0_u32;
    linalg::vectorized(
        #[inline(always)]
        || {
            for (((to, x), mu), low) in to.iter_mut().zip(from).zip(mean).zip(mean_low) {
                refused += u32::from(!block::acceptable(x));
                *to = T::narrow((x.to_f64() - mu) - low);
            }
        },
    );
    refused == 0
}
