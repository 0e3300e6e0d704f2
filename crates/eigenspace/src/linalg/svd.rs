//! The thin singular value decomposition A = U S V, checked.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::linalg::{qr, svd};
use faer::{Mat, Par};
use faer_ext::IntoFaer;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use super::eigen::replace_zero_rows;
use super::jacobi;
use super::products::{cross, gram, orthogonality_loss, squared_lengths};
use super::slices::scale_to_one;

/// Singular values, non-increasing, and right singular vectors (one per row) of any matrix.
///
/// If many values are equal or zero, faer 0.24.4 sometimes returns values that do not exist, or
/// fails. So its result is checked, and if it is wrong, computed again by Jacobi rotations.
pub(crate) fn thin_svd(a: ArrayView2<'_, f64>) -> (Array1<f64>, Array2<f64>) {
    if a.is_empty() {
        return (Array1::zeros(0), Array2::zeros((0, a.ncols())));
    }
    let scale = scale_to_one(a);
    let scaled = &a * scale;
    let right = |pairs: &(Array1<f64>, Array2<f64>)| decomposes(scaled.view(), pairs.0.view(), pairs.1.view());
    let (values, right) = svd_by_faer(scaled.view()).filter(right).unwrap_or_else(|| {
        let (values, mut right) = jacobi::svd(no_more_rows_than_columns(scaled.view()).view());
        replace_zero_rows(&mut right);
        (values, right)
    });
    (values / scale, right)
}

/// At most as many rows as columns with the same AᵀA, computed by reflections, which keep the
/// digits of each column.
pub(crate) fn no_more_rows_than_columns(a: ArrayView2<'_, f64>) -> Array2<f64> {
    let (rows, columns) = a.dim();
    if rows <= columns {
        return a.to_owned();
    }
    let block = recommended_block_size::<f64>(rows, columns);
    let mut r = Mat::<f64>::zeros(rows, columns);
    r.copy_from(a.into_faer());
    let mut factors = Mat::<f64>::zeros(block, columns);
    let scratch =
        qr::no_pivoting::factor::qr_in_place_scratch::<f64>(rows, columns, block, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    qr::no_pivoting::factor::qr_in_place(r.as_mut(), factors.as_mut(), Par::Seq, stack, Default::default());
    Array2::from_shape_fn((columns, columns), |(i, j)| if i <= j { r[(i, j)] } else { 0.0 })
}

pub(super) fn svd_by_faer(a: ArrayView2<'_, f64>) -> Option<(Array1<f64>, Array2<f64>)> {
    use svd::ComputeSvdVectors::{No, Thin};
    let (rows, columns) = a.dim();
    let size = rows.min(columns);
    let (mut values, mut right) = (Array1::<f64>::zeros(size), Array2::<f64>::zeros((size, columns)));
    let scratch = svd::svd_scratch::<f64>(rows, columns, No, Thin, Par::Seq, Default::default());
    svd::svd(
        a.into_faer(),
        DiagMut::from_slice_mut(values.as_slice_mut().expect("a new array is contiguous")),
        None,
        Some(right.view_mut().reversed_axes().into_faer()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    Some((values, right))
}

/// Whether V Vᵀ = I, and the columns of A Vᵀ are orthogonal and have these lengths, up to rounding:
/// then A = U S V.
pub(super) fn decomposes(a: ArrayView2<'_, f64>, values: ArrayView1<'_, f64>, v: ArrayView2<'_, f64>) -> bool {
    let (size, largest) = (values.len(), values[0]);
    let rounding = f64::EPSILON * (size as f64).max(16.0);
    let sorted = largest >= 0.0 && values.windows(2).into_iter().all(|pair| pair[0] >= pair[1]);
    let orthonormal = orthogonality_loss(v) <= rounding; // false for NaN
    if !sorted || !orthonormal {
        return false;
    }
    let along = gram(cross(v, a).view());
    let allowed = |i: usize, j: usize| 2.0 * rounding * largest * (values[i] + values[j] + rounding * largest);
    let held: f64 = values.iter().map(|s| s * s).sum();
    let total: f64 = squared_lengths(a).sum();
    let complete = (total - held).abs() <= 2.0 * rounding * total;
    complete
        && along.indexed_iter().all(|((i, j), x)| {
            let expected = if i == j { values[i] * values[i] } else { 0.0 };
            (x - expected).abs() <= allowed(i, j)
        })
}
