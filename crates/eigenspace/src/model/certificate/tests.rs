//! Every claim, computed by hand from the equations in the documentation: what trials cannot see is
//! a claim that is true but weaker than it should be.

use ndarray::{Array1, Array2, array};

use super::*;
use crate::model::basis::Basis;
use crate::model::bound::Bound;
use crate::model::moments::Moments;
use crate::model::spectrum::Spectrum;
use crate::model::weight::Weight;

const U: f64 = f64::EPSILON / 2.0;

/// λ = 16, 8, 2 and −1 ≤ E ≤ 3, with rounding of 0.5, and a total scatter of 40 that is known up to
/// 2.
fn certificate() -> Certificate {
    Certificate {
        lost: 3.0,
        surplus: 1.0,
        noise: 0.5,
        truncated: true,
        squared: vec![16.0, 8.0, 2.0],
        components: 2,
        total: 40.0,
        total_noise: 2.0,
        trace_noise: 0.25,
        failure_probability: 0.125,
    }
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 16.0 * U * expected.abs(), "{found:e}, not {expected:e}");
}

#[test]
fn rounding_is_added_to_both_sides() {
    let certificate = certificate();
    assert_eq!((certificate.lost(), certificate.surplus(), certificate.error_bound()), (3.5, 1.5, 3.5));
    assert_eq!(certificate.relative_error_bound(), 3.5 / 16.0);
    assert_eq!(Certificate { surplus: 7.0, ..certificate }.error_bound(), 7.5);
}

#[test]
fn a_relative_bound_is_between_zero_and_one() {
    let none = Certificate { lost: 0.0, surplus: 0.0, noise: 0.0, ..certificate() };
    assert_eq!(none.relative_error_bound(), 0.0);
    assert_eq!(Certificate { squared: vec![], ..none.clone() }.relative_error_bound(), 0.0);
    assert_eq!(Certificate { squared: vec![], ..certificate() }.relative_error_bound(), 1.0);
    assert_eq!(Certificate { lost: 1e3, ..none }.relative_error_bound(), 1.0);
}

#[test]
fn exact_means_not_truncated_and_rounding_up_to_the_tolerance() {
    let limit = EXACT_TOLERANCE * 16.0;
    for (truncated, noise, exact) in
        [(false, limit, true), (false, limit * 1.001, false), (true, 0.0, false), (false, 0.0, true)]
    {
        let certificate = Certificate { truncated, noise, ..certificate() };
        assert_eq!(certificate.is_exact(), exact, "{truncated} {noise:e}");
    }
}

#[test]
fn eigenvalues_lie_between_surplus_and_lost() {
    let certificate = certificate();
    assert_eq!(certificate.eigenvalue_bound(0), (14.5, 19.5));
    assert_eq!(certificate.eigenvalue_bound(2), (0.5, 5.5));
    assert_eq!(certificate.eigenvalue_bound(3), (0.0, 3.5));
    assert_eq!(certificate.eigenvalue_bounds(), [(14.5, 19.5), (6.5, 11.5)]);
}

#[test]
fn the_angle_bound_is_half_the_width_by_the_gap() {
    // h = (3.5 + 1.5) / 2
    let certificate = certificate();
    assert_eq!(certificate.angle_bound(0), 0.0);
    near(certificate.angle_bound(1), 2.5 / (16.0 - 8.0 - 2.5) + 64.0 * U);
    near(certificate.angle_bound(2), 2.5 / (8.0 - 2.0 - 2.5) + 64.0 * U);
    // After the last kept direction nothing is left: the gap is its eigenvalue, here less than 2 h.
    assert_eq!((certificate.angle_bound(3), certificate.angle_bound(4)), (1.0, 1.0));
    let last = Certificate { squared: vec![16.0, 8.0], ..certificate.clone() };
    near(last.angle_bound(2), 2.5 / (8.0 - 2.5) + 64.0 * U);
    // A gap of exactly 2 h says nothing; without any error, the rounding of directions remains.
    let narrow = Certificate { squared: vec![16.0, 11.0], ..certificate.clone() };
    assert_eq!(narrow.angle_bound(1), 1.0);
    let exact = Certificate { lost: 0.0, surplus: 0.0, noise: 0.0, ..certificate };
    assert_eq!(exact.angle_bound(1), 64.0 * U);
}

#[test]
fn captured_shares_lie_between_their_limits() {
    let certificate = certificate();
    let expect = |certificate: &Certificate, j: usize, low: f64, high: f64| {
        let found = certificate.captured_bounds(j);
        near(found.0, low);
        near(found.1, high);
    };
    // The total is between 38 and 42.
    expect(&certificate, 1, 14.5 / 42.0, 19.5 / 38.0);
    expect(&certificate, 2, 21.0 / 42.0, 31.0 / 38.0);
    expect(&certificate, 3, 21.5 / 42.0, 36.5 / 38.0);
    // Without surplus, no more than the missing scatter can be added: 40 − 26 + 2 + 0.25.
    let only_lost = Certificate { surplus: 0.0, lost: 9.0, total_noise: 2.0, ..certificate.clone() };
    expect(&only_lost, 1, 15.5 / 42.0, 25.5 / 38.0);
    expect(&only_lost, 2, 23.0 / 42.0, 1.0);
    let wide = Certificate { total: 100.0, lost: 30.0, ..only_lost };
    expect(&wide, 3, 24.5 / 102.0, 1.0);
    expect(&wide, 2, 23.0 / 102.0, 85.0 / 98.0);
    let few = Certificate { total: 100.0, lost: 30.0, total_noise: 0.5, ..wide };
    expect(&few, 3, 24.5 / 100.5, 1.0);
    // Nothing to capture, and nothing known.
    let nothing = Certificate { total: 0.0, total_noise: 0.0, ..certificate.clone() };
    assert_eq!(nothing.captured_bounds(1), (1.0, 1.0));
    assert_eq!(Certificate { total_noise: 1.0, ..nothing }.captured_bounds(1), (0.0, 1.0));
    assert_eq!(Certificate { total_noise: 50.0, ..certificate }.captured_bounds(1).1, 1.0);
}

