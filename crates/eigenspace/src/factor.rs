//! The factor buffer: rows are appended, one compression per fill.
//!
//! ```text
//!  rows ──append──►  ┌───────────────────────────┐
//!                    │ F   r rows, FᵀF ≈ M       │
//!                    │ x x x  raw rows           │
//!                    └───────────────────────────┘
//!  compress:  A = [ F ; X − 1tᵀ ],   A Aᵀ = Uᵀ diag(λ) U,   F ← U_r A,   lost += λ_{r+1}
//! ```
//!
//! F is a *factor*, not a basis: its rows are the directions times their singular values. A
//! compression turns A by orthonormal U and forgets the last rows; it divides by nothing, so
//! FᵀF = Aᵀ U_rᵀ U_r A is within rounding of AᵀA minus what λ says, however ill-conditioned A
//! is, and nothing drifts, whatever the number of compressions. Orthonormal directions are made
//! only when somebody looks (`reduce.rs`).
//!
//! Cost of a compression: (r + m)² D + 2 r (r + m) D in products, and an eigenproblem of size r + m.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::certificate::Bound;
use crate::element::Element;
use crate::error::Error;
use crate::linalg::{self, Real};
use crate::moments::Moments;
use crate::scatter::Scatter;
use crate::truncation::Cut;

/// r rows of a factor, then rows as they came.
#[derive(Debug, Clone)]
pub(crate) struct Factor<T> {
    /// Moments of the rows inside F.
    pub(crate) moments: Moments,
    pub(crate) bound: Bound,
    /// Rows of F.
    pub(crate) kept: usize,
    /// True once a compression has run.
    pub(crate) compressed: bool,
    data: Vec<T>,
}

impl<T: Real> Factor<T> {
    pub(crate) fn empty(features: usize) -> Self {
        Self {
            moments: Moments::empty(features),
            bound: Bound::default(),
            kept: 0,
            compressed: false,
            data: Vec::new(),
        }
    }

    /// Starts from a model's moments, bound and factor rows.
    pub(crate) fn start(moments: Moments, bound: Bound, factor: Array2<f64>) -> Self {
        let kept = factor.nrows();
        Self { moments, bound, kept, compressed: false, data: factor.iter().map(|&x| T::narrow(x)).collect() }
    }

    /// The same in another precision.
    pub(crate) fn cast<U: Real>(self) -> Factor<U> {
        let data = self.data.into_iter().map(|x| U::narrow(x.widen())).collect();
        Factor { moments: self.moments, bound: self.bound, kept: self.kept, compressed: self.compressed, data }
    }

    pub(crate) fn rows(&self) -> usize {
        self.data.len() / self.moments.features().max(1)
    }

    /// Raw rows, not yet in F.
    pub(crate) fn pending(&self) -> usize {
        self.rows() - self.kept
    }

    pub(crate) fn append<E: Element>(&mut self, rows: ArrayView2<'_, E>) {
        self.data.reserve(rows.len());
        for row in rows.rows() {
            match row.to_slice() {
                Some(row) => self.data.extend(row.iter().map(|x| T::narrow(x.to_f64()))),
                None => self.data.extend(row.iter().map(|x| T::narrow(x.to_f64()))),
            }
        }
    }

    /// All rows, F first.
    pub(crate) fn view(&self) -> Result<ArrayView2<'_, T>, Error> {
        let shape = (self.rows(), self.moments.features());
        ArrayView2::from_shape(shape, &self.data).map_err(|_| Error::NoFeatures)
    }

    fn view_mut(&mut self) -> Result<ArrayViewMut2<'_, T>, Error> {
        let shape = (self.rows(), self.moments.features());
        ArrayViewMut2::from_shape(shape, &mut self.data).map_err(|_| Error::NoFeatures)
    }

    /// Relative precision of the rows: that of their products once a compression has run.
    pub(crate) fn epsilon(&self) -> f64 {
        if self.compressed { T::EPSILON } else { f64::EPSILON }
    }

    /// Moves the raw rows into a scatter.
    pub(crate) fn drain_into(&mut self, scatter: &mut Scatter) -> Result<(), Error> {
        scatter.absorb(self.view_mut()?)?;
        self.data.clear();
        Ok(())
    }

    /// The largest magnitude among the raw rows.
    pub(crate) fn largest_pending(&self) -> f64 {
        let raw = &self.data[self.kept * self.moments.features()..];
        raw.iter().fold(0.0_f32, |largest, x| largest.max(x.widen().abs() as f32)).into()
    }

    /// Reduces all rows to the directions that `cut` keeps of their squared singular values.
    pub(crate) fn compress(&mut self, cut: impl Fn(&[f64], f64) -> Cut) -> Result<(), Error> {
        let kept = self.kept;
        let before = self.moments.clone();
        let mut a = self.view_mut()?;
        let moments = before.absorb(a.slice_axis_mut(Axis(0), Slice::from(kept..)))?;
        // More rows than features: the directions of an SVD are shorter than rows of a rotation.
        let tall = a.nrows() > a.ncols();
        let (squared, mut u) = if tall {
            let (values, directions) = linalg::thin_svd(a.mapv(Real::widen).view())?;
            (values.mapv(|s| s * s), directions * &values.insert_axis(Axis(1)))
        } else {
            linalg::eigh(linalg::gram(a.view()).view())?
        };
        let squared: Vec<f64> = squared.iter().map(|value| value.max(0.0)).collect();
        let largest = squared.first().copied().unwrap_or(0.0);
        let mut cut = cut(&squared, moments.total());
        if cut.lost <= 32.0 * T::EPSILON * largest || cut.keep >= moments.rank_limit() {
            cut = Cut { lost: 0.0, shrink: 0.0, ..cut };
        }
        for (mut row, value) in u.rows_mut().into_iter().zip(&squared).filter(|_| cut.shrink > 0.0) {
            row *= ((value - cut.shrink).max(0.0) / value.max(f64::MIN_POSITIVE)).sqrt();
        }
        let keep = cut.keep;
        let u = linalg::rows_of(u.view(), 0..keep);
        if tall {
            a.slice_axis_mut(Axis(0), Slice::from(..keep)).zip_mut_with(&u, |x, &value| *x = T::narrow(value));
        } else {
            linalg::rotate_in_place(u, a.view_mut());
        }
        // Rows whose length is rounding carry nothing; only their true length, not λ, can tell.
        let floor = moments.rounding(squared.len(), largest.sqrt(), T::EPSILON);
        let length = |i: usize| a.row(i).iter().map(|x| x.widen() * x.widen()).sum::<f64>();
        let alive = (0..keep).rev().find(|&i| length(i) > floor * floor).map_or(0, |i| i + 1);
        self.data.truncate(alive * moments.features());
        self.kept = alive;
        self.compressed = true;
        self.moments = moments;
        self.bound = self.bound.losing(cut.lost);
        Ok(())
    }
}
