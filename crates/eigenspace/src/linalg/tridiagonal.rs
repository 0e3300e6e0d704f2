//! The leading eigenpairs of a symmetric tridiagonal matrix, if not all are needed.
//!
//! ```text
//! T − λI = L D₊ Lᵀ = U D₋ Uᵀ        negative entries of D₊ = eigenvalues of T below λ
//! γ_k = d₊_k + d₋_k − (t_k − λ)     z_k = 1,  z_{i−1} = −l_{i−1} z_i,  z_{i+1} = −u_i z_i,   (T − λI) z = γ_k e_k
//! ```
//!
//! Counting negative entries gives every eigenvalue by bisection, up to the rounding of ‖T‖, many
//! at a time. The two factorizations are joined at the k with the smallest γ, which gives an
//! eigenvector in O(n) (K. V. Fernando, *On computing an eigenvector of a tridiagonal matrix*, SIAM
//! J. Matrix Anal. Appl. 18(4), 1997). Divide and conquer costs O(n³) for all of them. Vectors of
//! close eigenvalues are nearly parallel: the caller orthonormalizes them, and uses divide and
//! conquer if that, or the check of [`Tridiagonal::residual`], fails.
//!
//! We keep our own because faer computes all eigenvectors or none, and most reads need a small part
//! of them.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// Far more steps than an eigenvalue needs; two or three are usual.
const MAX_QL_STEPS: usize = 100;
/// Entries of a vector after one this small are left zero.
const SMALL: f64 = 1e-100;
/// Number of shifts processed at a time.
const LANES: usize = 16;

/// A symmetric tridiagonal matrix: its diagonal, and the entries next to it (one fewer).
pub(crate) struct Tridiagonal<'a> {
    pub(crate) diagonal: &'a [f64],
    pub(crate) off_diagonal: &'a [f64],
}

