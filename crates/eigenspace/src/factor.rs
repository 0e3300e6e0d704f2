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
//! is; each compression adds a rounding of its own and no more. Orthonormal directions are made only
//! when somebody looks (`reduce.rs`).
//!
//! Cost of a compression: (m² + 2 r m) D + 2 r (r + m) D in products (the rows of F are orthogonal
//! already), and r vectors of an eigenproblem of size r + m.

use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::block::Block;
use crate::certificate::Bound;
use crate::error::Error;
use crate::forgetting::Forgetting;
use crate::linalg::{self, Eigen, Real};
use crate::moments::Moments;
use crate::scatter::Scatter;
use crate::sparse::Waiting;
use crate::truncation::Cut;

/// Compressions for which the rows of F are taken to be orthogonal to each other, as rotations leave them.
const TRUSTED_TURNS: u64 = 16;

/// Directions after the last one kept that are looked at when the Gram matrix cannot tell them from none.
const DOUBTFUL: usize = 2;

/// r rows of a factor, then rows as they came.
#[derive(Debug, Clone)]
pub(crate) struct Factor<T> {
    /// Moments of the rows inside F.
    pub(crate) moments: Moments,
    pub(crate) bound: Bound,
    /// Rows of F.
    pub(crate) kept: usize,
    /// Compressions that have run.
    pub(crate) compressions: u64,
    /// Relative precision of F.
    pub(crate) epsilon: f64,
    /// Rows in use: F, then raw ones.
    pub(crate) rows: usize,
    /// Those rows, and room for more.
    pub(crate) data: Array2<T>,
    /// Raw rows that are sparse; never together with dense ones.
    pub(crate) sparse: Waiting,
    /// One for each raw row.
    pub(crate) notes: Vec<Note>,
}

/// What is remembered of a raw row beside its cells.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Note {
    pub(crate) weight: f64,
    /// What the stream's clock said when the row came.
    pub(crate) birth: u64,
}

impl<T: Real> Factor<T> {
    pub(crate) fn empty(features: usize, about_origin: bool) -> Self {
        Self::start(Moments::empty(features).about(about_origin), Bound::default(), Array2::zeros((0, features)))
    }

    /// Starts from a model's moments, bound and factor rows.
    pub(crate) fn start(moments: Moments, bound: Bound, factor: Array2<f64>) -> Self {
        let kept = factor.nrows();
        Self {
            moments,
            bound,
            kept,
            compressions: 0,
            rows: kept,
            data: factor.mapv(T::narrow),
            notes: Vec::new(),
            sparse: Waiting::default(),
            epsilon: f64::EPSILON,
        }
    }

    /// The same in another precision.
    pub(crate) fn cast<U: Real>(self) -> Factor<U> {
        let Self { moments, bound, kept, compressions, epsilon, rows, data, sparse, notes } = self;
        Factor {
            moments,
            bound,
            kept,
            compressions,
            epsilon,
            rows,
            data: data.mapv(|x| U::narrow(x.widen())),
            sparse,
            notes,
        }
    }

    /// Raw rows, not yet in F.
    pub(crate) fn pending(&self) -> usize {
        self.rows - self.kept + self.sparse.rows()
    }

    /// Whether the raw rows are sparse; none are both.
    pub(crate) fn waits_sparse(&self) -> bool {
        self.sparse.rows() > 0
    }

    /// Takes these rows of a block, which were born when the clock stood at `birth` of each; sparse rows
    /// stay so if told.
    pub(crate) fn append(&mut self, block: &Block<'_>, which: &[usize], sparse: bool, birth: impl Fn(usize) -> u64) {
        self.notes
            .extend(which.iter().enumerate().map(|(i, &row)| Note { weight: block.weight(row), birth: birth(i) }));
        if let (Some(rows), true) = (block.sparse(), sparse) {
            which.iter().for_each(|&row| self.sparse.push(rows.row(row)));
            return;
        }
        let end = self.rows + which.len();
        if let Some(rows) = self.grown(which.len()) {
            let mut larger = Array2::zeros((rows, self.data.ncols()));
            larger.slice_axis_mut(Axis(0), Slice::from(..self.rows)).assign(&self.view());
            self.data = larger;
        }
        block.write(which, self.data.slice_axis_mut(Axis(0), Slice::from(self.rows..end)));
        self.rows = end;
    }

