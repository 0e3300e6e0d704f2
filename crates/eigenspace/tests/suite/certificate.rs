//! The certificate: every claim, compared with the oracle, after every kind of truncation.

use eigenspace::{Block, EigenspaceModel, Engine, Truncation};
use ndarray::Axis;
use proptest::prelude::*;

use crate::support::{self, Random, oracle, sine, stack};

fn rules() -> [Truncation; 5] {
    [
        Truncation::None,
        Truncation::Rank(3),
        Truncation::Energy(0.8),
        Truncation::Tolerance(0.4),
        Truncation::FrequentDirections(4),
    ]
}

/// Checks every claim of a model's certificate on the rows it was made from.
fn every_claim_holds(model: &EigenspaceModel, rows: &ndarray::Array2<f64>) {
    let truth = oracle(rows.view());
    let certificate = model.certificate();
    let first = truth.eigenvalues.first().copied().unwrap_or(0.0);
    let slack = 1e-11 * first.max(f64::MIN_POSITIVE);
    let total: f64 = truth.eigenvalues.iter().sum();
    assert!((model.feature_scatter().sum() - total).abs() <= slack, "the trace is exact");

    let difference = &truth.scatter - &support::scatter_of(model);
    let error = support::jacobi_svd(difference.clone()).0[0];
    assert!(error <= certificate.error_bound() + slack, "‖M − L‖ = {error:e}, bound {:e}", certificate.error_bound());
    // −surplus ≤ M − L ≤ lost, along many directions.
    let mut random = Random::new(99);
    for _ in 0..20 {
        let x = random.matrix(1, model.features());
        let form = x.dot(&difference).dot(&x.t())[[0, 0]] / x.row(0).dot(&x.row(0));
        assert!(form <= certificate.lost() + slack && form >= -certificate.surplus() - slack);
    }
    let mut held = 0.0;
    for (i, value) in truth.eigenvalues.iter().enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        assert!(low <= value + slack && *value <= high + slack, "eigenvalue {i}: {low} {value} {high}");
        held += value;
        let (low, high) = certificate.captured_bounds(i + 1);
        assert!(
            low <= held / total + 1e-11 && held / total <= high + 1e-11,
            "captured {i}: {low} {} {high}",
            held / total
        );
        if i < model.rank() {
            let k = i + 1;
            let angle = sine(
                truth.directions.slice_axis(Axis(0), (..k).into()),
                model.basis().slice_axis(Axis(0), (..k).into()),
            );
            // `sine` is at most √k too large.
            let gap = value - truth.eigenvalues.get(k).copied().unwrap_or(0.0);
            let rounding = 1e-12 * first / gap.max(1e-12 * first);
            assert!(
                angle / (k as f64).sqrt() <= certificate.angle_bound(k) + rounding,
                "angle {k}: {angle} {}",
                certificate.angle_bound(k)
            );
        }
    }
}

proptest! {
    #![proptest_config(support::cases(48))]

    #[test]
    fn every_claim_holds_after_any_chain_of_truncated_updates_and_merges(
        seed in 0u64.., n in 2usize..20, d in 2usize..12, decay in 0.3f64..0.95, steps in prop::collection::vec(0usize..5, 1..7),
    ) {
        let mut random = Random::new(seed);
        let scale = ndarray::Array1::from_iter((0..d).map(|j| decay.powi(j as i32)));
        let mut rows = random.matrix(n, d) * &scale;
        let mut model = EigenspaceModel::fit(rows.view()).unwrap();
        for (turn, rule) in steps.iter().enumerate() {
            let more = random.matrix(n, d) * &scale + random.normal();
            let rule = rules()[*rule];
            model = if turn % 2 == 0 {
                model.update(more.view(), rule).unwrap()
            } else {
                model.merge(&EigenspaceModel::fit(more.view()).unwrap().truncate(rule).unwrap(), rule).unwrap()
            };
            rows = stack(&rows, &more);
        }
        every_claim_holds(&model, &rows);
    }

    #[test]
    fn every_claim_holds_after_splitting_truncated_models(
        seed in 0u64.., n in 3usize..20, m in 1usize..12, d in 2usize..12, whole in 0usize..5, part in 0usize..5,
    ) {
        let mut random = Random::new(seed);
        let scale = ndarray::Array1::from_iter((0..d).map(|j| 0.6f64.powi(j as i32)));
        let (a, b) = (random.matrix(n, d) * &scale, random.matrix(m, d) * &scale + random.normal());
        let both = EigenspaceModel::fit(stack(&a, &b).view()).unwrap().truncate(rules()[whole]).unwrap();
        let part = EigenspaceModel::fit(b.view()).unwrap().truncate(rules()[part]).unwrap();
        let left = both.split(&part).unwrap();
        every_claim_holds(&left, &a);
    }
}

