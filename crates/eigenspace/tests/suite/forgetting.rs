//! Forgetting: the model equals batch PCA with weights f^age.

use eigenspace::{Block, EigenspaceModel, Engine, Error, FitOptions, Forgetting, Truncation};
use ndarray::Array2;
use proptest::prelude::*;

use crate::support::{self, Random, allowed, cut, distance, weighted_oracle};

fn engines() -> [FitOptions; 3] {
    let base = FitOptions::new();
    [base.clone(), base.clone().engine(Engine::Factor).block_rows(4), base.engine(Engine::Scatter).block_rows(4)]
}

proptest! {
    #![proptest_config(support::cases(48))]

    #[test]
    fn forgetting_is_batch_pca_with_weights_f_to_the_age(
        seed in 0u64.., n in 2usize..60, d in 1usize..12, f in 0.7f64..1.0, cuts in prop::collection::vec(1usize..9, 1..4),
    ) {
        let mut random = Random::new(seed);
        let rows = random.matrix(n, d) + random.normal();
        let given: Vec<f64> = (0..n).map(|_| 0.5 + random.uniform()).collect();
        let half_life = -1.0 / f.log2();
        for (forgetting, weighted) in [(Forgetting::PerRow(f), false), (Forgetting::HalfLife(half_life), false), (Forgetting::PerRow(f), true)] {
            let weights: Vec<f64> = (0..n).map(|i| f.powi((n - 1 - i) as i32) * if weighted { given[i] } else { 1.0 }).collect();
            let truth = weighted_oracle(rows.view(), &weights);
            for options in engines() {
                let mut stream = options.forgetting(forgetting).stream(d).unwrap();
                let mut start = 0;
                for block in cut(&rows, &cuts) {
                    let range = start..start + block.nrows();
                    start = range.end;
                    let block = Block::from(block);
                    stream.update(if weighted { block.weighted(&given[range]) } else { block }).unwrap();
                }
                let far = distance(&stream.model().unwrap(), &truth);
                prop_assert!(far.worst() <= 8.0 * allowed(n, d), "{forgetting:?}: {:?}", far);
            }
        }
    }

    #[test]
    fn forgetting_by_block_weighs_whole_blocks(seed in 0u64.., blocks in prop::collection::vec(1usize..9, 1..8), d in 1usize..12, f in 0.3f64..1.0) {
        let mut random = Random::new(seed);
        let n: usize = blocks.iter().sum();
        let rows = random.matrix(n, d);
        let ages = blocks.iter().rev().enumerate().flat_map(|(age, &length)| std::iter::repeat_n(age as i32, length));
        let mut weights: Vec<f64> = ages.map(|age| f.powi(age)).collect();
        weights.reverse();
        let truth = weighted_oracle(rows.view(), &weights);
        let mut by_hand = EigenspaceModel::empty(d);
        for options in engines() {
            let mut stream = options.forgetting(Forgetting::PerBlock(f)).stream(d).unwrap();
            cut(&rows, &blocks).for_each(|block| stream.update(block).unwrap());
            prop_assert!(distance(&stream.model().unwrap(), &truth).worst() <= 8.0 * allowed(n, d));
        }
        for block in cut(&rows, &blocks) {
            by_hand = by_hand.forget(f).unwrap().update(block, Truncation::None).unwrap();
        }
        prop_assert!(distance(&by_hand, &truth).worst() <= 8.0 * allowed(n, d));
    }

    #[test]
    fn forgetting_by_row_does_not_depend_on_how_rows_were_cut(seed in 0u64.., n in 1usize..60, cuts in prop::collection::vec(1usize..9, 1..4)) {
        let rows = Random::new(seed).matrix(n, 6);
        for options in engines() {
            let options = options.components(2).max_rank(4).forgetting(Forgetting::HalfLife(9.0));
            let mut stream = options.stream(6).unwrap();
            cut(&rows, &cuts).for_each(|block| stream.update(block).unwrap());
            prop_assert_eq!(&*stream.model().unwrap(), &options.fit(rows.view()).unwrap());
        }
    }
}

