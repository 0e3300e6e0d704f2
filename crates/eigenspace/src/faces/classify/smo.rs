//! A support vector machine for two classes, by sequential minimal optimization.
//!
//! ```text
//! min ½ αᵀQα − 1ᵀα     0 ≤ α ≤ C,  yᵀα = 0,   Q_ij = y_i y_j κ(x_i, x_j)      f(x) = Σ α_i y_i κ(x_i, x) − ρ
//! ```
//!
//! Each step solves the problem for one pair (i, j) in closed form: i violates the optimality
//! conditions most, and j gives the largest second-order decrease together with i (Fan, Chen & Lin,
//! *Working set selection using second order information for training support vector machines*,
//! JMLR 6, 2005). Nothing is random: equal candidates are taken in order. We do not use the solver
//! of smartcore: it is an approximate online solver that visits the images in random order, has no
//! decision values, and can panic.
//!
//! Cost: O(l) per step for l images, and O(l² k) for the kernel matrix.

use ndarray::{Array2, ArrayView1};

/// Largest accepted violation of the optimality conditions.
const OPTIMALITY_TOLERANCE: f64 = 1e-6;
/// Smallest curvature; smaller values are replaced by this.
const MIN_CURVATURE: f64 = 1e-12;
/// Largest number of steps per image, after which the current solution is used. Faces need a few.
const MAX_STEPS_PER_IMAGE: usize = 10_000;

/// κ.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernel {
    Linear,
    Rbf { gamma: f64 },
}

impl Kernel {
    pub(crate) fn value(self, a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
        match self {
            Self::Linear => a.dot(&b),
            Self::Rbf { gamma } => (-gamma * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp(),
        }
    }
}

/// The coefficients α_i y_i of the images, and ρ.
pub(crate) struct Machine {
    pub(crate) coefficients: Vec<f64>,
    pub(crate) rho: f64,
}

/// Trains a machine from a kernel matrix and classes y = ±1, each with at least one image.
pub(crate) fn machine(kernel: &Array2<f64>, y: &[f64], c: f64) -> Machine {
    let l = y.len();
    let mut alpha = vec![0.0; l];
    // The gradient Qα − 1.
    let mut g = vec![-1.0; l];
    let up = |y: f64, a: f64| if y > 0.0 { a < c } else { a > 0.0 };
    let low = |y: f64, a: f64| if y > 0.0 { a > 0.0 } else { a < c };
    for _ in 0..MAX_STEPS_PER_IMAGE * l {
        let Some(i) = best((0..l).filter(|&t| up(y[t], alpha[t])).map(|t| (t, -y[t] * g[t]))) else { break };
        let most = -y[i] * g[i];
        let least = (0..l).filter(|&t| low(y[t], alpha[t])).map(|t| -y[t] * g[t]).fold(f64::INFINITY, f64::min);
        if most - least < OPTIMALITY_TOLERANCE {
            break;
        }
        let curvature = |t: usize| (kernel[[i, i]] + kernel[[t, t]] - 2.0 * kernel[[i, t]]).max(MIN_CURVATURE);
        let gains = (0..l).filter(|&t| low(y[t], alpha[t]) && -y[t] * g[t] < most).map(|t| {
            let violation = most + y[t] * g[t];
            (t, violation * violation / curvature(t))
        });
        let Some(j) = best(gains) else { break };
        // Along α_i += y_i δ, α_j −= y_j δ the objective is quadratic; δ is limited so that 0 ≤ α ≤
        // C.
        let room = |a: f64, sign: f64| if sign > 0.0 { c - a } else { a };
        let full = (most + y[j] * g[j]) / curvature(j);
        let step = full.min(room(alpha[i], y[i])).min(room(alpha[j], -y[j]));
        for (t, sign) in [(i, y[i]), (j, -y[j])] {
            // Set exactly to the limit, so that comparisons with it work.
            let limit = if sign > 0.0 { c } else { 0.0 };
            alpha[t] = if step >= room(alpha[t], sign) { limit } else { alpha[t] + sign * step };
        }
        for (t, g) in g.iter_mut().enumerate() {
            *g += y[t] * step * (kernel[[i, t]] - kernel[[j, t]]);
        }
    }
    let rho = offset(&alpha, &g, y, c);
    Machine { coefficients: alpha.iter().zip(y).map(|(a, y)| a * y).collect(), rho }
}

/// The index of the first largest value.
fn best(candidates: impl Iterator<Item = (usize, f64)>) -> Option<usize> {
    let larger = |best: Option<(usize, f64)>, next: (usize, f64)| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(next),
    };
    candidates.fold(None, larger).map(|(index, _)| index)
}

