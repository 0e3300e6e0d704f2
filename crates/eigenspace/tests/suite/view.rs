//! Views of a model: raw, standardized or scaled, whitened or not, with and without missing cells.

use std::f64::consts::PI;

use eigenspace::io::source::Values;
use eigenspace::{Block, EigenspaceModel, Error, FitOptions, Metadata, Missing, SparseRows, Truncation, View};
use ndarray::{Array1, Array2, ArrayView1, Axis, Slice, array};

use crate::support::Random;

/// Rows in four features of very different scales.
fn rows() -> Array2<f64> {
    let scales = array![1.0, 100.0, 0.01, 5.0];
    let mut rows = Random::new(3).matrix(40, 4);
    rows.rows_mut().into_iter().for_each(|mut row| row[3] += row[0]);
    rows * scales + array![3.0, -2000.0, 0.0, 7.0]
}

fn model() -> EigenspaceModel {
    EigenspaceModel::fit(rows().view()).unwrap().with_components(2).unwrap()
}

/// The same model after its rows were standardized by hand.
fn standardized_rows() -> Array2<f64> {
    let rows = rows();
    let mean = rows.mean_axis(Axis(0)).unwrap();
    let deviation = rows.std_axis(Axis(0), 0.0);
    (rows - mean) / deviation
}

fn assert_close(a: &Array2<f64>, b: &Array2<f64>, tolerance: f64) {
    assert_eq!(a.dim(), b.dim());
    let scale = b.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * scale), "{a}\n{b}");
}

#[test]
fn a_raw_view_agrees_with_the_model() {
    let (model, rows) = (model(), rows());
    let view = View::raw(model.clone());
    assert_eq!(view.project(rows.view()).unwrap(), model.project(rows.view()).unwrap());
    let scores = model.project(rows.view()).unwrap();
    assert_eq!(view.reconstruct(scores.view()).unwrap(), model.reconstruct(scores.view()).unwrap());
    assert_eq!(view.hotelling(rows.view()).unwrap(), model.hotelling(rows.view()).unwrap());
    assert_eq!(view.squared_distance(rows.view()).unwrap(), model.squared_distance(rows.view()).unwrap());
    let white = view.clone().whiten(true);
    assert_eq!(white.project(rows.view()).unwrap(), model.whiten(rows.view()).unwrap());
    let back = white.reconstruct(white.project(rows.view()).unwrap().view()).unwrap();
    assert_close(&back, &model.reconstruct(scores.view()).unwrap(), 1e-12);
    let limits = model.limits(0.95).unwrap();
    assert_eq!(view.limits(0.95).unwrap(), limits);
    assert_eq!(view.monitor(rows.view(), limits).unwrap(), model.monitor(rows.view(), limits).unwrap());
    assert_close(&view.covariance().unwrap(), &model.covariance().unwrap(), 1e-14);
    assert_eq!(view.precision().unwrap(), model.precision().unwrap());
}

#[test]
fn a_standardized_view_is_the_model_of_standardized_rows() {
    let (rows, by_hand) = (rows(), standardized_rows());
    let wanted = EigenspaceModel::fit(by_hand.view()).unwrap().with_components(2).unwrap();
    let view = View::raw(model()).standardized(true).unwrap();
    let close = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| {
        assert_close(&a.insert_axis(Axis(0)).to_owned(), &b.insert_axis(Axis(0)).to_owned(), 1e-9);
    };
    assert_close(&view.project(rows.view()).unwrap(), &wanted.project(by_hand.view()).unwrap(), 1e-9);
    close(view.hotelling(rows.view()).unwrap().view(), wanted.hotelling(by_hand.view()).unwrap().view());
    close(view.squared_distance(rows.view()).unwrap().view(), wanted.squared_distance(by_hand.view()).unwrap().view());
    assert_close(&view.covariance().unwrap(), &wanted.covariance().unwrap(), 1e-9);
    let all = view.with_components(4).unwrap();
    assert_close(&all.reconstruct(all.project(rows.view()).unwrap().view()).unwrap(), &rows, 1e-12);
    let correlations = all.correlations().unwrap();
    let lengths = correlations.map_axis(Axis(1), |row| row.dot(&row));
    assert!(lengths.iter().all(|length| (length - 1.0).abs() < 1e-12), "{lengths}");
}