impl Tridiagonal<'_> {
    /// The largest row sum of magnitudes, which no eigenvalue exceeds.
    pub(crate) fn norm(&self) -> f64 {
        let at = |i: Option<usize>| i.and_then(|i| self.off_diagonal.get(i)).map_or(0.0, |e| e.abs());
        let row = |(i, d): (usize, &f64)| d.abs() + at(i.checked_sub(1)) + at(Some(i));
        self.diagonal.iter().enumerate().map(row).fold(0.0, f64::max)
    }

    /// The `wanted` largest eigenvalues, non-increasing, and a unit vector for each, one per row.
    pub(crate) fn leading(&self, wanted: usize) -> (Array1<f64>, Array2<f64>) {
        let n = self.diagonal.len();
        let mut values = Array1::zeros(wanted);
        let mut vectors = Array2::zeros((wanted, n));
        let chunks = values.axis_chunks_iter_mut(Axis(0), LANES).into_par_iter();
        let chunks = chunks.zip(vectors.axis_chunks_iter_mut(Axis(0), LANES).into_par_iter());
        chunks.enumerate().for_each(|(c, (mut values, mut vectors))| {
            let lanes: [usize; LANES] = std::array::from_fn(|lane| (c * LANES + lane).min(n - 1));
            let found = self.bisect(&lanes);
            let (lower, upper, meet) = self.factorize(&found);
            for (lane, (value, row)) in values.iter_mut().zip(vectors.rows_mut()).enumerate() {
                *value = found[lane];
                twist(lane, meet[lane], &lower, &upper, row);
            }
        });
        (values, vectors)
    }

    /// The smallest eigenvalue, up to the rounding of ‖T‖.
    pub(crate) fn smallest(&self) -> f64 {
        self.bisect(&[self.diagonal.len() - 1; LANES])[0]
    }

    /// The eigenvalues of these ranks, the largest being rank 0.
    fn bisect(&self, ranks: &[usize; LANES]) -> [f64; LANES] {
        let (n, norm) = (self.diagonal.len(), self.norm());
        let squares: Vec<f64> = std::iter::once(0.0).chain(self.off_diagonal.iter().map(|e| e * e)).collect();
        let (mut low, mut high) = ([-norm; LANES], [norm; LANES]);
        while (0..LANES).any(|lane| high[lane] - low[lane] > f64::EPSILON * norm) {
            let middle = std::array::from_fn(|lane| 0.5 * (low[lane] + high[lane]));
            let below = count_below(self.diagonal, &squares, &middle, smallest_pivot(norm));
            for lane in 0..LANES {
                let above = below[lane] <= (n - 1 - ranks[lane]) as f64;
                low[lane] = if above { middle[lane] } else { low[lane] };
                high[lane] = if above { high[lane] } else { middle[lane] };
            }
        }
        std::array::from_fn(|lane| 0.5 * (low[lane] + high[lane]))
    }

    /// The multipliers of both factorizations for each shift, and the index at which to join them.
    fn factorize(&self, shifts: &[f64; LANES]) -> (Vec<[f64; LANES]>, Vec<[f64; LANES]>, [usize; LANES]) {
        let (d, e, n) = (self.diagonal, self.off_diagonal, self.diagonal.len());
        let tiny = smallest_pivot(self.norm());
        let mut lower = vec![[0.0; LANES]; n];
        let mut upper = vec![[0.0; LANES]; n];
        let mut down = vec![[0.0; LANES]; n];
        let (mut least, mut meet) = ([f64::INFINITY; LANES], [0_usize; LANES]);
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut taken = [0.0; LANES];
                for i in 0..n {
                    let next = e.get(i).copied().unwrap_or(0.0);
                    for lane in 0..LANES {
                        let pivot = away_from_zero(d[i] - shifts[lane] - taken[lane], tiny);
                        down[i][lane] = pivot;
                        lower[i][lane] = next / pivot;
                        taken[lane] = next * lower[i][lane];
                    }
                }
                let mut taken = [0.0; LANES];
                for i in (0..n).rev() {
                    let previous = if i > 0 { e[i - 1] } else { 0.0 };
                    for lane in 0..LANES {
                        let pivot = away_from_zero(d[i] - shifts[lane] - taken[lane], tiny);
                        let gamma = (down[i][lane] - taken[lane]).abs();
                        let better = gamma < least[lane];
                        least[lane] = if better { gamma } else { least[lane] };
                        meet[lane] = if better { i } else { meet[lane] };
                        // upper[i] belongs to row i + 1 of U, which is reached from row i.
                        upper[i][lane] = previous / pivot;
                        taken[lane] = previous * upper[i][lane];
                    }
                }
            },
        );
        (lower, upper, meet)
    }

    /// The longest row of Z T − diag(λ) Z that a backward stable method leaves.
    pub(crate) fn allowed_residual(&self) -> f64 {
        4.0 * f64::EPSILON * (self.diagonal.len() as f64).sqrt() * self.norm()
    }

    /// All eigenvalues, non-increasing, and a unit vector for each, one per row, by the implicit QL
    /// iteration with Wilkinson's shift; `None` if a value takes too many steps.
    pub(crate) fn all(&self) -> Option<(Array1<f64>, Array2<f64>)> {
        let n = self.diagonal.len();
        let negligible = f64::EPSILON * f64::EPSILON * self.norm();
        let mut d = self.diagonal.to_vec();
        let mut e: Vec<f64> = self.off_diagonal.iter().copied().chain([0.0]).collect();
        let mut z = Array2::<f64>::eye(n);
        for first in 0..n {
            for step in 0.. {
                let negligible_entry =
                    |m: &usize| e[*m].abs() <= (f64::EPSILON * (d[*m].abs() + d[*m + 1].abs())).max(negligible);
                let last = (first..n - 1).find(negligible_entry).unwrap_or(n - 1);
                if last == first {
                    break;
                }
                if step == MAX_QL_STEPS {
                    return None;
                }
                ql_step(&mut d, &mut e, &mut z, first, last);
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| d[j].total_cmp(&d[i]));
        Some((order.iter().map(|&i| d[i]).collect(), z.select(Axis(0), &order)))
    }

    /// The longest row of Z T − diag(λ) Z.
    pub(crate) fn residual(&self, values: ArrayView1<'_, f64>, vectors: ArrayView2<'_, f64>) -> f64 {
        let (d, e) = (self.diagonal, self.off_diagonal);
        let row = |(value, z): (&f64, ArrayView1<'_, f64>)| {
            let entry = |i: usize| {
                let before = if i > 0 { e[i - 1] * z[i - 1] } else { 0.0 };
                let after = if i + 1 < d.len() { e[i] * z[i + 1] } else { 0.0 };
                ((d[i] - value) * z[i] + before + after).powi(2)
            };
            (0..d.len()).map(entry).sum::<f64>()
        };
        let worst = |worst: f64, sum: f64| if sum > worst || sum.is_nan() { sum } else { worst };
        values.iter().zip(vectors.rows()).map(row).fold(0.0, worst).sqrt()
    }
}

