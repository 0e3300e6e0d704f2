//! Data on which incremental PCA usually fails, compared with the oracle.

use eigenspace::{EigenspaceModel, Engine, Method, Truncation};
use ndarray::{Array2, ArrayView2, Axis};

use crate::support::{self, EPS, Random, allowed, cut, distance, oracle, orthogonality_loss, sine, stack};

/// Every way from rows to a model that keeps all digits, in blocks of these sizes.
fn roads(rows: &Array2<f64>, lengths: &[usize]) -> Vec<(&'static str, EigenspaceModel)> {
    let d = rows.ncols();
    let mut update = EigenspaceModel::empty(d);
    let mut merge = EigenspaceModel::empty(d);
    let mut factor = support::options().engine(Engine::Factor).block_rows(16).stream(d).unwrap();
    let mut default = support::options().stream(d).unwrap();
    for block in cut(rows, lengths) {
        update = update.update(block, Truncation::None).unwrap();
        merge = merge.merge(&EigenspaceModel::fit(block).unwrap(), Truncation::None).unwrap();
        factor.update(block).unwrap();
        default.update(block).unwrap();
    }
    vec![
        ("batch", EigenspaceModel::fit(rows.view()).unwrap()),
        ("svd", EigenspaceModel::fit_with(rows.view(), Method::Svd, Truncation::None).unwrap()),
        ("gram", EigenspaceModel::fit_with(rows.view(), Method::Gram, Truncation::None).unwrap()),
        ("update", update),
        ("merge", merge),
        ("factor", (*factor.model().unwrap()).clone()),
        ("default", (*default.model().unwrap()).clone()),
    ]
}

fn every_road_is_exact(rows: &Array2<f64>, lengths: &[usize], allowed: f64) {
    let truth = oracle(rows.view());
    for (road, model) in roads(rows, lengths) {
        let far = distance(&model, &truth);
        assert!(far.worst() <= allowed, "{road}: {far:?}, allowed {allowed:e}");
        assert!(model.certificate().is_exact(), "{road}");
        let loss = orthogonality_loss(model.basis());
        assert!(loss <= 1e-13, "{road}: orthogonality {loss:e}");
    }
}

#[test]
fn a_mean_of_a_million_with_spread_one_costs_no_digits_of_the_spread() {
    for (n, d) in [(90, 12), (60, 200)] {
        let rows = Random::new(1).matrix(n, d) + 1e6;
        // A mean rounds by ε 1e6, and so does the shift that each of the blocks adds.
        let mean = EPS * 1e6;
        every_road_is_exact(&rows, &[1, 7, 20], allowed(n, d) + 4.0 * mean);
    }
}

#[test]
fn singular_values_over_eight_decades_are_all_found() {
    let spectrum: Vec<f64> = (0..40).map(|i| 10f64.powf(-8.0 * f64::from(i) / 39.0)).collect();
    for d in [60, 300] {
        let rows = Random::new(2).with_spectrum(200, d, &spectrum);
        let truth = oracle(rows.view());
        for (road, model) in roads(&rows, &[13, 40]) {
            if road == "default" && d == 60 {
                continue; // the scatter, which squares: its own test is below
            }
            assert_eq!(model.rank(), 40, "{road}");
            // Each singular value to ε s₁ (what a backward stable SVD promises), and the directions
            // before each gap by ε s₁ over the gap.
            for (i, s) in model.all_singular_values().iter().enumerate() {
                let error = (s - truth.eigenvalues[i].sqrt()).abs();
                assert!(error <= (200 + d) as f64 * EPS, "{road}, value {i}: {error:e}");
            }
            for k in 1..40 {
                let gap = truth.eigenvalues[k - 1].sqrt() - truth.eigenvalues[k].sqrt();
                let angle = sine(
                    truth.directions.slice_axis(Axis(0), (..k).into()),
                    model.basis().slice_axis(Axis(0), (..k).into()),
                );
                assert!(angle <= 4.0 * (200 + d) as f64 * EPS / gap, "{road}, {k} directions: {angle:e}, gap {gap:e}");
            }
            assert!(orthogonality_loss(model.basis()) <= 1e-13, "{road}");
        }
    }
}

