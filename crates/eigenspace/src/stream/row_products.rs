//! The products of the rows of a buffer with each other, kept from one read to the next.
//!
//! ```text
//! G_ij = (x_i − r)(x_j − r)        H_il = (x_i − r) f_l        r fixed, so that new rows only add to G and H
//! (x_i − t)(x_j − t) = G_ij − β g_i − β g_j + β² γ        g = G w / Σw,   γ = wᵀ g / Σw,   t − r = β (b − r)
//! ```
//!
//! Without them, each read would compute the n² products again. A read adds those of the rows that
//! arrived since the last one, and centers a copy. Weights, and the weight that rows lose with age,
//! are factors of the copy.
//!
//! r is the first row, or the mean of the rows inside the factor. Subtracting it from the rows, and
//! not from the products, keeps their digits if all rows are far from zero. Centering the products
//! then costs digits only if r is far from the mean compared with the spread:
//! [`CenteredProducts::cancellation`] bounds the error.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice, concatenate};

use crate::linalg::{self, Real, Shifted, pair_products, pair_roundings};
use crate::model::bound::UNIT;
use crate::model::moments::{DifferenceSums, Moments};
use crate::stream::buffer::RowBuffer;

/// Up to this number of new rows, their products are computed together with those of rows to
/// project.
const FEW_ROWS: usize = 16;

/// The products of the rows of one buffer, as far as they were computed.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowProducts {
    /// The squared lengths of the rows of the factor.
    lengths: Array1<f64>,
    /// For each pending row: H, then G up to the row itself.
    rows: Vec<Vec<f64>>,
    /// Of the pending rows minus r.
    sums: DifferenceSums,
}

/// r: the point that is subtracted from rows before they are multiplied, in two words; nothing for
/// rows that are not centered.
#[derive(Debug, Clone)]
pub(crate) struct Reference(Option<(Array1<f64>, Array1<f64>)>);

impl Reference {
    /// The reference of a buffer with pending rows, after rows with these moments.
    pub(crate) fn of(buffer: &RowBuffer, moments: &Moments) -> Self {
        Self(match moments {
            _ if moments.is_about_origin() => None,
            _ if moments.count() == 0 => Some((buffer.raw().row(0).to_owned(), Array1::zeros(buffer.features()))),
            _ => Some((moments.mean().clone(), moments.mean_low().clone())),
        })
    }

    pub(crate) fn shifting<'a>(&'a self, rows: ArrayView2<'a, f64>) -> Shifted<'a> {
        Shifted { rows, point: self.0.as_ref().map(|(high, low)| (high.view(), low.view())) }
    }

    /// The products of rows with all rows of a buffer, one column for each of them.
    pub(crate) fn products(&self, buffer: &RowBuffer, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        let (factor, pending) = self.both(buffer, rows, &vec![buffer.pending(); rows.nrows()]);
        concatenate![Axis(0), factor, pending]
    }

    /// Writes some rows and columns of the factor and of the differences of pending rows from r,
    /// times a scale.
    pub(crate) fn write_differences<T: Real>(
        &self,
        buffer: &RowBuffer,
        which: Range<usize>,
        columns: Range<usize>,
        scale: f64,
        mut to: ArrayViewMut2<'_, T>,
    ) {
        let zeros = Array1::zeros(columns.len());
        let part = |point: &Array1<f64>| point.slice_axis(Axis(0), Slice::from(columns.clone())).to_vec();
        let (high, low) =
            self.0.as_ref().map_or((zeros.to_vec(), zeros.to_vec()), |(high, low)| (part(high), part(low)));
        let rows = linalg::columns_of(linalg::rows_of(buffer.all(), which.clone()), columns);
        for (i, (mut to, row)) in which.zip(to.rows_mut().into_iter().zip(rows.rows())) {
            let to = to.as_slice_mut().expect("callers pass matrices with contiguous rows");
            let row = linalg::contiguous(row);
            linalg::vectorized(
                #[inline(always)]
                || match i < buffer.kept() {
                    true => to.iter_mut().zip(&*row).for_each(|(to, x)| *to = T::narrow(x * scale)),
                    false => {
                        for (((to, x), high), low) in to.iter_mut().zip(&*row).zip(&high).zip(&low) {
                            *to = T::narrow(((x - high) - low) * scale);
                        }
                    }
                },
            );
        }
    }

    fn both(&self, buffer: &RowBuffer, rows: ArrayView2<'_, f64>, limits: &[usize]) -> (Array2<f64>, Array2<f64>) {
        let factor = Shifted { rows: buffer.factor(), point: None };
        let with_factor = pair_products(self.shifting(rows), factor, &vec![buffer.kept(); rows.nrows()]);
        (with_factor, pair_products(self.shifting(rows), self.shifting(buffer.raw()), limits))
    }
}

impl RowProducts {
    /// Number of pending rows whose products are known.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds the products of new rows of the buffer. Returns those of other rows with all rows of
    /// the buffer, one column for each of them.
    pub(crate) fn extend(
        &mut self,
        buffer: &RowBuffer,
        reference: &Reference,
        others: ArrayView2<'_, f64>,
    ) -> Array2<f64> {
        let (before, pending) = (self.rows.len(), buffer.pending());
        if before == 0 {
            self.lengths = linalg::squared_lengths(buffer.factor());
        }
        let new = linalg::rows_of(buffer.raw(), before..pending);
        if let Some((high, low)) = &reference.0 {
            let (high, low) = (linalg::contiguous(high.view()), linalg::contiguous(low.view()));
            new.rows().into_iter().for_each(|row| self.sums.add(&linalg::contiguous(row), &high, &low));
        }
        let mut limits: Vec<usize> = (before..pending).map(|i| i + 1).collect();
        if others.nrows() == 0 || new.nrows() > FEW_ROWS {
            let (factor, raw) = reference.both(buffer, new, &limits);
            self.push(factor.view(), raw.view());
            return reference.products(buffer, others);
        }
        limits.extend(vec![pending; others.nrows()]);
        let (factor, raw) = reference.both(buffer, concatenate![Axis(0), new, others].view(), &limits);
        let added = pending - before;
        self.push(linalg::columns_of(factor.view(), 0..added), linalg::columns_of(raw.view(), 0..added));
        let rest = |all: Array2<f64>| linalg::columns_of(all.view(), added..all.ncols()).to_owned();
        concatenate![Axis(0), rest(factor), rest(raw)]
    }

