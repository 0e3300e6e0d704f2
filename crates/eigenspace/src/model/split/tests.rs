//! Splits of models written by hand, with bounds of known size: what a split rejects, and what it
//! adds to the bound.

use ndarray::array;

use super::*;
use crate::model::basis::Basis;
use crate::model::spectrum::Spectrum;
use crate::model::truncation::Components;
use crate::model::weight::Weight;

const U: f64 = f64::EPSILON / 2.0;

/// A model of three features whose directions are the first axes.
fn model(count: u64, weight: f64, squared: &[f64], q: Array1<f64>, bound: Bound) -> EigenspaceModel {
    let axes = Array2::from_shape_fn((squared.len(), 3), |(i, j)| f64::from(u8::from(i == j)));
    let squared_weight = weight * weight / count as f64;
    let moments = Moments::empty(3).with_rows(count, Weight::of(&[weight]), squared_weight).with_scatter(q);
    EigenspaceModel {
        moments,
        basis: Basis::trusted(axes),
        spectrum: Spectrum::sorted(squared.iter().map(|value| value.sqrt()).collect()),
        bound,
        ..EigenspaceModel::empty(3)
    }
}

/// A bound whose fields all differ.
fn bound(first: f64) -> Bound {
    let next = |step: f64| array![first + step, first + step + 1.0, first + step + 2.0] * U;
    Bound::exact(3)
        .with_lost(next(10.0))
        .with_surplus(next(20.0))
        .with_noise((first + 30.0) * U)
        .with_feature_noise(next(40.0))
        .with_mean_noise(next(50.0))
        .with_scatter_noise(next(60.0))
        .with_failure_probability((first + 70.0) * U)
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 32.0 * U * expected.abs(), "{found:e}, not {expected:e}");
}

#[track_caller]
fn all_near(found: &Array1<f64>, expected: &Array1<f64>) {
    found.iter().zip(expected).for_each(|(found, expected)| near(*found, *expected));
}

#[track_caller]
fn same(found: &Bound, expected: &Bound) {
    near(found.noise(), expected.noise());
    near(found.failure_probability(), expected.failure_probability());
    all_near(found.lost(), expected.lost());
    all_near(found.surplus(), expected.surplus());
    all_near(found.feature_noise(), expected.feature_noise());
    all_near(found.mean_noise(), expected.mean_noise());
    all_near(found.scatter_noise(), expected.scatter_noise());
}

#[test]
fn the_bound_of_the_rest_is_that_of_both_and_of_their_means() {
    let (q, c) = (array![9.0, 16.0, 1.0], array![3.0, -2.0, 0.0]);
    let whole = model(5, 25.0, &[4.0], q.clone(), bound(0.0));
    // √(w₂ / w₁) and √(w₃ / w₁); if nothing remains, w₁ is replaced by w₃.
    for (leaving, everything, one, two) in [(16.0, false, 4.0 / 3.0, 5.0 / 3.0), (16.0, true, 0.8, 1.0)] {
        let part = model(2, leaving, &[1.0], array![1.0, 1.0, 0.0], bound(100.0));
        let rounded = array![24.0, 16.0, 0.0] * U;
        let off = whole.bound.mean_noise() * one + part.bound.mean_noise() * two + &rounded;
        let added = Bound::exact(3)
            .with_lost(array![130.0, 132.0, 134.0] * U)
            .with_surplus(array![130.0, 132.0, 134.0] * U)
            .with_noise(160.0 * U)
            .with_feature_noise(array![180.0, 182.0, 184.0] * U)
            .with_mean_noise(whole.bound.mean_noise() * two + part.bound.mean_noise() * one + &rounded)
            .with_scatter_noise(array![220.0 + 72.0, 222.0 + 128.0, 224.0 + 8.0] * U)
            .with_failure_probability(240.0 * U);
        let expected = added.shifted(&c, &off, &q).summed(8.0 * U, &q);
        let by_feature = expected.feature_noise() + expected.scatter_noise();
        let expected = expected.with_feature_noise(by_feature);
        same(&whole.bound_without(&part, &c, everything), &expected);
    }
}

