//! The stream: block sizes, reads, threads, engines and precisions.

use std::sync::Arc;

use eigenspace::{Components, EigenspaceModel, EigenspaceStream, Engine, Error, FitOptions, Truncation};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

use crate::support::{self, Random, allowed, cut, distance, oracle, stack};

/// Options that reach every path of the engine with few rows.
fn small_options() -> Vec<FitOptions> {
    let base = FitOptions::new().components(2);
    vec![
        FitOptions::new(),
        base.clone(),
        base.clone().engine(Engine::Scatter).block_rows(3),
        base.clone().engine(Engine::Factor).max_rank(4).block_rows(3),
        base.clone().engine(Engine::Factor).max_rank(2).block_rows(1),
        base.clone().engine(Engine::Factor).truncation(Truncation::FrequentDirections(5)).block_rows(4),
        base.clone().engine(Engine::Factor).truncation(Truncation::Energy(0.9)).block_rows(4),
        base.clone().engine(Engine::Factor).truncation(Truncation::Tolerance(0.3)).max_rank(6).block_rows(4),
        FitOptions::new().components(0.8).engine(Engine::Factor).block_rows(4),
        FitOptions::new().components(Components::All).engine(Engine::Factor).block_rows(2),
    ]
}

proptest! {
    #![proptest_config(support::cases(32))]

    #[test]
    fn the_answer_does_not_depend_on_how_the_rows_were_cut(
        seed in 0u64.., n in 1usize..60, d in 1usize..12, cuts in prop::collection::vec(1usize..20, 1..6),
    ) {
        let rows = Random::new(seed).matrix(n, d);
        for options in small_options() {
            let whole = options.fit(rows.view()).unwrap();
            let mut blocks = options.stream(d).unwrap();
            let mut single = options.stream(d).unwrap();
            cut(&rows, &cuts).for_each(|block| blocks.update(block).unwrap());
            rows.axis_chunks_iter(Axis(0), 1).for_each(|row| single.update(row).unwrap());
            prop_assert_eq!(&*blocks.model().unwrap(), &whole, "{:?}", options);
            prop_assert_eq!(&*single.model().unwrap(), &whole, "{:?}", options);
        }
    }

    #[test]
    fn reading_never_changes_later_results(seed in 0u64.., n in 2usize..60, d in 1usize..12) {
        let rows = Random::new(seed).matrix(n, d);
        for options in small_options() {
            let (mut quiet, mut read) = (options.stream(d).unwrap(), options.stream(d).unwrap());
            for row in rows.axis_chunks_iter(Axis(0), 1) {
                quiet.update(row).unwrap();
                read.update(row).unwrap();
                prop_assert_eq!(read.model().unwrap().count(), read.count());
            }
            prop_assert_eq!(&*quiet.model().unwrap(), &*read.model().unwrap());
        }
    }
}

#[test]
fn f32_rows_and_then_f64_rows_can_be_cut_anywhere() {
    let rows = Random::new(3).matrix(80, 9).mapv(|x| x as f32);
    let wide = rows.mapv(f64::from);
    for options in small_options() {
        let run = |length: usize| {
            let mut stream = options.stream(9).unwrap();
            let (narrow, later) = (rows.slice_axis(Axis(0), (..45).into()), wide.slice_axis(Axis(0), (45..).into()));
            narrow.axis_chunks_iter(Axis(0), length).for_each(|block| stream.update(block).unwrap());
            later.axis_chunks_iter(Axis(0), length).for_each(|block| stream.update(block).unwrap());
            (*stream.model().unwrap()).clone()
        };
        assert_eq!(run(80), run(1), "{options:?}");
        assert_eq!(run(80), run(7), "{options:?}");
    }
    let far = distance(&FitOptions::new().fit(rows.view()).unwrap(), &oracle(wide.view()));
    assert!(far.worst() <= allowed(80, 9), "80 rows fit the buffer, so f32 rows lose nothing: {far:?}");
}

