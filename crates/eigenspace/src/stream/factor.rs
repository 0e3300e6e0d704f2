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
//! when somebody looks (`decompose.rs`).
//!
//! Cost of a compression: (m² + 2 r m) D + 2 r (r + m) D in products (the rows of F are orthogonal
//! already), and r vectors of an eigenproblem of size r + m.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::error::Error;
use crate::linalg::{self, Eigen};
use crate::model::bound::{Bound, Rounding, UNIT};
use crate::model::decompose::{self, rotation};
use crate::model::moments::{Absorbed, Moments};
use crate::model::scatter::Scatter;
use crate::model::truncation::Cut;
use crate::rows::block::Block;
use crate::stream::forgetting::Forgetting;
use crate::stream::sparse_buffer::SparseBuffer;

/// Compressions for which the rows of F are taken to be orthogonal to each other, as rotations leave them.
const TRUSTED_TURNS: u64 = 16;

/// r rows of a factor, then rows as they came.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    /// Moments of the rows inside F.
    pub(crate) moments: Moments,
    pub(crate) bound: Bound,
    /// Rows of F.
    pub(crate) kept: usize,
    /// Compressions that have run.
    pub(crate) compressions: u64,
    /// Rows in use: F, then raw ones.
    pub(crate) rows: usize,
    /// Those rows, and room for more.
    pub(crate) data: Array2<f64>,
    /// Raw rows that are sparse; never together with dense ones.
    pub(crate) sparse: SparseBuffer,
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

impl Factor {
    pub(crate) fn empty(moments: Moments) -> Self {
        let features = moments.features();
        Self::start(moments, Bound::exact(features), Array2::zeros((0, features)))
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
            data: factor,
            notes: Vec::new(),
            sparse: SparseBuffer::default(),
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
        self.bound = std::mem::replace(&mut self.bound, Bound::exact(0)).scaled(factor);
        let root = factor.sqrt();
        self.data.slice_axis_mut(Axis(0), Slice::from(..self.kept)).mapv_inplace(|x| x * root);
    }