#[test]
fn a_scaled_view_has_other_units() {
    let scales = array![1.0, 0.01, 100.0, 2.0];
    let view = View::raw(model()).scaled_by(scales.view()).unwrap();
    let wanted = EigenspaceModel::fit((rows() * &scales).view()).unwrap().with_components(2).unwrap();
    assert_close(&view.project(rows().view()).unwrap(), &wanted.project((rows() * &scales).view()).unwrap(), 1e-11);
    assert_eq!(view.scales().unwrap(), scales);
    assert!(View::raw(model()).scaled_by(array![1.0].view()).is_err());
}

#[test]
fn the_metadata_chooses_the_view() {
    let model = model().with_metadata(Metadata::new().with_standardize(true)).unwrap();
    assert!(View::new(model.clone()).unwrap().scales().is_some());
    assert!(View::raw(model).scales().is_none());
    let empty = EigenspaceModel::empty(4).with_metadata(Metadata::new().with_standardize(true)).unwrap();
    assert!(View::new(empty).unwrap().scales().is_none(), "no rows have no deviations");
}

#[test]
fn missing_cells_are_refused_skipped_or_filled() {
    let mut holes = rows();
    (holes[[1, 2]], holes[[5, 0]], holes[[5, 1]]) = (f64::NAN, f64::NAN, f64::NAN);
    let view = View::raw(model()).standardized(true).unwrap().whiten(true);
    let refused = view.project(holes.view()).unwrap_err();
    assert!(matches!(refused, Error::NonFinite { row: 1, column: 2, .. }), "{refused:?}");
    let whole = view.project(rows().view()).unwrap();

    let skipping = view.clone().missing(Missing::Skip);
    let skipped = skipping.project(holes.view()).unwrap();
    for (i, row) in skipped.rows().into_iter().enumerate() {
        let missing = i == 1 || i == 5;
        let same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        let right = if missing { row.iter().all(|z| z.is_nan()) } else { row.iter().zip(whole.row(i)).all(same) };
        assert!(right, "{i}: {row}");
    }
    let t2 = skipping.hotelling(holes.view()).unwrap();
    assert!(t2[1].is_nan() && t2[5].is_nan() && (t2[0] - view.hotelling(rows().view()).unwrap()[0]).abs() < 1e-12);

    let filling = view.clone().missing(Missing::Impute);
    let mut filled = holes.clone();
    model().fill_missing(filled.view_mut()).unwrap();
    assert_close(&filling.project(holes.view()).unwrap(), &view.project(filled.view()).unwrap(), 1e-12);
    let q = filling.squared_distance(holes.view()).unwrap();
    assert!((q - view.squared_distance(filled.view()).unwrap()).iter().all(|x| x.abs() < 1e-12));
    let narrow = filling.project(holes.mapv(|x| x as f32).view()).unwrap();
    assert!(narrow.iter().zip(&view.project(filled.view()).unwrap()).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-3));

    // Another bad cell is named by its place among all rows, missing ones included.
    holes[[7, 3]] = f64::INFINITY;
    for view in [skipping, filling] {
        let error = view.project(holes.view()).unwrap_err();
        assert!(matches!(error, Error::NonFinite { row: 7, column: 3, .. }), "{error:?}");
        assert!(view.hotelling(holes.view()).is_err());
        assert!(view.project(holes.slice_axis(Axis(1), Slice::from(..3))).is_err());
    }
}

