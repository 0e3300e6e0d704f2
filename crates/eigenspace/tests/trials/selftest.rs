//! Tests of the oracle and of the checks on known cases: a wrong claim must be detected, and the
//! oracle must not be wrong itself.

use eigenspace::{EigenspaceModel, Truncation};
use ndarray::{Array2, array};

use crate::claims::{History, check};
use crate::eigen::eigen;
use crate::number::{Dd, Number};
use crate::oracle::{Rows, Truth};
use crate::random::Random;

fn all(rows: &Array2<f64>) -> Rows {
    Rows { members: (0..rows.nrows()).map(|i| (i, Dd::ONE)).collect(), about_origin: false }
}

#[test]
fn double_double_has_thirty_digits() {
    let third = Dd::ONE / Dd::of(3.0);
    assert!((third * Dd::of(3.0) - Dd::ONE).hi.abs() < 1e-31);
    let root = Dd::of(2.0).sqrt();
    assert!((root * root - Dd::of(2.0)).hi.abs() < 1e-30);
    let tenth = Dd::of(0.5).root(10);
    assert!((tenth.power(10) - Dd::of(0.5)).hi.abs() < 1e-29);
}

#[test]
fn a_far_offset_costs_the_oracle_nothing() {
    let near = array![[0.0, 1.0], [2.0, 3.0], [4.0, -1.0]];
    let far = &near + 2f64.powi(50);
    let (near, far) = (Truth::of(&near, &all(&near)), Truth::of(&far, &all(&far)));
    for (a, b) in near.scatter.iter().zip(&far.scatter) {
        assert!((*a - *b).hi.abs() < 1e-28);
    }
}

#[test]
fn eigenvectors_leave_no_residual_on_clustered_and_graded_matrices() {
    let mut random = Random::new(1);
    let n = 12;
    for scales in
        [vec![1.0; n], (0..n).map(|i| 10f64.powi(-(i as i32))).collect(), vec![1e-3, 1.0, 1.0, 1.0, 1e-3, 0.0]]
    {
        let rows = Array2::from_shape_fn((40, n), |(_, j)| scales[j % scales.len()] * random.pick(&[-1.0, 1.0]));
        let m = Truth::of(&rows, &all(&rows)).scatter;
        let found = eigen(&m, n);
        let largest = found.values[0].hi;
        for (i, value) in found.values.iter().enumerate() {
            let u = &found.vectors[i * n..(i + 1) * n];
            for a in 0..n {
                let product = (0..n).fold(Dd::ZERO, |sum, b| sum + m[a * n + b] * u[b]);
                assert!((product - *value * u[a]).hi.abs() < 1e-28 * largest);
            }
            let length = u.iter().fold(Dd::ZERO, |sum, x| sum + *x * *x);
            assert!((length - Dd::ONE).hi.abs() < 1e-28);
        }
        let trace = (0..n).fold(Dd::ZERO, |sum, i| sum + m[i * (n + 1)]);
        let sum = found.values.iter().fold(Dd::ZERO, |sum, value| sum + *value);
        assert!((trace - sum).hi.abs() < 1e-28 * largest);
    }
}

#[test]
fn a_model_of_other_rows_is_found_out() {
    let mut random = Random::new(2);
    let rows = Array2::from_shape_simple_fn((30, 5), || random.normal());
    let truth = Truth::of(&rows, &all(&rows));
    // One cell differs in its ninth digit, which an exact model may not do; then in its third.
    for (step, expected) in [(1e-8, "is_exact"), (1e-2, "angle")] {
        let mut other = rows.clone();
        other[[3, 2]] += step;
        let model = EigenspaceModel::fit(other.view()).expect("finite rows");
        let (violations, _) = check(&model, &truth, &truth.eigen(), &History::of(&truth));
        for claim in ["error bound", "lost", "eigenvalue below", "captured", "feature scatter", expected] {
            let found = violations.iter().any(|violation| violation.claim == claim);
            assert!(found || (claim == "feature scatter" && step < 1e-6), "{claim} at {step:e}");
        }
    }
}

#[test]
fn an_honest_truncation_passes_above_rounding() {
    let mut random = Random::new(3);
    let rows = Array2::from_shape_fn((60, 6), |(_, j)| random.normal() / (1 + j) as f64);
    let truth = Truth::of(&rows, &all(&rows));
    let model = EigenspaceModel::fit_with(&rows, eigenspace::Method::Svd, Truncation::Rank(3)).expect("finite rows");
    let (violations, tightness) = check(&model, &truth, &truth.eigen(), &History::of(&truth));
    assert!(violations.iter().all(|violation| violation.excess < 1e-12), "{violations:?}");
    let tightness = tightness.expect("rows that vary");
    assert!(!tightness.exact && tightness.error > 1e-3 && tightness.bound >= tightness.error * (1.0 - 1e-12));
}