/// ρ: the mean over images on the margin, or the middle of the interval that the others allow.
fn offset(alpha: &[f64], g: &[f64], y: &[f64], c: f64) -> f64 {
    let free: Vec<f64> = (0..y.len()).filter(|&t| alpha[t] > 0.0 && alpha[t] < c).map(|t| y[t] * g[t]).collect();
    if !free.is_empty() {
        return free.iter().sum::<f64>() / free.len() as f64;
    }
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for t in 0..y.len() {
        let value = y[t] * g[t];
        if (alpha[t] > 0.0) == (y[t] > 0.0) {
            low = low.max(value);
        } else {
            high = high.min(value);
        }
    }
    if low.is_finite() && high.is_finite() { 0.5 * (low + high) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::{Kernel, machine};
    use crate::linalg::random::Random;

    /// Two overlapping clouds of points, and their kernel matrix.
    fn problem(seed: u64, l: usize, kernel: Kernel) -> (Array2<f64>, Vec<f64>) {
        let mut random = Random::new(seed);
        let y: Vec<f64> = (0..l).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let x = Array2::from_shape_fn((l, 3), |(i, j)| random.normal() + if j == 0 { 0.7 * y[i] } else { 0.0 });
        let k = Array2::from_shape_fn((l, l), |(a, b)| kernel.value(x.row(a), x.row(b)));
        (k, y)
    }

    #[test]
    fn the_answer_is_feasible_and_optimal() {
        for (seed, c) in [(1, 0.1), (2, 1.0), (3, 10.0), (4, 1000.0)] {
            for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 0.5 }] {
                let (k, y) = problem(seed, 24, kernel);
                let found = machine(&k, &y, c);
                let alpha: Vec<f64> = found.coefficients.iter().zip(&y).map(|(b, y)| b * y).collect();
                assert!(alpha.iter().all(|a| (0.0..=c).contains(a)), "{alpha:?}");
                assert!(found.coefficients.iter().sum::<f64>().abs() < 1e-9 * c * 24.0);
                // Karush, Kuhn and Tucker: outside the margin α = 0, inside α = C.
                for t in 0..24 {
                    let value: f64 = (0..24).map(|i| found.coefficients[i] * k[[i, t]]).sum::<f64>() - found.rho;
                    let margin = y[t] * value;
                    assert!(margin > 1.0 - 1e-5 || alpha[t] > c * (1.0 - 1e-9), "{margin} {}", alpha[t]);
                    assert!(margin < 1.0 + 1e-5 || alpha[t] < c * 1e-9, "{margin} {}", alpha[t]);
                }
            }
        }
    }

    #[test]
    fn two_points_have_the_plane_between_them() {
        let found = machine(&ndarray::array![[1.0, -1.0], [-1.0, 1.0]], &[1.0, -1.0], 100.0);
        assert!((found.coefficients[0] - 0.5).abs() < 1e-12 && found.rho.abs() < 1e-12);
    }

    #[test]
    fn equal_points_on_both_sides_end() {
        let found = machine(&Array2::ones((4, 4)), &[1.0, -1.0, 1.0, -1.0], 10.0);
        assert!(found.coefficients.iter().all(|b| b.is_finite()) && found.rho.is_finite());
    }
}
