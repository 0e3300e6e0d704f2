//! Everyday data: repeated rows, one-hot groups, columns with different units, f32 rows, weights
//! that sum to one, features that appear late, rows far from zero. The defaults must be accurate on
//! all of it, and the certificate must say so.

use eigenspace::{Block, EigenspaceModel, Engine, FitOptions, Method, Missing, SparseRows, Truncation, WeightKind};
use ndarray::{Array1, Array2, Axis, array};

use crate::support::{self, Random, allowed, distance, jacobi_svd, oracle};

/// n rows, each one of k, drawn at random.
fn repeated(random: &mut Random, n: usize, d: usize, k: usize) -> Array2<f64> {
    let distinct = random.matrix(k, d);
    let which: Vec<usize> = (0..n).map(|_| (random.uniform() * k as f64) as usize).collect();
    distinct.select(Axis(0), &which)
}

#[test]
fn repeated_rows_keep_their_variance() {
    let mut random = Random::new(11);
    for k in 1..8 {
        for _ in 0..2 {
            let (n, d) = (131 + (random.uniform() * 30.0) as usize, 129 + (random.uniform() * 4.0) as usize);
            let rows = repeated(&mut random, n, d, k);
            let truth = oracle(rows.view());
            let models = [
                EigenspaceModel::fit(rows.view()).unwrap(),
                FitOptions::new().fit(rows.view()).unwrap(),
                FitOptions::new().engine(Engine::Factor).fit(rows.view()).unwrap(),
                EigenspaceModel::empty(d).update(rows.view(), Truncation::None).unwrap(),
                EigenspaceModel::fit_with(rows.view(), Method::Svd, Truncation::None).unwrap(),
            ];
            for model in &models {
                assert_eq!(model.rank(), k - 1, "{n} x {d}, {k} distinct");
                assert!(distance(model, &truth).worst() <= allowed(n, d), "{n} x {d}, {k} distinct");
                assert!(model.certificate().is_exact());
            }
        }
    }
}

#[test]
fn one_hot_groups_and_multiples_of_a_row_are_decomposed() {
    let mut random = Random::new(12);
    for turn in [0, 5, 9] {
        let groups = 8 + turn;
        let d = 129 + 11 * turn;
        let rows = Array2::from_shape_fn((200, d), |_| 0.0);
        let mut rows = rows;
        for mut row in rows.rows_mut() {
            for g in 0..groups {
                let width = d / groups;
                row[g * width + (random.uniform() * width as f64) as usize] = 1.0;
            }
        }
        let truth = oracle(rows.view());
        for method in [Method::Auto, Method::Svd, Method::Gram, Method::Covariance] {
            let model = EigenspaceModel::fit_with(rows.view(), method, Truncation::None).unwrap();
            assert!(distance(&model, &truth).worst() <= allowed(200, d), "{method:?}, D = {d}");
        }
        let base = random.matrix(1, 150);
        let times = Array2::from_shape_fn((200, 1), |_| 1.0 + (random.uniform() * 3.0).floor());
        let multiples = times.dot(&base);
        let model = EigenspaceModel::fit(multiples.view()).unwrap();
        assert_eq!(model.rank(), 1);
        assert!(distance(&model, &oracle(multiples.view())).worst() <= allowed(200, 150));
    }
}

/// Market capitalization, employees, price/earnings, daily return, beta: thirteen decades apart.
fn companies(n: usize) -> Array2<f64> {
    let mut random = Random::new(13);
    let units = [1e11, 1e4, 20.0, 1e-2, 0.3];
    let center = [3e11, 2e4, 18.0, 1e-4, 1.1];
    Array2::from_shape_fn((n, 5), |_| random.normal()).rows().into_iter().fold(Array2::zeros((0, 5)), |mut all, z| {
        let mixed =
            [z[0], 0.8 * z[0] + 0.6 * z[1], z[2], 0.3 * z[2] + 0.9 * z[3], 0.5 * z[3] + 0.7 * z[4] + 0.2 * z[0]];
        let row: Array1<f64> = (0..5).map(|j| center[j] + units[j] * mixed[j]).collect();
        all.push_row(row.view()).unwrap();
        all
    })
}

/// Explained variance ratios and directions of the standardized rows, by plain loops and rotations.
fn standardized(rows: &Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let truth = oracle(rows.view());
    let n = rows.nrows() as f64;
    let deviations: Vec<f64> = truth.scatter.diag().iter().map(|q| (q / n).sqrt()).collect();
    let scaled = Array2::from_shape_fn(rows.dim(), |(i, j)| (rows[[i, j]] - truth.mean[j]) / deviations[j]);
    let (values, directions) = jacobi_svd(scaled);
    let total: f64 = values.iter().map(|s| s * s).sum();
    (values.iter().map(|s| s * s / total).collect(), directions)
}

