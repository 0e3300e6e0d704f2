//! Every formula of the bounds, computed by hand from the equations in the documentation: a bound
//! may be neither smaller nor larger than they say.
//!
//! The numbers are multiples of u, so that terms of rounding are as large as the others.

use ndarray::{Array1, array};

use super::*;
use crate::model::moments::{Absorbed, Moments};
use crate::model::weight::Weight;

const U: f64 = f64::EPSILON / 2.0;

/// A bound whose fields all differ.
fn bound(first: f64) -> Bound {
    let next = |step: f64| array![first + step, first + step + 1.0, first + step + 2.0] * U;
    Bound {
        lost: next(10.0),
        surplus: next(20.0),
        noise: (first + 30.0) * U,
        feature_noise: next(40.0),
        mean_noise: next(50.0),
        scatter_noise: next(60.0),
        failure_probability: (first + 70.0) * U,
    }
}

/// A bound of no error, except for these fields.
fn only(noise: f64, feature_noise: Array1<f64>, mean_noise: Array1<f64>, scatter_noise: Array1<f64>) -> Bound {
    let features = mean_noise.len();
    Bound { noise, feature_noise, mean_noise, scatter_noise, ..Bound::exact(features) }
}

/// Equal up to the rounding of some operations.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 32.0 * U * b.abs()
}

fn all_near(a: &Array1<f64>, b: &Array1<f64>) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(*a, *b))
}

#[track_caller]
fn same(found: &Bound, expected: &Bound) {
    assert!(near(found.noise, expected.noise), "noise: {:e}, not {:e}", found.noise, expected.noise);
    assert!(
        near(found.failure_probability, expected.failure_probability),
        "failure_probability: {:e}, not {:e}",
        found.failure_probability,
        expected.failure_probability
    );
    for (name, found, expected) in [
        ("lost", &found.lost, &expected.lost),
        ("surplus", &found.surplus, &expected.surplus),
        ("feature noise", &found.feature_noise, &expected.feature_noise),
        ("mean noise", &found.mean_noise, &expected.mean_noise),
        ("scatter noise", &found.scatter_noise, &expected.scatter_noise),
    ] {
        assert!(all_near(found, expected), "{name}: {found:e}, not {expected:e}");
    }
}

#[test]
fn the_unit_roundoff_is_half_the_distance_to_the_next_number() {
    let next = |share: f64| 1.0 + share * UNIT;
    assert_eq!((next(1.0), next(1.001)), (1.0, 1.0 + f64::EPSILON));
}

#[test]
fn a_truncation_and_a_split_both_count_as_truncated() {
    assert!(!Bound::exact(2).is_truncated());
    assert!(Bound::exact(2).losing(1e-300).is_truncated());
    assert!(Bound { surplus: array![0.0, 1e-300], ..Bound::exact(2) }.is_truncated());
    let rounding_alone = only(1.0, array![1.0, 1.0], array![1.0, 1.0], array![1.0, 1.0]);
    assert!(!rounding_alone.is_truncated());
}

#[test]
fn a_bound_is_consistent_if_every_field_has_all_features() {
    assert!(bound(0.0).is_consistent(3) && !bound(0.0).is_consistent(2));
    let short = || Array1::zeros(2);
    for other in [
        Bound { lost: short(), ..bound(0.0) },
        Bound { surplus: short(), ..bound(0.0) },
        Bound { feature_noise: short(), ..bound(0.0) },
        Bound { mean_noise: short(), ..bound(0.0) },
        Bound { scatter_noise: short(), ..bound(0.0) },
    ] {
        assert!(!other.is_consistent(3));
    }
}

#[test]
fn the_error_of_a_mean_is_scaled_by_the_root_of_a_weight() {
    let expected = Bound {
        lost: array![40.0, 44.0, 48.0] * U,
        surplus: array![80.0, 84.0, 88.0] * U,
        noise: 120.0 * U,
        feature_noise: array![160.0, 164.0, 168.0] * U,
        mean_noise: array![100.0, 102.0, 104.0] * U,
        scatter_noise: array![240.0, 244.0, 248.0] * U,
        failure_probability: 70.0 * U,
    };
    same(&bound(0.0).scaled(4.0), &expected);
}