    /// Rows of the larger buffer that must be had for so many more, if there is no room.
    pub(crate) fn grown(&self, more: usize) -> Option<usize> {
        let (end, there) = (self.rows + more, self.data.nrows());
        (end > there).then(|| end.max(there * 3 / 2))
    }

    /// Weights of the raw rows when the clock stands at `now`; none if all weigh 1.
    pub(crate) fn weights(&self, forgetting: Forgetting, now: u64) -> Option<Vec<f64>> {
        let weight = |note: &Note| note.weight * forgetting.weight(now - note.birth);
        let plain = forgetting == Forgetting::Never && self.notes.iter().all(|note| note.weight == 1.0);
        (!plain).then(|| self.notes.iter().map(weight).collect())
    }

    /// Every row inside F weighs `factor` as much.
    pub(crate) fn forget(&mut self, factor: f64) {
        self.moments = self.moments.scaled(factor);
        self.bound = self.bound.scaled(factor);
        let root = T::narrow(factor.sqrt());
        self.data.slice_axis_mut(Axis(0), Slice::from(..self.kept)).mapv_inplace(|x| x * root);
    }

    /// All rows, F first.
    pub(crate) fn view(&self) -> ArrayView2<'_, T> {
        linalg::rows_of(self.data.view(), 0..self.rows)
    }

    /// The raw rows.
    pub(crate) fn raw_mut(&mut self) -> ArrayViewMut2<'_, T> {
        self.data.slice_axis_mut(Axis(0), Slice::from(self.kept..self.rows))
    }

    fn view_mut(&mut self) -> ArrayViewMut2<'_, T> {
        self.data.slice_axis_mut(Axis(0), Slice::from(..self.rows))
    }

    /// How far the products of f32 rows can have taken the scatter, as a share of its largest
    /// eigenvalue; f64's is too small to count.
    pub(crate) fn noise(&self) -> f64 {
        let narrow = self.compressions > 0 && self.epsilon > f64::EPSILON;
        // Each compression rounds on its own, so their errors add up like steps of a random walk.
        if narrow { self.epsilon * (8.0 + 4.0 * (self.compressions as f64).sqrt()) } else { 0.0 }
    }

    /// Relative precision of F: that of the least precise compression.
    pub(crate) fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Moves the raw rows into a scatter.
    pub(crate) fn drain_into(&mut self, scatter: &mut Scatter, weights: Option<&[f64]>) -> Result<(), Error> {
        scatter.absorb(self.view_mut(), weights)?;
        self.notes.clear();
        self.rows = 0;
        Ok(())
    }

    /// The largest magnitude among the raw rows.
    pub(crate) fn largest_pending(&self) -> f64 {
        let raw = linalg::rows_of(self.view(), self.kept..self.rows);
        raw.iter().fold(0.0_f32, |largest, x| largest.max(x.widen().abs() as f32)).into()
    }

    /// Reduces all rows to the directions that `cut` keeps of their squared singular values, never more
    /// than `limit`.
    pub(crate) fn compress(
        &mut self,
        weights: Option<&[f64]>,
        limit: usize,
        cut: impl Fn(&[f64], f64) -> Cut,
    ) -> Result<(), Error> {
        if self.waits_sparse() {
            if self.kept + self.sparse.rows() <= self.data.ncols() {
                return self.compress_sparse(weights, limit, cut);
            }
            // More rows than features: made dense they are short.
            self.data = self.widened().mapv(T::narrow);
            self.rows = self.data.nrows();
            self.sparse.clear();
        }
        // Rows of F are orthogonal to rounding, which is looked at again before it can add up.
        let fresh = self.compressions.is_multiple_of(TRUSTED_TURNS);
        let (kept, epsilon) = (self.kept, self.epsilon.max(T::EPSILON));
        let before = self.moments.clone();
        let mut a = self.view_mut();
        let moments = before.absorb(a.slice_axis_mut(Axis(0), Slice::from(kept..)), weights)?;
        if a.nrows() > a.ncols() {
            return self.compress_tall(moments, cut);
        }
        let g = linalg::gram_beside(a.view(), if fresh { &[] } else { std::slice::from_ref(&kept) });
        let eigen = Eigen::of(g.view(), limit.saturating_add(DOUBTFUL))?;
        let squared: Vec<f64> = eigen.values.iter().map(|value| value.max(0.0)).collect();
        let largest = squared.first().copied().unwrap_or(0.0);
        let floor = moments.rounding(g.nrows(), largest.sqrt(), epsilon);
        let cut = in_doubt(cut(&squared, moments.total()), epsilon * largest, floor, |keep| {
            linalg::rotate(eigen.vectors(keep..(keep + DOUBTFUL).min(squared.len())).view(), a.view())
        });
        let cut = if cut.keep >= moments.rank_limit() { cut.harmless() } else { cut };
        let mut u = eigen.vectors(0..cut.keep);
        for (mut row, value) in u.rows_mut().into_iter().zip(&squared).filter(|_| cut.shrink > 0.0) {
            row *= cut.shrinkage(*value);
        }
        linalg::rotate_in_place(u.view(), a.view_mut());
        let alive = alive(linalg::rows_of(a.view(), 0..cut.keep), floor);
        self.settle(alive, moments, cut.lost);
        Ok(())
    }

    /// The same for more rows than features: the directions of an SVD are shorter than rows of a rotation.
    fn compress_tall(&mut self, moments: Moments, cut: impl Fn(&[f64], f64) -> Cut) -> Result<(), Error> {
        let epsilon = self.epsilon.max(T::EPSILON);
        let mut a = self.view_mut();
        let (values, directions) = linalg::thin_svd(a.mapv(Real::widen).view())?;
        let squared: Vec<f64> = values.iter().map(|s| s * s).collect();
        let floor = moments.rounding(squared.len(), values.first().copied().unwrap_or(0.0), epsilon);
        let cut = cut(&squared, moments.total());
        let cut = if cut.keep >= moments.rank_limit() { cut.harmless() } else { cut };
        let factor = directions.rows().into_iter().zip(&values).take(cut.keep);
        for ((mut row, (direction, value)), squared) in a.rows_mut().into_iter().zip(factor).zip(&squared) {
            let length = value * cut.shrinkage(*squared);
            row.zip_mut_with(&direction, |x, &along| *x = T::narrow(along * length));
        }
        let alive = alive(linalg::rows_of(a.view(), 0..cut.keep), floor);
        self.settle(alive, moments, cut.lost);
        Ok(())
    }

    /// The raw rows are inside F now.
    fn settle(&mut self, alive: usize, moments: Moments, lost: f64) {
        (self.kept, self.rows) = (alive, alive);
        self.notes.clear();
        self.compressions += 1;
        self.epsilon = self.epsilon.max(T::EPSILON);
        self.moments = moments;
        self.bound = self.bound.losing(lost);
    }

    /// The same for sparse raw rows, which are centred inside the products only.
    fn compress_sparse(
        &mut self,
        weights: Option<&[f64]>,
        limit: usize,
        cut: impl Fn(&[f64], f64) -> Cut,
    ) -> Result<(), Error> {
        let ones = vec![1.0; self.sparse.rows()];
        let weights = weights.unwrap_or(&ones);
        let (moments, centre) = self.sparse.absorb(&self.moments, weights)?;
        let (kept, epsilon) = (self.kept, self.epsilon.max(T::EPSILON));
        let f = linalg::rows_of(self.data.view(), 0..kept);
        let mut g = self.sparse.gram(f, &centre, weights);
        if self.compressions.is_multiple_of(TRUSTED_TURNS) {
            g.slice_axis_mut(Axis(0), Slice::from(..kept))
                .slice_axis_mut(Axis(1), Slice::from(..kept))
                .assign(&linalg::gram(f));
        }
        let eigen = Eigen::of(g.view(), limit.saturating_add(DOUBTFUL))?;
        let squared: Vec<f64> = eigen.values.iter().map(|value| value.max(0.0)).collect();
        let largest = squared.first().copied().unwrap_or(0.0);
        let floor = moments.rounding(g.nrows(), largest.sqrt(), epsilon);
        let add_sparse = |u: ArrayView2<'_, f64>, mut turned: ArrayViewMut2<'_, T>| {
            turned.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(k, mut row)| {
                if let Some(row) = row.as_slice_mut() {
                    self.sparse.add_turned(|i| u[[k, kept + i]], &centre, weights, row);
                }
            });
        };
        let cut = in_doubt(cut(&squared, moments.total()), epsilon * largest, floor, |keep| {
            let u = eigen.vectors(keep..(keep + DOUBTFUL).min(squared.len()));
            let u = u.view();
            let mut dropped =
                linalg::rotate(linalg::columns_of(u, 0..kept), linalg::rows_of(self.data.view(), 0..kept));
            add_sparse(u, dropped.view_mut());
            dropped
        });
        let cut = if cut.keep >= moments.rank_limit() { cut.harmless() } else { cut };

        // F is turned where it lies; fresh memory would cost more than the product.
        let rows = kept.max(cut.keep);
        let mut turned = std::mem::replace(&mut self.data, Array2::zeros((0, 0)));
        if turned.nrows() < rows {
            let mut larger = Array2::zeros((rows, turned.ncols()));
            larger.slice_axis_mut(Axis(0), Slice::from(..kept)).assign(&linalg::rows_of(turned.view(), 0..kept));
            turned = larger;
        }
        turned.slice_axis_inplace(Axis(0), Slice::from(..rows));
        turned.slice_axis_mut(Axis(0), Slice::from(kept..)).fill(T::narrow(0.0));
        let u = eigen.vectors(0..cut.keep);
        let u = u.view();
        let mut square = Array2::zeros((cut.keep, rows));
        square.slice_axis_mut(Axis(1), Slice::from(..kept)).assign(&linalg::columns_of(u, 0..kept));
        linalg::rotate_in_place(square.view(), turned.view_mut());
        turned.slice_axis_inplace(Axis(0), Slice::from(..cut.keep));
        add_sparse(u, turned.view_mut());
        for (mut row, value) in turned.rows_mut().into_iter().zip(&squared).filter(|_| cut.shrink > 0.0) {
            row.mapv_inplace(|x| T::narrow(x.widen() * cut.shrinkage(*value)));
        }
        let alive = alive(turned.view(), floor);
        turned.slice_axis_inplace(Axis(0), Slice::from(..alive));
        self.data = turned;
        self.sparse.clear();
        // Products that are centred by subtraction lose what the mean outweighs the spread by.
        let cancelled = 64.0 * f64::EPSILON * weights.iter().sum::<f64>() * centre.dot(&centre);
        if cancelled > 1e-11 * largest {
            self.bound = self.bound.noisier(cancelled);
        }
        self.settle(alive, moments, cut.lost);
        Ok(())
    }

    /// F and the raw rows in one f64 matrix.
    pub(crate) fn widened(&self) -> Array2<f64> {
        let dense = self.view().mapv(Real::widen);
        if !self.waits_sparse() {
            return dense;
        }
        let mut all = Array2::zeros((self.rows + self.sparse.rows(), dense.ncols()));
        all.slice_axis_mut(Axis(0), Slice::from(..self.rows)).assign(&dense);
        all.slice_axis_mut(Axis(0), Slice::from(self.rows..)).assign(&self.sparse.dense(dense.ncols()));
        all
    }
}

