//! Accumulators: rows cut into partitions, merged in any tree, are the rows of one model.

mod bytes;

use eigenspace::{
    Accumulator, Block, Engine, Error, FitOptions, Forgetting, Metadata, Missing, Rank, SparseRows, Truncation,
};
use ndarray::{Array2, ArrayView2, Axis, s};
use proptest::prelude::*;

use crate::support::{self, Random, allowed, distance, frobenius, oracle, scatter_of, weighted_oracle};

/// Options that keep everything: all rows in the buffer, the scatter, or a factor.
fn lossless() -> [FitOptions; 4] {
    let base = FitOptions::new();
    [
        base.clone(),
        base.clone().engine(Engine::Scatter).block_rows(4),
        base.clone().engine(Engine::Factor).block_rows(4).max_rank(Rank::All),
        base.engine(Engine::Factor).block_rows(3),
    ]
}

/// Options that drop directions.
fn lossy() -> [FitOptions; 4] {
    let factor = FitOptions::new().engine(Engine::Factor).block_rows(4);
    [
        factor.clone().max_rank(3),
        factor.clone().truncation(Truncation::FrequentDirections(4)),
        factor.clone().truncation(Truncation::Energy(0.9)),
        factor.max_rank(3).standardize(true),
    ]
}

fn accumulated(options: &FitOptions, rows: ArrayView2<'_, f64>) -> Accumulator {
    let mut part = options.accumulator().unwrap();
    part.absorb(rows).unwrap();
    part
}

/// Partitions of these lengths, the last one with the rest.
fn partitions<'a>(rows: &'a Array2<f64>, lengths: &[usize]) -> Vec<ArrayView2<'a, f64>> {
    let mut start = 0;
    let mut parts = Vec::new();
    for &length in lengths.iter().chain([&rows.nrows()]) {
        let end = rows.nrows().min(start + length);
        parts.push(rows.slice(s![start..end, ..]));
        start = end;
    }
    parts
}

/// Merges neighbors, chosen by the numbers in `order`, until one is left; every `bytes`-th state
/// goes through bytes.
fn merged(mut parts: Vec<Accumulator>, order: &[usize], bytes: usize) -> Accumulator {
    let mut turn = 0;
    while parts.len() > 1 {
        let at = order[turn % order.len()] % (parts.len() - 1);
        let mut other = parts.remove(at + 1);
        if turn % bytes == 0 {
            other = Accumulator::from_bytes(&other.to_bytes()).unwrap();
            parts[at] = Accumulator::from_bytes(&parts[at].to_bytes()).unwrap();
        }
        parts[at].merge(&other).unwrap();
        turn += 1;
    }
    parts.remove(0)
}