/// Whole and part with rows that do not vary, as their counts and weights.
fn constant(whole: (u64, f64), part: (u64, f64)) -> Result<EigenspaceModel, Error> {
    let rows = |(count, weight)| model(count, weight, &[], Array1::zeros(3), Bound::exact(3));
    rows(whole).split(&rows(part))
}

#[test]
fn a_part_has_neither_more_rows_nor_more_weight_than_the_whole() {
    let limit = 1.0 + 1e-9;
    for (whole, part) in [((3, 3.0), (4, 1.0)), ((3, 2.0), (3, 2.5)), ((3, 1.0), (3, limit * limit))] {
        let error = constant(whole, part).expect_err("not a part");
        assert!(matches!(error, Error::SplitTooLarge { .. }), "{whole:?} {part:?}: {error:?}");
    }
    for (whole, part) in [((3, 3.0), (3, 3.0)), ((3, 1.0), (3, limit)), ((3, 3.0), (3, 1.0))] {
        assert!(constant(whole, part).is_ok_and(|left| left.is_empty()), "{whole:?} {part:?}");
    }
}

#[test]
fn the_weight_that_remains_is_above_rounding() {
    let share = 64.0 * f64::EPSILON;
    for weight in [1.0, 1024.0] {
        let error = constant((3, weight), (2, weight * (1.0 - share))).expect_err("not a part");
        assert!(matches!(error, Error::SplitTooLarge { .. }), "{weight}: {error:?}");
        let left = constant((3, weight), (2, weight * (1.0 - 2.0 * share))).expect("a part");
        assert_eq!((left.count(), left.weight()), (1, weight * 2.0 * share));
    }
}

#[test]
fn another_mean_is_a_scatter_of_its_distance_by_the_weight() {
    let whole = model(4, 4.0, &[], Array1::zeros(3), Bound::exact(3));
    let mut part = whole.clone();
    part.moments = part.moments.with_mean(array![1.0, 0.0, 0.0], Array1::zeros(3));
    let Error::NotAPart { scatter, allowed, truncated: false } = whole.split(&part).expect_err("not a part") else {
        panic!("another error")
    };
    near(scatter, -4.0);
    assert!(allowed <= 0.0 && allowed > -1e-6, "{allowed:e}");
}

#[test]
fn taking_everything_out_leaves_no_more_than_the_bound_explains() {
    // The part lacks up to 2 along each direction, and both have rounding of 0.25.
    let noisy = |lost: f64| Bound::exact(3).with_noise(0.25).losing(lost);
    let part = model(4, 4.0, &[4.0], array![4.0, 0.0, 0.0], noisy(2.0));
    let whole = |squared: f64| EigenspaceModel {
        components: Components::Number(2),
        ..model(4, 4.0, &[squared], array![squared, 0.0, 0.0], noisy(0.0))
    };
    let left = whole(6.0).split(&part).expect("a part");
    assert!(left.is_empty() && left.is_centered());
    assert_eq!(left.components, Components::Number(2));
    let Error::NotAPart { scatter, allowed, truncated: true } = whole(16.0).split(&part).expect_err("not a part")
    else {
        panic!("another error")
    };
    assert!((scatter + 12.0).abs() < 1e-12 && (allowed + 2.5).abs() < 1e-12, "{scatter} {allowed}");
    // Also about the origin.
    let about_origin = |model: EigenspaceModel| EigenspaceModel { moments: model.moments.clone().about(true), ..model };
    assert!(!about_origin(whole(6.0)).split(&about_origin(part)).expect("a part").is_centered());
}

#[test]
fn a_feature_cannot_lose_more_than_its_scatter() {
    // Much was dropped from the whole, so that directions explain any part; the scatter of features
    // is exact.
    let whole = model(9, 9.0, &[1.0], array![1.0, 1.0, 0.0], Bound::exact(3).losing(100.0));
    let part = model(4, 4.0, &[5.0], array![5.0, 0.0, 0.0], Bound::exact(3));
    let Error::NotAPart { scatter, allowed, truncated: true } = whole.split(&part).expect_err("not a part") else {
        panic!("another error")
    };
    assert_eq!(scatter, -4.0);
    assert!(allowed < 0.0 && allowed > -1e-12, "{allowed:e}");
}