#[test]
fn other_units_multiply_scatters_by_squares() {
    let (scales, q) = (array![2.0, 3.0, 0.5], array![5.0, 7.0, 16.0]);
    let expected = Bound {
        lost: array![40.0, 99.0, 3.0] * U,
        surplus: array![80.0, 189.0, 5.5] * U,
        // ρ times the largest square, 9, which is less than the largest ν.
        noise: 270.0 * U,
        feature_noise: array![160.0, 369.0, 10.5] * U,
        mean_noise: array![100.0, 153.0, 26.0] * U,
        // κ and the scatter are multiplied by squares, and the scatter rounds by 4 u.
        scatter_noise: array![240.0 + 80.0, 549.0 + 252.0, 15.5 + 16.0] * U,
        failure_probability: 70.0 * U,
    };
    same(&bound(0.0).rescaled(scales.view(), &q), &expected);
    // A feature without rounding has none in other units, and ρ need not be above the largest ν.
    for (noise, feature_noise, expected) in [(0.5, array![1.0, 0.0], 2.0), (50.0, array![6.0, 0.0], 24.0)] {
        let one = only(noise, feature_noise, Array1::zeros(2), Array1::zeros(2));
        assert_eq!(one.rescaled(array![2.0, 100.0].view(), &Array1::zeros(2)).noise, expected);
    }
}

#[test]
fn sums_rotations_and_other_operations_round_as_the_equations_say() {
    // One feature does not vary, so D = 2.
    let (start, q) = (bound(0.0), array![9.0, 0.0, 16.0]);
    let more = |noise: f64, shares: [f64; 3]| Bound {
        noise: start.noise + noise,
        feature_noise: &start.feature_noise + &Array1::from(shares.to_vec()),
        ..start.clone()
    };
    // ρ += ε, ν += ε
    same(&start.clone().noisier(3.0 * U, &q), &more(3.0 * U, [3.0 * U, 0.0, 3.0 * U]));
    // ρ += γ Σq, ν += γ D q
    same(&start.clone().summed(3.0 * U, &q), &more(75.0 * U, [54.0 * U, 0.0, 96.0 * U]));
    // ρ += 2 η s₁ √Σq + γ max q + ε, ν += 2 η √(D r) q + γ q + ε, with the smaller of D and r rows
    let rounding =
        |rows: usize| Rounding::of_columns(3.0 * U, rows).with_feature_error(5.0 * U).with_whole_error(7.0 * U);
    for (rows, together) in [(1, 2_f64.sqrt()), (50, 2.0)] {
        let share = |q: f64| (6.0 * together * q + 5.0 * q + 7.0) * U;
        let expected = more((6.0 * 2.0 * 5.0 + 5.0 * 16.0 + 7.0) * U, [share(9.0), 0.0, share(16.0)]);
        same(&start.clone().rounded(rounding(rows), &q, 4.0), &expected);
    }
}

#[test]
fn an_error_of_a_difference_of_means_changes_the_scatter_by_three_terms() {
    let (start, c) = (bound(0.0), array![3.0, -4.0, 12.0]);
    let off = array![6.0 * U, 8.0 * U, 0.0];
    let lengths = (13.0, 10.0 * U);
    let scatter = |c: f64, off: f64| off * (2.0 * c.abs() + off);
    // θ is 64 u, or the largest error of a mean relative to the spread, except for means that are
    // hardly known.
    let cases = [
        (array![1.0, 1.0, 0.0], 64.0 * U, 2.0),
        (array![1e-4, 1.0, 0.0], 6e2 * U, 2.0),
        (array![1e-4, U * U, 1.0], 6e2 * U, 3.0),
        (array![0.0, 0.0, 0.0], 64.0 * U, 1.0),
    ];
    for (q, theta, features) in cases {
        let feature = |c: f64, off: f64| features * (theta * c * c + off * off / theta + off * off);
        // The mean of the third feature is exact: its term remains if it varies, because of the
        // other features.
        let third = if q[2] > 0.0 { feature(12.0, 0.0) } else { 0.0 };
        let expected = Bound {
            noise: start.noise + lengths.1 * (2.0 * lengths.0 + lengths.1),
            scatter_noise: &start.scatter_noise + &array![scatter(3.0, 6.0 * U), scatter(4.0, 8.0 * U), 0.0],
            feature_noise: &start.feature_noise + &array![feature(3.0, 6.0 * U), feature(4.0, 8.0 * U), third],
            ..start.clone()
        };
        same(&start.clone().shifted(&c, &off, &q), &expected);
    }
    // A feature that does not vary is counted if the error of its mean is not zero, and only then.
    let shift = |off: f64| Bound::exact(1).shifted(&array![2.0], &array![off], &array![0.0]).feature_noise[0];
    assert!(shift(0.0) == 0.0 && shift(1.0) > 1.0);
    // An error as large as the difference itself: all three terms count.
    let large = Bound::exact(1).shifted(&array![2.0], &array![3.0], &array![1e-30]);
    assert!(near(large.noise, 3.0 * 7.0) && near(large.scatter_noise[0], 3.0 * 7.0));
    let theta = 64.0 * U;
    assert!(near(large.feature_noise[0], theta * 4.0 + 9.0 / theta + 9.0));
}

#[test]
fn a_mean_is_known_up_to_a_millionth_of_the_spread() {
    for (share, theta) in [(1e-6, 1e-6), (1.1e-6, 64.0 * U)] {
        let found = Bound::exact(1).shifted(&array![0.0], &array![share], &array![1.0]).feature_noise[0];
        assert!(near(found, share * share / theta + share * share), "{share}: {found:e}");
    }
}