#[test]
fn the_same_rows_give_the_same_bytes_with_one_two_and_four_threads() {
    let wide = Random::new(4).matrix(700, 3000);
    let tall = Random::new(5).matrix(3000, 500);
    let narrow = wide.mapv(|x| x as f32);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = EigenspaceModel::fit(wide.slice_axis(Axis(0), (..300).into())).unwrap();
            let other = EigenspaceModel::fit(wide.slice_axis(Axis(0), (300..).into())).unwrap();
            let merged = model.merge(&other, Truncation::Rank(150)).unwrap();
            let options = FitOptions::new().components(20);
            let coordinates = merged.project(wide.view()).unwrap();
            let rows = merged.reconstruct(coordinates.view()).unwrap();
            (
                [
                    model.to_bytes(),
                    merged.to_bytes(),
                    merged.split(&other.truncate(Truncation::Rank(150)).unwrap()).unwrap().to_bytes(),
                    options.fit(wide.view()).unwrap().to_bytes(),
                    options.fit(narrow.view()).unwrap().to_bytes(),
                    options.fit(tall.view()).unwrap().to_bytes(),
                    options.fit(tall.mapv(|x| x as f32).view()).unwrap().to_bytes(),
                ],
                (coordinates, rows, merged.squared_distance(wide.view()).unwrap()),
            )
        })
    };
    let one = run(1);
    for threads in [2, 4] {
        let more = run(threads);
        assert!(one.0 == more.0, "{threads} threads give other model bytes");
        assert!(one.1 == more.1, "{threads} threads give other coordinates");
    }
}

#[test]
fn the_plan_is_automatic_and_shown() {
    let shown = |options: FitOptions, features| options.plan(features).unwrap().to_string();
    assert_eq!(shown(FitOptions::new().components(50), 784), "scatter engine, nothing dropped, blocks of 512 rows");
    let faces = FitOptions::new().components(50).plan(10_304).unwrap();
    assert_eq!((faces.engine, faces.exact_rows, faces.max_rank), (Engine::Factor, 512, Some(132)));
    let lean = FitOptions::new().components(50).max_rank(50).plan(10_304).unwrap();
    assert_eq!((lean.max_rank, lean.exact_rows), (Some(50), 50 + lean.block_rows));
    let many = FitOptions::new().components(5).max_rank(1_000_000_000).plan(2000).unwrap();
    assert_eq!((many.max_rank, many.exact_rows), (Some(2000), 2000 + many.block_rows), "no rows are kept for nothing");
    let wide = FitOptions::new().components(5).plan(1_000_000).unwrap();
    assert!(wide.exact_rows * 8 * 1_000_000 <= 900 << 20, "{wide}");
    assert!(
        shown(FitOptions::new().components(5).engine(Engine::Factor), 100)
            .starts_with("factor engine, exact for the first 512 rows")
    );
}

#[test]
fn rows_beyond_the_budget_are_certified() {
    let mut random = Random::new(6);
    let rows = random.with_spectrum(900, 60, &(0..30).map(|i| 0.7f64.powi(i)).collect::<Vec<_>>());
    let truth = oracle(rows.view());
    for rule in [
        Truncation::Rank(10),
        Truncation::FrequentDirections(10),
        Truncation::Energy(0.999),
        Truncation::Tolerance(0.05),
    ] {
        let model = FitOptions::new()
            .components(4)
            .truncation(rule)
            .engine(Engine::Factor)
            .block_rows(40)
            .fit(rows.view())
            .unwrap();
        let certificate = model.certificate();
        assert!(!certificate.is_exact(), "{rule:?}");
        for (i, value) in truth.eigenvalues.iter().enumerate() {
            let (low, high) = certificate.eigenvalue_bound(i);
            assert!(
                low <= value * (1.0 + 1e-10) + 1e-12 && *value <= high + 1e-12,
                "{rule:?} {i}: {low} {value} {high}"
            );
        }
    }
}

#[test]
fn a_low_rank_stream_stays_exact_however_long() {
    let mut random = Random::new(7);
    let mixing = random.matrix(60, 300);
    let mut stream = FitOptions::new().components(10).max_rank(62).engine(Engine::Factor).stream(300).unwrap();
    let mut all = Array2::zeros((0, 300));
    for _ in 0..20 {
        let block = random.matrix(100, 60).dot(&mixing);
        stream.update(block.view()).unwrap();
        all = stack(&all, &block);
    }
    let model = stream.model().unwrap();
    assert!(model.certificate().is_exact());
    assert_eq!(model.rank(), 60);
    let far = distance(&model, &oracle(all.view()));
    assert!(far.worst() <= allowed(2000, 300), "{far:?}");
    assert!(model.orthogonality_loss() <= 1e-13);
}

#[test]
fn the_number_of_components_can_be_changed_at_any_time() {
    let rows = Random::new(8).matrix(50, 20);
    let mut stream = FitOptions::new().components(3).stream(20).unwrap();
    stream.update(rows.view()).unwrap();
    assert_eq!(stream.model().unwrap().n_components(), 3);
    stream.set_components(0.5).unwrap();
    let model = stream.model().unwrap();
    let shown = model.explained_variance_ratio();
    assert!(shown.sum() >= 0.5 && shown.sum() - shown[shown.len() - 1] < 0.5);
    stream.set_components(Components::All).unwrap();
    assert_eq!(stream.model().unwrap().n_components(), 20);
    assert!(stream.set_components(0).is_err() && stream.set_components(f64::NAN).is_err());
    stream.update(rows.view()).unwrap();
    assert_eq!(stream.model().unwrap().n_components(), 20, "a refused setting changes nothing");
}

