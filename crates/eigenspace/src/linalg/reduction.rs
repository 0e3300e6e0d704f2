//! The reduction of a symmetric matrix to tridiagonal form, G = Q T Qᵀ, by reflections Q = H₁ H₂ ⋯.
//!
//! ```text
//! H = I − v vᵀ / τ,   w = (G v − ½ (vᵀ G v / τ) v) / τ,   H G H = G − v wᵀ − w vᵀ
//! ```
//!
//! The columns of a panel are reduced one after the other; the rest of the matrix is updated once
//! per panel, by a product of matrices. Half of the work is then the product G v. It reads G from
//! end to end, and each of its entries is computed by one thread, so the bytes of a result do not
//! depend on the number of threads.
//!
//! We keep our own because that of faer 0.24.4 updates the whole matrix after each column, which
//! takes about twice as long.

use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Mat, Par};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::products::{four_products, inner_products, squared_length};
use super::real::Real;
use super::slices::{columns_of, vectorized};

/// Columns of a panel, an even number.
const PANEL_COLUMNS: usize = 24;
/// From this number of rows on, products use all threads.
const PARALLEL_ROWS: usize = 512;
/// Number of rows that a thread multiplies at a time.
const ROWS_PER_TASK: usize = 64;
/// Squared lengths below this may have lost digits to underflow.
const SMALL_SQUARE: f64 = 1e-280;
/// 2⁶⁰⁰: entries below √`SMALL_SQUARE` times this, even the smallest number, have squares that do
/// not underflow.
const UPSCALE: f64 = f64::from_bits((1023 + 600) << 52);

/// G = Q T Qᵀ: T in the diagonal and below it, and under that the reflections of Q.
pub(super) struct Reduction {
    pub(super) reflectors: Mat<f64>,
    /// Triangular factors that apply several reflections at once.
    pub(super) factors: Mat<f64>,
}

impl Reduction {
    /// Reduces a symmetric matrix, of which both triangles are given.
    pub(super) fn of(mut g: Array2<f64>) -> Self {
        let n = g.nrows();
        let mut reflectors = Mat::zeros(n, n);
        let mut factors = Mat::zeros(recommended_block_size::<f64>(n, n), n.saturating_sub(1));
        for start in (0..n).step_by(PANEL_COLUMNS) {
            let end = n.min(start + PANEL_COLUMNS);
            let mut panel = Panel::new(n);
            for j in start..end {
                let tau = panel.reduce(j, g.view(), &mut reflectors);
                if j + 1 < n {
                    factors[(0, j)] = tau;
                }
            }
            panel.subtract_from(g.view_mut(), end);
        }
        join_reflections(&reflectors, &mut factors);
        Self { reflectors, factors }
    }
}

/// The vectors v and w of the columns of a panel that are reduced so far, one per row; zero rows
/// for the others.
struct Panel {
    v: Array2<f64>,
    w: Array2<f64>,
    reduced: usize,
}

impl Panel {
    fn new(n: usize) -> Self {
        Self { v: Array2::zeros((PANEL_COLUMNS, n)), w: Array2::zeros((PANEL_COLUMNS, n)), reduced: 0 }
    }

    /// Reduces column j of a matrix that lacks the updates of this panel, and returns τ.
    fn reduce(&mut self, j: usize, g: ArrayView2<'_, f64>, reflectors: &mut Mat<f64>) -> f64 {
        let mut column = row_of(g, j)[j..].to_vec();
        for four in self.pairs_of_pairs(j) {
            let [v, w, next_v, next_w] = four;
            subtract(&mut column, [w[0], v[0], next_w[0], next_v[0]], four);
        }
        reflectors[(j, j)] = column[0];
        let v = &mut column[1..];
        if v.is_empty() {
            return f64::INFINITY;
        }
        let (beta, tau) = reflection(v);
        let stored = reflectors.col_as_slice_mut(j);
        stored[j + 1..].copy_from_slice(v);
        stored[j + 1] = beta;
        v[0] = 1.0;
        let mut w = times_vector(g, v);
        for four in self.pairs_of_pairs(j + 1) {
            let [along_v, along_w, along_next_v, along_next_w] = inner_products(v, four);
            subtract(&mut w, [along_w, along_v, along_next_w, along_next_v], four);
        }
        let half = 0.5 * inner_products(v, [&w; 4])[0] / tau;
        w.iter_mut().zip(&*v).for_each(|(w, v)| *w = (*w - half * v) / tau);
        let keep = |rows: &mut Array2<f64>, row: usize, values: &[f64]| {
            let mut place = rows.row_mut(row);
            place.as_slice_mut().expect("rows are contiguous")[j + 1..].copy_from_slice(values);
        };
        keep(&mut self.v, self.reduced, v);
        keep(&mut self.w, self.reduced, &w);
        self.reduced += 1;
        tau
    }