/// What remains, as a matrix.
fn scatter_of(rest: &Rest) -> Array2<f64> {
    let mut rows = rest.rows.clone();
    if let Some(eigenvalues) = &rest.eigenvalues {
        rows *= &eigenvalues.mapv(f64::sqrt).insert_axis(Axis(1));
    }
    rows.t().dot(&rows)
}

#[test]
fn scatters_are_subtracted_in_units_of_their_spread() {
    let noisy = Bound::exact(3).with_feature_noise(array![0.0, 25.0, 0.0]);
    // The spread is the scatter of the directions, of the feature, or of the rounding, whichever is
    // largest.
    let whole = model(9, 9.0, &[16.0, 9.0], array![4.0, 12.0, 0.0], noisy);
    let part = model(4, 4.0, &[4.0], array![4.0, 0.0, 0.0], Bound::exact(3));
    let rest = whole.scatter_without(&part, &array![0.0, 2.0, 0.0]);
    all_near(&rest.spread, &array![16.0, 25.0, 0.0]);
    all_near(&rest.units.clone().expect("units"), &array![16.0, 25.0, 1.0]);
    all_near(&scatter_of(&rest).diag().to_owned(), &array![12.0, 5.0, 0.0]);
    // 4 u (D + r₃ + r₂ + 16) times the trace of the correlations, 1 + 9/25.
    near(rest.rounding.feature_error(), 4.0 * 22.0 * U * (1.0 + 9.0 / 25.0));
    assert_eq!((rest.rounding.column_error(), rest.rounding.whole_error(), rest.smallest), (0.0, 0.0, 0.0));
    // That trace counts as at least 1.
    let weak = model(9, 9.0, &[1.0], array![2.0, 0.0, 0.0], Bound::exact(3));
    near(weak.scatter_without(&part, &Array1::zeros(3)).rounding.feature_error(), 4.0 * 21.0 * U);
    // More is taken out than there is.
    let heavy = model(4, 4.0, &[36.0], array![36.0, 0.0, 0.0], Bound::exact(3));
    near(whole.scatter_without(&heavy, &Array1::zeros(3)).smallest, (16.0 - 36.0) / 16.0);
}

#[test]
fn few_features_are_compared_in_units_of_their_spread() {
    let whole = model(9, 9.0, &[16.0, 1.0], array![16.0, 1.0, 0.0], Bound::exact(3));
    let part = model(4, 4.0, &[36.0], array![36.0, 0.0, 0.0], Bound::exact(3));
    let Error::NotAPart { scatter, .. } = whole.split(&part).expect_err("not a part") else { panic!("another error") };
    near(scatter, (16.0 - 36.0) / 16.0);
}

#[test]
fn directions_of_the_part_outside_of_the_whole_are_subtracted_too() {
    for scale in [1.0, 2_f64.powi(-60), 2_f64.powi(60)] {
        let scaled = |count: u64, squared: &[f64]| {
            let squared: Vec<f64> = squared.iter().map(|value| value * scale).collect();
            let mut q = Array1::zeros(3);
            q.iter_mut().zip(&squared).for_each(|(q, value)| *q = *value);
            model(count, count as f64, &squared, q, Bound::exact(3))
        };
        let (whole, part) = (scaled(9, &[16.0, 9.0]), scaled(4, &[4.0, 1.0]));
        // The largest length is that of the whole, of the part, or of c; 8 u (r₃ + r₂ + 1 + 16)
        // times its square.
        for (c, greatest) in [(1.0, 4.0), (5.0, 5.0)] {
            let rest = whole.span_without(&part, &array![0.0, 0.0, c * scale.sqrt()], 3);
            let left = scatter_of(&rest) / scale;
            near(left[[0, 0]], 12.0);
            near(left[[1, 1]], 8.0);
            near(rest.smallest, -c * c * scale);
            near(rest.rounding.whole_error(), 8.0 * 21.0 * U * greatest * greatest * scale);
            // A rotation of the two directions of the whole and the one outside.
            near(rest.rounding.column_error(), 2.0 * (3.0 + 16.0) * U);
            assert!(rest.units.is_none() && rest.rounding.feature_error() == 0.0);
        }
        let rest = whole.span_without(&scaled(4, &[36.0]), &Array1::zeros(3), 3);
        near(rest.smallest, (16.0 - 36.0) * scale);
        near(rest.rounding.whole_error(), 8.0 * 20.0 * U * 36.0 * scale);
    }
}