#[test]
fn columns_of_unlike_units_are_standardized_as_well_as_any() {
    let whole = companies(1_400);
    for n in [20, 512, 513, 1_000, 1_400] {
        let rows = whole.slice_axis(Axis(0), (..n).into()).to_owned();
        let (ratios, directions) = standardized(&rows);
        for engine in [Engine::Auto, Engine::Factor, Engine::Scatter] {
            for standardize in [false, true] {
                let raw = FitOptions::new().engine(engine).standardize(standardize).fit(rows.view()).unwrap();
                assert_eq!(raw.rank(), 5, "{engine:?}, {n} rows");
                let view = raw.standardize().unwrap();
                let found = view.model().explained_variance_ratio();
                for (found, truth) in found.iter().zip(&ratios) {
                    assert!((found - truth).abs() < 1e-12, "{engine:?}, {n} rows: {found} for {truth}");
                }
                assert!(support::sine(directions.view(), view.model().basis()) < 1e-9);
                assert!(
                    view.model().certificate().is_exact(),
                    "{engine:?}, {n} rows: {:?}",
                    view.model().certificate()
                );
            }
        }
    }
    // Merged, split and updated row by row.
    let parts: Vec<_> = whole.axis_chunks_iter(Axis(0), 280).map(|part| EigenspaceModel::fit(part).unwrap()).collect();
    let merged = EigenspaceModel::merge_all(&parts, Truncation::None).unwrap();
    let rest = merged.split(&parts[0]).unwrap();
    let mut updated = rest.clone();
    for row in whole.slice_axis(Axis(0), (..280).into()).rows() {
        updated = updated.update_row(row, Truncation::None).unwrap();
    }
    for (model, rows) in [
        (&merged, whole.clone()),
        (&rest, whole.slice_axis(Axis(0), (280..).into()).to_owned()),
        (&updated, whole.clone()),
    ] {
        let (ratios, _) = standardized(&rows);
        let view = model.standardize().unwrap();
        let found = view.model().explained_variance_ratio();
        assert!(found.iter().zip(&ratios).all(|(found, truth)| (found - truth).abs() < 1e-9), "{found} for {ratios:?}");
    }
}

#[test]
fn rows_of_f32_give_the_model_of_the_same_numbers_in_f64() {
    let mut random = Random::new(14);
    for (n, d) in [(600, 30), (400, 200), (700, 1100)] {
        // Singular values over four decades.
        let scales = Array1::from_iter((0..d).map(|j| 10f64.powf(-4.0 * j as f64 / d as f64)));
        let narrow = (random.matrix(n, d) * &scales).mapv(|x| x as f32);
        let wide = narrow.mapv(f64::from);
        let options = FitOptions::new().components(20);
        assert_eq!(options.fit(narrow.view()).unwrap(), options.fit(wide.view()).unwrap(), "{n} x {d}");
    }
}

#[test]
fn as_many_components_come_out_as_were_asked_for() {
    let mut random = Random::new(15);
    // One strong direction, 199 that are 5e-4 of it.
    let strong = random.matrix(2_000, 1).dot(&random.matrix(1, 200)) / 200f64.sqrt();
    let rows = (strong + random.matrix(2_000, 200) * 5e-4).mapv(|x| x as f32);
    let model = FitOptions::new().components(50).fit(rows.view()).unwrap();
    assert_eq!(model.n_components(), 50);
    let truth = oracle(rows.mapv(f64::from).view());
    assert!(distance(&model, &truth).worst() < 1e-12);
    assert!(model.certificate().is_exact());
}

#[test]
fn weights_that_sum_to_one_are_refused_or_taken_for_what_they_are() {
    let rows = Random::new(16).matrix(40, 3);
    let weights = vec![1.0 / 40.0; 40];
    let frequency = EigenspaceModel::fit(Block::from(&rows).weighted(&weights)).unwrap();
    let error = frequency.explained_variance(1.0).unwrap_err();
    assert!(error.hint().unwrap().contains("reliability"), "{error}");
    let halves: Vec<f64> = weights.iter().map(|w| w / 2.0).collect();
    assert!(EigenspaceModel::fit(Block::from(&rows).weighted(&halves)).unwrap().explained_variance(1.0).is_err());
    // Equal weights of any sum have the same effect as no weights.
    let plain = EigenspaceModel::fit(rows.view()).unwrap().explained_variance(1.0).unwrap();
    for weights in [&weights, &halves] {
        let options = FitOptions::new().weight_kind(WeightKind::Reliability);
        let model = options.fit(Block::from(&rows).weighted(weights)).unwrap();
        let found = model.explained_variance(1.0).unwrap();
        assert!(found.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-12 * b), "{found} for {plain}");
        assert_eq!(EigenspaceModel::from_bytes(&model.to_bytes()).unwrap().weight_kind(), WeightKind::Reliability);
    }
    // 1 − Σw² by hand, for weights that differ.
    let rows = array![[0.0], [1.0], [3.0]];
    let weights = [0.5, 0.3, 0.2];
    let (mean, squares) = (0.9, 0.5 * 0.81 + 0.3 * 0.01 + 0.2 * 2.1 * 2.1);
    let model =
        FitOptions::new().weight_kind(WeightKind::Reliability).fit(Block::from(&rows).weighted(&weights)).unwrap();
    assert!((model.mean()[0] - mean).abs() < 1e-15);
    assert!((model.explained_variance(1.0).unwrap()[0] - squares / (1.0 - 0.38)).abs() < 1e-14);
}