    /// v, w, and the next v and w, from entry `first` on.
    fn pairs_of_pairs(&self, first: usize) -> impl Iterator<Item = [&[f64]; 4]> {
        let row = move |rows, i| &row_of(rows, i)[first..];
        let (v, w) = (self.v.view(), self.w.view());
        (0..self.reduced).step_by(2).map(move |i| [row(v, i), row(w, i), row(v, i + 1), row(w, i + 1)])
    }

    /// G −= V Wᵀ + W Vᵀ in the rows and columns from `first` on.
    fn subtract_from(&self, mut g: ArrayViewMut2<'_, f64>, first: usize) {
        let n = g.nrows();
        let (v, w) = (columns_of(self.v.view(), first..n), columns_of(self.w.view(), first..n));
        let stack = |above, below| ndarray::concatenate(Axis(0), &[above, below]).expect("both have the same columns");
        let (left, right) = (stack(v, w), -stack(w, v));
        let mut rest = g.slice_axis_mut(Axis(0), Slice::from(first..));
        rest.slice_axis_inplace(Axis(1), Slice::from(first..));
        let update = |(i, rows): (usize, ArrayViewMut2<'_, f64>)| {
            let columns = i * ROWS_PER_TASK..i * ROWS_PER_TASK + rows.nrows();
            f64::multiply_into(rows, true, columns_of(left.view(), columns).reversed_axes(), right.view(), false);
        };
        let tasks = rest.axis_chunks_iter_mut(Axis(0), ROWS_PER_TASK);
        if n - first < PARALLEL_ROWS {
            tasks.into_iter().enumerate().for_each(update);
        } else {
            ndarray::parallel::prelude::IntoParallelIterator::into_par_iter(tasks).enumerate().for_each(update);
        }
    }
}

fn row_of(rows: ArrayView2<'_, f64>, i: usize) -> &[f64] {
    rows.index_axis_move(Axis(0), i).to_slice().expect("rows are contiguous")
}

/// Replaces x by the v with H x = β e₁, except that v₁ = 1 is not stored. Returns β and τ; τ is
/// infinite if x is already a multiple of e₁, and no reflection is needed.
fn reflection(x: &mut [f64]) -> (f64, f64) {
    let (head, tail) = x.split_first_mut().expect("a column has entries");
    let square = squared_length(ndarray::aview1(tail));
    if square < SMALL_SQUARE {
        if tail.iter().all(|x| *x == 0.0) {
            return (*head, f64::INFINITY);
        }
        x.iter_mut().for_each(|x| *x *= UPSCALE);
        let square = squared_length(ndarray::aview1(&x[1..]));
        let (beta, tau) = reflection_of_length(x, square.sqrt());
        return (beta / UPSCALE, tau);
    }
    reflection_of_length(x, square.sqrt())
}

/// The same for an x whose entries after the first have this length.
fn reflection_of_length(x: &mut [f64], length: f64) -> (f64, f64) {
    let (head, tail) = x.split_first_mut().expect("a column has entries");
    let beta = -head.hypot(length).copysign(*head);
    let pivot = *head - beta;
    tail.iter_mut().for_each(|x| *x /= pivot);
    (beta, 0.5 * (1.0 + (length / pivot).powi(2)))
}

/// `to −= a x + b y + …`.
fn subtract(to: &mut [f64], [a, b, c, d]: [f64; 4], [x, y, z, t]: [&[f64]; 4]) {
    vectorized(
        #[inline(always)]
        || {
            for ((((to, x), y), z), t) in to.iter_mut().zip(x).zip(y).zip(z).zip(t) {
                *to -= (a * x + b * y) + (c * z + d * t);
            }
        },
    );
}

/// G v in the last rows and columns of G, as many as v has entries.
fn times_vector(g: ArrayView2<'_, f64>, v: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; v.len()];
    let multiply = |(task, product)| Arch::new().dispatch(TimesVector { g, v, first: task * ROWS_PER_TASK, product });
    if v.len() < PARALLEL_ROWS {
        multiply((0, &mut product[..]));
    } else {
        product.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(multiply);
    }
    product
}

/// Some entries of G v, beginning with the one of this number.
struct TimesVector<'a> {
    g: ArrayView2<'a, f64>,
    v: &'a [f64],
    first: usize,
    product: &'a mut [f64],
}