proptest! {
    #![proptest_config(support::cases(64))]

    #[test]
    fn any_partitions_in_any_tree_give_the_batch_model(
        seed in 0u64.., n in 1usize..60, d in 1usize..16,
        lengths in prop::collection::vec(0usize..25, 0..6), order in prop::collection::vec(0usize..9, 1..6),
        weighted: bool,
    ) {
        let mut random = Random::new(seed);
        let rows = random.matrix(n, d) + 3.0 * random.uniform();
        let weights: Vec<f64> = (0..n).map(|_| if weighted { 0.1 + random.uniform() } else { 1.0 }).collect();
        let truth = weighted_oracle(rows.view(), &weights);
        for options in lossless() {
            let mut first = 0;
            let parts = partitions(&rows, &lengths).into_iter().map(|part| {
                let mut accumulator = options.accumulator().unwrap();
                let block = Block::from(part);
                let own = &weights[first..first + part.nrows()];
                accumulator.absorb(if weighted { block.weighted(own) } else { block }).unwrap();
                first += part.nrows();
                accumulator
            });
            let model = merged(parts.collect(), &order, 3).finish().unwrap();
            let far = distance(&model, &truth);
            prop_assert!(far.worst() <= 8.0 * allowed(n, d), "{far:?} {options:?}");
            prop_assert!(model.certificate().is_exact());
        }
    }

    #[test]
    fn what_any_tree_drops_is_in_the_certificate(
        seed in 0u64.., n in 20usize..70, d in 4usize..14,
        lengths in prop::collection::vec(0usize..25, 1..6), order in prop::collection::vec(0usize..9, 1..6),
    ) {
        let rows = Random::new(seed).matrix(n, d);
        let truth = oracle(rows.view());
        for options in lossy() {
            let parts = partitions(&rows, &lengths).into_iter().map(|part| accumulated(&options, part));
            let model = merged(parts.collect(), &order, 2).finish().unwrap();
            let certificate = model.certificate();
            let error = &truth.scatter - &scatter_of(&model);
            // The Frobenius norm is at most √d times the spectral norm, which the bound is for.
            prop_assert!(frobenius(&error) <= (d as f64).sqrt() * certificate.error_bound());
            for (i, value) in truth.eigenvalues.iter().take(d).enumerate() {
                let (low, high) = certificate.eigenvalue_bound(i);
                let rounding = allowed(n, d) * truth.eigenvalues[0];
                prop_assert!(low - rounding <= *value && *value <= high + rounding, "{i}: {low} {value} {high}");
            }
        }
    }

    #[test]
    fn the_same_tree_gives_the_same_bytes(
        seed in 0u64.., n in 1usize..60, d in 1usize..10, cut in 1usize..9, other_cut in 1usize..9,
        lengths in prop::collection::vec(0usize..25, 0..5), order in prop::collection::vec(0usize..9, 1..6),
    ) {
        let rows = Random::new(seed).matrix(n, d);
        for options in lossless().into_iter().chain(lossy()) {
            let run = |cut: usize, bytes: usize| {
                let parts = partitions(&rows, &lengths).into_iter().map(|part| {
                    let mut accumulator = options.accumulator().unwrap();
                    for block in part.axis_chunks_iter(Axis(0), cut) {
                        accumulator.absorb(block).unwrap();
                        if bytes == 1 {
                            accumulator = Accumulator::from_bytes(&accumulator.to_bytes()).unwrap();
                        }
                    }
                    accumulator
                });
                merged(parts.collect(), &order, bytes)
            };
            // Cut into other blocks, with all, some or none of the states written to bytes and read
            // again.
            let (one, two, three) = (run(cut, usize::MAX), run(other_cut, 1), run(n, 2));
            prop_assert_eq!(one.to_bytes(), two.to_bytes());
            prop_assert_eq!(one.to_bytes(), three.to_bytes());
            prop_assert_eq!(one.finish().unwrap().to_bytes(), two.finish().unwrap().to_bytes());
        }
    }

    #[test]
    fn merging_commutes_up_to_rounding(seed in 0u64.., n in 2usize..60, d in 1usize..12, at in 1usize..60) {
        let rows = Random::new(seed).matrix(n, d);
        let (one, two) = rows.view().split_at(Axis(0), at.min(n));
        let truth = oracle(rows.view());
        for options in lossless() {
            let (one, two) = (accumulated(&options, one), accumulated(&options, two));
            for (a, b) in [(&one, &two), (&two, &one)] {
                let mut sum = a.clone();
                sum.merge(b).unwrap();
                let far = distance(&sum.finish().unwrap(), &truth);
                prop_assert!(far.worst() <= 8.0 * allowed(n, d), "{far:?}");
            }
        }
    }
}

#[test]
fn an_accumulator_of_one_partition_is_the_stream() {
    let rows = Random::new(5).matrix(1300, 7);
    for options in lossless().into_iter().chain(lossy()) {
        let mut stream = options.stream(7).unwrap();
        stream.update(&rows).unwrap();
        let model = accumulated(&options, rows.view()).finish().unwrap();
        assert_eq!(model.to_bytes(), stream.model().unwrap().to_bytes());
    }
}