#[test]
fn the_scatter_engine_sees_half_the_digits_and_the_factor_engine_all() {
    let spectrum: Vec<f64> = (0..40).map(|i| 10f64.powf(-8.0 * f64::from(i) / 39.0)).collect();
    let rows = Random::new(2).with_spectrum(600, 60, &spectrum);
    let truth = oracle(rows.view());
    let worst = |engine| {
        let model = support::options().engine(engine).fit(rows.view()).unwrap();
        let relative = |i: usize| {
            let s = model.all_singular_values().get(i).copied().unwrap_or(0.0);
            (s - truth.eigenvalues[i].sqrt()).abs() / truth.eigenvalues[i].sqrt()
        };
        // Directions down to 1e-6 of the largest are visible to both.
        let visible = (0..40).map(relative).fold(0.0, f64::max);
        let strong = (0..29).map(relative).fold(0.0, f64::max);
        (strong, visible)
    };
    let (scatter_strong, scatter_all) = worst(Engine::Scatter);
    let (factor_strong, factor_all) = worst(Engine::Factor);
    assert!(factor_all <= 1e-6 && factor_strong <= 1e-9, "{factor_strong:e} {factor_all:e}");
    assert!(scatter_strong <= 1e-2, "{scatter_strong:e}");
    assert!(scatter_all > 1e-3, "the scatter engine has become better: {scatter_all:e}; say so in its documentation");
}

#[test]
fn rank_deficient_duplicate_constant_and_zero_rows_keep_their_rank() {
    let mut random = Random::new(5);
    let low = random.with_spectrum(50, 30, &[9.0, 5.0, 2.0]);
    let twice = stack(&low, &low);
    let mut constant_column = random.matrix(40, 6);
    constant_column.column_mut(2).fill(1e5);
    let zeros = Array2::<f64>::zeros((20, 7));
    let one = random.matrix(1, 9).broadcast((25, 9)).unwrap().to_owned();
    let wide = random.with_spectrum(60, 400, &[3.0, 2.0, 1.0, 0.5]);
    for (rows, rank) in [(low, 3), (twice, 3), (constant_column, 5), (zeros, 0), (one, 0), (wide, 4)] {
        every_road_is_exact(&rows, &[1, 4, 11], allowed(rows.nrows(), rows.ncols()));
        for (road, model) in roads(&rows, &[1, 4, 11]) {
            assert_eq!(model.rank(), rank, "{road}");
        }
    }
}

#[test]
fn a_constant_feature_has_no_scatter_at_all() {
    let mut rows = Random::new(6).matrix(100, 4);
    rows.column_mut(1).fill(0.1);
    for (road, model) in roads(&rows, &[1, 3, 8]) {
        assert_eq!(model.feature_scatter()[1], 0.0, "{road}");
        assert_eq!(model.mean()[1], 0.1, "{road}");
    }
}

#[test]
fn fewer_rows_than_components_show_what_there_is() {
    let rows = Random::new(7).matrix(4, 50);
    let mut stream = support::options().components(10).stream(50).unwrap();
    for (i, row) in rows.axis_chunks_iter(Axis(0), 1).enumerate() {
        stream.update(row).unwrap();
        assert_eq!(stream.model().unwrap().n_components(), i);
    }
    let far = distance(&stream.model().unwrap(), &oracle(rows.view()));
    assert!(far.worst() <= allowed(4, 50), "{far:?}");
}

#[test]
fn one_feature_is_a_variance() {
    let rows = Random::new(8).matrix(500, 1) * 3.0 + 17.0;
    every_road_is_exact(&rows, &[1, 50, 2], allowed(500, 1));
}

#[test]
fn a_hundred_thousand_features_and_fifty_rows() {
    let rows = Random::new(9).with_spectrum(50, 100_000, &(1..=20).rev().map(f64::from).collect::<Vec<_>>());
    let batch = EigenspaceModel::fit(rows.view()).unwrap();
    let mut stream = support::options().components(5).stream(100_000).unwrap();
    for block in cut(&rows, &[1, 9]) {
        stream.update(block).unwrap();
    }
    let model = stream.model().unwrap();
    // 50 x 50 by loops: the squared singular values are those of the Gram matrix of the centered
    // rows.
    let mean = rows.mean_axis(Axis(0)).unwrap();
    let centered = &rows - &mean;
    let (truth, directions) = support::jacobi_svd(centered);
    for found in [&batch, &*model] {
        assert_eq!(found.rank(), 20);
        for (s, t) in found.all_singular_values().iter().zip(&truth) {
            assert!((s - t).abs() <= allowed(50, 50) * truth[0]);
        }
        let angle = sine(directions.slice_axis(Axis(0), (..5).into()), found.basis().slice_axis(Axis(0), (..5).into()));
        assert!(angle <= 1e-12, "{angle:e}");
        assert!(orthogonality_loss(found.basis()) <= 1e-13);
    }
}

