//! Products of rows with directions, and of scores with directions.
//!
//! Rows are multiplied in their own precision (`project.rs`), some at a time, and checked while
//! they are in the cache.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::error::Error;
use crate::linalg::{self, PANEL, Real};
use crate::model::few_rows::{FEW_ROWS, center, few_products};
use crate::model::moments::Moments;
use crate::rows::block;
use crate::rows::element::Element;
use crate::rows::sparse::SparseRows;

/// Number of rows of one task.
const TASK_ROWS: usize = 64;
/// The same for many rows. Each task packs the components again, so larger tasks do it less often.
const LARGE_TASK_ROWS: usize = 128;
/// From this number of rows on, rows are many.
const MANY_ROWS: usize = 1024;
/// From this number of rows on, the components are written column by column, as the product reads
/// them.
const TURNED_ROWS: usize = 256;
/// Number of features of the components that are written together.
const TURNED_AT_A_TIME: usize = 256;
/// A squared mean of this many times the variance would cost three digits of the scores of sparse
/// rows.
const MAX_SPARSE_MEAN_RATIO: f64 = 1e6;

/// (X − 1μᵀ) Bᵀ for sparse rows, as X Bᵀ − 1 (B μ)ᵀ. Where a mean is far larger than the spread of
/// its feature, that would cost digits; rows are made dense then, some at a time.
pub(crate) fn sparse_products(
    rows: SparseRows<'_>,
    moments: &Moments,
    mean: ArrayView1<'_, f64>,
    mean_low: ArrayView1<'_, f64>,
    basis: ArrayView2<'_, f64>,
) -> Result<Array2<f64>, Error> {
    let far =
        |(mean, q): (&f64, &f64)| mean * mean * moments.weight().value() > MAX_SPARSE_MEAN_RATIO * q && *mean != 0.0;
    if moments.mean().iter().zip(moments.scatter()).any(far) {
        let mut out = Array2::zeros((rows.nrows(), basis.nrows()));
        let mut dense = Array2::zeros((TASK_ROWS, rows.ncols()));
        for (task, mut out) in out.axis_chunks_iter_mut(Axis(0), TASK_ROWS).enumerate() {
            let mut dense = dense.slice_axis_mut(Axis(0), Slice::from(..out.nrows()));
            dense.fill(0.0);
            for (i, mut to) in dense.rows_mut().into_iter().enumerate() {
                rows.row(task * TASK_ROWS + i).for_each(|(j, x)| to[j] += x);
            }
            out.assign(&products(dense.view(), (mean, mean_low), basis, false)?);
        }
        return Ok(out);
    }
    let mut out = Array2::zeros((basis.nrows(), rows.nrows()));
    out.axis_iter_mut(Axis(0)).into_par_iter().zip(basis.axis_iter(Axis(0)).into_par_iter()).for_each(
        |(mut out, component)| {
            let origin = component.dot(&mean);
            for (i, z) in out.iter_mut().enumerate() {
                *z = rows.row(i).map(|(j, x)| component[j] * x).sum::<f64>() - origin;
            }
        },
    );
    Ok(out.reversed_axes())
}

