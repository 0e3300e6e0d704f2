//! The leading eigenpairs of a symmetric positive semi-definite operator, from products with it.
//!
//! ```text
//! Q = [ x₀ ; x₁ ; … ]   orthonormal rows, W at a time        T = Q M Qᵀ = Sᵀ diag(θ) S
//! v_i = s_i Q                                               ‖v_i M − θ_i v_i‖ ≤ tolerance · θ₁
//! ```
//!
//! The next rows are what is left of the last products, x_p M, outside the span of Q (block
//! Lanczos, orthogonalized against all rows twice). When there is no more room, Q is replaced by
//! its best directions (thick restart), so those that have converged are never computed again. The
//! first rows are random, from a fixed seed. If nothing is left outside the span, random rows
//! continue: this finds all of several equal eigenvalues.
//!
//! Golub & Underwood, *The block Lanczos method for computing eigenvalues*, 1977; Wu & Simon,
//! *Thick-restart Lanczos method for large symmetric eigenvalue problems*, SIAM J. Matrix Anal.
//! Appl. 22(2), 2000.

use ndarray::{Array1, Array2, ArrayView2, Axis, Slice};

use super::eigen::{Eigen, eigh};
use super::implicit::Operator;
use super::lanes::{Lanes, add, by_columns, by_rows, gram_of_lanes, there_and_back, turn_lanes};
use super::products::rotate;
use super::random::Random;
use super::slices::rows_of;

/// Largest accepted residual, as a share of the largest eigenvalue.
const RESIDUAL_TOLERANCE: f64 = 1e-12;
/// What is left of a product below this share of the largest eigenvalue is rounding.
const PRODUCT_ROUNDING_SHARE: f64 = 1e-14;
/// If the eigenvalues of a Gram matrix span more than this, vectors are orthonormalized one by one.
const MAX_GRAM_CONDITION: f64 = 1e10;
/// A pass of orthogonalization that changes a unit vector by more than this is repeated.
const SECOND_PASS_CHANGE: f64 = 1e-6;
/// Parts of the basis that are multiplied in parallel.
const PARTS: usize = 4;
/// Seed of the random rows.
pub(super) const SEED: u64 = 0x005e_ed0f_e16e_5bac;

/// What to compute, and how much work to spend on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// Number of eigenpairs that must converge.
    pub(crate) wanted: usize,
    /// Number of eigenpairs to return.
    pub(crate) kept: usize,
    /// Largest number of rows of Q.
    pub(crate) room: usize,
    /// Largest number of vectors to multiply.
    pub(crate) products: usize,
}

/// Approximate eigenpairs, the largest first.
pub(crate) struct Leading {
    pub(crate) values: Array1<f64>,
    /// One per row, orthonormal.
    pub(crate) vectors: Array2<f64>,
    /// The vectors times M.
    pub(crate) images: Array2<f64>,
    /// The largest value that was left out: at most the next eigenvalue.
    pub(crate) next: f64,
    /// Whether the residuals of the wanted pairs are below the tolerance.
    pub(crate) converged: bool,
    /// Number of vectors that were multiplied.
    #[cfg(test)]
    pub(crate) products: usize,
}

/// Orthonormal rows, the products with them, and T.
pub(crate) struct Krylov<'a, O, const W: usize> {
    operator: &'a O,
    request: Request,
    rows: Array2<f64>,
    images: Array2<f64>,
    projected: Array2<f64>,
    size: usize,
    next: Lanes<W>,
    /// The Gram matrix of what was left of the last products, in the order of the last rows.
    left: Array2<f64>,
    random: Random,
    products: usize,
    /// Estimate of the largest eigenvalue.
    largest: f64,
}

impl<'a, O: Operator<W>, const W: usize> Krylov<'a, O, W> {
    /// Starts with random rows. There must be room for all kept pairs and some more rows.
    pub(crate) fn new(operator: &'a O, request: Request) -> Self {
        let size = operator.size();
        let room = request.room.min(size);
        let mut krylov = Self {
            operator,
            request: Request { room, ..request },
            rows: Array2::zeros((room, size)),
            images: Array2::zeros((room, size)),
            projected: Array2::zeros((room, room)),
            size: 0,
            next: Lanes::zeros(size),
            left: Array2::zeros((0, 0)),
            random: Random::new(SEED),
            products: 0,
            largest: 0.0,
        };
        krylov.refill(0);
        krylov
    }

    /// Multiplies more vectors until the wanted pairs have converged or the work is spent.
    pub(crate) fn run(&mut self) -> Leading {
        let mut check = (self.request.wanted + W).min(self.request.room);
        let mut before: Option<(usize, f64)> = None;
        loop {
            let room = self.request.room - self.size;
            let full = room < W || self.active() == 0;
            let spent = self.products >= self.request.products;
            if self.size > 0 && (full || spent || self.size >= check) {
                let (values, turn) = self.ritz(self.request.kept.max(self.restart_size()).min(self.size));
                let wanted = self.request.wanted.min(values.len());
                let worst = self.worst_residual(turn.view(), wanted);
                let goal = RESIDUAL_TOLERANCE * self.largest;
                // Everything is known if the rows span the whole space.
                let whole = self.size == self.operator.size() || self.active() == 0;
                let converged = (worst <= goal && wanted == self.request.wanted) || whole;
                if converged || spent {
                    return self.leading(&values, turn.view(), converged);
                }
                let remaining = predicted(before, (self.products, worst), goal);
                before = Some((self.products, worst));
                if full {
                    self.restart(&values, turn.view());
                }
                check = self.size + remaining.clamp(W, 8 * W);
            }
            self.expand();
        }
    }