#[test]
fn empty_partitions_are_neutral_to_the_last_bit() {
    let rows = Random::new(6).matrix(40, 5);
    for options in lossless().into_iter().chain(lossy()) {
        let full = accumulated(&options, rows.view());
        let bytes = full.to_bytes();
        let mut nothing = options.accumulator().unwrap();
        // Blocks without rows may have any width, and rows without weight do not count.
        nothing.absorb(&Array2::<f64>::zeros((0, 9))).unwrap();
        nothing.absorb(&Array2::<f64>::zeros((0, 0))).unwrap();
        nothing.absorb(Block::from(&rows.slice(s![..2, ..3]).to_owned()).weighted(&[0.0, 0.0])).unwrap();
        assert_eq!((nothing.features(), nothing.count(), nothing.is_empty()), (None, 0, true));
        assert!(matches!(nothing.finish(), Err(Error::NothingAbsorbed)));
        let empty_again = Accumulator::from_bytes(&nothing.to_bytes()).unwrap();
        assert!(empty_again.is_empty() && empty_again.options() == &options);

        let mut right = full.clone();
        right.merge(&nothing).unwrap();
        assert_eq!(right.to_bytes(), bytes);
        nothing.merge(&full).unwrap();
        assert_eq!((nothing.to_bytes(), nothing.features()), (bytes, Some(5)));
        let mut both = options.accumulator().unwrap();
        both.merge(&options.accumulator().unwrap()).unwrap();
        assert!(both.is_empty());
    }
}

#[test]
fn partitions_of_very_different_sizes_and_places_keep_their_digits() {
    // One row far away, thousands of rows near zero, three rows near 1e8.
    let mut random = Random::new(7);
    let (many, far) = (random.matrix(4000, 6), random.matrix(3, 6) + 1e8);
    let one = random.matrix(1, 6) - 1e4;
    let all = support::stack(&support::stack(&one, &many), &far);
    let truth = oracle(all.view());
    for options in &lossless()[..3] {
        let parts = [&one, &many, &far].map(|rows| accumulated(options, rows.view()));
        for order in [[0, 0], [1, 0]] {
            let model = merged(parts.to_vec(), &order, 1).finish().unwrap();
            let far = distance(&model, &truth);
            assert!(far.worst() <= 8.0 * allowed(4004, 6), "{far:?}");
            assert!(model.certificate().is_exact());
        }
    }
}

#[test]
fn more_than_1024_features_are_kept_in_a_factor_within_its_certificate() {
    let mut random = Random::new(8);
    let d = 1100;
    let spectrum: Vec<f64> = (0..60).map(|i| 100.0 * 0.8_f64.powi(i)).collect();
    let rows = random.with_spectrum(600, d, &spectrum);
    let options = FitOptions::new().components(4).max_rank(12);
    let parts = partitions(&rows, &[100, 250, 0]).into_iter().map(|part| accumulated(&options, part));
    let model = merged(parts.collect(), &[1, 0], 1).finish().unwrap();
    assert_eq!((model.count(), model.n_components()), (600, 4));
    let certificate = model.certificate();
    assert!(!certificate.is_exact() && certificate.relative_error_bound() < 0.1);
    // The truth from 600 singular values of the centered rows, by rotations that share no code with
    // the library.
    let mean = rows.mean_axis(Axis(0)).unwrap();
    let truth = &rows - &mean;
    let (values, directions) = support::jacobi_svd(truth);
    let sine = support::sine(directions.slice(s![..4, ..]), model.components());
    assert!(sine <= 2.0 * certificate.angle_bound(4) && certificate.angle_bound(4) < 0.1, "{sine}");
    for (i, value) in values.iter().take(4).enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        let square = value * value;
        assert!(low <= square * (1.0 + 1e-12) && square <= high * (1.0 + 1e-12), "{i}: {low} {square} {high}");
    }
    // With the default rank, nothing is dropped as long as all rows fit into the buffer.
    let parts = partitions(&rows, &[100, 200, 100]).into_iter().take(3);
    let parts = parts.map(|part| accumulated(&FitOptions::new().components(4), part)).collect();
    assert!(merged(parts, &[0], 1).finish().unwrap().certificate().is_exact());
}