#[test]
fn an_exact_model_says_so_and_a_cut_one_says_how_much() {
    let rows = Random::new(1).matrix(30, 8);
    let whole = EigenspaceModel::fit(rows.view()).unwrap();
    let certificate = whole.certificate();
    let rounding = certificate.relative_error_bound();
    assert!(certificate.is_exact() && rounding > 0.0 && rounding < 1e-12 && certificate.angle_bound(3) < 1e-11);
    let s = whole.all_singular_values();
    let cut = whole.truncate(Truncation::Rank(5)).unwrap();
    assert_eq!(cut.certificate().lost(), s[5] * s[5] + certificate.lost());
    let energy = whole.truncate(Truncation::Energy(0.5)).unwrap();
    let held: f64 = energy.explained_variance_ratio().sum();
    assert!(held >= 0.5 && held - energy.explained_variance_ratio()[energy.rank() - 1] < 0.5);
    let tolerance = whole.truncate(Truncation::Tolerance(s[4] / s[0] * 0.999)).unwrap();
    assert_eq!(tolerance.rank(), 5);
    let shrunk = whole.truncate(Truncation::FrequentDirections(5)).unwrap();
    for (kept, before) in shrunk.all_singular_values().iter().zip(s) {
        assert!((kept * kept - (before * before - s[5] * s[5])).abs() < 1e-12);
    }
}

#[test]
fn the_bound_is_never_more_than_the_scatter_that_is_missing() {
    let rows = Random::new(2).matrix(400, 6);
    let mut model = EigenspaceModel::empty(6);
    for row in rows.rows() {
        model = model.update_row(row, Truncation::Rank(5)).unwrap();
    }
    let missing = model.feature_scatter().sum() - model.all_singular_values().mapv(|s| s * s).sum();
    assert!(model.certificate().lost() <= missing + 1e-10 * model.all_singular_values()[0].powi(2));
}

#[test]
fn a_tiny_direction_that_was_dropped_is_not_canceled_away() {
    let rows = ndarray::array![[1.0, 0.0], [-1.0, 0.0], [0.0, 1e-9], [0.0, -1e-9]];
    let cut = EigenspaceModel::fit(rows.view()).unwrap().truncate(Truncation::Rank(1)).unwrap();
    assert!(!cut.certificate().is_exact());
    assert!(cut.certificate().eigenvalue_bound(1).1 >= 2e-18 * (1.0 - 1e-12));
}

#[test]
fn equal_eigenvalues_leave_their_directions_uncertain() {
    let rows = ndarray::array![[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]];
    let certificate = EigenspaceModel::fit(rows.view()).unwrap().certificate();
    assert!(certificate.is_exact());
    assert_eq!(certificate.angle_bound(1), 1.0, "any direction of the plane is as good");
    assert!(certificate.angle_bound(2) < 1e-12, "the plane itself is certain");
    assert_eq!(certificate.angle_bound(3), 1.0, "there is no third direction");
}

#[test]
fn a_weak_direction_dropped_again_and_again_is_counted() {
    // Each time it is below what the Gram matrix of the buffer resolves; after 20,000 rows it is
    // not.
    for (strong, engine) in [(1e3, "f32"), (1.5e7, "f64")] {
        let mut rows = ndarray::Array2::<f64>::zeros((20_002, 4));
        (rows[[0, 0]], rows[[1, 0]]) = (strong, -strong);
        for i in 2..20_002 {
            rows[[i, 1]] = if i % 2 == 0 { 1.0 } else { -1.0 };
        }
        let options = support::options().components(1).max_rank(1).engine(Engine::Factor).block_rows(1);
        let narrow = rows.mapv(|x| x as f32);
        let model = if engine == "f32" { options.fit(narrow.view()) } else { options.fit(rows.view()) }.unwrap();
        let certificate = model.certificate();
        assert!(!certificate.is_exact(), "{engine}");
        assert!(certificate.eigenvalue_bound(1).1 >= 20_000.0, "{engine}: {:?}", certificate.eigenvalue_bound(1));
    }
}

#[test]
fn what_is_too_small_to_be_squared_is_counted() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (n, d) = (2 + (random.uniform() * 3.0) as usize, 1 + (random.uniform() * 13.0) as usize);
        let rows = random.matrix(n, d);
        let magnitude = 10.0_f64.powf(-165.0 + 25.0 * random.uniform());
        // In units in which the squares are ordinary numbers.
        let truth = oracle(rows.view());
        for (weight, scale) in [(1.0, magnitude), (1e-60, magnitude * 1e30)] {
            let (rows, weights) = (&rows * scale, vec![weight; n]);
            let model = EigenspaceModel::fit(Block::from(&rows).weighted(&weights)).unwrap();
            let kept = model.all_singular_values().first().map_or(0.0, |s| s * s);
            let first = truth.eigenvalues[0] * magnitude * magnitude;
            let (low, high) = model.certificate().eigenvalue_bound(0);
            let slack = 1e-12 * first + f64::MIN_POSITIVE * 1e-10;
            assert!(low <= first + slack && first <= high + slack, "{seed}, {weight:e}: {low:e} {first:e} {high:e}");
            let left = model.certificate().lost() + kept;
            assert!(first <= left + slack, "{seed}, {weight:e}: {first:e} {left:e}");
        }
    }
}
