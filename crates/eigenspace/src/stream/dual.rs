//! A read in the dual: the leading components as combinations of the rows, which need not be
//! computed to know scores.
//!
//! ```text
//! A Aᵀ = Uᵀ diag(λ) U,   V = diag(1/√λ) U A        z = V (x − μ) = K ((X − 1rᵀ)(x − r) − α g),   K = diag(1/√λ) U …
//! ```
//!
//! A has few rows, so A Aᵀ is small, and `row_products.rs` knows it without reading the rows.
//! Scores of a few rows take one pass over the rows of A. Computing the k components takes as many
//! operations as scores of k rows, and centering.
//!
//! The sign of a component is that of its largest entry. So scores need the sizes of the entries of
//! every component, although not their digits: they are computed in f32, and in f64 where f32
//! cannot tell the largest.

use std::ops::Range;
use std::sync::OnceLock;

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::error::Error;
use crate::linalg::{self, Eigen, PANEL, Real};
use crate::model::bound::UNIT;
use crate::model::decompose::{Turn, rotation};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::moments::{Absorbed, Moments};
use crate::model::truncation::{Components, Truncation};
use crate::stream::buffer::RowBuffer;
use crate::stream::factor::Factor;
use crate::stream::narrow_rows::NarrowRows;
use crate::stream::preview::{Preview, Unformed};
use crate::stream::row_products::{CenteredProducts, Reference};

/// Entries whose magnitudes differ by less than this share may count as equal (`basis.rs`).
const POSSIBLE_TIE_TOLERANCE: f64 = 4e-6;
/// Number of entries compared at a time.
const LANES: usize = 32;

/// The rows of a stream at the time of a read, with their weights.
pub(crate) struct WeightedRows<'a> {
    pub(crate) buffer: &'a RowBuffer,
    pub(crate) factor: &'a Factor,
    /// The weight of each pending row; `None` if all are 1.
    pub(crate) weights: Option<&'a [f64]>,
    /// What the weights inside the factor are multiplied by.
    pub(crate) fade: f64,
    /// The sums of the pending rows minus the reference point, if they are known and all weights
    /// are 1.
    pub(crate) sums: Option<Vec<f64>>,
}

/// The k leading components of the rows of a buffer, as combinations of these rows.
#[derive(Debug)]
pub(crate) struct Dual {
    /// λ: more eigenvalues than components, non-increasing.
    values: Array1<f64>,
    /// U: k eigenvectors, one per row.
    u: Array2<f64>,
    /// K: the components as combinations of the rows of the factor and of x − r.
    combinations: Array2<f64>,
    /// The products of the components with μ − r.
    origin: Array1<f64>,
    /// Bound on the error of an eigenvalue.
    doubt: f64,
    /// The squared length of the longest row, for a scale.
    longest: f64,
    /// 1 or −1 for each component; `None` if the largest entry of one is not certain.
    signs: OnceLock<Option<Array1<f64>>>,
}

impl Dual {
    /// The `shown` leading components, if the `limit` leading eigenvalues are more than rounding
    /// and `determined` says that they determine the components. It is called with singular values,
    /// and with how much larger than usual their rounding is.
    pub(crate) fn of(
        products: &CenteredProducts,
        rows: &WeightedRows<'_>,
        (shown, limit): (usize, usize),
        determined: impl FnOnce(&Array1<f64>, f64) -> bool,
    ) -> Option<Self> {
        let size = products.gram.nrows();
        let eigen = Eigen::of(products.gram.view(), limit + 1);
        let largest = eigen.values[0];
        let eigenvalue_error = 8.0 * (size as f64 + 16.0) * UNIT * largest;
        let doubt = eigenvalue_error + products.cancellation(rows.buffer.features());
        let values = eigen.values.slice_axis(Axis(0), Slice::from(..=limit)).to_owned();
        if values[limit - 1] <= doubt {
            return None;
        }
        let singular = values.slice_axis(Axis(0), Slice::from(..limit)).mapv(f64::sqrt);
        if !determined(&singular, products.loss()) {
            return None;
        }
        let u = eigen.vectors(0..shown);
        let kept = rows.buffer.kept();
        let added: f64 = rows.weights.map_or(rows.buffer.pending() as f64, |weights| weights.iter().sum());
        let mut combinations = u.clone();
        for (mut row, value) in combinations.rows_mut().into_iter().zip(&values) {
            row /= value.sqrt();
            let (mut factor, mut own) = row.view_mut().split_at(Axis(0), kept);
            factor *= rows.fade.sqrt();
            own.iter_mut().enumerate().for_each(|(i, x)| *x *= rows.weight(i).sqrt());
            // − 1 (t − r)ᵀ, as a combination of x − r.
            let share = products.beta * own.sum() / added;
            own.iter_mut().enumerate().for_each(|(i, x)| *x -= share * rows.weight(i));
        }
        let origin = combinations.dot(&products.means) * products.alpha;
        let longest = products.gram.diag().iter().fold(0.0, |a: f64, b| a.max(*b)).max(largest);
        Some(Self { values, u, combinations, origin, doubt, longest, signs: OnceLock::new() })
    }