#[test]
fn two_sets_of_rows_add_their_bounds_and_the_error_of_their_means() {
    let (one, two, q, c) = (bound(0.0), bound(100.0), array![1.0, 2.0, 4.0], array![3.0, 0.0, -5.0]);
    // Weights of 1 and 3: shares of 1/4 and 3/4 of the mean.
    let (own, others) = (0.5, 0.75_f64.sqrt());
    let rounded = array![12.0, 0.0, 20.0] * U;
    let off = &one.mean_noise * others + &two.mean_noise * own + &rounded;
    let combined = Bound {
        lost: array![120.0, 122.0, 124.0] * U,
        surplus: array![140.0, 142.0, 144.0] * U,
        noise: 160.0 * U,
        feature_noise: array![180.0, 182.0, 184.0] * U,
        mean_noise: &one.mean_noise * own + &two.mean_noise * others + &rounded,
        scatter_noise: array![224.0, 230.0, 240.0] * U,
        failure_probability: 240.0 * U,
    };
    same(&one.combined(&two, (1.0, 3.0), &q, &c), &combined.shifted(&c, &off, &q));
}

fn moments(weight: f64, scatter: Array1<f64>) -> Moments {
    Moments::empty(2).with_rows(0, Weight::of(&[weight]), 0.0).with_scatter(scatter)
}

#[test]
fn a_block_adds_the_rounding_of_its_sums_and_of_its_center() {
    // Weight 3 before, 4 in the block, whose mean is a step away from the point that it was summed
    // around.
    let (start, roundings) = (only(U, array![2.0, 3.0] * U, array![5.0, 7.0] * U, array![11.0, 13.0] * U), 10.0);
    let before = moments(3.0, array![16.0, 1.0]);
    let (step, c, added) = (array![2.0, -3.0], array![1.0, 6.0], array![9.0, 4.0]);
    for about_origin in [false, true] {
        let after = moments(7.0, before.scatter() + &added).about(about_origin);
        let absorbed = Absorbed::new(after.clone(), step.clone(), c.clone(), roundings);
        let spread = array![(9.0_f64 + 16.0).sqrt(), (4.0_f64 + 36.0).sqrt()];
        let mean_noise = if about_origin { Array1::zeros(2) } else { spread * (10.0 * U) };
        let block = only(0.0, Array1::zeros(2), mean_noise, &added * (18.0 * U));
        let off = array![16.0, 24.0] * U;
        let combined = start.combined(&block, (3.0, 4.0), after.scatter(), &c).shifted(&c, &off, after.scatter());
        let rounding = Rounding::of_columns(4.0 * U, 2);
        same(&start.absorbed(&before, &absorbed), &combined.rounded(rounding, &added, 13.0));
    }
}

#[test]
fn a_block_of_no_weight_changes_nothing() {
    let before = moments(3.0, array![16.0, 1.0]);
    let absorbed = Absorbed::new(before.clone(), array![1.0, 1.0], array![1.0, 1.0], 9.0);
    let start = Bound { lost: array![1.0, 2.0], ..Bound::exact(2) };
    assert_eq!(start.absorbed(&before, &absorbed), start);
}

#[test]
fn squares_below_the_smallest_number_are_counted() {
    let (weight, smallest) = (5.0, f64::MIN_POSITIVE);
    let vanished = weight * smallest;
    // A square is reliable from w m / u on, where m is the smallest normal number; a step tells a
    // feature that varies.
    let squares = array![0.9 * vanished / U, vanished / U, 0.0, 0.0, 1.0];
    let step = array![0.0, 1.0, 1e-200, 0.0, 1.0];
    let mut found = Bound::exact(5);
    found.underflowed(&squares, &step, weight);
    assert_eq!(found.scatter_noise, array![vanished, 0.0, vanished, 0.0, 0.0]);
    assert_eq!(found.feature_noise, array![5.0 * vanished, 0.0, 5.0 * vanished, 0.0, 0.0]);
    assert_eq!(found.noise, 10.0 * vanished);
}

#[test]
fn the_largest_of_no_numbers_is_zero() {
    assert_eq!(largest(&array![1.0, 3.0, 2.0]), 3.0);
    assert_eq!(largest(&Array1::zeros(0)), 0.0);
    assert_eq!(varying(&array![1.0, 0.0, 2.0]), 2.0);
}

#[test]
fn doubts_are_added_up_to_certainty() {
    let some = Bound::exact(2).failing_with(0.25);
    assert_eq!(
        (
            some.failure_probability,
            some.clone().failing_with(0.5).failure_probability,
            some.failing_with(0.875).failure_probability
        ),
        (0.25, 0.75, 1.0)
    );
}