    /// Continues with directions that the rows may have missed.
    pub(crate) fn also(&mut self, directions: ArrayView2<'_, f64>) {
        if self.request.room - self.size < 2 * W {
            let (values, turn) = self.ritz(self.restart_size().min(self.size));
            self.restart(&values, turn.view());
        }
        self.next = by_columns(rows_of(directions, 0..directions.nrows().min(W)));
        self.orthonormalize_next();
        self.refill(self.active());
    }

    /// Number of rows that a restart keeps.
    fn restart_size(&self) -> usize {
        let Request { wanted, kept, room, .. } = self.request;
        (wanted + (room - wanted) / 3).max(kept).min(room.saturating_sub(2 * W))
    }

    /// Number of next rows.
    fn active(&self) -> usize {
        let mut used = [false; W];
        for lanes in self.next.iter() {
            used.iter_mut().zip(lanes).for_each(|(used, x)| *used |= *x != 0.0);
        }
        used.iter().filter(|used| **used).count()
    }

    fn basis(&self) -> ArrayView2<'_, f64> {
        rows_of(self.rows.view(), 0..self.size)
    }

    /// Adds the next rows to Q, and prepares the rows after them.
    fn expand(&mut self) {
        let count = self.active();
        let mut products = self.operator.apply(&self.next);
        self.products += count;
        let (start, end) = (self.size, self.size + count);
        let block = |rows: &mut Array2<f64>, lanes: &[[f64; W]]| {
            rows.slice_axis_mut(Axis(0), Slice::from(start..end)).assign(&by_rows(lanes, count));
        };
        block(&mut self.rows, &self.next);
        block(&mut self.images, &products);
        self.size = end;
        let along = self.remove_basis(&mut products);
        for (i, along) in along.iter().enumerate() {
            for (k, x) in along.iter().enumerate().take(count) {
                self.projected[[i, start + k]] = *x;
                self.projected[[start + k, i]] = *x;
            }
        }
        let diagonal = (0..end).map(|i| self.projected[[i, i]]);
        self.largest = diagonal.fold(self.largest, f64::max);
        self.left = gram_of_lanes(&products);
        self.left.slice_axis_inplace(Axis(0), Slice::from(..count));
        self.left.slice_axis_inplace(Axis(1), Slice::from(..count));
        self.next = products;
        self.orthonormalize_next();
        let active = self.active();
        if active < count {
            self.refill(active);
        }
    }

    /// Subtracts the part of the lanes in the span of Q, and returns its coordinates.
    fn remove_basis(&self, lanes: &mut Lanes<W>) -> Lanes<W> {
        let (along, inside) = there_and_back(self.basis(), lanes, PARTS);
        add(lanes, -1.0, &inside);
        along
    }

    /// Makes the next rows orthonormal, to each other and to Q. Rows that are only rounding become
    /// zero and come last.
    fn orthonormalize_next(&mut self) {
        let mut next = std::mem::take(&mut self.next);
        let floor = PRODUCT_ROUNDING_SHARE * self.largest;
        orthonormalize(&mut next, floor);
        for _ in 0..3 {
            let change = self.remove_basis(&mut next);
            let change = change.as_flattened().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            orthonormalize(&mut next, SECOND_PASS_CHANGE);
            if change <= SECOND_PASS_CHANGE {
                break;
            }
        }
        self.next = next;
    }

    /// Appends random rows to the next ones, as far as there is room in the whole space.
    fn refill(&mut self, active: usize) {
        let length = self.operator.size();
        let free = length - self.size;
        if free < 2 * W {
            return;
        }
        let rows = self.random.normal_matrix(W - active, length);
        for (k, row) in rows.rows().into_iter().enumerate() {
            self.next.iter_mut().zip(row).for_each(|(lanes, x)| lanes[active + k] = *x);
        }
        let (largest, left) = (std::mem::replace(&mut self.largest, 1.0), self.left.clone());
        self.orthonormalize_next();
        (self.largest, self.left) = (largest, left);
    }

    /// The leading eigenvalues of T, and their eigenvectors.
    fn ritz(&self, count: usize) -> (Array1<f64>, Array2<f64>) {
        let part = self.projected.slice_axis(Axis(0), Slice::from(..self.size));
        let eigen = Eigen::of(part.slice_axis(Axis(1), Slice::from(..self.size)), (count + 1).min(self.size));
        let vectors = eigen.vectors(0..count);
        (eigen.values, vectors)
    }

    /// The largest residual of the first pairs.
    fn worst_residual(&self, turn: ArrayView2<'_, f64>, wanted: usize) -> f64 {
        let count = self.left.nrows().min(self.size);
        let residual = |i: usize| {
            let last: Array1<f64> = turn.row(i).iter().skip(self.size - count).copied().collect();
            last.dot(&self.left.dot(&last)).max(0.0).sqrt()
        };
        (0..wanted).map(residual).fold(0.0, f64::max)
    }

    /// Replaces Q by its leading directions. What was left of the last products is still next.
    fn restart(&mut self, values: &Array1<f64>, turn: ArrayView2<'_, f64>) {
        let count = self.restart_size().min(turn.nrows());
        let turn = rows_of(turn, 0..count);
        for rows in [&mut self.rows, &mut self.images] {
            let turned = rotate(turn, rows_of(rows.view(), 0..self.size));
            rows.slice_axis_mut(Axis(0), Slice::from(..count)).assign(&turned);
        }
        self.projected.fill(0.0);
        (0..count).for_each(|i| self.projected[[i, i]] = values[i]);
        self.size = count;
    }

    fn leading(&self, values: &Array1<f64>, turn: ArrayView2<'_, f64>, converged: bool) -> Leading {
        let count = self.request.kept.min(turn.nrows());
        let turn = rows_of(turn, 0..count);
        Leading {
            values: values.iter().take(count).copied().collect(),
            vectors: rotate(turn, self.basis()),
            images: rotate(turn, rows_of(self.images.view(), 0..self.size)),
            next: values.get(count).copied().unwrap_or(0.0).max(0.0),
            converged,
            #[cfg(test)]
            products: self.products,
        }
    }
}

