//! Projects rows to scores, and reconstructs rows from scores.
//!
//! ```text
//! Z = (X − 1μᵀ) V_kᵀ        X̂ = 1μᵀ + Z V_k        whitened: Z diag(√(w − 1) / s)
//! ```
//!
//! Rows are multiplied in their own precision: f32 rows give f32 scores, which is faster and has an error of about 1e-7 of
//! their length. If the mean is not far from the origin (`near_origin`), it is subtracted after the product,
//! Z = X V_kᵀ − 1 (V_k μ)ᵀ, which then costs no digits. Otherwise rows are centered in f64, panel by panel, before they are
//! multiplied.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayRef2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::error::Error;
use crate::linalg::{self, PANEL, Real};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::few_rows::{FEW_ROWS, center, few_products};
use crate::model::moments::Moments;
use crate::rows::block::{self, Block};
use crate::rows::element::Element;
use crate::rows::sparse::SparseRows;

/// Number of rows of one task.
const TASK_ROWS: usize = 64;
/// The same for many rows. Each task packs the components again, so larger tasks do it less often.
const LARGE_TASK_ROWS: usize = 128;
/// From this number of rows on, rows are many.
const MANY_ROWS: usize = 1024;
/// From this number of rows on, the components are written column by column, as the product reads them.
const TURNED_ROWS: usize = 256;
/// A squared mean of up to this many times the variance adds at most two bits to the rounding of scores.
const MAX_NEAR_MEAN_RATIO: f64 = 16.0;
/// A squared mean of this many times the variance would cost three digits of the scores of sparse rows.
const MAX_SPARSE_MEAN_RATIO: f64 = 1e6;

mod sealed {
    pub trait Sealed {}
}

/// Rows or scores: a view of an array of any [`Element`] type, a reference to such an array, [`SparseRows`], or a
/// [`Block`]. The result has their precision. Weights of a block are ignored.
///
/// ```
/// use eigenspace::{EigenspaceModel, SparseRows};
/// use ndarray::{Array2, array};
///
/// let rows = array![[0.0, 2.0], [1.0, 0.0], [3.0, 5.0]];
/// let model = EigenspaceModel::fit(&rows)?;
/// let dense: Array2<f64> = model.project(&rows)?;
/// let narrow: Array2<f32> = model.project(&rows.mapv(|x| x as f32))?;
/// let sparse: Array2<f64> = model.project(SparseRows::new(2, &[0, 1, 2, 4], &[1, 0, 0, 1], &[2.0, 1.0, 3.0, 5.0])?)?;
/// assert_eq!((dense.dim(), narrow.dim(), sparse.dim()), ((3, 2), (3, 2), (3, 2)));
/// # Ok::<(), eigenspace::Error>(())
/// ```
pub trait Rows<'a>: sealed::Sealed + Copy + Into<Block<'a>> {
    /// The precision of the result: f32 for rows of `f32`, `u8` and `u16`, f64 for all others, and for blocks.
    type Score: Real;

    /// The scores of the rows.
    #[doc(hidden)]
    fn scores(self, onto: &Projection<'_>) -> Result<Array2<Self::Score>, Error>;
    /// The scores of the rows with these indices.
    #[doc(hidden)]
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<Self::Score>, Error>;
    /// The rows with these scores, which were checked: 1μᵀ + Z B.
    #[doc(hidden)]
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<Self::Score>, Error>;
}

/// A center and the directions that scores are taken along.
pub struct Projection<'p> {
    /// The moments of the model, to see whether the mean is far from the origin.
    pub(crate) moments: &'p Moments,
    /// The mean in two words.
    pub(crate) mean: ArrayView1<'p, f64>,
    pub(crate) mean_low: ArrayView1<'p, f64>,
    pub(crate) basis: ArrayView2<'p, f64>,
    /// Whether the mean may be subtracted after the product.
    pub(crate) near_origin: bool,
}

