//! What products in f32 would add to the certificate of one compression, as shares of what the
//! compression drops.
//!
//! ```text
//! A = [ F ; X ],  A Aᵀ = Uᵀ diag(λ) U,  P = U_rᵀ U_r,  w_i = ‖a_i‖,  γ = (terms of a sum + 2) 2⁻²⁴
//! Gram matrix   γ max (Σ w_i |u_i|)²                       over unit vectors u with |u_i|² ≤ 1 − P_ii: those that are dropped
//! rotation      2 √(Σ λ_k δ_k²) + Σ δ_k²,  δ_k = γ Σ |U_ki| w_i     without the entries U_kk, which stay in f64
//! ```
//!
//! docs/METHOD.md derives both. The last column is the real effect of an f32 Gram matrix, ‖(I − P)
//! δG (I − P)‖. The rows are those of `bench/data.py`: 300 directions whose strength falls as
//! i^-0.8, and noise.
#![allow(missing_docs, clippy::print_stdout)]

use faer::Side;
use faer_ext::IntoFaer;
use ndarray::{Array1, Array2, Axis, Slice, concatenate};

/// 2⁻²⁴.
const UNIT: f64 = 1.0 / (1 << 24) as f64;
/// Columns that are summed in f32 before the sum is added in f64.
const CHAIN: usize = 96;
/// Features, rows kept, new rows, and rows before them.
const SHAPES: [(usize, usize, usize, usize); 5] = [
    (4_096, 132, 132, 700),
    (4_096, 132, 132, 1400),
    (4_096, 50, 64, 700),
    (10_304, 132, 132, 700),
    (10_304, 50, 64, 700),
];

fn rows(count: usize, features: usize) -> Array2<f64> {
    let mut state = 7_u64;
    let mut normal = || {
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..12).map(|_| uniform()).sum::<f64>()
    };
    let loadings = Array2::from_shape_fn((300, features), |(i, _)| normal() * ((i + 1) as f64).powf(-0.8));
    let latent = Array2::from_shape_simple_fn((count, 300), &mut normal);
    latent.dot(&loadings) + Array2::from_shape_simple_fn((count, features), || 0.1 * normal())
}

/// Eigenvalues, non-increasing, and eigenvectors, one per row.
fn eigen(g: &Array2<f64>) -> (Array1<f64>, Array2<f64>) {
    let n = g.nrows();
    let found = g.view().into_faer().self_adjoint_eigen(Side::Lower).expect("a decomposition");
    let (values, vectors) = (found.S().column_vector(), found.U());
    (Array1::from_shape_fn(n, |i| values[n - 1 - i]), Array2::from_shape_fn((n, n), |(i, j)| vectors[(j, n - 1 - i)]))
}

/// The largest Σ w_i |u_i| for a unit vector u with |u_i| ≤ most_i: u_i = min(most_i, w_i / ν).
fn largest_sum(w: &[f64], most: &[f64]) -> f64 {
    let along = |nu: f64| w.iter().zip(most).map(move |(w, most)| (w / nu).min(*most));
    let (mut low, mut high) = (0.0_f64, w.iter().map(|w| w * w).sum::<f64>().sqrt());
    for _ in 0..100 {
        let nu = 0.5 * (low + high);
        if along(nu).map(|u| u * u).sum::<f64>() > 1.0 { low = nu } else { high = nu }
    }
    along(high.max(f64::MIN_POSITIVE)).zip(w).map(|(u, w)| u * w).sum()
}

fn main() {
    println!("{:<34} {:>14} {:>14} {:>14}", "shares of what is dropped", "Gram, proven", "rotation", "Gram, real");
    for (features, rank, block, before) in SHAPES {
        let all = rows(before + block, features);
        let part = |range: std::ops::Range<usize>| all.slice_axis(Axis(0), Slice::from(range));
        let (_, u) = eigen(&part(0..before).dot(&part(0..before).t()));
        let f = u.slice_axis(Axis(0), Slice::from(..rank)).dot(&part(0..before));
        let a = concatenate![Axis(0), f, part(before..before + block)];
        let g = a.dot(&a.t());
        let (values, vectors) = eigen(&g);
        let u = vectors.slice_axis(Axis(0), Slice::from(..rank)).to_owned();
        let dropped = values[rank];
        let w: Vec<f64> = g.diag().iter().map(|square| square.sqrt()).collect();
        let most: Vec<f64> =
            u.columns().into_iter().map(|column| (1.0 - column.dot(&column)).max(1e-14).sqrt()).collect();
        let gram = (CHAIN as f64 + 2.0) * UNIT * largest_sum(&w, &most).powi(2);
        let gamma = (w.len() as f64 + 2.0) * UNIT;
        let delta =
            |k: usize| -> f64 { gamma * (0..w.len()).filter(|&i| i != k).map(|i| u[[k, i]].abs() * w[i]).sum::<f64>() };
        let (mixed, squared) = (0..rank).fold((0.0, 0.0), |(mixed, squared), k| {
            let square = delta(k).powi(2);
            (mixed + values[k] * square, squared + square)
        });
        let rotation = 2.0 * f64::sqrt(mixed) + squared;
        let narrow = a.mapv(|x| x as f32);
        let error = &narrow.dot(&narrow.t()).mapv(f64::from) - &g;
        let rest = vectors.slice_axis(Axis(0), Slice::from(rank..)).to_owned();
        let (left_out, _) = eigen(&rest.dot(&error).dot(&rest.t()));
        let real = left_out.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let name = format!("D={features} r={rank} m={block} after {before} rows");
        println!("{name:<34} {:>14.2e} {:>14.2e} {:>14.2e}", gram / dropped, rotation / dropped, real / dropped);
    }
}
