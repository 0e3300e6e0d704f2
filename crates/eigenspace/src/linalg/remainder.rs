//! An upper bound on the largest eigenvalue of what a set of directions leaves out, which holds
//! with a stated probability.
//!
//! ```text
//! C = (I − VᵀV) M (I − VᵀV)        G: W independent normal vectors
//! ν = Σ_j spectral measure of C at g_j,   an eigenvalue λ of C with eigenvector u has the mass ν({λ}) = ‖uᵀG‖² ~ χ²_W
//! P(χ²_W < q) ≤ (q/2)^(W/2) / Γ(W/2 + 1) = δ
//! ν({λ}) ≤ 1 / Σ_{j<m} p_j(λ)²      p_j: the orthonormal polynomials of ν
//! ```
//!
//! So, except with probability δ, the largest eigenvalue of C is at most the largest x with q Σ
//! p_j(x)² ≤ 1. The sum grows like a Chebyshev polynomial of degree 2m − 2 beyond the largest
//! eigenvalue that m products with G reveal, so a few products are enough. The polynomials follow
//! from these products (the Gauss quadrature of ν).
//!
//! The vectors are drawn independently of V, so the probability holds for any rows, as long as they
//! were not chosen with knowledge of the seed. The idea is that of Kuczyński & Woźniakowski,
//! *Estimating the largest eigenvalue by the power and Lanczos algorithms with a random start*,
//! SIAM J. Matrix Anal. Appl. 13(4), 1992.

use ndarray::{Array2, ArrayView2, Axis, Slice};

use super::eigen::eigh;
use super::implicit::Operator;
use super::krylov::{orthonormalize, random_beside};
use super::lanes::{Lanes, add, by_rows, gram_of_lanes, there_and_back};
use super::products::rotate;
use super::slices::rows_of;

/// δ: the probability that the bound does not hold.
pub(crate) const FAILURE: f64 = 1e-12;
/// The bound is good enough if it is below this multiple of the largest value found.
const GOOD_ENOUGH: f64 = 1.3;
/// Largest number of products with the W vectors.
const MAX_STEPS: usize = 12;
/// Parts of the basis that are multiplied in parallel.
const PARTS: usize = 4;
/// What is left of a product below this share of the largest value is rounding.
const EXHAUSTED: f64 = 1e-13;
const SEED: u64 = 0xb0d7_1e50_f7e5_7000;
/// An upper bound on the relative rounding of the polynomials.
const POLYNOMIAL_ROUNDING: f64 = 1e-6;
/// A unit vector of which less than this remains beside the basis was in its span, up to rounding.
const MIN_LENGTH_OUTSIDE: f64 = 1e-6;
/// If the next polynomial has a length below this, all mass is at fewer nodes than there are
/// polynomials.
const MIN_POLYNOMIAL_LENGTH: f64 = 1e-10;
/// Largest bound that is searched for, as a multiple of the largest value found.
const MAX_BOUND_RATIO: f64 = 1e12;
/// The bound is determined up to this share.
const BOUND_PRECISION: f64 = 1e-3;

/// Bounds on the largest eigenvalue of C.
pub(crate) struct Remainder {
    /// At most the largest eigenvalue, up to rounding.
    pub(crate) found: f64,
    /// At least the largest eigenvalue, except with probability [`FAILURE`].
    pub(crate) bound: f64,
    /// Directions that contain `found`, and the next values, one per row.
    pub(crate) directions: Array2<f64>,
}

