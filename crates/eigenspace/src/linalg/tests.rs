//! Decompositions checked against their definitions, and on matrices with known values.

use faer::Par;
use ndarray::{Array1, Array2};

use super::eigen::{all_pairs, are_eigenpairs, by_rotations};
use super::svd::{decomposes, svd_by_faer};
use super::tridiagonal::Tridiagonal;
use super::*;

/// A symmetric matrix with these eigenvalues: reflections of a diagonal one.
fn symmetric(values: &[f64]) -> Array2<f64> {
    let n = values.len();
    let mut g = Array2::from_diag(&Array1::from(values.to_vec()));
    for turn in 0..3 {
        let w = Array1::from_shape_fn(n, |i| ((i * i + 7 * turn * i + turn) as f64 * 0.37).sin());
        let reflection = |rows: &mut Array2<f64>| {
            let share = rows.t().dot(&w) * (2.0 / w.dot(&w));
            for (mut row, w) in rows.rows_mut().into_iter().zip(&w) {
                row.scaled_add(-w, &share);
            }
        };
        reflection(&mut g);
        g = g.reversed_axes();
        reflection(&mut g);
    }
    g
}

/// Checks the leading eigenpairs against their definition: G v = λ v, V Vᵀ = I, and the given
/// values.
fn check(values: &[f64], wanted: usize) -> usize {
    let g = symmetric(values);
    let eigen = Eigen::of(g.view(), wanted);
    let vectors = eigen.vectors(0..wanted);
    let rounding = 64.0 * f64::EPSILON * (g.nrows() as f64) * values[0];
    for (k, vector) in vectors.rows().into_iter().enumerate() {
        assert!((eigen.values[k] - values[k]).abs() < rounding, "value {k}");
        let residual = g.dot(&vector) - &vector * eigen.values[k];
        assert!(residual.dot(&residual).sqrt() < rounding, "vector {k}");
        for (j, other) in vectors.rows().into_iter().enumerate() {
            let product = vector.dot(&other) - f64::from(u8::from(j == k));
            assert!(product.abs() < 1e-13, "vectors {k} and {j}: {product}");
        }
    }
    eigen.values.len()
}

#[test]
fn a_part_of_the_eigenvectors_is_right_and_cheap() {
    let spread: Vec<f64> = (0..300).map(|i| 1e3 * 0.93_f64.powi(i) + 1e-3 * f64::from(300 - i)).collect();
    assert_eq!(check(&spread, 100), 100, "the part was found as a part");
    let noise: Vec<f64> = (0..300).map(|i| 3.0 - 0.004 * f64::from(i)).collect();
    assert_eq!(check(&noise, 150), 150);
}

#[test]
fn repeated_eigenvalues_go_the_long_way_and_are_as_right() {
    let mut repeated = vec![2.0; 250];
    repeated[..3].copy_from_slice(&[9.0, 9.0, 5.0]);
    assert_eq!(check(&repeated, 60), 250);
    let mut deficient: Vec<f64> = (0..40).map(|i| f64::from(50 - i)).collect();
    deficient.resize(260, 0.0);
    assert_eq!(check(&deficient, 80), 260);
}

/// Rows with these singular values: a diagonal matrix with reflections applied on both sides.
fn with_values(rows: usize, columns: usize, values: &[f64], seed: usize) -> Array2<f64> {
    let mut a = Array2::zeros((rows, columns));
    values.iter().enumerate().for_each(|(i, s)| a[[i, i]] = *s);
    for side in 0..2 {
        for turn in 0..4 {
            let wave = |i: usize| ((i * i + 7 * turn * i + 13 * seed + side) as f64 * 0.37).sin();
            let w = Array1::from_shape_fn(a.nrows(), wave);
            let share = a.t().dot(&w) * (2.0 / w.dot(&w));
            a.rows_mut().into_iter().zip(&w).for_each(|(mut row, w)| row.scaled_add(-w, &share));
        }
        a = a.reversed_axes();
    }
    a
}

#[test]
fn no_singular_value_is_made_up() {
    let (mut again, mut worst) = (0, 0.0_f64);
    for seed in 0..60 {
        let (columns, rank) = (128 + seed % 73, 20 + 3 * seed % 90);
        let spectra: [&dyn Fn(usize) -> f64; 4] =
            [&|_| 1.0, &|i| if i < rank / 2 { 1.0 } else { 0.5 }, &|i| 1.0 / (1.0 + i as f64), &|i| {
                0.9_f64.powi(i as i32)
            }];
        for spectrum in spectra {
            let values: Vec<f64> = (0..rank).map(spectrum).collect();
            let a = with_values(columns + 30, columns, &values, seed);
            let plain = svd_by_faer(a.view());
            again +=
                usize::from(!plain.is_some_and(|(values, right)| decomposes(a.view(), values.view(), right.view())));
            let (found, right) = thin_svd(a.view());
            for (i, s) in found.iter().enumerate() {
                let truth = values.get(i).copied().unwrap_or(0.0);
                worst = worst.max((s - truth).abs());
                assert!((s - truth).abs() < 1e-13, "seed {seed}, value {i} of {rank}: {s} for {truth}");
            }
            assert!(orthogonality_loss(right.view()) < 1e-13);
        }
    }
    assert!(again > 0, "faer solved every case: the check may be unnecessary ({worst})");
}