#[test]
fn components_without_variance_complete_a_view() {
    let flat = array![[1.0, 2.0, 0.0, 5.0], [2.0, 4.0, 0.0, 5.0], [3.0, 6.0, 0.0, 5.0]];
    let model = EigenspaceModel::fit(flat.view()).unwrap();
    let view = View::raw(model.clone()).at_least(3);
    assert_eq!((model.n_components(), view.n_components()), (1, 3));
    let components = view.components();
    assert_close(&components.dot(&components.t()), &Array2::eye(3), 1e-14);
    assert_eq!(view.singular_values().to_vec()[1..], [0.0, 0.0]);
    assert_eq!(view.explained_variance().unwrap().to_vec()[1..], [0.0, 0.0]);
    let other = array![[2.0, 3.0, 7.0, 5.0]];
    let scores = view.project(other.view()).unwrap();
    let mean = model.mean().insert_axis(Axis(0)).to_owned();
    assert_close(&scores, &(&other - &mean).dot(&components.t()), 1e-13);
    assert_close(&view.reconstruct(scores.view()).unwrap(), &(scores.dot(&components) + &mean), 1e-13);
    let white = view.clone().whiten(true).project(other.view()).unwrap();
    assert_eq!(white.row(0).to_vec()[1..], [0.0, 0.0]);
    assert!(view.reconstruct(Array2::<f64>::zeros((1, 4)).view()).is_err());
    assert_eq!(view.clone().at_least(9).n_components(), 4, "at most one for each feature");
    assert_eq!(view.with_components(1).unwrap().n_components(), 1);
    let single = View::raw(EigenspaceModel::fit(other.view()).unwrap()).at_least(2).whiten(true);
    assert_eq!(single.project(other.view()).unwrap(), Array2::<f64>::zeros((1, 2)));
    assert_eq!(single.noise_variance().unwrap(), 0.0);
}

/// Every result of a block of rows, by a model and by a view of it.
fn results<'a>(model: &EigenspaceModel, view: &View, rows: impl Into<Block<'a>>) -> Vec<f64> {
    let rows = rows.into();
    let limits = view.limits(0.99).unwrap();
    let [mine, theirs] = [model.monitor(rows, limits), view.monitor(rows, limits)].map(Result::unwrap);
    let error = model.reconstruction_error(rows).unwrap();
    let vectors = [
        model.hotelling(rows).unwrap(),
        model.squared_distance(rows).unwrap(),
        mine.hotelling,
        mine.squared_distance,
        view.hotelling(rows).unwrap(),
        view.squared_distance(rows).unwrap(),
        theirs.hotelling,
        theirs.squared_distance,
        view.log_likelihood(rows).unwrap(),
        array![error.frobenius, error.rmse],
    ];
    let tables = [model.covariance_times(rows).unwrap(), model.precision_times(rows).unwrap()];
    let usable = view.usable_rows(rows).into_iter().map(|row| row as f64);
    vectors.iter().flatten().chain(tables.iter().flatten()).copied().chain(usable).collect()
}

#[test]
fn results_do_not_depend_on_how_the_same_rows_are_passed() {
    let dense = array![[0.0, 2.0, 0.0, 1.0], [3.0, 0.0, 7.0, 0.0], [0.0, 0.0, 4.0, 0.0], [1.0, 1.0, 0.0, 9.0]];
    let training = Random::new(5).matrix(60, 4) * 3.0 + 1.0;
    let model = EigenspaceModel::fit(&training).unwrap().with_components(2).unwrap();
    let view = model.standardize().unwrap().missing(Missing::Skip);
    let columns: Vec<usize> = (0..4).flat_map(|_| 0..4).collect();
    let values: Vec<f64> = dense.iter().copied().collect();
    let sparse = SparseRows::new(4, &[0, 4, 8, 12, 16], &columns, &values).unwrap();
    let wanted = results(&model, &view, dense.view());
    assert!(wanted.iter().all(|x| x.is_finite()));
    assert_eq!(results(&model, &view, &dense), wanted);
    assert_eq!(results(&model, &view, &dense.mapv(|x| x as f32)), wanted);
    assert_eq!(results(&model, &view, dense.mapv(|x| x as u8).view()), wanted);
    assert_eq!(results(&model, &view, dense.t().as_standard_layout().t()), wanted);
    assert_eq!(results(&model, &view, sparse), wanted);
    let weighted = Block::from(&dense).weighted(&[0.0, 2.0, 0.5, 0.0]);
    assert_eq!(results(&model, &view, weighted), wanted, "weights do not matter");

    let scores = array![[1.0, 0.0], [0.0, -2.0]];
    let stored = SparseRows::new(2, &[0, 1, 2], &[0, 1], &[1.0, -2.0]).unwrap();
    for view in [view.clone(), view.whiten(true)] {
        let rows: Array2<f64> = view.reconstruct(&scores).unwrap();
        assert_eq!(view.reconstruct(stored).unwrap(), rows);
        assert_eq!(view.reconstruct(Block::from(&scores).weighted(&[0.0, 1.0])).unwrap(), rows);
        let narrow: Array2<f32> = view.reconstruct(&scores.mapv(|x| x as f32)).unwrap();
        assert_close(&narrow.mapv(f64::from), &rows, 1e-6);
    }
    assert_eq!(model.reconstruct(stored).unwrap(), model.reconstruct(&scores).unwrap());
    assert_eq!(model.reconstruct_whitened(stored).unwrap(), model.reconstruct_whitened(scores.view()).unwrap());
}

