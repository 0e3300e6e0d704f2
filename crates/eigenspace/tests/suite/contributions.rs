//! Contributions of features to T² and Q, cos² of rows and features, and views that share one
//! basis.

use eigenspace::{EigenspaceModel, Missing, View};
use ndarray::{Array2, array};
use proptest::prelude::*;

use crate::support::{Random, cases, oracle};

/// Correlated rows away from the origin, in features of different units.
fn rows(random: &mut Random, n: usize, features: usize) -> Array2<f64> {
    let spectrum: Vec<f64> = (0..features.min(n)).map(|i| 30.0 / (1.0 + i as f64)).collect();
    let mut rows = random.with_spectrum(n, features, &spectrum);
    for (j, mut column) in rows.columns_mut().into_iter().enumerate() {
        column.mapv_inplace(|x| (x + 5.0) * [1.0, 40.0, 0.3][j % 3]);
    }
    rows
}

/// e, V and λ (ddof = 1) of raw or standardized rows, by loops and plane rotations that share no
/// code with the library.
fn by_hand(fitted: &Array2<f64>, row: &[f64], standardize: bool) -> (Vec<f64>, Array2<f64>, Vec<f64>) {
    let n = fitted.nrows();
    let mut scaled = fitted.clone();
    let mut centered = Vec::new();
    for (j, x) in row.iter().enumerate() {
        let mean = fitted.column(j).iter().sum::<f64>() / n as f64;
        let variance = fitted.column(j).iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        let scale = if standardize { 1.0 / variance.sqrt() } else { 1.0 };
        scaled.column_mut(j).mapv_inplace(|x| (x - mean) * scale);
        centered.push((x - mean) * scale);
    }
    let truth = oracle(scaled.view());
    let variances = truth.eigenvalues.iter().map(|value| value / (n as f64 - 1.0)).collect();
    (centered, truth.directions, variances)
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn contributions_sum_to_both_distances_and_equal_those_by_hand(
        seed in any::<u64>(), n in 8_usize..40, features in 2_usize..9, k in 1_usize..6, standardize in any::<bool>(),
    ) {
        let mut random = Random::new(seed);
        let fitted = rows(&mut random, n, features);
        let fresh = rows(&mut random, 3, features);
        let k = k.min(features - 1).min(n - 2);
        let view = View::raw(EigenspaceModel::fit(&fitted).unwrap()).standardized(standardize).unwrap().with_components(k).unwrap();
        let found = view.contributions(&fresh).unwrap();
        let readings = view.readings(&fresh).unwrap();
        let (hotelling, squared) = (readings.hotelling, readings.squared_distance);
        let cosines = view.squared_cosines(&fresh).unwrap();
        for (i, row) in fresh.rows().into_iter().enumerate() {
            let (e, directions, variances) = by_hand(&fitted, &row.to_vec(), standardize);
            let length: f64 = e.iter().map(|x| x * x).sum();
            let scores: Vec<f64> = (0..k).map(|c| (0..features).map(|j| directions[[c, j]] * e[j]).sum()).collect();
            // The certificate bounds how far rounding turns each of the first spaces, and how much
            // it moves a variance. Standardizing multiplies rounding by the squared ratio of the
            // units, so no fixed number would do. What is turned by θ changes a product of two
            // coordinates of e by at most 2 θ ‖e‖², in each of k terms. The mean and the scales add
            // a few roundings of numbers that are at most some hundred deviations long.
            let certificate = view.model().certificate();
            let turned = (1..=k).map(|c| certificate.angle_bound(c)).fold(0.0, f64::max);
            let moved = certificate.error_bound() / (variances[k - 1] * (n as f64 - 1.0));
            let room = 4.0 * k as f64 * (turned + moved) + 1e4 * f64::EPSILON;
            for j in 0..features {
                let t2: f64 = (0..k).map(|c| directions[[c, j]] * scores[c] / variances[c]).sum::<f64>() * e[j];
                let inside: f64 = (0..k).map(|c| directions[[c, j]] * scores[c]).sum();
                let q = (e[j] - inside).powi(2);
                prop_assert!((found.hotelling[[i, j]] - t2).abs() <= room * length / variances[k - 1], "T² {i} {j}: {} {t2}", found.hotelling[[i, j]]);
                prop_assert!((found.squared_distance[[i, j]] - q).abs() <= room * length, "Q {i} {j}: {} {q}", found.squared_distance[[i, j]]);
                prop_assert!(found.squared_distance[[i, j]] >= 0.0);
            }
            for c in 0..k {
                prop_assert!((cosines[[i, c]] - scores[c] * scores[c] / length).abs() <= room);
            }
            // The sums are those of the same numbers in another order.
            let size: f64 = found.hotelling.row(i).iter().map(|x| x.abs()).sum();
            prop_assert!((found.hotelling.row(i).sum() - hotelling[i]).abs() <= 1e2 * f64::EPSILON * (size + hotelling[i]));
            prop_assert!((found.squared_distance.row(i).sum() - squared[i]).abs() <= 1e2 * f64::EPSILON * (squared[i] + length));
            prop_assert!((cosines.row(i).sum() + squared[i] / length - 1.0).abs() <= 1e2 * f64::EPSILON);
        }
    }
}

#[test]
fn a_row_at_the_mean_has_no_contributions_and_no_cosines() {
    let model = EigenspaceModel::fit(&array![[1.0, 2.0], [3.0, 6.0], [5.0, 4.0]]).unwrap();
    let view = View::new(model).unwrap().with_components(1).unwrap();
    let mean = array![[3.0, 4.0]];
    assert_eq!(view.contributions(&mean).unwrap().hotelling, array![[0.0, 0.0]]);
    assert_eq!(view.squared_cosines(&mean).unwrap(), array![[0.0]]);
}