    /// All rows, F first.
    pub(crate) fn view(&self) -> ArrayView2<'_, f64> {
        linalg::rows_of(self.data.view(), 0..self.rows)
    }

    /// The raw rows.
    pub(crate) fn raw(&self) -> ArrayView2<'_, f64> {
        linalg::rows_of(self.data.view(), self.kept..self.rows)
    }

    /// The raw rows.
    pub(crate) fn raw_mut(&mut self) -> ArrayViewMut2<'_, f64> {
        self.data.slice_axis_mut(Axis(0), Slice::from(self.kept..self.rows))
    }

    fn view_mut(&mut self) -> ArrayViewMut2<'_, f64> {
        self.data.slice_axis_mut(Axis(0), Slice::from(..self.rows))
    }

    /// Moves the raw rows into a scatter.
    pub(crate) fn drain_into(&mut self, scatter: &mut Scatter, weights: Option<&[f64]>) -> Result<(), Error> {
        scatter.absorb(self.view_mut(), weights)?;
        self.notes.clear();
        self.rows = 0;
        Ok(())
    }

    /// Reduces all rows to the directions that the rule keeps.
    pub(crate) fn compress(&mut self, weights: Option<&[f64]>, rule: &Rule<'_>) -> Result<(), Error> {
        if self.waits_sparse() {
            if self.kept + self.sparse.rows() <= self.data.ncols() {
                return self.compress_sparse(weights, rule);
            }
            // More rows than features: made dense they are short.
            self.data = self.dense();
            self.rows = self.data.nrows();
            self.sparse.clear();
        }
        let kept = self.kept;
        let (before, compressions) = (self.moments.clone(), self.compressions);
        let mut a = self.view_mut();
        let absorbed = before.absorb(a.slice_axis_mut(Axis(0), Slice::from(kept..)), weights)?;
        let tall = a.nrows() > a.ncols();
        if tall {
            // A triangle with the same AᵀA is smaller.
            let triangle = linalg::no_more_rows_than_columns(a.view());
            a.slice_axis_inplace(Axis(0), Slice::from(..triangle.nrows()));
            a.assign(&triangle);
        }
        let units = rule.units(&absorbed.moments);
        let scaled = units.as_ref().map(|units| &a / units);
        let seen = scaled.as_ref().map_or(a.view(), |scaled| scaled.view());
        // Rows of F are orthogonal to rounding, which is looked at again before it can add up.
        let fresh = tall || units.is_some() || compressions.is_multiple_of(TRUSTED_TURNS);
        let g = linalg::gram_beside(seen, if fresh { &[] } else { std::slice::from_ref(&kept) });
        let eigen = Eigen::of(g.view(), rule.limit.saturating_add(1));
        let (cut, doubt) = rule.cut(&eigen, &absorbed.moments, units.as_ref());
        let mut u = eigen.vectors(0..cut.keep);
        for (mut row, value) in u.rows_mut().into_iter().zip(&eigen.values).filter(|_| cut.shrink > 0.0) {
            row *= cut.shrinkage(*value);
        }
        linalg::rotate_in_place(u.view(), a.view_mut());
        let turned = a.nrows() * if tall { 2 } else { 1 };
        let alive = last_alive(linalg::rows_of(a.view(), 0..cut.keep), &absorbed.moments);
        self.settle(alive, absorbed, cut.lost, doubt, units, rotation(2 * turned));
        Ok(())
    }

    /// The raw rows are inside F now.
    fn settle(
        &mut self,
        alive: usize,
        absorbed: Absorbed,
        lost: f64,
        doubt: f64,
        units: Option<Array1<f64>>,
        rounding: Rounding,
    ) {
        (self.kept, self.rows) = (alive, alive);
        self.notes.clear();
        self.compressions += 1;
        let q = &absorbed.moments.scatter;
        let largest = linalg::squared_lengths(linalg::rows_of(self.data.view(), 0..alive))
            .iter()
            .fold(0.0, |a: f64, b| a.max(*b));
        let mut bound = self.bound.absorbed(&self.moments, &absorbed);
        match units {
            None => bound = bound.losing(lost).rounded(Rounding { whole: doubt, ..rounding }, q, largest),
            Some(units) => {
                bound.lost.zip_mut_with(&units, |own, unit| *own += lost * unit * unit);
                bound = bound.rounded(Rounding { features: doubt, ..rounding }, q, largest);
            }
        }
        self.bound = bound;
        self.moments = absorbed.moments;
    }

    /// The same for sparse raw rows, which are centered inside the products only.
    fn compress_sparse(&mut self, weights: Option<&[f64]>, rule: &Rule<'_>) -> Result<(), Error> {
        let ones = vec![1.0; self.sparse.rows()];
        let weights = weights.unwrap_or(&ones);
        let (absorbed, center) = self.sparse.absorb(&self.moments, weights)?;
        let kept = self.kept;
        let units = rule.units(&absorbed.moments);
        let f = linalg::rows_of(self.data.view(), 0..kept);
        let g = match &units {
            None => {
                let mut g = self.sparse.gram(f, &center, weights);
                if self.compressions.is_multiple_of(TRUSTED_TURNS) {
                    g.slice_axis_mut(Axis(0), Slice::from(..kept))
                        .slice_axis_mut(Axis(1), Slice::from(..kept))
                        .assign(&linalg::gram(f));
                }
                g
            }
            Some(units) => {
                let f = &f / units;
                let mut g = self.sparse.rescaled(units).gram(f.view(), &(&center / units), weights);
                g.slice_axis_mut(Axis(0), Slice::from(..kept))
                    .slice_axis_mut(Axis(1), Slice::from(..kept))
                    .assign(&linalg::gram(f.view()));
                g
            }
        };
        // Products that are centered by subtraction lose what the mean outweighs the spread by.
        let weight: f64 = weights.iter().sum();
        let outweighed = |q: &f64, center: &f64| if *q > 0.0 { weight * center * center / q } else { 0.0 };
        let worst = absorbed.moments.scatter.iter().zip(&center).map(|(q, t)| outweighed(q, t)).fold(0.0, f64::max);
        let squared_center: f64 = match &units {
            None => center.dot(&center),
            Some(units) => center.iter().zip(units).map(|(t, unit)| (t / unit).powi(2)).sum(),
        };
        let canceled = 64.0 * UNIT * weight * squared_center;
        let eigen = Eigen::of(g.view(), rule.limit.saturating_add(1));
        let (cut, doubt) = rule.cut(&eigen, &absorbed.moments, units.as_ref());

        // F is turned where it lies; fresh memory would cost more than the product.
        let rows = kept.max(cut.keep);
        let mut turned = std::mem::replace(&mut self.data, Array2::zeros((0, 0)));
        if turned.nrows() < rows {
            let mut larger = Array2::zeros((rows, turned.ncols()));
            larger.slice_axis_mut(Axis(0), Slice::from(..kept)).assign(&linalg::rows_of(turned.view(), 0..kept));
            turned = larger;
        }
        turned.slice_axis_inplace(Axis(0), Slice::from(..rows));
        turned.slice_axis_mut(Axis(0), Slice::from(kept..)).fill(0.0);
        let u = eigen.vectors(0..cut.keep);
        let u = u.view();
        let mut square = Array2::zeros((cut.keep, rows));
        square.slice_axis_mut(Axis(1), Slice::from(..kept)).assign(&linalg::columns_of(u, 0..kept));
        linalg::rotate_in_place(square.view(), turned.view_mut());
        turned.slice_axis_inplace(Axis(0), Slice::from(..cut.keep));
        turned.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(k, mut row)| {
            let row = row.as_slice_mut().expect("rows of a factor are contiguous");
            self.sparse.add_turned(|i| u[[k, kept + i]], &center, weights, row);
        });
        for (mut row, value) in turned.rows_mut().into_iter().zip(&eigen.values).filter(|_| cut.shrink > 0.0) {
            row *= cut.shrinkage(*value);
        }
        let alive = last_alive(turned.view(), &absorbed.moments);
        turned.slice_axis_inplace(Axis(0), Slice::from(..alive));
        self.data = turned;
        self.sparse.clear();
        // The center is one word, and may be off by its last digit.
        let off = center.mapv(|t| weight.sqrt() * UNIT * t.abs());
        self.bound = self.bound.clone().shifted(&absorbed.c, &off, &absorbed.moments.scatter);
        let mut rounding = rotation(2 * g.nrows());
        rounding.columns *= (1.0 + worst).sqrt();
        self.settle(alive, absorbed, cut.lost, doubt + canceled, units, rounding);
        Ok(())
    }

    /// F and the raw rows in one dense matrix.
    pub(crate) fn dense(&self) -> Array2<f64> {
        if !self.waits_sparse() {
            return self.view().to_owned();
        }
        let mut all = Array2::zeros((self.rows + self.sparse.rows(), self.data.ncols()));
        all.slice_axis_mut(Axis(0), Slice::from(..self.rows)).assign(&self.view());
        all.slice_axis_mut(Axis(0), Slice::from(self.rows..)).assign(&self.sparse.dense(self.data.ncols()));
        all
    }
}