#[test]
fn values_are_projected_and_reconstructed_in_their_own_precision() {
    let (wide, narrow) = (rows(), rows().mapv(|x| x as f32));
    let (model, view) = (model(), View::raw(model()).standardized(true).unwrap().whiten(true));
    let (wide_values, narrow_values) = (Values::from(wide.clone()), Values::from(narrow.clone()));
    assert_eq!(model.project(&wide_values).unwrap(), model.project(&wide).unwrap().into());
    assert_eq!(model.project(&narrow_values).unwrap(), model.project(&narrow).unwrap().into());
    let scores = view.project(&narrow_values).unwrap();
    assert!(scores.is_f32());
    assert_eq!(scores, view.project(&narrow).unwrap().into());
    assert_eq!(view.reconstruct(&scores).unwrap(), view.reconstruct(&view.project(&narrow).unwrap()).unwrap().into());
}

#[test]
fn whitened_scores_without_variance_are_zero() {
    // One row has no sample variance, but a component if it is not centered.
    let row = array![[3.0, 4.0]];
    let model = FitOptions::new().centered(false).fit(&row).unwrap();
    assert_eq!(model.project(&row).unwrap().dim(), (1, 1));
    assert_eq!(model.whiten(&row).unwrap(), array![[0.0]]);
    assert_eq!(View::raw(model).whiten(true).project(&row).unwrap(), array![[0.0]]);
}

#[test]
fn sparse_rows_have_the_scores_of_dense_ones() {
    let dense = array![[0.0, 2.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0], [1.0, 1.0, 0.0, 0.0]];
    let (offsets, columns, values) = ([0, 2, 3, 4, 6], [1, 3, 0, 2, 0, 1], [2.0, 1.0, 3.0, 4.0, 1.0, 1.0]);
    let sparse = SparseRows::new(4, &offsets, &columns, &values).unwrap();
    let model = EigenspaceModel::fit(dense.view()).unwrap().with_components(2).unwrap();
    let standardized = View::raw(model.clone()).standardized(true).unwrap();
    for view in [View::raw(model.clone()), View::raw(model).whiten(true), standardized.whiten(true)] {
        assert_close(&view.project(sparse).unwrap(), &view.project(dense.view()).unwrap(), 1e-13);
    }
}

#[test]
fn the_likelihood_is_that_of_the_normal_distribution() {
    let rows = rows();
    for view in [View::raw(model()), View::raw(model()).standardized(true).unwrap()] {
        let precision = view.precision().unwrap();
        let eigen = EigenspaceModel::clone(view.model());
        let variances = eigen.explained_variance(1.0).unwrap();
        let log_determinant = variances.mapv(f64::ln).sum() + 2.0 * view.noise_variance().unwrap().ln();
        let scales = view.scales().map_or_else(|| Array1::ones(4), |scales| scales.to_owned());
        let found = view.log_likelihood(rows.view()).unwrap();
        for (row, found) in rows.rows().into_iter().zip(found) {
            let x = (&row - &model().mean()) * &scales;
            let wanted = -0.5 * (4.0 * (2.0 * PI).ln() + log_determinant + x.dot(&precision.dot(&x)));
            assert!((found - wanted).abs() < 1e-8 * wanted.abs(), "{found} {wanted}");
        }
    }
    let all = View::raw(EigenspaceModel::fit(rows.slice_axis(Axis(0), Slice::from(..3))).unwrap());
    assert!(matches!(all.log_likelihood(rows.view()), Err(Error::Singular { rank: 2, features: 4 })));
}