#[test]
fn a_stream_can_go_on_from_a_model_and_merge_others() {
    let rows = Random::new(9).matrix(90, 14);
    let truth = oracle(rows.view());
    for engine in [Engine::Factor, Engine::Scatter] {
        let [a, b, c] = [0..30, 30..60, 60..90].map(|range| rows.slice_axis(Axis(0), range.into()));
        let options = FitOptions::new().engine(engine);
        let mut stream = options.resume(&EigenspaceModel::fit(a).unwrap()).unwrap();
        stream.update(b).unwrap();
        stream.merge(&EigenspaceModel::fit(c).unwrap()).unwrap();
        assert_eq!(stream.count(), 90);
        let far = distance(&stream.model().unwrap(), &truth);
        assert!(far.worst() <= 4.0 * allowed(90, 14), "{engine:?}: {far:?}");
    }
}

#[test]
fn a_refused_block_leaves_the_stream_as_it_was() {
    let rows = Random::new(10).matrix(40, 5);
    let mut bad = rows.clone();
    bad[[31, 3]] = f64::INFINITY;
    let mut stream =
        FitOptions::new().components(2).engine(Engine::Factor).max_rank(3).block_rows(4).stream(5).unwrap();
    stream.update(rows.view()).unwrap();
    let before = stream.model().unwrap();
    let error = stream.update(bad.view()).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 31, column: 3, .. }));
    assert!(stream.update(Array2::<f64>::zeros((2, 6)).view()).is_err());
    assert_eq!((stream.count(), &*stream.model().unwrap()), (40, &*before));
}

#[test]
fn no_rows_are_no_change() {
    let mut stream = FitOptions::new().stream(5).unwrap();
    stream.update(Array2::<f64>::zeros((0, 5)).view()).unwrap();
    assert_eq!(*stream.model().unwrap(), EigenspaceModel::empty(5));
}

#[test]
fn f32_rows_followed_by_f64_rows_leave_no_phantom_directions() {
    let mut random = Random::new(11);
    let mixing = random.matrix(3, 40).mapv(|x| (x * 8.0).round());
    let rows = random.matrix(400, 3).mapv(|x| (x * 8.0).round()).dot(&mixing);
    let mut stream = FitOptions::new().components(3).max_rank(20).engine(Engine::Factor).stream(40).unwrap();
    stream.update(rows.slice_axis(Axis(0), (..200).into()).mapv(|x| x as f32).view()).unwrap();
    stream.update(rows.slice_axis(Axis(0), (200..).into())).unwrap();
    assert_eq!(stream.model().unwrap().rank(), 3);
}

#[test]
fn the_certificate_of_an_f32_stream_is_that_of_an_f64_stream() {
    let mut random = Random::new(12);
    let spectrum: Vec<f64> = (0..12).map(|i| 100.0 * 0.7f64.powi(i)).collect();
    let rows = (random.with_spectrum(3000, 80, &spectrum) + random.matrix(3000, 80) * 0.01 + 5.0).mapv(|x| x as f32);
    let wide = rows.mapv(f64::from);
    let truth = oracle(wide.view());
    for engine in [Engine::Factor, Engine::Scatter] {
        for block in [16, 100] {
            let model =
                FitOptions::new().components(6).max_rank(80).engine(engine).block_rows(block).fit(rows.view()).unwrap();
            let certificate = model.certificate();
            assert!(certificate.is_exact(), "{engine:?} {block}: {certificate:?}");
            for (i, value) in truth.eigenvalues.iter().enumerate() {
                let (low, high) = certificate.eigenvalue_bound(i);
                assert!(low <= *value && *value <= high, "{engine:?} {block} {i}: {low} {value} {high}");
            }
            let k = 6;
            let part = |basis: ndarray::ArrayView2<'_, f64>| basis.slice_axis(Axis(0), (..k).into()).to_owned();
            let angle = support::sine(part(truth.directions.view()).view(), part(model.basis()).view());
            assert!(
                angle <= certificate.angle_bound(k) * (k as f64).sqrt(),
                "{engine:?}: {angle} {}",
                certificate.angle_bound(k)
            );
            // What came in f32 can be taken out again.
            let left = model.remove(rows.slice_axis(Axis(0), (70..).into())).unwrap();
            assert_eq!(left.count(), 70);
        }
    }
    let few = FitOptions::new().fit(rows.slice_axis(Axis(0), (..400).into())).unwrap();
    assert!(few.certificate().is_exact(), "rows that were only gathered have lost nothing");
}