#[test]
fn one_row_repeated_has_a_mean_and_nothing_else() {
    let row = Random::new(10).matrix(1, 300) * 1e3;
    let mut stream = support::options().components(3).stream(300).unwrap();
    let mut model = EigenspaceModel::empty(300);
    for _ in 0..700 {
        stream.update(row.view()).unwrap();
    }
    for _ in 0..20 {
        model = model.update_row(row.row(0), Truncation::None).unwrap();
    }
    for found in [&model, &*stream.model().unwrap()] {
        assert_eq!((found.rank(), found.mean()), (0, row.row(0)));
        assert_eq!(found.feature_scatter().sum(), 0.0);
        assert_eq!(found.explained_variance_ratio().len(), 0);
    }
}

#[test]
fn a_hundred_thousand_one_row_updates_stay_orthogonal() {
    let mut random = Random::new(11);
    let (d, rank) = (24, 6);
    let mixing = random.matrix(d, d);
    let mut brand = EigenspaceModel::empty(d);
    let mut block = EigenspaceModel::empty(d);
    let mut stream =
        support::options().components(3).max_rank(rank).engine(Engine::Factor).block_rows(1).stream(d).unwrap();
    for _ in 0..100_000 {
        let row = random.matrix(1, d).dot(&mixing);
        brand = brand.update_row(row.row(0), Truncation::Rank(rank)).unwrap();
        block = block.update(row.view(), Truncation::Rank(rank)).unwrap();
        stream.update(row.view()).unwrap();
    }
    for (road, model) in [("brand", &brand), ("block", &block), ("stream", &*stream.model().unwrap())] {
        let loss = orthogonality_loss(model.basis());
        assert!(loss <= 1e-12, "{road}: {loss:e}");
        assert_eq!(model.count(), 100_000);
    }
    // All three ways drop the same directions, so they give the same result.
    assert!((brand.all_singular_values()[0] / block.all_singular_values()[0] - 1.0).abs() < 1e-10);
    assert!(brand.with_components(3).unwrap().subspace_distance(&block.with_components(3).unwrap()).unwrap() < 1e-8);
}

#[test]
fn a_drifting_mean_with_large_blocks_is_followed() {
    let mut random = Random::new(12);
    for d in [10, 150] {
        let blocks: Vec<Array2<f64>> =
            (0..5).map(|i| random.matrix(80, d) + &(random.matrix(1, d) * f64::from(i * i) * 10.0)).collect();
        let rows = blocks.iter().skip(1).fold(blocks[0].clone(), |all, block| stack(&all, block));
        every_road_is_exact(&rows, &[80], allowed(400, d));

        // The specification's rule, written out: center the block with the new mean, stack,
        // decompose.
        let wrong = specification_rule(&blocks);
        let truth = oracle(rows.view());
        let error = (wrong - truth.eigenvalues[0]).abs() / truth.eigenvalues[0];
        assert!(error > 0.01, "the specification's rule is off by {error} only");
    }
}

/// Largest squared singular value when each block is centered with the new mean only.
fn specification_rule(blocks: &[Array2<f64>]) -> f64 {
    let d = blocks[0].ncols();
    let mut seen = 0.0;
    let mut mean = ndarray::Array1::<f64>::zeros(d);
    let mut factor = Array2::<f64>::zeros((0, d));
    for block in blocks {
        let n = block.nrows() as f64;
        mean = (&mean * seen + &block.sum_axis(Axis(0))) / (seen + n);
        seen += n;
        let (values, directions) = support::jacobi_svd(stack(&factor, &(block - &mean)));
        factor = directions * &ndarray::Array1::from(values).insert_axis(Axis(1));
    }
    factor.row(0).dot(&factor.row(0))
}

/// An adversarial stream: 20 strong directions, then one weak direction 2,000 times.
fn adversarial(d: usize) -> Array2<f64> {
    let mut rows = Array2::<f64>::zeros((2080, d));
    for i in 0..80 {
        // Each strong direction with both signs and twice, so that the mean stays at zero.
        rows[[i, i % 20]] = if (i / 20) % 2 == 0 { 10.0 } else { -10.0 };
    }
    for i in 80..2080 {
        rows[[i, 20]] = if i % 2 == 0 { 1.0 } else { -1.0 };
    }
    rows
}