#[test]
fn single_precision_and_sparse_rows_give_the_bytes_of_the_same_numbers() {
    let mut random = Random::new(9);
    let rows = random.matrix(50, 6).mapv(|x| f64::from(if x > 0.3 { x as f32 } else { 0.0 }));
    let single = rows.mapv(|x| x as f32);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows.rows() {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(j);
            values.push(*x);
        }
        offsets.push(columns.len());
    }
    let sparse = SparseRows::new(6, &offsets, &columns, &values).unwrap();
    let truth = oracle(rows.view());
    for options in lossless() {
        let mut parts = [0; 2].map(|_| options.accumulator().unwrap());
        parts[0].absorb(&single).unwrap();
        parts[1].absorb(sparse).unwrap();
        assert_eq!(parts[0].to_bytes(), accumulated(&options, rows.view()).to_bytes());
        let far = distance(&parts[1].finish().unwrap(), &truth);
        assert!(far.worst() <= 8.0 * allowed(50, 6), "{far:?}");
        // Dense and sparse partitions together: every row twice.
        let [mut both, other] = parts;
        both.merge(&Accumulator::from_bytes(&other.to_bytes()).unwrap()).unwrap();
        let far = distance(&both.finish().unwrap(), &oracle(support::stack(&rows, &rows).view()));
        assert!(far.worst() <= 8.0 * allowed(100, 6), "{far:?}");
    }
}

#[test]
fn a_bad_cell_is_named_by_partition_row_and_column() {
    let mut rows = Random::new(10).matrix(700, 3);
    rows[[650, 2]] = f64::NAN;
    let mut part = FitOptions::new().accumulator().unwrap().with_partition("2026-11/part-7");
    part.absorb(rows.slice(s![..600, ..])).unwrap();
    let bytes = part.to_bytes();
    let error = part.absorb(rows.slice(s![600.., ..])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "partition `2026-11/part-7`: row 650, column 2: the value is NaN, expected a finite number"
    );
    assert!(error.hint().unwrap().starts_with("drop row 650"));
    assert_eq!(part.to_bytes(), bytes, "a rejected block changes nothing");
    // Without a name, and in the first block.
    let mut unnamed = FitOptions::new().accumulator().unwrap();
    let error = unnamed.absorb(rows.slice(s![640.., ..])).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 10, column: 2, .. }), "{error}");
    assert!(unnamed.is_empty());
    // A width that differs within a partition, and a weight.
    let error = part.absorb(&Array2::<f64>::zeros((1, 4))).unwrap_err();
    assert_eq!(error.to_string(), "partition `2026-11/part-7`: the rows have 4 columns, but the model has 3 features");
    let error = part.absorb(Block::from(rows.slice(s![..2, ..])).weighted(&[1.0, -1.0])).unwrap_err();
    assert!(error.to_string().contains("row 601: the weight is -1"), "{error}");
    // Rows with missing cells can be left out; they count in the numbers of rows.
    let mut skipping = FitOptions::new().missing(Missing::Skip).accumulator().unwrap();
    skipping.absorb(&rows).unwrap();
    assert_eq!(skipping.count(), 699);
    rows[[1, 1]] = f64::INFINITY;
    assert!(matches!(skipping.absorb(&rows).unwrap_err(), Error::NonFinite { row: 701, column: 1, .. }));
}