#[test]
fn a_feature_that_appears_late_is_not_filled_with_zeros() {
    let mut random = Random::new(17);
    let mut rows = random.matrix(1_600, 4) * 0.5;
    rows.column_mut(2).mapv_inplace(|x| x + 1_000.0);
    let truth = oracle(rows.slice_axis(Axis(0), (900..).into()));
    rows.slice_axis_mut(Axis(0), (..900).into()).column_mut(2).fill(f64::NAN);
    for engine in [Engine::Scatter, Engine::Factor] {
        let options = FitOptions::new().missing(Missing::Impute).engine(engine).block_rows(128);
        let mut stream = options.stream(4).unwrap();
        stream.update(rows.slice_axis(Axis(0), (..800).into())).unwrap();
        let error = stream.model().unwrap_err();
        assert!(error.to_string().contains("column 2") && error.hint().is_some(), "{error}");
        // The hold survives a checkpoint.
        let (mut stream, _) = eigenspace::EigenspaceStream::restore(&stream.checkpoint(""), &options).unwrap();
        stream.update(rows.slice_axis(Axis(0), (800..).into())).unwrap();
        let model = stream.model().unwrap();
        assert!((model.mean()[2] - 1_000.0).abs() < 0.1, "{}", model.mean()[2]);
        let variance = model.feature_variance(1.0).unwrap()[2];
        let whole = truth.scatter[[2, 2]] / 700.0;
        assert!(variance < 1.2 * whole && variance > 0.3 * whole, "{variance} for {whole}");
        assert_eq!(model.imputed(), 900);
    }
}

#[test]
fn rows_far_from_zero_keep_all_their_digits() {
    let mut random = Random::new(18);
    let spread = Array2::from_shape_fn((400, 6), |_| (random.uniform() * 64.0).floor());
    let truth = oracle(spread.view());
    for offset in [0.0, 1e3, 1e9, 1e12, 4e15] {
        let rows = &spread + offset;
        let parts: Vec<_> =
            rows.axis_chunks_iter(Axis(0), 20).map(|part| EigenspaceModel::fit(part).unwrap()).collect();
        let merged = EigenspaceModel::merge_all(&parts, Truncation::None).unwrap();
        let streamed = FitOptions::new().engine(Engine::Scatter).block_rows(7).fit(rows.view()).unwrap();
        let rest = merged.split(&parts[3]).unwrap().merge(&parts[3], Truncation::None).unwrap();
        for model in [&merged, &streamed, &rest] {
            let off = support::frobenius(&(support::scatter_of(model) - &truth.scatter)) / truth.eigenvalues[0];
            assert!(off < 1e-13, "offset {offset:e}: {off:e}");
            assert!(model.certificate().is_exact());
        }
        // Scores of rows so far out are those of the rows themselves.
        let (scores, plain) = (
            merged.project(rows.view()).unwrap(),
            EigenspaceModel::fit(spread.view()).unwrap().project(spread.view()).unwrap(),
        );
        let worst = scores.iter().zip(&plain).map(|(a, b)| (a.abs() - b.abs()).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-11 * truth.eigenvalues[0].sqrt(), "offset {offset:e}: {worst:e}");
    }
}

#[test]
fn a_nearly_constant_feature_leaves_the_basis_orthonormal() {
    let mut random = Random::new(19);
    for decades in [6, 9, 12, 15] {
        let mut rows = Array2::from_shape_fn((107, 40), |_| (random.uniform() * 4.0).floor());
        rows.column_mut(7).mapv_inplace(|x| 1.0 + x * 10f64.powi(-decades));
        for engine in [Engine::Scatter, Engine::Factor] {
            let model = FitOptions::new().engine(engine).block_rows(12).fit(rows.view()).unwrap();
            let loss = support::orthogonality_loss(model.basis());
            assert!(loss < 1e-13, "{engine:?}, 1e-{decades}: {loss:e}");
        }
    }
}