/// Streams of both engines over rows with singular values like these, past what they hold as rows,
/// and the truth. Every row comes with its opposite, so that centering changes nothing.
fn read_streams(spectrum: &[f64]) -> Vec<(EigenspaceStream, support::Oracle)> {
    let mut random = Random::new(16);
    let mut rows = |n, d| {
        let half = random.with_spectrum(n, d, spectrum);
        stack(&half, &-&half)
    };
    let (wide, tall) = (rows(100, 400), rows(150, 150));
    let factor = FitOptions::new().components(10).max_rank(100).block_rows(60).engine(Engine::Factor);
    let scatter = FitOptions::new().components(10).block_rows(60).engine(Engine::Scatter);
    [(factor, wide), (scatter, tall)]
        .into_iter()
        .map(|(options, rows)| {
            let mut stream = options.stream(rows.ncols()).unwrap();
            stream.update(rows.view()).unwrap();
            (stream, oracle(rows.view()))
        })
        .collect()
}

#[test]
fn what_is_shown_is_read_without_the_rest_and_is_as_right() {
    // 90 directions fit the rank, so nothing was dropped and the truth is that of all rows.
    for (stream, truth) in read_streams(&(0..90).map(|i| 0.95_f64.powi(i)).collect::<Vec<_>>()) {
        let preview = stream.preview().unwrap();
        // Sixteen more directions than reported are known; the factor engine knows them without
        // computing them.
        let lost = preview.certificate().lost();
        assert!(lost >= truth.eigenvalues[26] * (1.0 - 1e-10) && lost < truth.eigenvalues[25], "{}", stream.plan());
        let shown = preview.into_partial_model();
        let computed = if stream.plan().engine == Engine::Factor { 10 } else { 26 };
        assert_eq!((shown.rank(), shown.n_components()), (computed, 10), "{}", stream.plan());
        assert!(stream.model().unwrap().rank() >= 90);
        for k in 0..10 {
            let relative = shown.all_singular_values()[k].powi(2) / truth.eigenvalues[k] - 1.0;
            assert!(relative.abs() < 1e-12, "value {k} of {}: {relative}", stream.plan());
            let product = shown.basis().row(k).dot(&truth.directions.row(k)).abs();
            assert!(product > 1.0 - 1e-14, "direction {k} of {}: {product}", stream.plan());
        }
        assert_eq!(
            stream.preview().unwrap().into_partial_model().rank(),
            stream.model().unwrap().rank(),
            "what is known is not read again"
        );
    }
}

/// The rows of a factor of f32 are orthogonal to 1e-7 only, and both readings are to see the same
/// directions of it.
#[test]
fn a_factor_of_f32_is_shown_as_it_is_read() {
    let mut random = Random::new(12);
    let spectrum: Vec<f64> = (0..90).map(|i| 0.95_f64.powi(i)).collect();
    let rows = random.with_spectrum(1200, 2000, &spectrum).mapv(|x| x as f32);
    let mut stream = FitOptions::new().components(10).stream(2000).unwrap();
    rows.axis_chunks_iter(Axis(0), 100).for_each(|block| stream.update(block).unwrap());
    let (shown, model) = (stream.preview().unwrap().into_partial_model(), stream.model().unwrap());
    assert!(shown.rank() < model.rank());
    for k in 0..10 {
        let distance = &shown.basis().row(k) - &model.basis().row(k);
        assert!(distance.dot(&distance).sqrt() < 1e-10, "direction {k}: {}", distance.dot(&distance).sqrt());
    }
}

#[test]
fn what_cannot_be_told_from_the_rest_is_read_with_the_rest() {
    let mut twins: Vec<f64> = (0..90).map(|i| 0.95_f64.powi(i)).collect();
    twins[4] = twins[3];
    let edge: Vec<f64> = (0..90).map(|i| if i < 5 { 2.0 } else { 1.0 } + 1e-3 * f64::from(90 - i)).collect();
    let weak: Vec<f64> = (0..90).map(|i| 0.1_f64.powi(i)).collect();
    let few: Vec<f64> = (0..20).map(|i| 0.9_f64.powi(i)).collect();
    for (name, spectrum) in [("twins", twins), ("weak", weak), ("few", few)] {
        for (stream, _) in read_streams(&spectrum) {
            assert!(
                Arc::ptr_eq(&stream.preview().unwrap().into_partial_model(), &stream.model().unwrap()),
                "{name}, {}",
                stream.plan()
            );
        }
    }
    // Close together, but apart.
    for (stream, _) in read_streams(&edge) {
        let computed = if stream.plan().engine == Engine::Factor { 10 } else { 26 };
        assert_eq!(stream.preview().unwrap().into_partial_model().rank(), computed);
    }
}