    /// The sum of the pending rows minus r, if it is known for this number of rows.
    pub(crate) fn sums(&self, pending: usize) -> Option<Vec<f64>> {
        (self.sums.count() == pending && pending > 0).then(|| self.sums.sums())
    }

    fn push(&mut self, factor: ArrayView2<'_, f64>, raw: ArrayView2<'_, f64>) {
        for (factor, raw) in factor.columns().into_iter().zip(raw.columns()) {
            let own = self.rows.len() + 1;
            self.rows.push(factor.iter().chain(raw.iter().take(own)).copied().collect());
        }
    }

    /// The Gram matrix of A = [ √f F ; diag(√w) (X − 1tᵀ) ], where rows of the weight `before`,
    /// already multiplied by the fade f, are inside F.
    pub(crate) fn centered(&self, weights: &[f64], fade: f64, before: f64, origin: bool) -> CenteredProducts {
        let (kept, pending) = (self.lengths.len(), self.rows.len());
        let added: f64 = weights.iter().sum();
        // t and the new mean, as shares of the way from r to the mean of the pending rows.
        let (beta, alpha) = if origin { (0.0, 0.0) } else { shares(before, added) };
        let mut means = Array1::<f64>::zeros(kept + pending);
        for (i, row) in self.rows.iter().enumerate() {
            let (factor, own) = row.split_at(kept);
            means.iter_mut().zip(factor).for_each(|(mean, product)| *mean += weights[i] * product);
            let mut sum = 0.0;
            for ((mean, product), weight) in means.iter_mut().skip(kept).zip(&own[..i]).zip(weights) {
                sum += weight * product;
                *mean += weights[i] * product;
            }
            means[kept + i] += sum + weights[i] * own[i];
        }
        means /= added;
        let gamma = means.iter().skip(kept).zip(weights).map(|(mean, weight)| mean * weight).sum::<f64>() / added;
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let mut gram = Array2::zeros((kept + pending, kept + pending));
        let mut raw_trace = 0.0;
        for (l, length) in self.lengths.iter().enumerate() {
            gram[[l, l]] = fade * length;
        }
        let center = |products: &[f64], means: ArrayView1<'_, f64>, shift: f64, to: &mut [f64]| {
            for ((to, product), mean) in to.iter_mut().zip(products).zip(means) {
                *to = (product - beta * mean) - shift;
            }
        };
        for (i, (row, weight)) in self.rows.iter().zip(weights).enumerate() {
            let (factor, own) = row.split_at(kept);
            raw_trace += weight * own[i];
            let mut to = gram.row_mut(kept + i);
            let to = to.as_slice_mut().expect("rows of a new matrix are contiguous");
            let (with_factor, with_rows) = to.split_at_mut(kept);
            let (factor_means, row_means) = means.view().split_at(Axis(0), kept);
            center(factor, factor_means, 0.0, with_factor);
            center(own, row_means, beta * (row_means[i] - beta * gamma), with_rows);
            with_factor.iter_mut().for_each(|x| *x *= roots[i] * fade.sqrt());
            with_rows.iter_mut().zip(&roots).take(i + 1).for_each(|(x, other)| *x *= roots[i] * other);
        }
        CenteredProducts { gram, means, alpha, beta, raw_trace, kept }
    }
}

/// β and α: t and the mean of all rows, as shares of the way from the mean before to the mean of
/// the added rows.
fn shares(before: f64, added: f64) -> (f64, f64) {
    (1.0 - (before / (before + added)).sqrt(), added / (before + added))
}

/// The Gram matrix of the centered rows, and what centers other products in the same way.
pub(crate) struct CenteredProducts {
    /// The lower triangle.
    pub(crate) gram: Array2<f64>,
    /// The products of each row with the mean of the pending rows.
    pub(crate) means: Array1<f64>,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    /// The sum of the squares that were centered.
    raw_trace: f64,
    kept: usize,
}

impl CenteredProducts {
    /// Bound on the norm of the error of the Gram matrix of rows with this number of features.
    ///
    /// With a_i the length of x_i − r times the root of its weight, an entry has an error of at
    /// most the roundings of its sum times u a_i a_j; the means add the roundings of a sum over the
    /// rows, and centering three more, of numbers of at most (a_i + a)(a_j + a), where a is the
    /// root of the mean square. The norm of such a matrix is at most 4 Σ a_i².
    pub(crate) fn cancellation(&self, features: usize) -> f64 {
        let roundings = pair_roundings(features) + 4.0 * (self.gram.nrows() as f64 + 8.0);
        roundings * UNIT * (self.raw_trace + self.factor_trace())
    }

    /// How many times larger the squares are than those of centered rows.
    pub(crate) fn loss(&self) -> f64 {
        (self.raw_trace + self.factor_trace()) / self.gram.diag().sum().max(f64::MIN_POSITIVE)
    }

    fn factor_trace(&self) -> f64 {
        self.gram.diag().iter().take(self.kept).sum()
    }
}
