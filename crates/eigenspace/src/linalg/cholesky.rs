//! The Cholesky factorization S = C Cᵀ, and triangular systems with C.

use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{cholesky, triangular_solve};
use faer_ext::IntoFaer;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

/// The lower triangular `C` with `S = C Cᵀ`, or `None` if `S` is not positive definite.
pub(crate) fn cholesky(s: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
    let n = s.nrows();
    // faer is several times faster on columns than on rows.
    let mut c = s.t().as_standard_layout().into_owned();
    let scratch = cholesky::llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
    cholesky::llt::factor::cholesky_in_place(
        c.view_mut().reversed_axes().into_faer(),
        Default::default(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    let mut c = c.reversed_axes().as_standard_layout().into_owned();
    for i in 0..n {
        c.row_mut(i).slice_axis_mut(Axis(0), Slice::from(i + 1..)).fill(0.0);
    }
    Some(c)
}

/// Solves `X C = B` for a lower triangular `C`; `X` overwrites `B`.
pub(crate) fn solve_lower_on_the_right(c: ArrayView2<'_, f64>, b: ArrayViewMut2<'_, f64>) {
    triangular_solve::solve_upper_triangular_in_place(
        c.into_faer().transpose(),
        b.reversed_axes().into_faer(),
        Par::Seq,
    );
}

/// Solves `C X = B` for a lower triangular `C`; `X` overwrites `B`.
pub(crate) fn solve_lower(c: ArrayView2<'_, f64>, b: ArrayViewMut2<'_, f64>) {
    triangular_solve::solve_lower_triangular_in_place(c.into_faer(), b.into_faer(), Par::Seq);
}