impl WithSimd for TimesVector<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let skipped = self.g.nrows() - self.v.len();
        for (four, product) in self.product.chunks_mut(4).enumerate() {
            let row = |i: usize| &row_of(self.g, skipped + self.first + 4 * four + i.min(product.len() - 1))[skipped..];
            let products = four_products(simd, self.v, [row(0), row(1), row(2), row(3)]);
            product.copy_from_slice(&products[..product.len()]);
        }
    }
}

/// Computes the triangular factors, of which the first row holds τ.
fn join_reflections(reflectors: &Mat<f64>, factors: &mut Mat<f64>) {
    let n = factors.ncols();
    for start in (0..n).step_by(factors.nrows().max(1)) {
        let block = factors.nrows().min(n - start);
        let mut factor = factors.as_mut().submatrix_mut(0, start, block, block);
        for k in 0..block {
            factor[(k, k)] = factor[(0, k)];
        }
        let essentials = reflectors.as_ref().submatrix(1 + start, start, n - start, block);
        householder::upgrade_householder_factor(factor, essentials, block, 1, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T, and Q from the reflections themselves, one after the other.
    fn factors_of(g: &Array2<f64>) -> (Array2<f64>, Array2<f64>) {
        let n = g.nrows();
        let Reduction { reflectors, factors } = Reduction::of(g.clone());
        let mut t = Array2::zeros((n, n));
        for i in 0..n {
            t[[i, i]] = reflectors[(i, i)];
            if i + 1 < n {
                (t[[i, i + 1]], t[[i + 1, i]]) = (reflectors[(i + 1, i)], reflectors[(i + 1, i)]);
            }
        }
        let mut q = Array2::<f64>::eye(n);
        for j in 0..n.saturating_sub(1) {
            let entry = |i: usize| match i.cmp(&(j + 1)) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Greater => reflectors[(i, j)],
            };
            let v = ndarray::Array1::from_shape_fn(n, entry);
            let block = factors.nrows();
            let along = q.dot(&v) / factors[(j % block, j)];
            for (mut row, along) in q.rows_mut().into_iter().zip(&along) {
                row.scaled_add(-along, &v);
            }
        }
        (t, q)
    }

    fn largest(a: &Array2<f64>) -> f64 {
        a.iter().fold(0.0, |largest, x| largest.max(x.abs()))
    }

    #[test]
    fn the_reflections_and_the_tridiagonal_matrix_give_the_matrix_back() {
        // Sizes around the panel, around its multiples, and parallel ones; entries of very
        // different size.
        for n in [0, 1, 2, 3, 23, 24, 25, 26, 49, 130, 600] {
            for decay in [0.0, 0.1, 3.0] {
                let entry = |i: usize, j: usize| ((i * 31 + j * 31 + i * j * 7) % 101) as f64 / 101.0 - 0.4;
                let scale = |i: usize| (-decay * i as f64).exp();
                let g = Array2::from_shape_fn((n, n), |(i, j)| entry(i, j) * scale(i) * scale(j));
                let (t, q) = factors_of(&g);
                let error = largest(&(q.dot(&t).dot(&q.t()) - &g));
                // Each of n reflections rounds every entry a few times.
                let allowed = 8.0 * f64::EPSILON * (n as f64 + 1.0) * largest(&g);
                assert!(error <= allowed, "{n} rows, decay {decay}: {error:e}");
                let skew = largest(&(q.t().dot(&q) - Array2::<f64>::eye(n)));
                assert!(skew <= 8.0 * f64::EPSILON * (n as f64 + 1.0), "{n} rows, decay {decay}: {skew:e}");
            }
        }
    }

    #[test]
    fn a_column_that_is_already_reduced_needs_no_reflection() {
        let g = Array2::from_diag(&ndarray::array![4.0, 3.0, 2.0, 1.0]);
        assert_eq!(factors_of(&g), (g.clone(), Array2::eye(4)));
        assert_eq!(factors_of(&Array2::zeros((30, 30))), (Array2::zeros((30, 30)), Array2::eye(30)));
    }

    #[test]
    fn squares_that_underflow_do_not_spoil_a_reflection() {
        let mut x = [0.0, 3e-170, 4e-170];
        let (beta, tau) = reflection(&mut x);
        assert!((beta.abs() / 5e-170 - 1.0).abs() < 1e-15);
        assert!((2.0 * tau / (1.0 + x[1] * x[1] + x[2] * x[2]) - 1.0).abs() < 1e-15);
        assert_eq!(UPSCALE.log2(), 600.0);
    }

    #[test]
    fn the_bytes_do_not_depend_on_the_number_of_threads() {
        let g = Array2::from_shape_fn((700, 700), |(i, j)| ((i * j + i + j) % 103) as f64);
        let by = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| Reduction::of(g.clone()).reflectors)
        };
        assert_eq!(by(1), by(3));
    }
}