#[test]
fn the_missing_scatter_limits_what_was_lost_unless_there_is_surplus() {
    let certificate = certificate();
    assert_eq!(certificate.missing(), f64::INFINITY);
    let only_lost = Certificate { surplus: 0.0, ..certificate };
    assert_eq!(only_lost.missing(), 14.0 + 2.0 + 0.25);
    assert_eq!(Certificate { total: 20.0, ..only_lost }.missing(), 2.25, "rounding can make it negative");
}

/// A model of three features with these eigenvalues, this scatter and this bound.
fn model(squared: &[f64], q: Array1<f64>, bound: Bound) -> EigenspaceModel {
    let spectrum = Spectrum::sorted(squared.iter().map(|value| value.sqrt()).collect());
    EigenspaceModel {
        moments: Moments::empty(3).with_rows(9, Weight::default(), 0.0).with_scatter(q),
        basis: Basis::trusted(Array2::from_shape_fn((squared.len(), 3), |(i, j)| f64::from(u8::from(i == j)))),
        spectrum,
        bound,
        ..EigenspaceModel::empty(3)
    }
}

#[test]
fn a_certificate_collects_the_bounds_of_its_model() {
    let bound = Bound::exact(3)
        .with_lost(array![1.0, 5.0, 2.0])
        .with_noise(7.0 * U)
        .with_feature_noise(array![1.0, 2.0, 4.0] * U)
        .with_scatter_noise(array![8.0, 16.0, 32.0] * U)
        .with_failure_probability(0.25);
    let certificate = model(&[16.0, 4.0], array![10.0, 20.0, 5.0], bound.clone()).certificate();
    assert_eq!((certificate.lost, certificate.surplus, certificate.truncated), (5.0, 0.0, true));
    assert_eq!((certificate.total, certificate.components), (35.0, 2));
    assert_eq!((certificate.confidence(), certificate.is_proven()), (0.75, false));
    near(certificate.noise, (7.0 + 64.0 * 16.0) * U);
    near(certificate.total_noise, (56.0 + 4.0 * 3.0 * 16.0) * U);
    // Σν, or D ρ if that is smaller.
    near(certificate.trace_noise, 7.0 * U);
    let uniform = bound.clone().with_noise(2.0 * U);
    near(model(&[16.0], array![10.0, 20.0, 5.0], uniform).certificate().trace_noise, 6.0 * U);
    // Σq − Σs² and its rounding limit what was lost.
    let little = model(&[16.0, 4.0], array![10.0, 8.0, 3.0], bound.clone()).certificate();
    near(little.lost, 1.0 + (56.0 + 192.0 + 7.0) * U);
    let surplus = bound.with_surplus(array![0.0, 6.0, 1.0]);
    let certificate = model(&[16.0, 4.0], array![10.0, 8.0, 3.0], surplus).certificate();
    assert_eq!((certificate.lost, certificate.surplus), (5.0, 6.0));
}

#[test]
fn a_model_without_directions_has_the_rounding_of_its_bound() {
    let noisy = |noise: f64| Bound::exact(3).with_noise(noise);
    assert_eq!(model(&[], Array1::zeros(3), noisy(0.0)).certificate().noise, 0.0);
    assert_eq!(model(&[], Array1::zeros(3), noisy(2.0)).certificate().noise, 2.0);
    near(model(&[4.0], array![4.0, 0.0, 0.0], noisy(0.0)).certificate().noise, 256.0 * U);
}

#[test]
fn with_more_directions_only_what_follows_them_is_lost() {
    let model = model(&[16.0, 4.0], array![10.0, 20.0, 5.0], Bound::exact(3).with_lost(array![1.0, 5.0, 2.0]));
    let certificate = |dropped: f64, next: f64| Certificate::of_more(&model, &[dropped, 1.0], dropped, next);
    assert_eq!(certificate(3.0, 0.5).squared, [16.0, 4.0, 3.0, 1.0]);
    near(certificate(3.0, 0.5).lost, 5.0 - 3.0 + 0.5 + 4.0 * U * 3.0);
    // If all that was lost is among them, the rounding of the difference remains.
    near(certificate(5.0, 0.0).lost, 4.0 * U * 5.0);
    near(certificate(6.0, 0.5).lost, 0.5 + 4.0 * U * 6.0);
    assert!(certificate(3.0, 0.5).is_proven());
}