#[test]
fn the_adversarial_stream_is_missed_by_truncation_and_the_certificate_says_so() {
    let rows = adversarial(40);
    let truth = oracle(rows.view());
    let weak = Array2::from_shape_fn((1, 40), |(_, j)| f64::from(u8::from(j == 20)));
    assert!((truth.eigenvalues[0] - 2000.0).abs() < 1e-9, "the weak direction has become the first");
    let model = stream_of(&rows, Truncation::Rank(20));
    assert!(model.variance_along(weak.row(0), 0.0).unwrap() * 2080.0 < 100.0, "plain truncation misses it");
    let certificate = model.certificate();
    assert!(!certificate.is_exact());
    assert_eq!(certificate.relative_error_bound(), 1.0);
    assert!(certificate.eigenvalue_bound(0).1 >= truth.eigenvalues[0]);
    assert_eq!(certificate.angle_bound(1), 1.0);
}

#[test]
fn frequent_directions_keeps_its_promise_on_the_adversarial_stream() {
    let rows = adversarial(40);
    let truth = oracle(rows.view());
    for rank in [10, 20, 21] {
        let model = stream_of(&rows, Truncation::FrequentDirections(rank));
        let error = spectral_norm(&(&truth.scatter - &support::scatter_of(&model)));
        assert!(error <= model.certificate().lost() + 1e-9);
        for k in 0..rank {
            let tail: f64 = truth.eigenvalues.iter().skip(k).sum();
            let promise = tail / (rank - k) as f64;
            assert!(error <= promise + 1e-9, "rank {rank}, k {k}: {error} against {promise}");
            assert!(model.certificate().lost() <= promise + 1e-9, "the certificate keeps the promise too");
        }
    }
    let model = stream_of(&rows, Truncation::FrequentDirections(20));
    let weak = Array2::from_shape_fn((1, 40), |(_, j)| f64::from(u8::from(j == 20)));
    assert!(model.variance_along(weak.row(0), 0.0).unwrap() * 2080.0 > 1500.0, "the weak direction is found");
}

fn stream_of(rows: &Array2<f64>, truncation: Truncation) -> EigenspaceModel {
    let options = support::options().components(5).truncation(truncation).engine(Engine::Factor).block_rows(1);
    options.fit(rows.view()).unwrap()
}

/// Largest eigenvalue in magnitude of a symmetric matrix, by Jacobi.
fn spectral_norm(a: &Array2<f64>) -> f64 {
    support::jacobi_svd(a.clone()).0[0]
}

#[test]
fn f32_rows_with_a_mean_of_a_million_find_the_right_subspace() {
    let mut random = Random::new(13);
    let rows = (random.with_spectrum(3000, 40, &[300.0, 200.0, 100.0, 50.0]) + random.matrix(3000, 40) * 0.1 + 1e6)
        .mapv(|x| x as f32);
    let wide = rows.mapv(f64::from);
    let truth = oracle(wide.view());
    for engine in [Engine::Factor, Engine::Scatter] {
        let model = support::options().components(4).engine(engine).fit(rows.view()).unwrap();
        let angle = angle_to(&model, truth.directions.view(), 4);
        // Backward error ε₃₂ s₁ of the factor, over s₄; the scatter's ε₃₂ λ₁ is averaged over 3000
        // rows.
        let allowed = 16.0 * f64::from(f32::EPSILON) * (truth.eigenvalues[0] / truth.eigenvalues[3]).sqrt();
        assert!(angle <= allowed, "{engine:?}: {angle:e}, allowed {allowed:e}");
        assert!(orthogonality_loss(model.basis()) <= 1e-13, "{engine:?}");
    }
}

#[test]
fn the_loss_of_working_in_f32_is_a_ten_millionth() {
    let mut random = Random::new(14);
    let spectrum: Vec<f64> = (0..30).map(|i| 0.8f64.powi(i)).collect();
    let rows = random.with_spectrum(1500, 200, &spectrum).mapv(|x| x as f32);
    let truth = oracle(rows.mapv(f64::from).view());
    for engine in [Engine::Factor, Engine::Scatter] {
        let model = support::options().components(30).engine(engine).block_rows(64).fit(rows.view()).unwrap();
        for i in 0..30 {
            let error = (model.all_singular_values()[i].powi(2) - truth.eigenvalues[i]).abs();
            assert!(error <= 2e-6 * truth.eigenvalues[0], "{engine:?} {i}: {error:e}");
        }
        assert!(angle_to(&model, truth.directions.view(), 5) <= 1e-5);
    }
}

