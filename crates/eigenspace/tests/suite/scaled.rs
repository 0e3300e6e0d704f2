//! Standardized PCA and other scales: views that equal batch PCA of the scaled rows.

use eigenspace::{Block, EigenspaceModel, Engine, Error, FitOptions, Forgetting, Truncation};
use ndarray::{Array1, Array2, Axis, array};
use proptest::prelude::*;

use crate::support::{self, Random, allowed, distance, oracle, weighted_oracle};

/// Standardized by loops: minus the mean, over the deviation, constant features left alone.
fn standardized(rows: &Array2<f64>, weights: &[f64]) -> Array2<f64> {
    let truth = weighted_oracle(rows.view(), weights);
    let deviation = truth.scatter.diag().mapv(|q| if q > 0.0 { (q / truth.weight).sqrt() } else { 1.0 });
    (rows - &truth.mean) / &deviation
}

proptest! {
    #![proptest_config(support::cases(48))]

    #[test]
    fn standardizing_a_stream_is_batch_pca_of_the_standardized_rows(
        seed in 0u64.., n in 3usize..60, d in 1usize..15, f in 0.8f64..1.0, constant in 0usize..20,
    ) {
        let mut random = Random::new(seed);
        let units = Array1::from_iter((0..d).map(|_| 10f64.powf(4.0 * random.uniform() - 2.0)));
        let mut rows = random.matrix(n, d) * &units;
        if constant < d {
            rows.column_mut(constant).fill(3.0);
        }
        let given: Vec<f64> = (0..n).map(|_| 0.5 + random.uniform()).collect();
        for forget in [false, true] {
            let weights: Vec<f64> = (0..n).map(|i| given[i] * if forget { f.powi((n - 1 - i) as i32) } else { 1.0 }).collect();
            let wanted = weighted_oracle(standardized(&rows, &weights).view(), &weights);
            let forgetting = if forget { Forgetting::PerRow(f) } else { Forgetting::Never };
            for engine in [Engine::Factor, Engine::Scatter] {
                let options = FitOptions::new().engine(engine).block_rows(7).forgetting(forgetting);
                let model = options.fit(Block::from(&rows).weighted(&given)).unwrap();
                let view = model.standardize().unwrap();
                // Features differ in size by up to 1e4: the scatter's rounding is relative to the
                // largest.
                let units = if engine == Engine::Scatter { 1e8 } else { 1e4 };
                let error = support::frobenius(&(support::scatter_of(view.model()) - &wanted.scatter));
                prop_assert!(error <= units * 8.0 * allowed(n, d) * wanted.eigenvalues[0].max(1e-300), "{engine:?} {error:e}");
                // The scatter's rounding, scaled up by 1e8, may be more than the certificate calls
                // rounding.
                prop_assert!(engine == Engine::Scatter || view.model().certificate().is_exact());
            }
        }
    }

    #[test]
    fn the_view_of_a_truncated_model_is_certified_in_its_own_metric(seed in 0u64.., n in 8usize..60, d in 4usize..12, r in 1usize..4) {
        let mut random = Random::new(seed);
        let units = Array1::from_iter((0..d).map(|_| 10f64.powf(2.0 * random.uniform() - 1.0)));
        let rows = random.matrix(n, d).dot(&random.matrix(d, d)) * &units;
        let wanted = oracle(standardized(&rows, &vec![1.0; n]).view());
        let model = EigenspaceModel::fit(rows.view()).unwrap().truncate(Truncation::Rank(r)).unwrap();
        let view = model.standardize().unwrap();
        let certificate = view.model().certificate();
        prop_assert!(!certificate.is_exact());
        let error = support::jacobi_svd(&wanted.scatter - &support::scatter_of(view.model())).0[0];
        prop_assert!(error <= certificate.error_bound() * (1.0 + 1e-9), "{error} {}", certificate.error_bound());
        for (i, value) in wanted.eigenvalues.iter().enumerate() {
            let (low, high) = certificate.eigenvalue_bound(i);
            prop_assert!(low <= value * (1.0 + 1e-9) && *value <= high * (1.0 + 1e-9), "{i}: {low} {value} {high}");
        }
    }
}

