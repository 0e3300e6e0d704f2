//! Weighted rows and rows of integers.

use eigenspace::{Block, EigenspaceModel, Engine, Error, FitOptions, Method, SparseRows, Truncation};
use ndarray::{Array2, Axis, array};
use proptest::prelude::*;

use crate::support::{self, Random, allowed, distance, oracle, weighted_oracle};

/// Streams that reach every path of the engine with few rows.
fn engines() -> [FitOptions; 4] {
    let base = FitOptions::new();
    [
        base.clone(),
        base.clone().engine(Engine::Factor).block_rows(4),
        base.clone().engine(Engine::Scatter).block_rows(4),
        base.engine(Engine::Factor).max_rank(30).block_rows(3),
    ]
}

/// Weights of all kinds: zero, fractions, large.
fn weights(random: &mut Random, n: usize) -> Vec<f64> {
    let mut weights: Vec<f64> =
        (0..n).map(|_| [0.0, 0.25, 1.0, 7.5 * random.uniform(), 40.0][(random.uniform() * 5.0) as usize]).collect();
    weights[0] = 1.5;
    weights
}

proptest! {
    #![proptest_config(support::cases(64))]

    #[test]
    fn weights_are_those_of_the_oracle_by_every_road(seed in 0u64.., n in 1usize..40, d in 1usize..20, cut in 1usize..40) {
        let mut random = Random::new(seed);
        let rows = random.matrix(n, d) + random.normal();
        let weights = weights(&mut random, n);
        let truth = weighted_oracle(rows.view(), &weights);
        let cut = cut.min(n);
        let part = |range: std::ops::Range<usize>| rows.slice_axis(Axis(0), range.into());
        let (one, two) = (Block::from(part(0..cut)).weighted(&weights[..cut]), Block::from(part(cut..n)).weighted(&weights[cut..]));
        let mut models = vec![
            EigenspaceModel::fit(one).unwrap().update(two, Truncation::None).unwrap(),
            EigenspaceModel::fit(one).unwrap().merge(&EigenspaceModel::fit(two).unwrap(), Truncation::None).unwrap(),
            EigenspaceModel::fit_with(Block::from(&rows).weighted(&weights), Method::Covariance, Truncation::None).unwrap(),
            EigenspaceModel::fit_with(Block::from(&rows).weighted(&weights), Method::Gram, Truncation::None).unwrap(),
        ];
        for options in engines() {
            let mut stream = options.stream(d).unwrap();
            stream.update(one).unwrap();
            stream.update(two).unwrap();
            models.push((*stream.model().unwrap()).clone());
        }
        for model in &models {
            let far = distance(model, &truth);
            prop_assert!(far.worst() <= 8.0 * allowed(n, d), "{:?}", far);
            prop_assert!(model.certificate().is_exact());
        }
        // Rows that were added with weights are removed with the same weights.
        let left = models[0].split(&EigenspaceModel::fit(two).unwrap()).unwrap();
        let rest = weighted_oracle(part(0..cut), &weights[..cut]);
        let error = support::frobenius(&(support::scatter_of(&left) - &rest.scatter));
        let room = 1.0 + (truth.weight / rest.weight).sqrt();
        prop_assert!(error <= 64.0 * allowed(n, d) * room * truth.eigenvalues[0].max(f64::MIN_POSITIVE), "{error:e}");
    }

    #[test]
    fn whole_weights_are_repeated_rows(seed in 0u64.., n in 1usize..20, d in 1usize..10) {
        let mut random = Random::new(seed);
        let rows = random.matrix(n, d);
        let times: Vec<usize> = (0..n).map(|i| if i == 0 { 1 } else { (random.uniform() * 4.0) as usize }).collect();
        let repeated: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, times[i])).collect();
        let truth = oracle(rows.select(Axis(0), &repeated).view());
        let weights: Vec<f64> = times.iter().map(|&t| t as f64).collect();
        for options in engines() {
            let model = options.fit(Block::from(&rows).weighted(&weights)).unwrap();
            prop_assert_eq!(model.weight(), repeated.len() as f64);
            let far = support::Distance {
                scatter: support::frobenius(&(support::scatter_of(&model) - &truth.scatter)) / truth.eigenvalues[0].max(1e-300),
                eigenvalues: 0.0, mean: 0.0, features: 0.0,
            };
            prop_assert!(truth.eigenvalues[0] == 0.0 || far.worst() <= 8.0 * allowed(4 * n, d), "{:?}", far);
        }
    }
}

