//! Loops over slices, parts of matrices, and sums in doubled precision.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::{ArrayView1, ArrayView2, Axis, Slice};

/// Runs work that has several parallel steps in a thread of the pool. Starting a step from outside
/// the pool has to wake all its threads, which takes up to 0.3 ms each time.
pub(crate) fn inside<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// Runs a loop over slices with the widest vector instructions of the machine.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The elements as a slice; copied only if they are not contiguous.
pub(crate) fn contiguous<T: Copy>(row: ArrayView1<'_, T>) -> Cow<'_, [T]> {
    row.to_slice().map_or_else(|| Cow::Owned(row.to_vec()), Cow::Borrowed)
}

/// A range of columns. (`ndarray::s!` expands to `unsafe`, which this crate denies.)
pub(crate) fn columns_of<T>(mut a: ArrayView2<'_, T>, range: Range<usize>) -> ArrayView2<'_, T> {
    a.slice_axis_inplace(Axis(1), Slice::from(range));
    a
}

/// A range of rows.
pub(crate) fn rows_of<T>(mut a: ArrayView2<'_, T>, range: Range<usize>) -> ArrayView2<'_, T> {
    a.slice_axis_inplace(Axis(0), Slice::from(range));
    a
}

/// The rounded sum of two numbers, and its exact rounding error.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// a b, and its rounding error.
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// `sum + low += more`, where `low` holds the rounding errors of `sum`.
pub(crate) fn add_in_two_words(sum: &mut [f64], low: &mut [f64], more: &[f64]) {
    vectorized(
        #[inline(always)]
        || {
            for ((sum, low), more) in sum.iter_mut().zip(low).zip(more) {
                let (rounded, error) = two_sum(*sum, *more);
                *sum = rounded;
                *low += error;
            }
        },
    );
}

/// A power of two that scales the largest entry to near 1. Scaling by it causes no rounding.
pub(crate) fn scale_to_one(a: ArrayView2<'_, f64>) -> f64 {
    let largest = a.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest > 0.0 && largest.is_finite() { (-largest.log2().round()).clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}