#[test]
fn accumulators_that_do_not_fit_together_are_refused_and_stay_as_they_are() {
    let rows = Random::new(11).matrix(30, 4);
    let options = FitOptions::new().components(2);
    let mut whole = accumulated(&options, rows.view());
    let bytes = whole.to_bytes();
    let narrow = accumulated(&options, rows.slice(s![.., ..3]));
    assert!(matches!(whole.merge(&narrow), Err(Error::FeatureMismatch { left: 4, right: 3 })));
    for (other, option) in [
        (options.clone().components(3), "n_components is 2 in one and 3 in the other"),
        (options.clone().centered(false), "centered is true in one and false in the other"),
        (options.clone().block_rows(7), "block_rows is the default in one and 7 in the other"),
    ] {
        let error = whole.merge(&accumulated(&other, rows.view())).unwrap_err();
        assert!(matches!(error, Error::OptionsDiffer { .. }) && error.hint().is_some(), "{error}");
        assert!(error.to_string().ends_with(&format!("different options: {option}")), "{error}");
    }
    // Two partitions with names.
    let error = whole.clone().with_partition("p1").merge(&narrow.clone().with_partition("p2")).unwrap_err();
    assert_eq!(error.to_string(), "cannot merge partitions `p1` and `p2`: the numbers of features differ: 4 and 3");
    assert!(error.hint().is_some());
    let named = |names: [&str; 4]| Metadata::new().with_feature_names(names.map(String::from).to_vec());
    let mut one = accumulated(&options, rows.view()).with_metadata(named(["a", "b", "c", "d"])).unwrap();
    let two = accumulated(&options, rows.view()).with_metadata(named(["a", "c", "b", "d"])).unwrap();
    assert!(matches!(one.merge(&two), Err(Error::FeatureNamesDiffer { column: 1, .. })));
    one.merge(&one.clone()).unwrap();
    assert_eq!(one.finish().unwrap().metadata().feature_names().unwrap()[1], "b");
    assert_eq!(whole.to_bytes(), bytes);
    // Names that do not fit the rows, before and after the first row.
    let early = options.accumulator().unwrap().with_metadata(named(["a", "b", "c", "d"])).unwrap();
    assert!(matches!(early.clone().absorb(rows.slice(s![.., ..3])), Err(Error::NameCount { names: 4, features: 3 })));
    assert!(narrow.with_metadata(named(["a", "b", "c", "d"])).is_err());
}

#[test]
fn options_that_depend_on_the_order_of_rows_are_refused() {
    for options in [
        FitOptions::new().missing(Missing::Impute),
        FitOptions::new().forgetting(Forgetting::PerRow(0.9)),
        FitOptions::new().forgetting(Forgetting::HalfLife(10.0)),
    ] {
        let error = options.accumulator().unwrap_err();
        assert!(matches!(error, Error::OrderMatters { .. }), "{error}");
        assert!(error.to_string().ends_with("the result would depend on the order of all rows"));
    }
    assert!(FitOptions::new().max_rank(0).accumulator().is_err());
    assert!(FitOptions::new().components(0).accumulator().is_err());
}

#[test]
fn a_finished_model_has_the_settings_of_its_accumulator_which_goes_on() {
    let rows = Random::new(12).matrix(20, 3);
    let mut part = accumulated(&FitOptions::new().components(2).standardize(true), rows.view());
    let model = part.finish().unwrap();
    assert!(model.metadata().standardize() && model.n_components() == 2);
    part.absorb(&rows).unwrap();
    assert_eq!((part.finish().unwrap().count(), model.count()), (40, 20));
    let origin = accumulated(&FitOptions::new().centered(false), rows.view()).finish().unwrap();
    assert!(!origin.is_centered());
}

#[test]
fn a_budget_is_asked_for_before_anything_is_allocated() {
    let rows = Random::new(13).matrix(600, 40);
    let mut part = FitOptions::new().accumulator().unwrap().with_partition("p");
    let error = part.try_absorb(&rows, 1000).unwrap_err();
    assert!(matches!(error, Error::MemoryBudget { .. }) && part.is_empty(), "{error}");
    part.try_absorb(&rows, 1 << 30).unwrap();
    assert!(matches!(part.try_finish(1000), Err(Error::MemoryBudget { .. })));
    assert_eq!(part.try_finish(1 << 30).unwrap(), part.finish().unwrap());
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let rows = Random::new(14).matrix(2000, 600);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let parts = partitions(&rows, &[700, 700]);
            merged(parts.into_iter().map(|part| accumulated(&FitOptions::new(), part)).collect(), &[0], 1).to_bytes()
        })
    };
    assert_eq!(run(1), run(3));
}