/// (X − 1μᵀ) Bᵀ in the precision of the rows, centered in f64 before the product or, if
/// `near_origin`, after it.
///
/// Rows are checked while they are in the cache for the product, so that they are read from memory
/// only once.
pub(crate) fn products<E: Element>(
    rows: ArrayView2<'_, E>,
    (mean, mean_low): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
    basis: ArrayView2<'_, f64>,
    near_origin: bool,
) -> Result<Array2<E::Work>, Error> {
    block::check_width(rows, mean.len())?;
    if rows.nrows() <= FEW_ROWS {
        return fitting(few_products(rows, (mean, mean_low), basis)?);
    }
    let origin = basis.dot(&mean).to_vec();
    let basis = if rows.nrows() < TURNED_ROWS {
        E::Work::narrowed(basis)
    } else {
        turned::<E::Work>(basis).reversed_axes().into()
    };
    let near_origin = near_origin && E::as_work(rows).is_some();
    let mean = if near_origin { Cow::Owned(vec![0.0; mean.len()]) } else { linalg::contiguous(mean) };
    let mean_low = if near_origin { Cow::Owned(vec![0.0; mean_low.len()]) } else { linalg::contiguous(mean_low) };
    // Contiguous rows are multiplied in place; others are copied first, with the same result.
    let direct = E::as_work(rows).filter(|rows| near_origin && rows.strides()[1] == 1);
    let mut out = Array2::zeros((rows.nrows(), basis.nrows()));
    let bad = AtomicBool::new(false);
    let task_rows = task_rows(rows.nrows());
    out.axis_chunks_iter_mut(Axis(0), task_rows).into_par_iter().enumerate().for_each(|(task, mut out)| {
        let which = task * task_rows..task * task_rows + out.nrows();
        let room = if direct.is_some() { 0 } else { PANEL.min(rows.ncols()) };
        let mut panel = Array2::zeros((out.nrows(), room));
        for start in (0..rows.ncols()).step_by(PANEL) {
            let range = start..rows.ncols().min(start + PANEL);
            let basis = linalg::columns_of(basis.view(), range.clone()).reversed_axes();
            let source = linalg::columns_of(linalg::rows_of(rows, which.clone()), range.clone());
            let good = if let Some(rows) = direct {
                let rows = linalg::columns_of(linalg::rows_of(rows, which.clone()), range);
                linalg::multiply_add(out.view_mut(), rows, basis);
                block::all_acceptable(source)
            } else {
                let mut panel = panel.slice_axis_mut(Axis(1), (..range.len()).into());
                let (mean, mean_low) = (&mean[range.clone()], &mean_low[range]);
                let good = panel.rows_mut().into_iter().zip(source.rows()).fold(true, |good, (mut to, from)| {
                    center(
                        to.as_slice_mut().expect("rows of a panel are contiguous"),
                        &linalg::contiguous(from),
                        mean,
                        mean_low,
                    ) && good
                });
                linalg::multiply_add(out.view_mut(), panel.view(), basis);
                good
            };
            bad.fetch_or(!good, Ordering::Relaxed);
        }
        if near_origin {
            out.rows_mut()
                .into_iter()
                .for_each(|mut row| subtract(row.as_slice_mut().expect("new rows are contiguous"), &origin));
        }
    });
    if bad.into_inner() {
        block::check(rows, mean.len())?; // names the cell
    }
    fitting(out)
}

/// The directions in one precision, one per column. Some rows are written at a time, so that they
/// stay in the cache.
fn turned<T: Real>(basis: ArrayView2<'_, f64>) -> Array2<T> {
    let mut turned = Array2::zeros(basis.t().raw_dim());
    turned.axis_chunks_iter_mut(Axis(0), TURNED_AT_A_TIME).into_par_iter().enumerate().for_each(|(part, mut rows)| {
        let first = part * TURNED_AT_A_TIME;
        let entries = linalg::columns_of(basis, first..first + rows.nrows());
        for (mut column, direction) in rows.columns_mut().into_iter().zip(entries.rows()) {
            column.iter_mut().zip(direction).for_each(|(to, x)| *to = T::narrow(*x));
        }
    });
    turned
}

/// The number of rows of a task, which depends on nothing else, so that results do not depend on
/// threads.
fn task_rows(rows: usize) -> usize {
    if rows < MANY_ROWS { TASK_ROWS } else { LARGE_TASK_ROWS }
}

/// `row -= origin`.
fn subtract<T: Real>(row: &mut [T], origin: &[f64]) {
    linalg::vectorized(
        #[inline(always)]
        || row.iter_mut().zip(origin).for_each(|(x, origin)| *x = T::narrow(x.widen() - origin)),
    );
}