/// What a compression keeps.
pub(crate) struct Rule<'a> {
    /// The most directions it can keep.
    pub(crate) limit: usize,
    /// Whether directions are weighed in units in which every feature varies alike.
    pub(crate) standardized: bool,
    /// Cuts squared singular values whose sum, with all that was ever dropped, is the second argument.
    pub(crate) cut: &'a dyn Fn(&[f64], f64) -> Cut,
}

impl Rule<'_> {
    /// √q_j, what each feature is divided by; nothing where they keep their units.
    fn units(&self, moments: &Moments) -> Option<Array1<f64>> {
        self.standardized.then(|| moments.scatter.mapv(|q| if q > 0.0 { q.sqrt() } else { 1.0 }))
    }

    /// The cut, and what eigenvalues of a Gram matrix can be off by where it drops any.
    fn cut(&self, eigen: &Eigen, moments: &Moments, units: Option<&Array1<f64>>) -> (Cut, f64) {
        let squared: Vec<f64> = eigen.values.iter().map(|value| value.max(0.0)).collect();
        let total = match units {
            None => moments.total(),
            Some(_) => moments.scatter.iter().filter(|q| **q > 0.0).count() as f64,
        };
        let cut = (self.cut)(&squared, total);
        if cut.keep >= moments.rank_limit().min(eigen.size()) {
            return (Cut { lost: 0.0, shrink: 0.0, ..cut }, 0.0);
        }
        let doubt = 8.0 * (eigen.size() as f64 + 16.0) * UNIT * squared.first().copied().unwrap_or(0.0);
        // What the Gram matrix cannot tell from nothing is rounding, and counted as such.
        if cut.lost <= doubt { (Cut { lost: 0.0, shrink: 0.0, ..cut }, 2.0 * doubt) } else { (cut, doubt) }
    }
}

/// The number of rows up to the last one that is more than rounding in some feature.
fn last_alive(rows: ArrayView2<'_, f64>, moments: &Moments) -> usize {
    decompose::alive(rows, moments.scatter.view(), rows.nrows()).last().map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::sparse::SparseRows;
    use crate::stream::eigenspace_stream::EigenspaceStream;
    use crate::stream::options::FitOptions;
    use crate::stream::plan::Engine;

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

    /// The largest product of two rows of F, as a share of the largest of a row with itself.
    fn skew(stream: &EigenspaceStream) -> f64 {
        let factor = &stream.factor;
        let f = linalg::rows_of(factor.view(), 0..factor.kept);
        let products = f.dot(&f.t());
        let largest = products.diag().iter().fold(0.0_f64, |a, b| a.max(*b));
        let beside = products.indexed_iter().filter(|((i, j), _)| i != j).map(|(_, x)| x.abs()).fold(0.0, f64::max);
        beside / largest.max(f64::MIN_POSITIVE)
    }

    fn compressions(stream: &EigenspaceStream) -> u64 {
        stream.factor.compressions
    }

    /// What sixteen compressions can leave: each the residual that `leading` accepts, where ‖T‖ ≤ 3 λ₁.
    fn trusted() -> f64 {
        TRUSTED_TURNS as f64 * 12.0 * f64::EPSILON * ((100 + BLOCK) as f64).sqrt()
    }

    #[test]
    fn rows_of_a_factor_stay_orthogonal_over_many_compressions() {
        let mut stream = stream();
        for turn in 0..50 {
            stream.update(block(turn).view()).expect("good rows");
            assert!(skew(&stream) <= trusted(), "turn {turn}: {}", skew(&stream));
        }
        assert!(compressions(&stream) > 40);
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
            assert!(skew(&mixed) <= trusted(), "turn {turn}: {}", skew(&mixed));
        }
        assert!(compressions(&mixed) > 40);
    }
}