/// A weak direction that the Gram matrix, good to `epsilon` of its largest value, cannot tell from none:
/// the true length of the first rows dropped can.
fn in_doubt<T: Real>(cut: Cut, rounding: f64, floor: f64, dropped: impl FnOnce(usize) -> Array2<T>) -> Cut {
    let doubt = 32.0 * rounding;
    if cut.lost > doubt {
        return cut;
    }
    let real = dropped(cut.keep).rows().into_iter().any(|row| linalg::squared_length(row) > floor * floor);
    Cut { lost: if real { doubt } else { 0.0 }, shrink: 0.0, ..cut }
}

/// Rows up to the last one that is longer than rounding.
fn alive<T: Real>(rows: ArrayView2<'_, T>, floor: f64) -> usize {
    (0..rows.nrows()).rev().find(|&i| linalg::squared_length(rows.row(i)) > floor * floor).map_or(0, |i| i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::FitOptions;
    use crate::plan::Engine;
    use crate::sparse::SparseRows;
    use crate::stream::{Buffer, EigenspaceStream};

    const FEATURES: usize = 300;
    const BLOCK: usize = 110;

    fn stream() -> EigenspaceStream {
        FitOptions::new()
            .components(40)
            .max_rank(100)
            .engine(Engine::Factor)
            .block_rows(BLOCK)
            .stream(FEATURES)
            .expect("good rows")
    }

    /// Strong directions that fade slowly, and some noise.
    fn block(seed: usize) -> Array2<f64> {
        let wave = |i: usize, j: usize| (((i * 7919 + j * 104_729 + i * j) % 9973) as f64 / 9973.0) - 0.5;
        let loads =
            Array2::from_shape_fn((BLOCK, 120), |(i, k)| wave(i + BLOCK * seed, k + 13) * 0.96_f64.powi(k as i32));
        let directions = Array2::from_shape_fn((120, FEATURES), |(k, j)| wave(k + 1, j + 1));
        loads.dot(&directions) + Array2::from_shape_fn((BLOCK, FEATURES), |(i, j)| 0.01 * wave(i + seed, j + 7))
    }

    /// The largest product of two rows of F, as a share of the largest of a row with itself; and the noise
    /// that the factor admits.
    fn skew(stream: &EigenspaceStream) -> (f64, f64) {
        fn of<T: Real>(factor: &Factor<T>) -> (f64, f64) {
            let f = linalg::rows_of(factor.view(), 0..factor.kept).mapv(Real::widen);
            let products = f.dot(&f.t());
            let largest = products.diag().iter().fold(0.0_f64, |a, b| a.max(*b));
            let beside = products.indexed_iter().filter(|((i, j), _)| i != j).map(|(_, x)| x.abs()).fold(0.0, f64::max);
            (beside / largest.max(f64::MIN_POSITIVE), factor.noise())
        }
        match &stream.buffer {
            Buffer::F32(factor) => of(factor),
            Buffer::F64(factor) => of(factor),
        }
    }

    fn compressions(stream: &EigenspaceStream) -> u64 {
        match &stream.buffer {
            Buffer::F32(factor) => factor.compressions,
            Buffer::F64(factor) => factor.compressions,
        }
    }

    /// What sixteen compressions can leave: each the residual that `leading` accepts, where ‖T‖ ≤ 3 λ₁.
    fn trusted() -> f64 {
        TRUSTED_TURNS as f64 * 12.0 * f64::EPSILON * ((100 + BLOCK) as f64).sqrt()
    }

    #[test]
    fn rows_of_a_factor_stay_orthogonal_over_many_compressions() {
        let (mut wide, mut narrow) = (stream(), stream());
        for turn in 0..50 {
            let rows = block(turn);
            wide.update(rows.view()).expect("good rows");
            narrow.update(rows.mapv(|x| x as f32).view()).expect("good rows");
            assert!(skew(&wide).0 <= trusted(), "turn {turn}: {:?}", skew(&wide));
            let (beside, noise) = skew(&narrow);
            assert!(beside <= noise, "turn {turn} in f32: {beside} {noise}");
        }
        assert!(compressions(&wide) > 40 && compressions(&narrow) > 40);
    }

    #[test]
    fn rows_of_a_factor_stay_orthogonal_when_dense_and_sparse_rows_take_turns() {
        let mut mixed = stream();
        for turn in 0..50 {
            let rows = block(turn);
            if turn % 2 == 0 {
                let thin: Vec<(usize, f64)> =
                    rows.indexed_iter().map(|((_, j), x)| (j, *x)).filter(|(j, _)| j % 3 == turn % 3).collect();
                let each = thin.len() / BLOCK;
                let offsets: Vec<usize> = (0..=BLOCK).map(|i| i * each).collect();
                let (columns, values): (Vec<usize>, Vec<f64>) = thin.into_iter().unzip();
                mixed
                    .update(SparseRows::new(FEATURES, &offsets, &columns, &values).expect("good rows"))
                    .expect("good rows");
            } else {
                mixed.update(rows.view()).expect("good rows");
            }
            assert!(skew(&mixed).0 <= trusted(), "turn {turn}: {:?}", skew(&mixed));
        }
        assert!(compressions(&mixed) > 40);
    }
}