#[test]
fn a_row_of_weight_zero_is_not_there_whatever_it_holds() {
    let rows = array![[1.0, 2.0], [f64::NAN, f64::INFINITY], [3.0, 5.0], [0.0, 1.0]];
    let there = array![[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]];
    let block = Block::from(&rows).weighted(&[1.0, 0.0, 1.0, 1.0]);
    assert_eq!(EigenspaceModel::fit(block).unwrap(), EigenspaceModel::fit(there.view()).unwrap());
    assert_eq!(FitOptions::new().fit(block).unwrap(), FitOptions::new().fit(there.view()).unwrap());
    let nothing = Block::from(&rows).weighted(&[0.0; 4]);
    assert_eq!(EigenspaceModel::fit(nothing).unwrap(), EigenspaceModel::empty(2));
    let error = EigenspaceModel::fit(Block::from(&rows).weighted(&[1.0; 4])).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 1, column: 0, .. }));
}

#[test]
fn bad_weights_are_named() {
    let rows = Array2::<f64>::zeros((3, 2));
    let refused = |weights: &[f64]| EigenspaceModel::fit(Block::from(&rows).weighted(weights)).unwrap_err().to_string();
    assert_eq!(refused(&[1.0, 2.0]), "cannot use 2 weights for 3 rows");
    assert_eq!(refused(&[1.0, -2.0, 1.0]), "row 1: the weight is -2.0, expected a number from 0 to 1e140");
    assert_eq!(refused(&[1.0, 1.0, f64::NAN]), "row 2: the weight is NaN, expected a number from 0 to 1e140");
    assert!(refused(&[f64::INFINITY, 1.0, 1.0]).starts_with("row 0: the weight is inf"));
}

#[test]
fn integers_are_taken_as_they_are() {
    let bytes = Array2::from_shape_fn((60, 30), |(i, j)| ((i * 37 + j * j * 11) % 256) as u8);
    let wide = bytes.mapv(f64::from);
    let truth = oracle(wide.view());
    let (short, long) = (bytes.mapv(|x| u16::from(x) * 257), bytes.mapv(|x| i32::from(x) * -8_000_000));
    assert_eq!(EigenspaceModel::fit(bytes.view()).unwrap(), EigenspaceModel::fit(wide.view()).unwrap());
    for options in engines() {
        for block in [Block::from(&bytes), Block::from(&short), Block::from(&long)] {
            let model = options.fit(block).unwrap();
            let scale = (model.feature_scatter().sum() / truth.scatter.diag().sum()).sqrt();
            for (s, value) in model.all_singular_values().iter().zip(&truth.eigenvalues) {
                let error = (s / scale - value.sqrt()).abs() / truth.eigenvalues[0].sqrt();
                assert!(error <= 16.0 * f64::from(f32::EPSILON), "{options:?}: {error:e}");
            }
        }
    }
    let model = EigenspaceModel::fit(bytes.view()).unwrap().with_components(3).unwrap();
    let coordinates: Array2<f32> = model.project(bytes.view()).unwrap();
    assert_eq!(coordinates.dim(), (60, 3));
}