#[test]
fn skipped_rows_have_no_contributions_and_imputed_ones_those_of_the_filled_row() {
    let mut random = Random::new(7);
    let fitted = rows(&mut random, 30, 4);
    let view = View::new(EigenspaceModel::fit(&fitted).unwrap()).unwrap().with_components(2).unwrap();
    let mut fresh = rows(&mut random, 2, 4);
    fresh[[1, 2]] = f64::NAN;
    assert!(view.contributions(&fresh).is_err());
    let skipped = view.clone().missing(Missing::Skip).contributions(&fresh).unwrap();
    assert!(
        skipped.hotelling.row(1).iter().all(|x| x.is_nan())
            && skipped.squared_distance.row(1).iter().all(|x| x.is_nan())
    );
    assert!(skipped.hotelling.row(0).iter().all(|x| x.is_finite()));
    let imputed = view.clone().missing(Missing::Impute);
    let found = imputed.contributions(&fresh).unwrap();
    let mut filled = fresh.clone();
    view.raw_model().fill_missing(filled.view_mut()).unwrap();
    assert_eq!(found, view.contributions(&filled).unwrap());
    assert!((found.squared_distance.row(1).sum() - imputed.squared_distance(&fresh).unwrap()[1]).abs() < 1e-9);
}

#[test]
fn what_features_contribute_sums_to_one_and_their_cosines_are_those_of_the_circle() {
    let fitted = rows(&mut Random::new(3), 40, 6);
    for standardize in [false, true] {
        let model = EigenspaceModel::fit(&fitted).unwrap();
        let view = View::raw(model.clone()).standardized(standardize).unwrap();
        let correlations = view.correlations().unwrap();
        for axes in [vec![0], vec![0, 1], vec![3, 1, 2], (0..6).collect()] {
            let found = view.feature_summary(&axes).unwrap();
            assert!((found.contribution.sum() - 1.0).abs() < 1e-14);
            for j in 0..6 {
                let squares: f64 = axes.iter().map(|&i| correlations[[j, i]].powi(2)).sum();
                assert!((found.squared_cosine[j] - squares).abs() < 1e-12, "{} {squares}", found.squared_cosine[j]);
                let mean = fitted.column(j).sum() / 40.0;
                let variance = fitted.column(j).iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 39.0;
                assert!((found.mean[j] - mean).abs() < 1e-12 * mean.abs());
                assert!((found.deviation[j] - variance.sqrt()).abs() < 1e-12 * variance.sqrt());
            }
        }
        assert!(view.feature_summary(&[9]).unwrap().contribution.iter().all(|share| *share == 0.0));
    }
}

#[test]
fn a_view_with_another_number_of_components_shares_the_directions() {
    let fitted = rows(&mut Random::new(5), 30, 5);
    let model = EigenspaceModel::fit(&fitted).unwrap();
    for view in [View::raw(model.clone()), model.standardize().unwrap()] {
        let fewer = view.clone().with_components(2).unwrap();
        assert_eq!(fewer.model().basis().as_ptr(), view.model().basis().as_ptr());
        assert_eq!((fewer.n_components(), view.n_components()), (2, 5));
        let scores = fewer.project(&fitted).unwrap();
        let wide = view.project(&fitted).unwrap();
        assert_eq!(fewer.reconstruct(&scores).unwrap().dim(), (30, 5));
        for (few, many) in scores.iter().zip(wide.slice(ndarray::s![.., ..2])) {
            assert!((few - many).abs() < 1e-11);
        }
    }
    assert_eq!(model.with_components(1).unwrap().basis().as_ptr(), model.basis().as_ptr());
}

#[test]
fn the_features_that_contribute_most_come_first_and_the_others_are_summed() {
    let mut random = Random::new(21);
    let fitted = rows(&mut random, 30, 7);
    let fresh = rows(&mut random, 5, 7);
    let view = View::raw(EigenspaceModel::fit(&fitted).unwrap()).with_components(3).unwrap();
    let found = view.contributions(&fresh).unwrap();
    let readings = view.readings(&fresh).unwrap();
    let (t2, q) = (&readings.hotelling, &readings.squared_distance);
    for most in [0, 1, 4, 7, 9] {
        let largest = found.largest(most);
        assert_eq!(largest.len(), 5);
        for (i, largest) in largest.iter().enumerate() {
            let weight = |j: usize| found.hotelling[[i, j]].abs() / t2[i] + found.squared_distance[[i, j]] / q[i];
            let chosen = &largest.features;
            assert_eq!(chosen.len(), most.min(7));
            assert!(chosen.is_sorted_by(|&a, &b| weight(a) >= weight(b)));
            let others: Vec<usize> = (0..7).filter(|j| !chosen.contains(j)).collect();
            assert!(others.iter().all(|&j| chosen.last().is_none_or(|&last| weight(j) <= weight(last))));
            let sums = others.iter().fold((0.0, 0.0), |(to_t2, to_q), &j| {
                (to_t2 + found.hotelling[[i, j]], to_q + found.squared_distance[[i, j]])
            });
            assert!((largest.other_hotelling - sums.0).abs() <= 1e-12 * t2[i]);
            assert!((largest.other_squared_distance - sums.1).abs() <= 1e-12 * q[i]);
        }
    }
}