#[test]
fn variances_stay_those_of_the_rows_remembered() {
    // A common mistake is to scale scatter and weight differently, which gives variances of 1/(1 +
    // f) of the true ones.
    let rows = Random::new(1).matrix(20_000, 3);
    let model = FitOptions::new().forgetting(Forgetting::PerRow(0.999)).fit(rows.view()).unwrap();
    assert!((model.weight() - 1000.0).abs() < 1e-3, "1 / (1 - f) rows are remembered: {}", model.weight());
    for variance in model.explained_variance(0.0).unwrap() {
        assert!((variance - 1.0).abs() < 0.15, "{variance}");
    }
    assert_eq!(model.count(), 20_000);
}

#[test]
fn a_stream_that_forgets_follows_a_change_and_its_bound_fades() {
    let mut random = Random::new(2);
    let before = random.matrix(2000, 8) * &ndarray::array![9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let after = random.matrix(2000, 8) * &ndarray::array![1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0];
    let options =
        FitOptions::new().components(1).max_rank(3).engine(Engine::Factor).forgetting(Forgetting::HalfLife(100.0));
    let mut stream = options.stream(8).unwrap();
    stream.update(before.view()).unwrap();
    assert!(stream.model().unwrap().components()[[0, 0]] > 0.99);
    let bound = stream.model().unwrap().certificate().error_bound();
    stream.update(after.view()).unwrap();
    assert!(stream.model().unwrap().components()[[0, 7]] > 0.99);
    // The bound is a sum over the remembered rows, so it does not grow with the length of the
    // stream.
    assert!(stream.model().unwrap().certificate().error_bound() < 3.0 * bound);
}

#[test]
fn factors_that_mean_nothing_are_refused() {
    let half_life = FitOptions::new().forgetting(Forgetting::HalfLife(0.0)).stream(3);
    assert!(matches!(half_life, Err(Error::InvalidHalfLife { value: 0.0 })));
    for forgetting in [Forgetting::PerRow(0.0), Forgetting::PerRow(1.1), Forgetting::PerBlock(f64::NAN)] {
        assert!(matches!(FitOptions::new().forgetting(forgetting).stream(3), Err(Error::InvalidForgetting { .. })));
    }
    let model = EigenspaceModel::fit(Array2::<f64>::eye(3).view()).unwrap();
    assert!(model.forget(0.0).is_err() && model.forget(1.5).is_err());
    assert_eq!(model.forget(1.0).unwrap(), model);
}

#[test]
fn a_model_cannot_forget_until_its_weight_vanishes() {
    let model = EigenspaceModel::fit(&Random::new(21).matrix(300, 5)).unwrap();
    for factor in [1e-305, 1e-308, 1e-320, 1e-143] {
        let error = model.forget(factor).unwrap_err();
        assert!(matches!(error, Error::TotalWeightTooSmall { total, .. } if total == 300.0 * factor), "{error}");
        assert!(error.to_string().contains("the smallest possible is 1e-140") && error.hint().is_some());
    }
    let mut faded = model.clone();
    while let Ok(next) = faded.forget(0.5) {
        faded = next;
    }
    assert!(faded.weight() >= 1e-140 && faded.weight() < 2e-140);
    assert_eq!(EigenspaceModel::from_bytes(&faded.to_bytes()).unwrap(), faded);
    let both = faded.merge(&faded, Truncation::None).unwrap();
    assert!(support::sine(both.basis(), model.basis()) < 1e-12);
    assert!((&both.mean() - &model.mean()).iter().all(|off| off.abs() < 1e-15));
    assert!(EigenspaceModel::empty(5).forget(1e-300).is_ok());
}

#[test]
fn directions_that_forgetting_makes_too_small_are_counted() {
    for magnitude in [1e-81, 1e-100] {
        let rows = Random::new(22).matrix(30, 4);
        let model = EigenspaceModel::fit(&(&rows * magnitude)).unwrap().forget(1e-141).unwrap();
        assert_eq!(EigenspaceModel::from_bytes(&model.to_bytes()).unwrap(), model);
        let truth = EigenspaceModel::fit(&rows).unwrap();
        let first = (truth.all_singular_values()[0] * magnitude).powi(2) * 1e-141;
        let (low, high) = model.certificate().eigenvalue_bound(0);
        assert!(model.rank() == 0 && low <= first && first <= high, "{magnitude:e}: {low:e} {first:e} {high:e}");
    }
}