    fn shown(&self) -> usize {
        self.u.nrows()
    }

    /// The scores of rows, from their products with the rows of the buffer; `None` if the sign of a
    /// component is not certain. `narrow` keeps what the next read can use.
    pub(crate) fn scores(
        &self,
        rows: &WeightedRows<'_>,
        reference: &Reference,
        products: ArrayView2<'_, f64>,
        narrow: impl FnOnce(&dyn Fn(&mut NarrowRows)),
    ) -> Option<Array2<f64>> {
        if self.signs.get().is_none() {
            narrow(&|narrow: &mut NarrowRows| {
                narrow.extend(rows.buffer, reference, self.longest);
                self.signs.get_or_init(|| self.signs(rows.buffer, reference, narrow));
            });
        }
        let signs = self.signs.get()?.as_ref()?;
        let mut scores = Array2::zeros((products.ncols(), self.shown()));
        linalg::multiply(scores.view_mut(), products.reversed_axes(), self.combinations.t());
        scores -= &self.origin;
        scores *= signs;
        Some(scores)
    }

    /// The components themselves; `None` if rounding leaves fewer of them.
    pub(crate) fn preview(&self, rows: &WeightedRows<'_>, components: Components) -> Result<Option<Preview>, Error> {
        let WeightedRows { factor, fade, .. } = *rows;
        let (shown, size) = (self.shown(), self.u.ncols());
        let scales = self.values.slice_axis(Axis(0), Slice::from(..shown)).mapv(f64::sqrt);
        let mut u = self.u.clone();
        u.rows_mut().into_iter().zip(&scales).for_each(|(mut row, scale)| row /= *scale);
        let before = factor.moments().scaled(fade);
        let (f, absorbed) = rotated(&u, rows, &before)?;
        let bound = factor.bound().clone().scaled(fade).absorbed(&before, &absorbed);
        let rounding = rotation(3 * size).with_whole_error(self.doubt);
        let (largest, beyond) = (self.values[0], self.values[shown].max(0.0));
        let turn = Turn { u, scales, largest, beyond, rounding };
        let decomposed = turn.decomposed(f, absorbed.moments().scatter().view());
        let reduced = decomposed.cut(Truncation::Rank(shown), absorbed.moments());
        let model = EigenspaceModel::from_reduced(absorbed.into_moments(), reduced, bound, components);
        if model.rank() < shown {
            return Ok(None);
        }
        let squared = self.values.slice_axis(Axis(0), Slice::from(shown..self.values.len() - 1)).to_vec();
        let next = self.values[self.values.len() - 1].max(0.0);
        Ok(Some(Preview::without(model, Unformed { squared, dropped: beyond, next })))
    }

    /// The sign of each component.
    fn signs(&self, buffer: &RowBuffer, reference: &Reference, narrow: &NarrowRows) -> Option<Array1<f64>> {
        let all: Vec<usize> = (0..self.shown()).collect();
        let (combinations, lengths) = self.scaled_combinations::<f32>(&all);
        let extremes = extremes_by_panels(buffer.features(), |columns| {
            let panel = linalg::columns_of(narrow.view(), columns);
            let mut entries = Array2::zeros((combinations.nrows(), panel.ncols()));
            linalg::multiply(entries.view_mut(), combinations.view(), panel);
            Extremes { column: narrow.largest_column(), ..Extremes::of(entries.view()) }
        });
        let mut signs = extremes.signs(&lengths, buffer.len(), f64::from(f32::EPSILON));
        let unclear: Vec<usize> = all.into_iter().filter(|k| signs[*k] == 0.0).collect();
        if !unclear.is_empty() {
            let again = self.precise_signs(&unclear, buffer, reference);
            unclear.iter().zip(again).for_each(|(k, sign)| signs[*k] = sign);
        }
        signs.iter().all(|sign| *sign != 0.0).then(|| Array1::from(signs))
    }

    /// The signs of some components from entries in f64.
    fn precise_signs(&self, which: &[usize], buffer: &RowBuffer, reference: &Reference) -> Vec<f64> {
        let scale = (-0.5 * self.longest.log2()).round().exp2();
        let (combinations, lengths) = self.scaled_combinations::<f64>(which);
        let extremes = extremes_by_panels(buffer.features(), |columns| {
            let mut panel = Array2::zeros((buffer.len(), columns.len()));
            reference.write_differences(buffer, 0..buffer.len(), columns, scale, panel.view_mut());
            let mut entries = Array2::zeros((which.len(), panel.ncols()));
            linalg::multiply(entries.view_mut(), combinations.view(), panel.view());
            let squares = panel.columns().into_iter().map(|column| column.iter().map(|x| x * x).sum());
            Extremes { column: squares.fold(0.0, f64::max), ..Extremes::of(entries.view()) }
        });
        extremes.signs(&lengths, buffer.len(), f64::EPSILON)
    }

    /// Combinations whose largest number is 1, in one precision, and their lengths.
    fn scaled_combinations<T: Real>(&self, which: &[usize]) -> (Array2<T>, Vec<f64>) {
        let mut combinations = self.combinations.select(Axis(0), which);
        for mut row in combinations.rows_mut() {
            let largest = row.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
            row /= largest;
        }
        let lengths = combinations.rows().into_iter().map(|row| row.dot(&row).sqrt()).collect();
        (combinations.mapv(T::narrow), lengths)
    }
}