/// Number of vectors after which a residual that decreases as between two checks reaches the goal;
/// not the last third of them, because it decreases faster and faster.
fn predicted(before: Option<(usize, f64)>, now: (usize, f64), goal: f64) -> usize {
    let Some(before) = before.filter(|before| before.1 > now.1 && now.1 > goal && now.0 > before.0) else { return 0 };
    let rate = (before.1 / now.1).ln() / (now.0 - before.0) as f64;
    (0.7 * (now.1 / goal).ln() / rate) as usize
}

/// Makes lanes orthonormal. Those that are shorter than `floor` beside the others become zero and
/// come last.
pub(crate) fn orthonormalize<const W: usize>(lanes: &mut Lanes<W>, floor: f64) {
    for _ in 0..3 {
        let gram = gram_of_lanes(lanes);
        let scales = gram.diag().mapv(|square| if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 });
        let used: Vec<usize> = (0..W).filter(|&k| gram[[k, k]] > floor * floor).collect();
        let scaled = Array2::from_shape_fn((used.len(), used.len()), |(i, j)| {
            gram[[used[i], used[j]]] * scales[used[i]] * scales[used[j]]
        });
        let (values, vectors) = eigh(scaled.view());
        let last = values.last().copied().unwrap_or(1.0);
        if last * MAX_GRAM_CONDITION < 1.0 {
            return one_by_one(lanes, floor);
        }
        // C⁻¹, where C Cᵀ is the Gram matrix, by way of its eigenvectors.
        let mut turn = Array2::zeros((W, W));
        for (i, (value, vector)) in values.iter().zip(vectors.rows()).enumerate() {
            for (x, &k) in vector.iter().zip(&used) {
                turn[[i, k]] = x * scales[k] / value.sqrt();
            }
        }
        turn_lanes(turn.view(), lanes);
        if last > 0.5 {
            return;
        }
    }
}

/// The same by the method of Gram and Schmidt, for vectors that are close to parallel.
fn one_by_one<const W: usize>(lanes: &mut Lanes<W>, floor: f64) {
    let rows = by_rows(lanes, W);
    let mut found: Vec<Array1<f64>> = Vec::with_capacity(W);
    for row in rows.rows() {
        let mut row = row.to_owned();
        let mut length = row.dot(&row).sqrt();
        for _ in 0..3 {
            for other in &found {
                let along = other.dot(&row);
                row.scaled_add(-along, other);
            }
            let shorter = row.dot(&row).sqrt();
            let orthogonal = shorter > 0.5 * length;
            length = shorter;
            if orthogonal {
                break;
            }
        }
        if length > floor {
            found.push(row / length);
        }
    }
    let mut next = Lanes::zeros(lanes.len());
    for (k, row) in found.iter().enumerate() {
        next.iter_mut().zip(row).for_each(|(lanes, x)| lanes[k] = *x);
    }
    *lanes = next;
}

/// Random lanes orthogonal to orthonormal rows, for a start that does not depend on them.
pub(crate) fn random_beside<const W: usize>(rows: ArrayView2<'_, f64>, seed: u64) -> Lanes<W> {
    let mut lanes = by_columns(Random::new(seed).normal_matrix(W, rows.ncols()).view());
    for _ in 0..2 {
        let inside = there_and_back(rows, &lanes, PARTS).1;
        add(&mut lanes, -1.0, &inside);
    }
    lanes
}

#[cfg(test)]
mod tests;
