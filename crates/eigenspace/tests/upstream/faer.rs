//! Decompositions of faer 0.24.

use faer::{Mat, Side};

/// Numbers between 0 and 1, the same on every machine.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Rows that are 1, 2 or 3 times one row, minus their mean: rank one; all other singular values are
/// rounding.
fn multiples(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut next = numbers(seed);
    let row: Vec<f64> = (0..columns).map(|_| next() - 0.5).collect();
    let times: Vec<f64> = (0..rows).map(|_| (next() * 3.0).floor() + 1.0).collect();
    let mean = times.iter().sum::<f64>() / rows as f64;
    Mat::from_fn(rows, columns, |i, j| times[i] * row[j] - mean * row[j])
}

#[test]
#[ignore = "shows a fault of a dependency"]
fn thin_svd_does_not_converge_for_matrices_of_rank_one() {
    let failed = (1..=100).filter(|&seed| multiples(200, 150, seed).thin_svd().is_err()).count();
    println!("thin_svd failed for {failed} of 100 matrices");
    assert!(failed > 0);
}

#[test]
#[ignore = "shows a fault of a dependency"]
fn eigenvalues_of_a_matrix_of_small_numbers_are_less_accurate() {
    let n = 200;
    let mut next = numbers(1);
    let factor = Mat::from_fn(n, n, |i, _| (next() - 0.5) * 0.9_f64.powi(i as i32));
    let matrix = &factor * factor.transpose();
    // A power of two, so that scaling rounds nothing.
    let scale = 2.0_f64.powi(-80);
    let small = Mat::from_fn(n, n, |i, j| matrix[(i, j)] * scale);
    let values = |matrix: &Mat<f64>| matrix.self_adjoint_eigen(Side::Lower).unwrap().S().column_vector().to_owned();
    let (large, small) = (values(&matrix), values(&small));
    let worst = (0..n).map(|i| (small[i] / scale - large[i]).abs()).fold(0.0, f64::max) / large[n - 1];
    println!("eigenvalues differ by {worst:e} of the largest");
    assert!(worst > 1e-10);
}