/// Bounds the largest eigenvalue of what the orthonormal rows `v` leave out of an operator.
pub(crate) fn remainder<O: Operator<W>, const W: usize>(operator: &O, v: ArrayView2<'_, f64>) -> Remainder {
    let (kept, size) = (v.nrows(), operator.size());
    let steps = MAX_STEPS.min((size - kept) / W).max(1);
    let mut basis = Array2::zeros((kept + steps * W, size));
    basis.slice_axis_mut(Axis(0), Slice::from(..kept)).assign(&v);
    let mut projected = Array2::<f64>::zeros((steps * W, steps * W));
    let start: Lanes<W> = random_beside(v, SEED);
    let mut next = start.clone();
    orthonormalize(&mut next, 0.0);
    // G = X₀ R: the coordinates of the random vectors along the first rows.
    let first = by_rows(&next, W);
    let coordinates = there_and_back(first.view(), &start, 1).0;
    let mut found = Remainder { found: 0.0, bound: f64::INFINITY, directions: Array2::zeros((0, size)) };
    for step in 0..steps {
        let filled = kept + step * W;
        basis.slice_axis_mut(Axis(0), Slice::from(filled..filled + W)).assign(&by_rows(&next, W));
        let rows = rows_of(basis.view(), 0..filled + W);
        let mut products = operator.apply(&next);
        let (along, inside) = there_and_back(rows, &products, PARTS);
        add(&mut products, -1.0, &inside);
        for (i, along) in along.iter().skip(kept).enumerate() {
            for (k, x) in along.iter().enumerate() {
                projected[[i, step * W + k]] = *x;
                projected[[step * W + k, i]] = *x;
            }
        }
        let known = (step + 1) * W;
        let part = projected.slice_axis(Axis(0), Slice::from(..known));
        let (values, vectors) = eigh(part.slice_axis(Axis(1), Slice::from(..known)));
        let mass = |s: ndarray::ArrayView1<'_, f64>| -> f64 {
            let along = |lane: usize| -> f64 { (0..W).map(|a| s[a] * coordinates[a][lane]).sum() };
            (0..W).map(|lane| along(lane).powi(2)).sum()
        };
        let masses: Vec<f64> = vectors.rows().into_iter().map(mass).collect();
        let rounding = EXHAUSTED * values[0].abs().max(f64::MIN_POSITIVE);
        let exhausted = gram_of_lanes(&products).diag().iter().all(|square| *square <= rounding * rounding);
        // If no vector has anything outside these rows, the quadrature is exact for every
        // polynomial.
        let degree = step + 1 + usize::from(exhausted);
        found.found = values[0].max(0.0);
        found.bound =
            largest_possible(values.as_slice().expect("eigenvalues are contiguous"), &masses, degree, quantile(W));
        let last = step + 1 == steps || found.bound <= GOOD_ENOUGH * found.found;
        if last || exhausted {
            found.directions = rotate(rows_of(vectors.view(), 0..W), rows_of(basis.view(), kept..kept + known));
            break;
        }
        next = products;
        orthonormalize(&mut next, rounding);
        let again = there_and_back(rows, &next, PARTS).1;
        add(&mut next, -1.0, &again);
        orthonormalize(&mut next, MIN_LENGTH_OUTSIDE);
    }
    found
}

/// q: a sum of this even number of squared normal numbers is smaller with probability at most
/// [`FAILURE`].
fn quantile(numbers: usize) -> f64 {
    let half = numbers / 2;
    let factorial: f64 = (1..=half).map(|i| i as f64).product();
    2.0 * (FAILURE * factorial).powf(1.0 / half as f64)
}

/// The largest x at which a measure, given by a Gauss quadrature that is exact for the squares of
/// `degree` polynomials, can have the mass `least`.
fn largest_possible(nodes: &[f64], masses: &[f64], degree: usize, least: f64) -> f64 {
    let top = nodes.iter().fold(0.0_f64, |most, x| most.max(*x));
    if top <= 0.0 {
        return 0.0;
    }
    // The recurrence β_{j+1} p_{j+1} = (x − α_j) p_j − β_j p_{j−1} (Stieltjes), with x as a share
    // of the largest node.
    let nodes: Vec<f64> = nodes.iter().map(|x| x / top).collect();
    let mut recurrence: Vec<(f64, f64)> = Vec::new();
    let total: f64 = masses.iter().sum();
    let (mut before, mut now) = (vec![0.0; nodes.len()], vec![1.0 / total.sqrt(); nodes.len()]);
    let mut beta = 0.0;
    for _ in 1..degree {
        let alpha: f64 = nodes.iter().zip(&now).zip(masses).map(|((x, p), mass)| mass * x * p * p).sum();
        let next: Vec<f64> =
            nodes.iter().zip(&now).zip(&before).map(|((x, p), before)| (x - alpha) * p - beta * before).collect();
        let length = next.iter().zip(masses).map(|(p, mass)| mass * p * p).sum::<f64>().sqrt();
        let exhausted = length < MIN_POLYNOMIAL_LENGTH;
        beta = length.max(MIN_POLYNOMIAL_LENGTH);
        recurrence.push((alpha, beta));
        if exhausted {
            break;
        }
        before = std::mem::replace(&mut now, next.into_iter().map(|p| p / beta).collect());
    }
    let possible = |x: f64| {
        let (mut before, mut now, mut beta) = (0.0, 1.0 / total.sqrt(), 0.0);
        let mut sum: f64 = now * now;
        for (alpha, next_beta) in &recurrence {
            (before, now) = (now, ((x - alpha) * now - beta * before) / next_beta);
            beta = *next_beta;
            sum += now * now;
        }
        sum * least * (1.0 - POLYNOMIAL_ROUNDING) <= 1.0
    };
    let (mut low, mut high) = (1.0, 1.0);
    while possible(high) {
        (low, high) = (high, 2.0 * high);
        if high > MAX_BOUND_RATIO {
            return f64::INFINITY;
        }
    }
    while high - low > BOUND_PRECISION * low {
        let middle = 0.5 * (low + high);
        if possible(middle) { low = middle } else { high = middle }
    }
    high * top
}
