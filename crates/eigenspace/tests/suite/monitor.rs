//! Monitoring: limits that normal rows stay below and others exceed.

use eigenspace::{EigenspaceModel, Error, FitOptions, Forgetting};
use ndarray::{Array2, array};

use crate::support::Random;

/// Normal rows with a few strong directions.
fn good(random: &mut Random, n: usize) -> Array2<f64> {
    let spread = array![6.0, 5.0, 4.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4];
    random.matrix(n, 10) * &spread + 3.0
}

#[test]
fn the_share_of_good_rows_beyond_each_limit_is_what_was_asked() {
    let mut random = Random::new(1);
    let model = EigenspaceModel::fit(good(&mut random, 4000).view()).unwrap().with_components(3).unwrap();
    let fresh = good(&mut random, 20_000);
    for confidence in [0.9, 0.95, 0.99] {
        let limits = model.limits(confidence).unwrap();
        let readings = model.monitor(fresh.view(), limits).unwrap();
        let beyond =
            |values: &ndarray::Array1<f64>, limit: f64| values.iter().filter(|v| **v > limit).count() as f64 / 20_000.0;
        let (t2, q) = (
            beyond(&readings.hotelling, limits.hotelling),
            beyond(&readings.squared_distance, limits.squared_distance),
        );
        // Three deviations of a binomial share, and the limits' own error at 4,000 rows.
        let room = 3.0 * ((1.0 - confidence) * confidence / 20_000.0).sqrt() + 0.1 * (1.0 - confidence);
        assert!((t2 - (1.0 - confidence)).abs() < room, "T² {confidence}: {t2}");
        assert!((q - (1.0 - confidence)).abs() < room, "Q {confidence}: {q}");
    }
}

#[test]
fn the_limit_of_hotelling_is_the_textbooks() {
    // k = 2, n = 20: 2 · 19 · 21 / (20 · 18) · F₀.₉₅(2, 18) with F = 3.554557 from tables.
    let rows = Random::new(2).matrix(20, 5);
    let model = EigenspaceModel::fit(rows.view()).unwrap().with_components(2).unwrap();
    let limit = model.limits(0.95).unwrap().hotelling;
    assert!((limit - 2.0 * 19.0 * 21.0 / (20.0 * 18.0) * 3.554557).abs() < 1e-4, "{limit}");
}

#[test]
fn an_outlier_inside_and_one_outside_the_subspace_are_told() {
    let mut random = Random::new(3);
    let model = EigenspaceModel::fit(good(&mut random, 2000).view()).unwrap().with_components(3).unwrap();
    let limits = model.limits(0.9999).unwrap();
    let mut rows = good(&mut random, 50);
    rows[[10, 0]] += 60.0;
    rows[[20, 9]] += 12.0;
    let readings = model.monitor(rows.view(), limits).unwrap();
    assert_eq!(readings.outliers(), [10, 20]);
    assert!(readings.hotelling[10] > limits.hotelling && readings.squared_distance[10] < limits.squared_distance);
    assert!(readings.squared_distance[20] > limits.squared_distance);
}

#[test]
fn a_drift_raises_the_share_of_rows_beyond_and_the_angle_to_a_snapshot() {
    let mut random = Random::new(4);
    let mut stream = FitOptions::new().components(3).forgetting(Forgetting::HalfLife(300.0)).stream(10).unwrap();
    stream.update(good(&mut random, 3000).view()).unwrap();
    let snapshot = stream.model().unwrap();
    let limits = snapshot.limits(0.99).unwrap();
    let quiet = snapshot.monitor(good(&mut random, 500).view(), limits).unwrap().share_beyond();
    let mut turned = good(&mut random, 3000);
    turned.invert_axis(ndarray::Axis(1));
    let loud = snapshot.monitor(turned.view(), limits).unwrap().share_beyond();
    assert!(quiet < 0.05 && loud > 0.5, "{quiet} {loud}");
    stream.update(turned.view()).unwrap();
    assert!(stream.model().unwrap().subspace_distance(&snapshot).unwrap() > 0.99);
}