#[test]
fn counts_of_billions_do_not_overflow() {
    // 2^60 rows by doubling: counts and products of counts far beyond 5e9.
    let rows = array![[1.0, 2.0], [3.0, -1.0], [0.0, 0.5]];
    let one = EigenspaceModel::fit(rows.view()).unwrap();
    let mut many = one.clone();
    for _ in 0..59 {
        many = many.merge(&many, Truncation::None).unwrap();
    }
    assert_eq!(many.count(), 3 << 59);
    for (a, b) in many.explained_variance(0.0).unwrap().iter().zip(one.explained_variance(0.0).unwrap()) {
        assert!((a / b - 1.0).abs() < 1e-12);
    }
    assert!((many.mean()[0] - one.mean()[0]).abs() < 1e-15);
    let more = many.merge(&many, Truncation::None).unwrap().merge(&many, Truncation::None).unwrap();
    let most = more.merge(&more, Truncation::None).unwrap();
    assert!(matches!(most.merge(&most, Truncation::None), Err(Error::CountOverflow)));
    let stream = FitOptions::new().resume(&more).unwrap();
    assert_eq!(stream.count(), 9 << 59);
}

#[test]
fn without_centering_the_scatter_is_about_the_origin() {
    let mut random = Random::new(6);
    let rows = random.matrix(300, 12) + 2.0;
    let (values, directions) = support::jacobi_svd(rows.clone());
    let base = FitOptions::new().centered(false).components(3);
    for options in
        [base.clone(), base.clone().engine(Engine::Factor).block_rows(20), base.engine(Engine::Scatter).block_rows(20)]
    {
        let model = options.fit(rows.view()).unwrap();
        assert!(!model.is_centered() && model.mean().iter().all(|x| *x == 0.0));
        for (s, wanted) in model.all_singular_values().iter().zip(&values) {
            assert!((s - wanted).abs() <= allowed(300, 12) * values[0]);
        }
        assert!(support::sine(directions.slice_axis(Axis(0), (..3).into()), model.components()) < 1e-12);
        let halves = [0..150, 150..300].map(|range| options.fit(rows.slice_axis(Axis(0), range.into())).unwrap());
        let both = halves[0].merge(&halves[1], Truncation::None).unwrap();
        assert!((both.all_singular_values()[0] / values[0] - 1.0).abs() < 1e-13);
        let left = both.split(&halves[1]).unwrap();
        assert!((left.all_singular_values()[0] / halves[0].all_singular_values()[0] - 1.0).abs() < 1e-11);
        assert_eq!(EigenspaceModel::from_bytes(&both.to_bytes()).unwrap(), both);
        let centered = EigenspaceModel::fit(rows.view()).unwrap();
        assert!(matches!(centered.merge(&both, Truncation::None), Err(Error::CenteringDiffers)));
        assert!(matches!(both.split(&centered), Err(Error::CenteringDiffers)));
        assert!(matches!(options.resume(&centered), Err(Error::CenteringDiffers)));
    }
    let one = FitOptions::new().centered(false).fit(array![[3.0, 4.0]].view()).unwrap();
    assert_eq!((one.rank(), one.all_singular_values()[0]), (1, 5.0));
}

#[test]
fn weights_far_from_one_do_not_leave_the_range_of_f32() {
    let rows = Random::new(7).matrix(1500, 4).mapv(|x| x as f32);
    for weight in [1e90, 1e-100] {
        let weights = vec![weight; 1500];
        let truth = weighted_oracle(rows.mapv(f64::from).view(), &weights);
        for engine in [Engine::Factor, Engine::Scatter] {
            let model = FitOptions::new().engine(engine).fit(Block::from(&rows).weighted(&weights)).unwrap();
            assert!(distance(&model, &truth).worst() <= 8.0 * allowed(1500, 4), "{weight} {engine:?}");
        }
    }
    let large = Array2::from_elem((3, 2), 1e100);
    let error = FitOptions::new().fit(Block::from(&large).weighted(&[1.0, 1e140, 1.0])).unwrap_err();
    assert!(matches!(error, Error::TooLarge { row: 1, column: 0, .. }));
}