/// `row += mean`.
fn add<T: Real>(row: &mut [T], mean: &[f64]) {
    linalg::vectorized(
        #[inline(always)]
        || row.iter_mut().zip(mean).for_each(|(x, mu)| *x = T::narrow(x.widen() + mu)),
    );
}

/// 1μᵀ + Z B.
pub(crate) fn combinations<E: Element>(
    coordinates: ArrayView2<'_, E>,
    mean: ArrayView1<'_, f64>,
    basis: ArrayView2<'_, f64>,
) -> Result<Array2<E::Work>, Error> {
    let mut out = Array2::zeros((coordinates.nrows(), basis.ncols()));
    combinations_into(out.view_mut(), coordinates, mean, basis)?;
    Ok(out)
}

/// The same, written to rows of this shape.
pub(crate) fn combinations_into<E: Element>(
    mut out: ArrayViewMut2<'_, E::Work>,
    coordinates: ArrayView2<'_, E>,
    mean: ArrayView1<'_, f64>,
    basis: ArrayView2<'_, f64>,
) -> Result<(), Error> {
    let coordinates = coordinates.mapv(E::to_work);
    let basis = E::Work::narrowed(basis);
    let mean = linalg::contiguous(mean);
    let task_rows = task_rows(coordinates.nrows());
    out.axis_chunks_iter_mut(Axis(0), task_rows)
        .into_par_iter()
        .zip(coordinates.axis_chunks_iter(Axis(0), task_rows))
        .for_each(|(mut out, coordinates)| {
            // The mean is added to a panel while it is in the cache.
            for start in (0..basis.ncols()).step_by(PANEL) {
                let range = start..basis.ncols().min(start + PANEL);
                let mut out = out.slice_axis_mut(Axis(1), range.clone().into());
                linalg::multiply(out.view_mut(), coordinates, linalg::columns_of(basis.view(), range.clone()));
                for mut row in out.rows_mut() {
                    match row.as_slice_mut() {
                        Some(row) => add(row, &mean[range.clone()]),
                        None => row
                            .iter_mut()
                            .zip(&mean[range.clone()])
                            .for_each(|(x, mu)| add(std::slice::from_mut(x), &[*mu])),
                    }
                }
            }
        });
    check_fits(out.view())
}

/// Scores divided by one number for each column if there are divisors; 0 where the divisor is 0.
pub(crate) fn divided<T: Real>(mut scores: Array2<T>, divisors: Option<&Array1<f64>>) -> Result<Array2<T>, Error> {
    let Some(divisors) = divisors else { return Ok(scores) };
    for (mut column, &divisor) in scores.columns_mut().into_iter().zip(divisors) {
        column.mapv_inplace(|z| T::narrow(if divisor > 0.0 { z.widen() / divisor } else { 0.0 }));
    }
    fitting(scores)
}

/// Refuses results that f32 cannot hold.
pub(crate) fn fitting<T: Real>(out: Array2<T>) -> Result<Array2<T>, Error> {
    check_fits(out.view())?;
    Ok(out)
}

pub(crate) fn check_fits<T: Real>(out: ArrayView2<'_, T>) -> Result<(), Error> {
    if size_of::<T>() == size_of::<f64>() {
        return Ok(()); // values of at most 1e140 stay finite
    }
    let finite = |row: ArrayView1<'_, T>| row.iter().fold(true, |finite, x| finite & x.widen().is_finite());
    let found = if out.nrows() <= TASK_ROWS {
        out.rows().into_iter().position(|row| !finite(row))
    } else {
        out.axis_iter(Axis(0)).into_par_iter().with_min_len(TASK_ROWS).position_first(|row| !finite(row))
    };
    match found {
        Some(row) => {
            let column = out.row(row).iter().position(|x| !x.widen().is_finite()).expect("this row has one");
            Err(Error::BeyondF32 { row, column })
        }
        None => Ok(()),
    }
}