#[test]
fn loadings_are_covariances_with_unit_scores() {
    let view = View::raw(model());
    let scores = view.project(rows().view()).unwrap();
    let deviations = model().explained_variance(0.0).unwrap().mapv(f64::sqrt);
    let centered = rows() - model().mean();
    let wanted = centered.t().dot(&(scores / deviations)) / 40.0;
    assert_close(&view.loadings().unwrap(), &wanted, 1e-12);
}

#[test]
fn bounds_on_variances_are_those_of_the_certificate_in_the_units_of_the_view() {
    let truncated = EigenspaceModel::fit(rows().view()).unwrap().truncate(Truncation::Rank(3)).unwrap();
    for (standardize, k) in [(false, 2), (false, 3), (true, 3)] {
        let view = View::raw(truncated.clone()).standardized(standardize).unwrap().with_components(k).unwrap();
        let model = view.model();
        let total: f64 = model.feature_scatter().iter().sum();
        let certificate = model.certificate();
        let (variances, ratios) = (view.explained_variance_bounds().unwrap(), view.explained_variance_ratio_bounds());
        let (held, captured) = (view.cumulative_variance_ratio(), view.cumulative_variance_ratio_bounds());
        assert_eq!((variances.len(), ratios.len(), held.len(), captured.len()), (k, k, k, k));
        let mut sum = 0.0;
        for i in 0..k {
            let value = model.singular_values()[i].powi(2);
            sum += value;
            let (low, high) = ((value - certificate.surplus()).max(0.0), value + certificate.lost());
            let near = |found: (f64, f64), divisor: f64| {
                assert!((found.0 - low / divisor).abs() <= 1e-14 * value / divisor, "{found:?}");
                assert!((found.1 - high / divisor).abs() <= 1e-14 * high / divisor, "{found:?}");
            };
            near(variances[i], 39.0);
            near(ratios[i], total);
            let variance = view.explained_variance().unwrap()[i];
            assert!(variances[i].0 <= variance && variance <= variances[i].1);
            assert!((held[i] - sum / total).abs() < 1e-14);
            let (least, most) = certificate.captured_bounds(i + 1);
            assert!(captured[i].0 <= held[i] && held[i] <= captured[i].1);
            assert!((captured[i].0 - least).abs() < 1e-14 && (captured[i].1 - most).abs() < 1e-14);
        }
    }
    // Without variance.
    let single = View::raw(EigenspaceModel::fit(&array![[1.0, 2.0]]).unwrap()).at_least(2);
    assert_eq!(single.explained_variance_bounds().unwrap(), [(0.0, 0.0); 2]);
    assert_eq!(single.explained_variance_ratio_bounds(), [(0.0, 0.0); 2]);
    assert_eq!(single.cumulative_variance_ratio(), array![0.0, 0.0]);
}

#[test]
fn residuals_are_what_the_reconstruction_leaves_out() {
    let rows = rows();
    let (offsets, indices): (Vec<usize>, Vec<usize>) =
        ((0..=40).map(|i| 4 * i).collect(), (0..160).map(|i| i % 4).collect());
    let values: Vec<f64> = rows.iter().copied().collect();
    let sparse = SparseRows::new(4, &offsets, &indices, &values).unwrap();
    for view in [View::raw(model()), View::raw(model()).standardized(true).unwrap().whiten(true)] {
        let again = view.reconstruct(&view.project(&rows).unwrap()).unwrap();
        let found = view.residuals(&rows).unwrap();
        for ((i, j), residual) in found.indexed_iter() {
            assert_eq!(*residual, rows[[i, j]] - again[[i, j]]);
        }
        assert_eq!(view.residuals(sparse).unwrap(), found);
    }
    let mut holes = rows;
    holes[[4, 1]] = f64::NAN;
    assert!(View::raw(model()).residuals(&holes).is_err());
    let skipped = View::raw(model()).missing(Missing::Skip).residuals(&holes).unwrap();
    assert!(skipped.row(4).iter().all(|residual| residual.is_nan()) && skipped.row(3).iter().all(|x| x.is_finite()));
    let filled = View::raw(model()).missing(Missing::Impute).residuals(&holes).unwrap();
    assert_eq!(filled.iter().filter(|residual| residual.is_nan()).count(), 1);
}