#[test]
fn a_stream_about_the_origin_stays_so() {
    let rows = Random::new(8).matrix(20, 4) + 10.0;
    let options = FitOptions::new().centered(false);
    let mut resumed = options.resume(&EigenspaceModel::empty(4)).unwrap();
    resumed.update(rows.view()).unwrap();
    assert!(!resumed.model().unwrap().is_centered());
    let centered = EigenspaceModel::fit(rows.view()).unwrap();
    assert!(matches!(options.stream(4).unwrap().merge(&centered), Err(Error::CenteringDiffers)));
    let model = options.fit(rows.view()).unwrap();
    assert!(!model.split(&model).unwrap().is_centered());
}

/// The error of a total weight above 1e140, with what to do.
fn is_too_heavy(error: &Error) -> bool {
    let hinted = error.hint().is_some_and(|hint| hint.starts_with("divide all weights"));
    matches!(error, Error::TotalWeightTooLarge { total, .. } if *total > 1e140) && hinted
}

#[test]
fn a_total_weight_above_the_limit_is_refused_where_it_arises() {
    let rows = Random::new(11).matrix(4, 3);
    let (heavy, half) = ([2.6e139; 4], [1.3e139; 4]);
    let (weighted, halved) = (Block::from(&rows).weighted(&heavy), Block::from(&rows).weighted(&half));
    let error = EigenspaceModel::fit(weighted).unwrap_err();
    assert_eq!(error.to_string(), "the total weight would be 1.04e140; the limit is 1e140");
    assert!(is_too_heavy(&error));
    let values: Vec<f64> = rows.iter().copied().collect();
    let sparse = SparseRows::new(3, &[0, 3, 6, 9, 12], &[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], &values).unwrap();
    assert!(is_too_heavy(&EigenspaceModel::fit(Block::from(sparse).weighted(&heavy)).unwrap_err()));

    let model = EigenspaceModel::fit(halved).unwrap();
    assert_eq!(EigenspaceModel::from_bytes(&model.to_bytes()).unwrap(), model);
    let twice = model.merge(&model, Truncation::None).unwrap_err();
    assert!(is_too_heavy(&twice), "{twice}");
    assert!(is_too_heavy(&model.update(halved, Truncation::None).unwrap_err()));

    for engine in [Engine::Factor, Engine::Scatter] {
        let options = FitOptions::new().engine(engine);
        let mut stream = options.stream(3).unwrap();
        stream.update(halved).unwrap();
        // Refused at once, not when the rows leave the buffer, and nothing changes.
        assert!(is_too_heavy(&stream.update(halved).unwrap_err()));
        assert_eq!((stream.count(), stream.model().unwrap().weight()), (4, 5.2e139));

        let mut accumulator = options.accumulator().unwrap();
        accumulator.absorb(halved).unwrap();
        let other = accumulator.clone();
        assert!(is_too_heavy(&accumulator.merge(&other).unwrap_err()));
        assert_eq!(accumulator.count(), 4);
    }
}

#[test]
fn a_value_that_its_weight_makes_too_large_is_named_as_it_is() {
    let rows = Array2::from_elem((3, 1), 1e138);
    let sparse = SparseRows::new(1, &[0, 1, 2, 3], &[0; 3], &[1e138; 3]).unwrap();
    for block in [Block::from(&rows), Block::from(sparse)] {
        let error = EigenspaceModel::fit(block.weighted(&[1e6, 1.0, 1.0])).unwrap_err();
        let words = "row 0, column 0: the value 1e138 is too large; the limit is 1e137 for a row of this weight";
        assert_eq!(error.to_string(), words);
        assert!(error.hint().unwrap().starts_with("divide all weights"));
    }
}

#[test]
fn models_of_tiny_weights_can_be_read_back() {
    let rows = Random::new(12).matrix(7, 2) * 1e60;
    let model = EigenspaceModel::fit(
        Block::from(&rows).weighted(&[1.1e-160, 2e-161, 3e-161, 4e-162, 0.1e-160, 7e-162, 1e-161]),
    )
    .unwrap();
    assert_eq!(EigenspaceModel::from_bytes(&model.to_bytes()).unwrap(), model);
}
