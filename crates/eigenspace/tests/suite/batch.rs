//! Batch PCA: the worked examples of the slides, and three methods that agree.

use eigenspace::{EigenspaceModel, Method, Truncation};
use ndarray::{Array2, Axis, array};

use crate::support::{Random, allowed, distance, oracle};

/// The ten points of the slides.
fn ten_points() -> Array2<f64> {
    array![
        [0.72, 0.14],
        [0.18, 0.23],
        [2.50, 2.30],
        [0.45, 0.17],
        [0.03, 0.44],
        [0.13, 0.24],
        [0.30, 0.03],
        [2.65, 2.10],
        [0.91, 0.92],
        [0.46, 0.33],
    ]
}

/// Half a unit of the last digit printed.
fn same_to_six(found: f64, printed: f64) {
    assert!((found - printed).abs() <= 0.5e-6 + 1e-12, "{found} against {printed}");
}

#[test]
fn the_ten_points_of_the_slides_give_their_figures() {
    for method in [Method::Auto, Method::Svd, Method::Covariance, Method::Gram] {
        let model = EigenspaceModel::fit_with(ten_points().view(), method, Truncation::None).unwrap();
        assert!((model.mean()[0] - 0.833).abs() < 1e-15 && (model.mean()[1] - 0.690).abs() < 1e-15);
        let variance = model.explained_variance(1.0).unwrap();
        same_to_six(variance[0], 1.571264);
        same_to_six(variance[1], 0.037871);
        same_to_six(model.components()[[0, 0]], 0.756291);
        same_to_six(model.components()[[0, 1]], 0.654236);
        let covariance = model.covariance().unwrap();
        for (entry, printed) in covariance.iter().zip([0.914934, 0.758711, 0.758711, 0.694200]) {
            same_to_six(*entry, printed);
        }
    }
}

#[test]
fn variance_along_a_direction_is_largest_along_the_first_component() {
    let model = EigenspaceModel::fit(ten_points().view()).unwrap();
    let first = model.components().row(0).to_owned();
    let most = model.variance_along(first.view(), 1.0).unwrap();
    same_to_six(most, 1.571264);
    same_to_six(model.variance_along(array![1.0, 0.0].view(), 1.0).unwrap(), 0.914934);
    same_to_six(model.variance_along(array![0.0, 1.0].view(), 1.0).unwrap(), 0.694200);
    for step in 0..360 {
        let angle = f64::from(step).to_radians();
        let along = model.variance_along(array![3.0 * angle.cos(), 3.0 * angle.sin()].view(), 1.0).unwrap();
        assert!(along <= most * (1.0 + 1e-14));
    }
}

#[test]
fn the_standardization_example_of_the_slides_gives_its_figures() {
    let rows = array![[4.0, 900.0], [7.0, 1200.0], [10.0, 1500.0]];
    let raw = EigenspaceModel::fit(rows.view()).unwrap();
    let deviation = raw.feature_variance(0.0).unwrap().mapv(f64::sqrt);
    let standardized = (&rows - &raw.mean()) / &deviation;
    for (found, wanted) in standardized.iter().zip([-1.0, -1.0, 0.0, 0.0, 1.0, 1.0]) {
        assert!((found - wanted * 1.224_744_871_391_589).abs() < 1e-14);
        same_to_six(found.abs(), 1.224745 * f64::abs(wanted));
    }
    let model = EigenspaceModel::fit(standardized.view()).unwrap();
    for axis in [array![1.0, 0.0], array![0.0, 1.0]] {
        assert!((model.variance_along(axis.view(), 0.0).unwrap() - 1.0).abs() < 1e-14);
    }
    // Two features of variance 1 cannot have more than 2 along any direction; the 3.23018 of the
    // slides is a mistake.
    let diagonal = model.variance_along(array![1.0, 1.0].view(), 0.0).unwrap();
    assert!((diagonal - 2.0).abs() < 1e-14);
}

#[test]
fn the_three_methods_agree_with_the_oracle_and_each_other() {
    let mut random = Random::new(3);
    for (n, d) in [(5, 3), (3, 5), (40, 12), (12, 40), (60, 200), (300, 60), (30, 30), (1, 4), (2, 1)] {
        let rows = random.matrix(n, d);
        let truth = oracle(rows.view());
        for method in [Method::Auto, Method::Svd, Method::Covariance, Method::Gram] {
            let model = EigenspaceModel::fit_with(rows.view(), method, Truncation::None).unwrap();
            let far = distance(&model, &truth);
            assert!(far.worst() <= allowed(n, d), "{n} x {d} {method:?}: {far:?}");
            assert_eq!(model.rank(), d.min(n - 1), "{n} x {d} {method:?}");
        }
    }
}

#[test]
fn a_rule_is_applied_by_every_method() {
    let rows = Random::new(4).matrix(50, 140);
    let whole = EigenspaceModel::fit(rows.view()).unwrap();
    let dropped = whole.all_singular_values()[7].powi(2);
    for method in [Method::Auto, Method::Svd, Method::Covariance, Method::Gram] {
        let model = EigenspaceModel::fit_with(rows.view(), method, Truncation::Rank(7)).unwrap();
        assert_eq!(model.rank(), 7);
        let lost = model.certificate().lost();
        // The rounding of a decomposition is counted too.
        let first = whole.all_singular_values()[0].powi(2);
        assert!(lost >= dropped && lost - dropped <= 1e-11 * first, "{method:?}: {lost:e} for {dropped:e}");
    }
}

#[test]
fn no_rows_at_all_are_the_empty_model() {
    let rows = Array2::<f64>::zeros((0, 4));
    for method in [Method::Auto, Method::Svd, Method::Covariance, Method::Gram] {
        let model = EigenspaceModel::fit_with(rows.view(), method, Truncation::None).unwrap();
        assert_eq!(model, EigenspaceModel::empty(4), "{method:?}");
    }
}

#[test]
fn f32_rows_are_widened_without_loss() {
    let rows = Random::new(5).matrix(30, 50).mapv(|x| x as f32);
    let wide = rows.mapv(f64::from);
    assert_eq!(EigenspaceModel::fit(rows.view()).unwrap(), EigenspaceModel::fit(wide.view()).unwrap());
}

#[test]
fn the_largest_entry_of_every_component_is_positive() {
    let model = EigenspaceModel::fit(Random::new(6).matrix(40, 9).view()).unwrap();
    for row in model.basis().axis_iter(Axis(0)) {
        let largest = row.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
        assert!(largest > 0.0);
    }
}

#[test]
fn large_or_sparse_rows_are_added_in_pieces_and_few_wide_rows_are_held() {
    use eigenspace::internal::{is_held, is_in_pieces, is_iterative};
    let large = 1 << 20;
    assert!(is_in_pieces(large, 65, None, false) && !is_in_pieces(large, 64, None, false));
    assert!(is_in_pieces(100, 99, None, true) && !is_in_pieces(100, 100, None, true));
    assert!(is_in_pieces(large, 8192, None, true) && !is_in_pieces(large, 8193, None, true));
    assert!(!is_in_pieces(100, 0, None, true));
    assert!(is_iterative(large, 4000, 3, true) && !is_in_pieces(large, 4000, Some(3), true));
    assert!(is_held(600, 1200, false) && !is_held(601, 1200, false) && !is_held(600, 1200, true));
    assert!(is_held(512, 1025, false) && !is_held(512, 1024, false));
}