impl<E: Element> sealed::Sealed for ArrayView2<'_, E> {}
impl<'a, E: Element> Rows<'a> for ArrayView2<'a, E> {
    type Score = E::Work;

    fn scores(self, onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        products(self, (onto.mean, onto.mean_low), onto.basis, onto.near_origin)
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.select(Axis(0), which).view().scores(onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<E::Work>, Error> {
        combinations(self, mean, basis)
    }
}

impl<E: Element> sealed::Sealed for &Array2<E> {}
impl<'a, E: Element> Rows<'a> for &'a Array2<E> {
    type Score = E::Work;

    fn scores(self, onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.view().scores(onto)
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.view().scores_of(which, onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<E::Work>, Error> {
        self.view().combined(mean, basis)
    }
}

impl<E: Element> sealed::Sealed for &ArrayRef2<E> {}
impl<'a, E: Element> Rows<'a> for &'a ArrayRef2<E> {
    type Score = E::Work;

    fn scores(self, onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.view().scores(onto)
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<E::Work>, Error> {
        self.view().scores_of(which, onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<E::Work>, Error> {
        self.view().combined(mean, basis)
    }
}

impl sealed::Sealed for SparseRows<'_> {}
impl<'a> Rows<'a> for SparseRows<'a> {
    type Score = f64;

    /// Without making the rows dense.
    fn scores(self, onto: &Projection<'_>) -> Result<Array2<f64>, Error> {
        Block::from(self).check(onto.mean.len())?;
        sparse_products(self, onto.moments, onto.mean, onto.mean_low, onto.basis)
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<f64>, Error> {
        Block::from(self).scores_of(which, onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
        Block::from(self).combined(mean, basis)
    }
}

impl sealed::Sealed for Block<'_> {}
impl<'a> Rows<'a> for Block<'a> {
    type Score = f64;

    fn scores(self, onto: &Projection<'_>) -> Result<Array2<f64>, Error> {
        match self.sparse() {
            Some(rows) => rows.scores(onto),
            None => self.all_widened().view().scores(onto),
        }
    }
    fn scores_of(self, which: &[usize], onto: &Projection<'_>) -> Result<Array2<f64>, Error> {
        self.select(which).view().scores(onto)
    }
    fn combined(self, mean: ArrayView1<'_, f64>, basis: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
        combinations(self.all_widened().view(), mean, basis)
    }
}

impl EigenspaceModel {
    /// The k scores of each row.
    pub fn project<'a, R: Rows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        rows.scores(&Projection {
            moments: &self.moments,
            mean: self.mean(),
            mean_low: self.moments.mean_low.view(),
            basis: self.components(),
            near_origin: self.near_origin(),
        })
    }

    /// Whether the mean is small compared with the spread of the rows: ‖μ‖² ≤ MAX_NEAR_MEAN_RATIO tr(M) / w.
    pub(crate) fn near_origin(&self) -> bool {
        self.mean().dot(&self.mean()) * self.weight() <= MAX_NEAR_MEAN_RATIO * self.moments.total()
    }

    /// The scores divided by their standard deviation (ddof = 1), so that each has variance 1
    /// over the rows of the model.
    pub fn whiten<'a, R: Rows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        let deviations = self.deviations()?;
        let mut coordinates = self.project(rows)?;
        for (mut column, deviation) in coordinates.columns_mut().into_iter().zip(deviations) {
            column.mapv_inplace(|z| R::Score::narrow(z.widen() / deviation));
        }
        fitting(coordinates)
    }

    /// U: the left singular vectors of the rows that the model was fitted on, one row for each of them and one column for
    /// each component: X − 1μᵀ = U diag(s) V. Their columns are orthonormal. For other rows, these are their scores divided
    /// by the singular values. A column whose singular value is 0 is 0.
    ///
    /// ```
    /// use eigenspace::EigenspaceModel;
    /// use ndarray::{Array2, array};
    ///
    /// let rows = array![[1.0, 2.0, 0.0], [3.0, 5.0, 1.0], [4.0, 4.0, 7.0], [0.0, 1.0, 1.0]];
    /// let model = EigenspaceModel::fit(&rows)?;
    /// let u: Array2<f64> = model.left_singular_vectors(&rows)?;
    /// let identity = u.t().dot(&u);
    /// assert!((&identity - &Array2::<f64>::eye(3)).iter().all(|x| x.abs() < 1e-14));
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn left_singular_vectors<'a, R: Rows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        let mut vectors = self.project(rows)?;
        for (mut column, &s) in vectors.columns_mut().into_iter().zip(self.singular_values()) {
            column.mapv_inplace(|z| R::Score::narrow(if s > 0.0 { z.widen() / s } else { 0.0 }));
        }
        fitting(vectors)
    }

    /// The rows with these scores. If there are fewer columns than directions, they are the scores of the first
    /// directions.
    pub fn reconstruct<'a, R: Rows<'a>>(&self, scores: R) -> Result<Array2<R::Score>, Error> {
        let found = checked_scores(scores.into(), self.rank())?;
        scores.combined(self.mean(), self.basis.first(found))
    }

    /// The rows with these whitened scores.
    pub fn reconstruct_whitened<'a, R: Rows<'a>>(&self, whitened: R) -> Result<Array2<R::Score>, Error> {
        let (deviations, block) = (self.deviations()?, whitened.into());
        checked_scores(block, deviations.len())?;
        let mut scores = block.all_widened().into_owned();
        for (mut column, deviation) in scores.columns_mut().into_iter().zip(deviations) {
            column *= deviation;
        }
        fitting(self.reconstruct(&scores)?.mapv(R::Score::narrow))
    }

    /// The standard deviations of the k scores over the model's rows.
    fn deviations(&self) -> Result<Vec<f64>, Error> {
        Ok(self.explained_variance(1.0)?.iter().map(|v| v.sqrt()).collect())
    }
}

/// The number of columns of scores, after checking that there are at most as many as available and all are finite.
pub(crate) fn checked_scores(scores: Block<'_>, available: usize) -> Result<usize, Error> {
    let found = scores.ncols();
    if found > available {
        return Err(Error::TooManyScores { available, found });
    }
    if found > 0 {
        scores.unweighted().check(found)?;
    }
    Ok(found)
}

/// (X − 1μᵀ) Bᵀ for sparse rows, as X Bᵀ − 1 (B μ)ᵀ. Where a mean is far larger than the spread of its feature, that would
/// cost digits; rows are made dense then, some at a time.
pub(crate) fn sparse_products(
    rows: SparseRows<'_>,
    moments: &Moments,
    mean: ArrayView1<'_, f64>,
    mean_low: ArrayView1<'_, f64>,
    basis: ArrayView2<'_, f64>,
) -> Result<Array2<f64>, Error> {
    let far =
        |(mean, q): (&f64, &f64)| mean * mean * moments.weight.value() > MAX_SPARSE_MEAN_RATIO * q && *mean != 0.0;
    if moments.mean.iter().zip(&moments.scatter).any(far) {
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

/// (X − 1μᵀ) Bᵀ in the precision of the rows, centered in f64 before the product or, if `near_origin`, after it.
///
/// Rows are checked while they are in the cache for the product, so that they are read from memory only once.
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
        let turned = basis.t().mapv(E::Work::narrow);
        turned.as_standard_layout().into_owned().reversed_axes().into()
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

/// The number of rows of a task, which depends on nothing else, so that results do not depend on threads.
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