#[test]
fn a_span_is_extended_by_what_is_above_the_floor() {
    let whole = model(9, 9.0, &[16.0], array![16.0, 0.0, 0.0], Bound::exact(3));
    let span = |rows: Array2<f64>| {
        let inside = rows.dot(&whole.basis().t());
        whole.span_with(rows.view(), inside.view(), 1e-3).into_owned()
    };
    assert_eq!(span(array![[5.0, 1e-3, 0.0]]).nrows(), 1);
    assert_eq!(span(array![[5.0, 2e-3, 0.0]]), array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    assert_eq!(span(array![[5.0, 1.0, 0.0], [0.0, 0.0, 1e-4]]).nrows(), 2);
    assert_eq!(span(array![[5.0, 1.0, 0.0], [0.0, 0.0, 1e-2]]).nrows(), 3);
    // Never by more than all features have, whatever rounding leaves outside.
    let mut turned = model(9, 9.0, &[4.0, 2.0, 1.0], array![1.0, 1.0, 1.0], Bound::exact(3));
    let (a, b) = (0.48, 0.64);
    turned.basis = Basis::trusted(array![[0.6, a, b], [-0.8, 0.36, a], [0.0, -0.8, 0.6]]);
    let rows = array![[0.1, 0.7, 0.3], [0.3, -0.2, 0.9], [1.1, 0.4, 0.7]];
    assert!(outside_of(turned.basis(), rows.view()).iter().any(|x| *x != 0.0), "rounding is left outside");
    let inside = rows.dot(&turned.basis().t());
    assert_eq!(turned.span_with(rows.view(), inside.view(), 0.0).into_owned(), turned.basis());
}

#[test]
fn what_is_outside_of_a_basis_is_orthogonal_to_it() {
    let outside = outside_of(array![[0.6, 0.8, 0.0]].view(), array![[1.0, 2.0, 3.0]].view());
    for (found, expected) in outside.iter().zip([1.0 - 2.2 * 0.6, 2.0 - 2.2 * 0.8, 3.0]) {
        assert!((found - expected).abs() <= 8.0 * U);
    }
}

#[test]
fn only_eigenvalues_above_the_floor_are_kept() {
    let axes = Array2::eye(3);
    assert_eq!(factor(&array![9.0, 4.0, 0.0], &axes, 0.0), array![[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
    assert_eq!(factor(&array![9.0, 4.0, 1.0], &axes, 4.0).nrows(), 1);
}

fn rest(smallest: f64, units: Option<Array1<f64>>) -> Rest {
    let spread = Array1::ones(2);
    Rest { rows: Array2::zeros((0, 2)), eigenvalues: None, smallest, units, spread, rounding: Rounding::whole(0.0) }
}

#[test]
fn truncation_and_rounding_explain_negative_eigenvalues() {
    let bound = Bound::exact(2).with_lost(array![6.0, 5.0]).with_noise(7.0).with_feature_noise(array![2.0, 13.0]);
    assert_eq!(rest(0.0, None).allowed(&bound), 13.0);
    assert_eq!(rest(0.0, Some(array![2.0, 6.0])).allowed(&bound), 4.0);
    assert_eq!(rest(0.0, Some(array![4.0, 6.0])).allowed(&bound), 3.0);
}

#[test]
fn negative_eigenvalues_that_are_set_to_zero_are_counted() {
    let bound = Bound::exact(2).with_surplus(array![1.0, 1.0]).with_noise(3.0).with_feature_noise(array![4.0, 18.0]);
    // Up to the rounding they are rounding; otherwise they are surplus.
    for (clamped, surplus, noise, features) in
        [(3.0, [1.0, 1.0], 6.0, [7.0, 21.0]), (3.5, [4.5, 4.5], 3.0, [4.0, 18.0])]
    {
        let found = bound.clone().clamped(clamped, None);
        assert_eq!(found.surplus().to_vec(), surplus);
        assert_eq!((found.noise(), found.feature_noise().to_vec()), (noise, features.to_vec()));
    }
    // In units whose squares are 4 and 9, the rounding is 2.
    for (clamped, surplus, noise, features) in
        [(2.0, [1.0, 1.0], 21.0, [12.0, 36.0]), (2.5, [11.0, 23.5], 3.0, [4.0, 18.0])]
    {
        let found = bound.clone().clamped(clamped, Some(&array![4.0, 9.0]));
        assert_eq!(found.surplus().to_vec(), surplus);
        assert_eq!((found.noise(), found.feature_noise().to_vec()), (noise, features.to_vec()));
    }
}

#[test]
fn directions_have_a_scatter_of_each_feature() {
    let rows = array![[0.6, 0.8], [-0.8, 0.6]];
    let factor = Rest { rows, ..rest(0.0, None) };
    near(factor.said(0), 0.36 + 0.64);
    let directions = Rest { eigenvalues: Some(array![16.0, 9.0]), ..factor };
    near(directions.said(0), 16.0 * 0.36 + 9.0 * 0.64);
    near(directions.said(1), 16.0 * 0.64 + 9.0 * 0.36);
}

#[test]
fn directions_that_are_not_orthonormal_are_decomposed_again() {
    let moments = Moments::empty(2).with_rows(9, Weight::of(&[9.0]), 0.0).with_scatter(array![9.0, 4.0]);
    for tilt in [0.0, 1e-6] {
        let rows = array![[1.0, tilt], [0.0, 1.0]];
        let scatter = array![[9.0, 9.0 * tilt], [9.0 * tilt, 4.0 + 9.0 * tilt * tilt]];
        let reduced = Rest { rows, eigenvalues: Some(array![9.0, 4.0]), ..rest(0.0, None) }.reduced(&moments);
        let basis = reduced.basis.view();
        assert!(linalg::orthogonality_loss(basis) <= ORTHONORMALITY_TOLERANCE, "{tilt}");
        let squared = Array1::from(reduced.spectrum.squared());
        let found = basis.t().dot(&(&basis * &squared.insert_axis(Axis(1))));
        for (found, expected) in found.iter().zip(&scatter) {
            assert!((found - expected).abs() <= 64.0 * U * 9.0, "{tilt}: {found}, not {expected}");
        }
    }
}

#[test]
fn more_directions_than_rows_remain_if_they_are_above_rounding() {
    // So many that only some eigenvalues are computed at first.
    let (features, limit) = (256, 3);
    let axes = |count: usize| Array2::from_shape_fn((count, features), |(i, j)| f64::from(u8::from(i == j)));
    let model = |values: Vec<f64>| EigenspaceModel {
        basis: Basis::trusted(axes(values.len())),
        spectrum: Spectrum::sorted(values.into()),
        ..EigenspaceModel::empty(features)
    };
    let none = Array1::zeros(features);
    let whole = model((0..200).map(|i| (400 - i) as f64).collect());
    let rest = whole.span_without(&model(vec![300.0]), &none, limit);
    assert_eq!((rest.rows.nrows(), rest.eigenvalues.as_ref().map(Array1::len)), (200, Some(200)));
    // Here only those that the rows span.
    let weak = (0..200).map(|i| if i < limit { 400.0 } else { 1e-9 }).collect();
    assert_eq!(model(weak).span_without(&model(vec![300.0]), &none, limit).rows.nrows(), limit);
}