#[test]
fn no_eigenvalue_is_made_up() {
    for seed in 0..60 {
        let (n, rank) = (129 + 2 * seed, 20 + 3 * seed % 90);
        let spectra: [&dyn Fn(usize) -> f64; 4] =
            [&|_| 1.0, &|i| if i < rank / 2 { 1.0 } else { 0.5 }, &|i| 1.0 / (1.0 + i as f64), &|i| {
                0.9_f64.powi(i as i32)
            }];
        for spectrum in spectra {
            let mut values: Vec<f64> = (0..rank).map(spectrum).collect();
            values.resize(n, 0.0);
            check(&values, n);
        }
    }
}

#[test]
fn products_that_are_known_to_be_zero_are_not_needed() {
    // Two groups of rows in which no two rows have a common non-zero feature, and three other rows.
    let a = Array2::from_shape_fn((11, 700), |(i, j)| match i {
        0..5 => {
            if j % 5 == i {
                (j % 7) as f64 - 2.5
            } else {
                0.0
            }
        }
        5..8 => {
            if j % 3 == i - 5 {
                (j % 11) as f64 - 4.0
            } else {
                0.0
            }
        }
        _ => ((i * j) % 13) as f64 - 6.0,
    });
    let whole = a.dot(&a.t());
    for groups in [&[][..], &[5], &[5, 3]] {
        let g = gram_with_orthogonal_groups(a.view(), groups);
        for i in 0..11 {
            for j in 0..=i {
                assert_eq!(g[[i, j]], whole[[i, j]], "{groups:?}: {i}, {j}"); // halves: sums are exact
            }
        }
    }
}

/// Tridiagonal matrices of each kind for which divide and conquer has failed, or might fail.
fn hard_tridiagonals() -> Vec<(Vec<f64>, Vec<f64>)> {
    let n = 150;
    let glued = |gap: f64| {
        ((0..n).map(|i| f64::from(i % 15)).collect(), (1..n).map(|i| if i % 15 == 0 { gap } else { 1.0 }).collect())
    };
    vec![
        (vec![0.0; n as usize], vec![0.0; n as usize - 1]),
        (vec![1.0; n as usize], vec![0.0; n as usize - 1]),
        (vec![0.0; n as usize], vec![1.0; n as usize - 1]),
        glued(1e-15),
        glued(1e-8),
        (vec![3.0], vec![]),
        (vec![1e-300, 0.0, 2.0], vec![1e-200, 1e-17]),
    ]
}

#[test]
fn every_fallback_finds_eigenpairs() {
    for (case, (diagonal, off_diagonal)) in hard_tridiagonals().into_iter().enumerate() {
        let t = Tridiagonal { diagonal: &diagonal, off_diagonal: &off_diagonal };
        let (values, vectors) = t.all().expect("it converges");
        assert!(are_eigenpairs(&t, values.view(), vectors.view()), "QL, case {case}");
        let (values, vectors) = by_rotations(&t);
        assert!(are_eigenpairs(&t, values.view(), vectors.view()), "Jacobi, case {case}");
        let (values, vectors) = all_pairs(&t, Par::Seq);
        assert!(are_eigenpairs(&t, values.view(), vectors.view()), "case {case}");
    }
}

#[test]
fn a_wrong_decomposition_is_noticed() {
    let a = with_values(40, 30, &(0..30).map(|i| 1.0 + f64::from(i)).rev().collect::<Vec<_>>(), 1);
    let (values, right) = thin_svd(a.view());
    assert!(decomposes(a.view(), values.view(), right.view()));
    let (mut swapped, mut skewed, mut holed) = (values.clone(), right.clone(), right.clone());
    swapped.swap(3, 4);
    assert!(!decomposes(a.view(), swapped.view(), right.view()));
    skewed[[2, 5]] += 1e-9;
    assert!(!decomposes(a.view(), values.view(), skewed.view()));
    holed[[2, 5]] = f64::NAN;
    assert!(!decomposes(a.view(), values.view(), holed.view()));
}

#[test]
fn sums_of_millions_of_blocks_keep_their_digits() {
    let (mut m, mut low) = (Array2::<f64>::zeros((1, 1)), Array2::zeros((1, 1)));
    let row = ndarray::array![[0.1]];
    for _ in 0..200_000 {
        add_scatter(&mut m, &mut low, row.view());
    }
    let truth = 0.1 * 0.1 * 200_000.0;
    assert!((m[[0, 0]] + low[[0, 0]] - truth).abs() <= 2.0 * f64::EPSILON * truth);
}

#[test]
fn rows_of_zeros_become_directions_orthogonal_to_all_others() {
    // The first two rows share 1,000 columns, so the unit vectors of these columns have the
    // shortest remainders.
    let mut rows = Array2::zeros((60, 1_104));
    for j in 0..1_000 {
        rows[[0, j]] = 1_000_f64.sqrt().recip();
        rows[[1, j]] = if j % 2 == 0 { 1.0 } else { -1.0 } / 1_000_f64.sqrt();
    }
    rows[[2, 1_001]] = 1.0;
    let before = rows.clone();
    super::eigen::replace_zero_rows(&mut rows);
    for i in 0..3 {
        assert_eq!(rows.row(i), before.row(i));
    }
    let products = rows.dot(&rows.t());
    for ((i, j), product) in products.indexed_iter() {
        let expected = f64::from(u8::from(i == j));
        assert!((product - expected).abs() <= 4.0 * 1_104.0 * f64::EPSILON, "{i} {j}: {product}");
    }
}