#[test]
fn merging_and_splitting_stay_exact_because_the_model_stays_raw() {
    let mut random = Random::new(1);
    let (a, b) = (random.matrix(30, 5) * &array![1.0, 10.0, 100.0, 0.1, 3.0], random.matrix(20, 5) * 4.0 + 2.0);
    let [one, two] = [&a, &b].map(|rows| EigenspaceModel::fit(rows.view()).unwrap());
    let both = one.merge(&two, Truncation::None).unwrap();
    let all = support::stack(&a, &b);
    let wanted = EigenspaceModel::fit(standardized(&all, &[1.0; 50]).view()).unwrap();
    let view = both.standardize().unwrap();
    assert!(view.model().subspace_distance(&wanted).unwrap() < 1e-12);
    for (x, y) in view.model().all_singular_values().iter().zip(wanted.all_singular_values()) {
        assert!((x / y - 1.0).abs() < 1e-12);
    }
    let rest = both.split(&two).unwrap().standardize().unwrap();
    let alone = EigenspaceModel::fit(standardized(&a, &[1.0; 30]).view()).unwrap();
    for (x, y) in rest.model().all_singular_values().iter().zip(alone.all_singular_values()) {
        assert!((x / y - 1.0).abs() < 1e-8);
    }
}

#[test]
fn rows_project_and_come_back_in_their_own_units() {
    let rows = Random::new(2).matrix(40, 4) * &array![1.0, 100.0, 0.01, 5.0] + &array![5.0, -300.0, 0.0, 1.0];
    let view = EigenspaceModel::fit(rows.view()).unwrap().standardize().unwrap();
    let z = view.project(rows.view()).unwrap();
    let wanted = view.model().project(standardized_for(&view, &rows).view()).unwrap();
    assert!((&z - &wanted).iter().all(|x| x.abs() < 1e-12));
    let back = view.reconstruct(z.view()).unwrap();
    assert!((&back - &rows).iter().all(|x| x.abs() < 1e-11));
    let few: Array2<f32> = view.project(rows.mapv(|x| x as f32).view()).unwrap();
    assert_eq!(few.dim(), (40, 4));
    assert!(view.project(rows.slice_axis(Axis(1), (..2).into())).is_err());
    assert!(view.reconstruct(Array2::<f64>::zeros((1, 5)).view()).is_err());
}

fn standardized_for(view: &eigenspace::View, rows: &Array2<f64>) -> Array2<f64> {
    rows * &view.scales().unwrap()
}

#[test]
fn given_scales_convert_units() {
    let meters = Random::new(3).matrix(25, 3);
    let scales = array![100.0, 1.0, 0.001];
    let view = EigenspaceModel::fit(meters.view()).unwrap().scale_by(scales.view()).unwrap();
    let far = distance(view.model(), &oracle((&meters * &scales).view()));
    assert!(far.worst() <= 64.0 * allowed(25, 3), "{far:?}");
    let model = EigenspaceModel::fit(meters.view()).unwrap();
    assert!(matches!(model.scale_by(array![1.0, 0.0, 1.0].view()), Err(Error::InvalidScale { column: 1, .. })));
    assert!(matches!(model.scale_by(array![1.0, 1.0].view()), Err(Error::WidthMismatch { expected: 3, found: 2 })));
    assert!(EigenspaceModel::empty(3).standardize().is_err());
}

#[test]
fn scales_that_take_values_out_of_range_are_refused() {
    let model = EigenspaceModel::fit((Random::new(4).matrix(9, 2) + 5.0).view()).unwrap();
    for scale in [1e250, 1e-250, 1e140, f64::INFINITY, f64::NAN, -1.0] {
        assert!(
            matches!(model.scale_by(array![1.0, scale].view()), Err(Error::InvalidScale { column: 1, .. })),
            "{scale}"
        );
    }
    let far = model.scale_by(array![1.0, 1e130].view()).unwrap();
    assert_eq!(EigenspaceModel::from_bytes(&far.model().to_bytes()).unwrap(), *far.model());
}

#[test]
fn a_feature_of_small_spread_is_seen_by_the_scatter_too() {
    let rows = Random::new(5).matrix(2000, 3) * &array![1.0, 1.0, 3e-8];
    let truth = oracle(standardized(&rows, &vec![1.0; 2000]).view());
    let view = FitOptions::new().engine(Engine::Scatter).fit(rows.view()).unwrap().standardize().unwrap();
    let certificate = view.model().certificate();
    assert!(certificate.is_exact(), "{certificate:?}");
    for (i, value) in truth.eigenvalues.iter().enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        assert!(low <= *value && *value <= high, "{i}: {low} {value} {high}");
    }
}