impl WeightedRows<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }
}

/// The smallest and the largest entry of each component, and the largest squared column of the
/// rows.
struct Extremes {
    low: Vec<f64>,
    high: Vec<f64>,
    column: f64,
}

/// The extremes of all columns, from those of panels.
fn extremes_by_panels(features: usize, of_panel: impl Fn(Range<usize>) -> Extremes + Sync) -> Extremes {
    let panel = |p: usize| of_panel(p * PANEL..features.min((p + 1) * PANEL));
    let all = (0..features.div_ceil(PANEL)).into_par_iter().map(panel).reduce_with(Extremes::together);
    all.unwrap_or_else(|| Extremes { low: Vec::new(), high: Vec::new(), column: 0.0 })
}

impl Extremes {
    /// Of entries, one component per row.
    fn of<T: Real>(entries: ArrayView2<'_, T>) -> Self {
        let (low, high) = entries.rows().into_iter().map(|row| extremes_of(&linalg::contiguous(row))).unzip();
        Self { low, high, column: 0.0 }
    }

    fn together(mut self, other: Self) -> Self {
        self.low.iter_mut().zip(other.low).for_each(|(a, b)| *a = a.min(b));
        self.high.iter_mut().zip(other.high).for_each(|(a, b)| *a = a.max(b));
        Self { column: self.column.max(other.column), ..self }
    }

    /// The sign of the largest entry of each component, a combination of so many rows with this
    /// length; 0 if the rounding of the entries leaves it open.
    fn signs(&self, lengths: &[f64], rows: usize, epsilon: f64) -> Vec<f64> {
        // Twice, because the sums of squares are rounded too.
        let rounding = 2.0 * (rows as f64 + 8.0) * epsilon * self.column.sqrt();
        let sign = |((low, high), length): ((&f64, &f64), &f64)| {
            let unclear = 2.0 * rounding * length + POSSIBLE_TIE_TOLERANCE * high.max(-low);
            // NaN is unclear too.
            if (high + low).abs() > unclear { (high + low).signum() } else { 0.0 }
        };
        self.low.iter().zip(&self.high).zip(lengths).map(sign).collect()
    }
}

/// The smallest and the largest number, or zero, computed in independent lanes.
fn extremes_of<T: Real>(row: &[T]) -> (f64, f64) {
    let (mut low, mut high) = ([T::zero(); LANES], [T::zero(); LANES]);
    linalg::vectorized(
        #[inline(always)]
        || {
            for chunk in row.chunks(LANES) {
                for ((low, high), x) in low.iter_mut().zip(&mut high).zip(chunk) {
                    *low = if *x < *low { *x } else { *low };
                    *high = if *x > *high { *x } else { *high };
                }
            }
        },
    );
    let widened = |lanes: [T; LANES]| lanes.map(Real::widen).into_iter();
    (widened(low).fold(0.0, f64::min), widened(high).fold(0.0, f64::max))
}

/// U A, and the moments of all rows. Some columns at a time are copied and centered, so that rows
/// are read from memory once.
fn rotated(u: &Array2<f64>, rows: &WeightedRows<'_>, before: &Moments) -> Result<(Array2<f64>, Absorbed), Error> {
    let WeightedRows { buffer, weights, fade, .. } = *rows;
    let (all, kept) = (buffer.all(), buffer.kept());
    let sums = rows.sums.as_deref();
    let mut f = Array2::zeros((u.nrows(), buffer.features()));
    let turn = |panel: &mut Array2<f64>, (p, out): (usize, ArrayViewMut2<'_, f64>)| -> Result<Absorbed, Error> {
        let columns = p * PANEL..p * PANEL + out.ncols();
        let mut panel = panel.slice_axis_mut(Axis(1), Slice::from(..columns.len()));
        let (from_factor, from_rows) = linalg::columns_of(all, columns.clone()).split_at(Axis(0), kept);
        let (mut factor, added) = panel.view_mut().split_at(Axis(0), kept);
        factor.assign(&from_factor);
        if fade < 1.0 {
            factor *= fade.sqrt();
        }
        let sums = sums.map(|sums| &sums[columns.clone()]);
        let absorbed = before.of_features(columns).absorb_copy(Some(from_rows), added, weights, sums)?;
        // A constant feature is zero in every direction, without rounding.
        for (j, _) in absorbed.moments().scatter().iter().enumerate().filter(|(_, q)| **q == 0.0) {
            panel.column_mut(j).fill(0.0);
        }
        linalg::multiply(out, u.view(), panel.view());
        Ok(absorbed)
    };
    let parts: Result<Vec<Absorbed>, Error> = f
        .axis_chunks_iter_mut(Axis(1), PANEL)
        .into_par_iter()
        .enumerate()
        .map_init(|| Array2::zeros((all.nrows(), PANEL)), turn)
        .collect();
    Ok((f, Absorbed::side_by_side(parts?)))
}