#[test]
fn f32_rows_too_large_or_too_small_for_f32_squares_go_on_in_f64() {
    for scale in [1e30_f32, 1e-30] {
        let rows = Random::new(15).matrix(900, 12).mapv(|x| x as f32 * scale);
        let truth = oracle(rows.mapv(f64::from).view());
        for engine in [Engine::Factor, Engine::Scatter] {
            let model = support::options().engine(engine).block_rows(50).fit(rows.view()).unwrap();
            let far = distance(&model, &truth);
            assert!(far.worst() <= allowed(900, 12), "{scale} {engine:?}: {far:?}");
        }
    }
}

fn angle_to(model: &EigenspaceModel, directions: ArrayView2<'_, f64>, k: usize) -> f64 {
    sine(directions.slice_axis(Axis(0), (..k).into()), model.basis().slice_axis(Axis(0), (..k).into()))
}

#[test]
fn data_of_any_magnitude_is_decomposed_to_rounding() {
    // The underlying eigensolver deflates by an absolute threshold from 129 rows on.
    for (n, d) in [(300, 128), (300, 129), (60, 150), (150, 160)] {
        let plain = Random::new(16).matrix(n, d);
        for scale in [1e-60, 1e-9, 1e4, 1e9, 1e60] {
            let rows = &plain * scale;
            let truth = oracle(rows.view());
            let streamed = support::options().engine(Engine::Factor).block_rows(100).fit(rows.view()).unwrap();
            let scattered = support::options().engine(Engine::Scatter).fit(rows.view()).unwrap();
            for model in [EigenspaceModel::fit(rows.view()).unwrap(), streamed, scattered] {
                let far = distance(&model, &truth);
                assert!(far.worst() <= allowed(n, d), "{n} x {d}, {scale}: {far:?}");
            }
        }
    }
}

#[test]
fn a_large_constant_feature_hides_nothing() {
    let rows = ndarray::array![[1e12, 1e-4], [1e12, -1e-4], [1e12, 2e-4], [1e12, -2e-4]];
    for (road, model) in roads(&rows, &[1, 2]) {
        assert_eq!(model.rank(), 1, "{road}");
        assert!((model.all_singular_values()[0] / 1e-7_f64.sqrt() - 1.0).abs() < 1e-10, "{road}");
    }
}

#[test]
fn spreads_too_small_to_square_count_as_none() {
    for scale in [1e-155, 1e-160, 1e-170, 1e-300] {
        let rows = Random::new(17).matrix(20, 3) * scale;
        let model = EigenspaceModel::fit(rows.view()).unwrap();
        assert_eq!(model.rank(), 0, "{scale}");
        assert!(model.mean().iter().all(|x| x.abs() <= 2.0 * scale));
    }
    let rows = Random::new(17).matrix(20, 3) * 1e-140;
    let far = distance(&EigenspaceModel::fit(rows.view()).unwrap(), &oracle(rows.view()));
    assert!(far.eigenvalues <= allowed(20, 3), "{far:?}");
}

#[test]
fn a_feature_whose_squares_underflow_is_not_called_constant() {
    let rows = Array2::from_shape_fn((20, 2), |(i, j)| {
        let value = ((i * 7 + j * 3) % 11) as f64;
        if j == 0 { value * 1e-170 } else { value }
    });
    for (road, model) in roads(&rows, &[13, 7]) {
        assert!(model.certificate().is_exact(), "{road}: beside the other feature this one is nothing");
        let certificate = model.standardize().unwrap().model().certificate();
        assert!(!certificate.is_exact(), "{road}: standardized, it is half of the variance");
        let upper = certificate.eigenvalue_bounds()[0].1;
        assert!(upper >= 20.0, "{road}: {upper}");
    }
    let tiny = &rows * 1e-175;
    for (road, model) in roads(&tiny, &[13, 7]) {
        assert!(!model.certificate().is_exact(), "{road}: no square is left");
    }
    let constant = Array2::from_shape_fn((20, 2), |(i, j)| if j == 0 { 1e-170 } else { (i % 7) as f64 });
    for (road, model) in roads(&constant, &[13, 7]) {
        assert!(model.standardize().unwrap().model().certificate().is_exact(), "{road}: constant");
    }
}