#[test]
fn rows_at_hand_are_fitted_exactly_as_long_as_that_is_affordable() {
    let mut random = Random::new(20);
    for (n, d) in [(700, 1_100), (1_300, 1_100)] {
        let rows = random.matrix(n, d);
        let model = FitOptions::new().components(5).fit(rows.view()).unwrap();
        assert!(model.certificate().is_exact(), "{n} x {d}: {:?}", model.certificate().relative_error_bound());
        // A plain sum of squares is all of the variance, and power iteration finds the first
        // direction of it.
        let centered = &rows - &rows.mean_axis(Axis(0)).unwrap();
        let total: f64 = centered.iter().map(|x| x * x).sum();
        assert!((model.feature_scatter().sum() / total - 1.0).abs() < 1e-12);
        let residual = |k: usize| {
            let v = model.basis().row(k).to_owned();
            let lambda = model.all_singular_values()[k].powi(2);
            let off = centered.t().dot(&centered.dot(&v)) - &v * lambda;
            off.dot(&off).sqrt() / model.all_singular_values()[0].powi(2)
        };
        assert!((0..5).all(|k| residual(k) < 1e-11), "{n} x {d}");
    }
}

/// Whole numbers keep all their digits far from zero, so all results for a row must be the same as
/// near zero.
#[test]
fn distances_scores_and_estimates_are_as_precise_far_from_zero() {
    let mut random = Random::new(29);
    let mut near = random.matrix(100, 5);
    near.columns_mut().into_iter().zip([50.0, 40.0, 30.0, 8.0, 8.0]).for_each(|(mut column, scale)| column *= scale);
    near.mapv_inplace(f64::round);
    let truth = EigenspaceModel::fit(near.view()).unwrap().with_components(3).unwrap();
    let sparse = |rows: &Array2<f64>| {
        let offsets: Vec<usize> = (0..=rows.nrows()).map(|i| 5 * i).collect();
        let columns: Vec<usize> = (0..rows.len()).map(|i| i % 5).collect();
        (offsets, columns, rows.iter().copied().collect::<Vec<_>>())
    };
    for offset in [1e9, 1e12, 1e15] {
        let far = &near + offset;
        let model = EigenspaceModel::fit(far.view()).unwrap().with_components(3).unwrap();
        let off = |a: &Array1<f64>, b: &Array1<f64>| {
            let largest = b.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            (a - b).iter().fold(0.0_f64, |a, b| a.max(b.abs())) / largest
        };
        let (q, t2) = (model.squared_distance(far.view()).unwrap(), model.hotelling(far.view()).unwrap());
        assert!(off(&q, &truth.squared_distance(near.view()).unwrap()) < 1e-11, "Q at {offset:e}");
        assert!(off(&t2, &truth.hotelling(near.view()).unwrap()) < 1e-11, "T² at {offset:e}");
        let (offsets, columns, values) = sparse(&far);
        let scores = model.project(SparseRows::new(5, &offsets, &columns, &values).unwrap()).unwrap();
        let wanted = truth.project(near.view()).unwrap();
        let worst = (&scores - &wanted).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(worst < 1e-10, "sparse scores at {offset:e}: {worst:e}");
        let (mut filled, mut wanted) = (far.clone(), near.clone());
        (filled[[3, 1]], wanted[[3, 1]]) = (f64::NAN, f64::NAN);
        model.fill_missing(filled.view_mut()).unwrap();
        truth.fill_missing(wanted.view_mut()).unwrap();
        // The filled cell is an f64 near the offset, and no nearer to the truth than its last
        // digit.
        let gap = (filled[[3, 1]] - offset - wanted[[3, 1]]).abs();
        assert!(gap <= 1e-9 + offset * f64::EPSILON, "filled at {offset:e}: {gap:e}");
    }
}

#[test]
fn variances_of_reliability_weights_whose_squares_vanish_are_refused() {
    let rows = array![[1.0], [2.0], [4.0]];
    let variance = |weight: f64| {
        let weights = [weight, 2.0 * weight, weight];
        let options = FitOptions::new().weight_kind(WeightKind::Reliability);
        options.fit(Block::from(&rows).weighted(&weights)).unwrap().explained_variance(1.0)
    };
    let truth = variance(1.0).unwrap()[0];
    assert!((variance(1e-130).unwrap()[0] / truth - 1.0).abs() < 1e-12);
    let error = variance(1e-165).unwrap_err();
    assert!(error.to_string().starts_with("cannot compute variances with ddof = 1"), "{error}");
}