#[test]
fn limits_need_rows_and_a_sensible_confidence() {
    let model = EigenspaceModel::fit(Random::new(5).matrix(4, 6).view()).unwrap();
    assert!(matches!(model.limits(0.99), Err(Error::TooLittleWeight { needed: 4.0, weight: 4.0 })));
    let model = model.with_components(1).unwrap();
    for confidence in [0.0, 1.0, -1.0, f64::NAN, 1e-300, 1e-4, 1.0 - 1e-16, f64::INFINITY] {
        assert!(matches!(model.limits(confidence), Err(Error::InvalidConfidence { .. })));
    }
    let flat = EigenspaceModel::fit(array![[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [5.0, 5.0]].view()).unwrap();
    assert!(flat.limits(0.99).unwrap().squared_distance < 1e-25, "nothing but rounding lies outside a line");
}

#[test]
fn the_limit_of_hotelling_reaches_that_of_infinitely_many_rows() {
    let rows = Random::new(6).matrix(60, 8);
    // χ²₀.₉₅ with 1 and 5 degrees of freedom, from tables.
    for (k, wanted) in [(1, 3.841459), (5, 11.070498)] {
        for n in [1e6, 1e8, 1e12] {
            let weights = vec![n / 60.0; 60];
            let model = EigenspaceModel::fit(eigenspace::Block::from(&rows).weighted(&weights))
                .unwrap()
                .with_components(k)
                .unwrap();
            let limit = model.limits(0.95).unwrap().hotelling;
            assert!((limit / wanted - 1.0).abs() < 1e-4, "{k} {n}: {limit}");
        }
    }
}

#[test]
fn the_limit_of_q_rises_with_confidence_and_is_right_with_one_dominant_hidden_direction() {
    let mut random = Random::new(7);
    let spread = ndarray::Array1::from_iter((0..40).map(|j| [10.0, 1.0].get(j).copied().unwrap_or(0.15)));
    let rows = random.matrix(4000, 40) * &spread;
    let fresh = random.matrix(10_000, 40) * &spread;
    for scale in [1.0, 1e60, 1e-50] {
        let model = EigenspaceModel::fit((&rows * scale).view()).unwrap().with_components(1).unwrap();
        let readings = model.squared_distance((&fresh * scale).view()).unwrap();
        let mut last = 0.0;
        for confidence in [0.5, 0.9, 0.95, 0.99] {
            let limit = model.limits(confidence).unwrap().squared_distance;
            assert!(limit > last, "{scale} {confidence}: {limit} {last}");
            last = limit;
            let beyond = readings.iter().filter(|q| **q > limit).count() as f64 / 10_000.0;
            // Box's approximation is made for the tail.
            let room = if confidence > 0.8 { 0.02 } else { 0.1 };
            assert!((beyond - (1.0 - confidence)).abs() < room, "{scale} {confidence}: {beyond}");
        }
    }
}

#[test]
fn where_every_direction_is_shown_rounding_is_nothing_unusual() {
    for offset in [0.0, 1e6] {
        let rows = Random::new(11).matrix(30, 5) + offset;
        let model = EigenspaceModel::fit(rows.view()).unwrap();
        let limits = model.limits(0.99).unwrap();
        let readings = model.monitor(rows.view(), limits).unwrap();
        assert!(readings.squared_distance.iter().all(|q| *q <= limits.squared_distance), "{readings:?}");
        let mut stranger = rows.slice_axis(ndarray::Axis(0), (..1).into()).to_owned();
        stranger += 1e3;
        assert_eq!(model.monitor(stranger.view(), limits).unwrap().outliers(), [0]);
    }
}

#[test]
fn shares_beyond_each_limit_and_the_excess_of_rows_are_those_of_loops() {
    let mut random = Random::new(8);
    let model = EigenspaceModel::fit(good(&mut random, 300).view()).unwrap().with_components(3).unwrap();
    let limits = model.limits(0.8).unwrap();
    let readings = model.monitor(good(&mut random, 500).view(), limits).unwrap();
    let (t2, q) = (readings.hotelling.to_vec(), readings.squared_distance.to_vec());
    let (mut above_t2, mut above_q, mut outliers) = (0, 0, Vec::new());
    for i in 0..500 {
        above_t2 += usize::from(t2[i] > limits.hotelling);
        above_q += usize::from(q[i] > limits.squared_distance);
        let excess = limits.excess(t2[i], q[i]);
        assert_eq!(excess, f64::max(t2[i] / limits.hotelling, q[i] / limits.squared_distance));
        if excess > 1.0 {
            outliers.push(i);
        }
    }
    assert!(above_t2 > 50 && above_q > 50);
    assert_eq!(limits.shares_beyond(&t2, &q), (above_t2 as f64 / 500.0, above_q as f64 / 500.0));
    assert_eq!(outliers, readings.outliers());
    assert_eq!(limits.shares_beyond(&[], &[]), (0.0, 0.0));
    assert!(limits.excess(f64::NAN, f64::NAN).is_nan());
    // A limit of 0 of a model without components.
    let constant = EigenspaceModel::fit(&array![[1.0], [1.0], [1.0]]).unwrap().limits(0.9).unwrap();
    assert_eq!((constant.hotelling, constant.excess(0.0, 0.0)), (0.0, 0.0));
}