/// One sweep of rotations that chases the bulge from row `last` to row `first`, applied to the
/// vectors too.
fn ql_step(d: &mut [f64], e: &mut [f64], z: &mut Array2<f64>, first: usize, last: usize) {
    let half = (d[first + 1] - d[first]) / (2.0 * e[first]);
    let mut bulge = d[last] - d[first] + e[first] / (half + half.hypot(1.0).copysign(half));
    let (mut sin, mut cos, mut taken) = (1.0, 1.0, 0.0);
    for i in (first..last).rev() {
        let (f, b) = (sin * e[i], cos * e[i]);
        let length = f.hypot(bulge);
        e[i + 1] = length;
        if length == 0.0 {
            // The matrix has split into two blocks during the sweep.
            d[i + 1] -= taken;
            e[last] = 0.0;
            return;
        }
        (sin, cos) = (f / length, bulge / length);
        let corner = d[i + 1] - taken;
        let change = (d[i] - corner) * sin + 2.0 * cos * b;
        taken = sin * change;
        d[i + 1] = corner + taken;
        bulge = cos * change - b;
        let (mut above, mut below) = z.view_mut().split_at(Axis(0), i + 1);
        above.row_mut(i).iter_mut().zip(below.row_mut(0)).for_each(|(x, y)| {
            (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
        });
    }
    d[first] -= taken;
    e[first] = bulge;
    e[last] = 0.0;
}

/// Pivots below this are rounding.
fn smallest_pivot(norm: f64) -> f64 {
    (f64::EPSILON * f64::EPSILON * norm).max(f64::MIN_POSITIVE)
}

#[inline(always)]
fn away_from_zero(pivot: f64, tiny: f64) -> f64 {
    if pivot.abs() < tiny { -tiny } else { pivot }
}

/// How many eigenvalues lie below each shift.
fn count_below(diagonal: &[f64], squares: &[f64], shifts: &[f64; LANES], tiny: f64) -> [f64; LANES] {
    let (mut pivots, mut counts) = ([1.0; LANES], [0.0; LANES]);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (d, square) in diagonal.iter().zip(squares) {
                for lane in 0..LANES {
                    let pivot = away_from_zero(d - shifts[lane] - square / pivots[lane], tiny);
                    pivots[lane] = pivot;
                    counts[lane] += if pivot < 0.0 { 1.0 } else { 0.0 };
                }
            }
        },
    );
    counts
}

/// The eigenvector from the two factorizations joined at `meet`, normalized.
fn twist(
    lane: usize,
    meet: usize,
    lower: &[[f64; LANES]],
    upper: &[[f64; LANES]],
    mut row: ndarray::ArrayViewMut1<'_, f64>,
) {
    row[meet] = 1.0;
    // Numbers near the smallest one make every later product slow; they are rounding.
    let small = |x: &f64| x.abs() < SMALL;
    for i in (0..meet).rev() {
        row[i] = -lower[i][lane] * row[i + 1];
        if small(&row[i]) {
            break;
        }
    }
    for i in meet + 1..row.len() {
        row[i] = -upper[i][lane] * row[i - 1];
        if small(&row[i]) {
            break;
        }
    }
    let length = row.dot(&row).sqrt();
    row /= length;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second difference has eigenvalues 2 − 2 cos(kπ / (n + 1)) and sines for eigenvectors.
    #[test]
    fn the_second_difference_has_the_values_and_vectors_of_the_book() {
        let n = 301;
        let t = Tridiagonal { diagonal: &vec![2.0; n], off_diagonal: &vec![-1.0; n - 1] };
        let (values, vectors) = t.leading(37);
        let angle = |k: usize| std::f64::consts::PI * (n - k) as f64 / (n + 1) as f64;
        for (k, (value, vector)) in values.iter().zip(vectors.rows()).enumerate() {
            assert!((value - (2.0 - 2.0 * angle(k).cos())).abs() < 8.0 * f64::EPSILON * t.norm(), "value {k}");
            let length = (2.0 / (n + 1) as f64).sqrt();
            let cosine: f64 =
                vector.iter().enumerate().map(|(i, z)| z * length * (angle(k) * (i + 1) as f64).sin()).sum();
            // Rounding of T over the gap to the next value, about π² k / n², bounds the sine of the
            // angle.
            assert!((cosine.abs() - 1.0).abs() < 1e-12, "vector {k}: {cosine}");
        }
        assert!(t.residual(values.view(), vectors.view()) < 4.0 * f64::EPSILON * (n as f64).sqrt() * t.norm());
    }

    #[test]
    fn the_smallest_value_needs_no_other() {
        let n = 301;
        let t = Tridiagonal { diagonal: &vec![2.0; n], off_diagonal: &vec![-1.0; n - 1] };
        let truth = 2.0 - 2.0 * (std::f64::consts::PI / (n + 1) as f64).cos();
        assert!((t.smallest() - truth).abs() < 8.0 * f64::EPSILON * t.norm());
    }

    #[test]
    fn the_residual_of_wrong_pairs_and_of_nonsense_is_seen() {
        let t = Tridiagonal { diagonal: &[2.0, 2.0, 2.0], off_diagonal: &[-1.0, -1.0] };
        let (values, mut vectors) = t.leading(2);
        assert!(t.residual((&values + 0.1).view(), vectors.view()) > 0.09);
        vectors[[1, 2]] = f64::NAN;
        assert!(t.residual(values.view(), vectors.view()).is_nan());
    }
}
