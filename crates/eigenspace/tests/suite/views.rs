//! Results computed from a model: projections, variances, covariance, distances, each compared with
//! plain loops.

use eigenspace::{Components, EigenspaceModel, Error, FitOptions, Method, Truncation, View};
use ndarray::{Array1, Array2, Axis, array};

use crate::support::{Random, oracle};

fn sample() -> (Array2<f64>, EigenspaceModel) {
    let mut random = Random::new(1);
    let rows = random.matrix(40, 7) * &array![5.0, 3.0, 2.0, 1.0, 0.5, 0.2, 0.1] + 10.0;
    let model = EigenspaceModel::fit(rows.view()).unwrap().with_components(3).unwrap();
    (rows, model)
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} against {b}");
}

#[test]
fn coordinates_are_dot_products_with_the_components() {
    let (rows, model) = sample();
    let z = model.project(rows.view()).unwrap();
    assert_eq!(z.dim(), (40, 3));
    for i in 0..40 {
        for k in 0..3 {
            let by_hand: f64 = (0..7).map(|j| (rows[[i, j]] - model.mean()[j]) * model.components()[[k, j]]).sum();
            close(z[[i, k]], by_hand, 1e-13);
        }
    }
    let back = model.reconstruct(z.view()).unwrap();
    for i in 0..40 {
        for j in 0..7 {
            let by_hand: f64 = model.mean()[j] + (0..3).map(|k| z[[i, k]] * model.components()[[k, j]]).sum::<f64>();
            close(back[[i, j]], by_hand, 1e-13);
        }
    }
}

#[test]
fn all_components_reconstruct_the_rows() {
    let (rows, model) = sample();
    let model = model.with_components(Components::All).unwrap();
    let back = model.reconstruct(model.project(rows.view()).unwrap().view()).unwrap();
    assert!((&back - &rows).iter().all(|x| x.abs() < 1e-13));
    assert!(model.reconstruction_error(rows.view()).unwrap().frobenius < 1e-12);
}

#[test]
fn many_wide_rows_project_as_one_by_one() {
    let mut random = Random::new(2);
    let rows = random.matrix(300, 1100);
    let model = EigenspaceModel::fit(random.matrix(20, 1100).view()).unwrap();
    let all = model.project(rows.view()).unwrap();
    for i in [0, 127, 128, 299] {
        let by_hand = model.components().dot(&(&rows.row(i) - &model.mean()));
        for (a, b) in all.row(i).iter().zip(&by_hand) {
            close(*a, *b, 1e-11);
        }
    }
}

/// Rows of spread about √D around a mean of `offset` √D: no mean, one beside the rows, one far away
/// from them.
#[test]
fn a_mean_costs_coordinates_no_more_digits_than_the_rows_have() {
    for offset in [0.0, 1.0, 3.9, 4.1, 1e3, 1e8] {
        let mut random = Random::new(3);
        let rows = random.matrix(150, 1100) + offset;
        let model = EigenspaceModel::fit(rows.view()).unwrap().with_components(20).unwrap();
        // The mean of rows far from zero has more digits than one number holds.
        let near = (&rows - offset).mean_axis(Axis(0)).unwrap();
        let centered = (&rows - offset) - &near;
        let wanted = centered.dot(&model.components().t());
        let (narrow, few) = (rows.mapv(|x| x as f32), model.project(rows.mapv(|x| x as f32).view()).unwrap());
        let wanted_few = ((narrow.mapv(f64::from) - offset) - &near).dot(&model.components().t());
        // A sum of products is off by a few roundings of what is multiplied: centered rows, or at
        // most 4 times that.
        let length = centered.rows().into_iter().map(|row| row.dot(&row).sqrt()).fold(0.0, f64::max);
        let allowed = |epsilon: f64| 4.0 * epsilon * length * (1.0 + f64::min(offset, 4.0));
        for (a, b) in model.project(rows.view()).unwrap().iter().zip(&wanted) {
            close(*a, *b, allowed(f64::EPSILON));
        }
        for (a, b) in few.iter().zip(&wanted_few) {
            close(f64::from(*a), *b, allowed(f64::from(f32::EPSILON)));
        }
    }
}

#[test]
fn f32_rows_give_f32_coordinates_close_to_the_f64_ones() {
    let (rows, model) = sample();
    let narrow = rows.mapv(|x| x as f32);
    let z: Array2<f32> = model.project(narrow.view()).unwrap();
    let wide = model.project(narrow.mapv(f64::from).view()).unwrap();
    for (a, b) in z.iter().zip(&wide) {
        close(f64::from(*a), *b, 16.0 * f64::from(f32::EPSILON) * 15.0);
    }
    let back: Array2<f32> = model.reconstruct(z.view()).unwrap();
    assert_eq!(back.dim(), (40, 7));
}

#[test]
fn whitened_coordinates_have_variance_one_and_come_back() {
    let (rows, model) = sample();
    let white = model.whiten(rows.view()).unwrap();
    for column in white.columns() {
        let variance = column.dot(&column) / 39.0;
        close(variance, 1.0, 1e-13);
    }
    let back = model.reconstruct_whitened(white.view()).unwrap();
    let wanted = model.reconstruct(model.project(rows.view()).unwrap().view()).unwrap();
    assert!((&back - &wanted).iter().all(|x| x.abs() < 1e-12));
}

#[test]
fn variances_and_shares_are_those_of_the_oracle() {
    let (rows, model) = sample();
    let truth = oracle(rows.view());
    let total: f64 = truth.eigenvalues.iter().sum();
    for ddof in [0.0, 1.0] {
        for (found, wanted) in model.explained_variance(ddof).unwrap().iter().zip(&truth.eigenvalues) {
            close(*found, wanted / (40.0 - ddof), 1e-12);
        }
        close(model.total_variance(ddof).unwrap(), total / (40.0 - ddof), 1e-12);
    }
    for (found, wanted) in model.explained_variance_ratio().iter().zip(&truth.eigenvalues) {
        close(*found, wanted / total, 1e-14);
    }
    let noise: f64 = truth.eigenvalues[3..].iter().sum::<f64>() / 39.0 / 4.0;
    close(model.noise_variance().unwrap(), noise, 1e-13);
}

#[test]
fn shares_and_noise_stay_right_when_directions_were_dropped() {
    let (_, model) = sample();
    let cut = model.truncate(Truncation::Rank(3)).unwrap();
    close(cut.noise_variance().unwrap(), model.noise_variance().unwrap(), 1e-13);
    assert_eq!(cut.explained_variance_ratio(), model.explained_variance_ratio());
}

#[test]
fn the_covariance_is_the_oracles_and_the_precision_its_inverse() {
    let (rows, model) = sample();
    let truth = oracle(rows.view());
    let all = model.with_components(Components::All).unwrap();
    let covariance = all.covariance().unwrap();
    for (found, wanted) in covariance.iter().zip(&truth.scatter) {
        close(*found, wanted / 39.0, 1e-12);
    }
    for shown in [&model, &all] {
        let product = shown.covariance().unwrap().dot(&shown.precision().unwrap());
        let off = (&product - &Array2::<f64>::eye(7)).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(off < 1e-9, "{off}");
        let trace: f64 = shown.covariance().unwrap().diag().sum();
        close(trace, shown.total_variance(1.0).unwrap(), 1e-11);
    }
    // Probabilistic PCA: the shown variances, and the noise along everything else.
    let c = model.covariance().unwrap();
    for (i, direction) in truth.directions.rows().into_iter().enumerate() {
        let wanted = if i < 3 { truth.eigenvalues[i] / 39.0 } else { model.noise_variance().unwrap() };
        close(direction.dot(&c.dot(&direction)), wanted, 1e-11);
    }
}

#[test]
fn covariance_products_need_no_square_matrix() {
    let rows = Random::new(3).matrix(30, 50_000);
    let model = EigenspaceModel::fit(rows.view()).unwrap().with_components(5).unwrap();
    let x = rows.slice_axis(Axis(0), (..2).into());
    let y = model.precision_times(model.covariance_times(x).unwrap().view()).unwrap();
    assert!((&y - &x).iter().all(|d| d.abs() < 1e-9));
}

#[test]
fn a_covariance_without_an_inverse_is_refused() {
    let rows = Random::new(4).matrix(5, 10);
    let model = EigenspaceModel::fit(rows.view()).unwrap();
    assert!(matches!(model.precision(), Err(Error::Singular { rank: 4, features: 10 })));
    assert!(model.with_components(2).unwrap().precision().is_ok());
}

#[test]
fn distances_are_those_of_loops() {
    let (rows, model) = sample();
    let z = model.project(rows.view()).unwrap();
    let back = model.reconstruct(z.view()).unwrap();
    let q = model.squared_distance(rows.view()).unwrap();
    let t2 = model.hotelling(rows.view()).unwrap();
    let variance = model.explained_variance(1.0).unwrap();
    for i in 0..40 {
        let by_hand: f64 = (0..7).map(|j| (rows[[i, j]] - back[[i, j]]).powi(2)).sum();
        close(q[i], by_hand, 1e-12);
        let by_hand: f64 = (0..3).map(|k| z[[i, k]].powi(2) / variance[k]).sum();
        close(t2[i], by_hand, 1e-12);
    }
    // The mean of T² over the model's own rows is k (n − 1) / n, by its definition.
    close(t2.mean().unwrap(), 3.0 * 39.0 / 40.0, 1e-12);
    let error = model.reconstruction_error(rows.view()).unwrap();
    close(error.frobenius, q.sum().sqrt(), 1e-12);
    close(error.rmse, (q.sum() / 280.0).sqrt(), 1e-12);
    let dropped: f64 = oracle(rows.view()).eigenvalues[3..].iter().sum();
    close(error.frobenius, dropped.sqrt(), 1e-11);
}

#[test]
fn a_small_distance_far_from_the_origin_is_not_lost() {
    let rows = array![[1e6, 0.0, 0.0], [-1e6, 0.0, 0.0], [0.0, 1e6, 0.0], [0.0, -1e6, 0.0]];
    let model = EigenspaceModel::fit(rows.view()).unwrap();
    let q = model.squared_distance(array![[3e5, 4e5, 1e-3]].view()).unwrap();
    close(q[0], 1e-6, 1e-15);
}

#[test]
fn a_share_of_variance_shows_the_fewest_components_that_hold_it() {
    let (rows, model) = sample();
    let truth = oracle(rows.view());
    let total: f64 = truth.eigenvalues.iter().sum();
    for share in [0.1, 0.5, 0.9, 0.95, 0.999, 1.0] {
        let shown = FitOptions::new().components(share).fit(rows.view()).unwrap().n_components();
        let held = |k: usize| truth.eigenvalues[..k].iter().sum::<f64>() / total;
        assert!(held(shown) >= share - 1e-12 && (shown == 1 || held(shown - 1) < share), "{share}: {shown}");
    }
    assert_eq!(model.with_components(100).unwrap().n_components(), 7);
    assert_eq!(model.with_components(1.0).unwrap().n_components(), 7);
}

#[test]
fn pure_noise_follows_marchenko_and_pastur() {
    // D/n = 1/4: eigenvalues of the covariance lie in [(1 − √γ)², (1 + √γ)²] = [0.25, 2.25].
    let rows = Random::new(5).matrix(4000, 1000);
    let model = FitOptions::new().fit(rows.view()).unwrap();
    let variance = model.explained_variance(1.0).unwrap();
    close(variance[0], 2.25, 0.05);
    close(variance[999], 0.25, 0.02);
    let below_one = variance.iter().filter(|&&v| v < 1.0).count() as f64 / 1000.0;
    // The law's distribution function at 1, by the trapezium rule on its density.
    let density = |x: f64| ((2.25 - x) * (x - 0.25)).max(0.0).sqrt() / (std::f64::consts::TAU * 0.25 * x);
    let steps = 20_000;
    let width = 0.75 / f64::from(steps);
    let wanted: f64 = (0..steps).map(|i| density(0.25 + (f64::from(i) + 0.5) * width) * width).sum();
    close(below_one, wanted, 0.01);
}

#[test]
fn views_of_too_few_rows_say_so() {
    let one = EigenspaceModel::fit(array![[1.0, 2.0]].view()).unwrap();
    assert!(matches!(one.explained_variance(1.0), Err(Error::Divisor { .. })));
    assert!(one.explained_variance(0.0).unwrap().is_empty());
    let empty = EigenspaceModel::empty(2);
    assert!(empty.total_variance(0.0).is_err() && empty.hotelling(array![[1.0, 2.0]].view()).is_err());
    assert_eq!(empty.explained_variance_ratio(), Array1::<f64>::zeros(0));
    assert_eq!(one.project(array![[5.0, 5.0]].view()).unwrap().dim(), (1, 0));
    assert_eq!(one.reconstruct(Array2::<f64>::zeros((3, 0)).view()).unwrap().row(2), array![1.0, 2.0]);
}

#[test]
fn precision_is_right_at_any_scale() {
    for scale in [1e-100, 1e-60, 1e60, 1e100] {
        let rows = Random::new(6).matrix(5, 3) * scale;
        let model = EigenspaceModel::fit(rows.view()).unwrap().with_components(1).unwrap();
        let product = model.covariance().unwrap().dot(&model.precision().unwrap());
        let off = (&product - &Array2::<f64>::eye(3)).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(off < 1e-12, "{scale}: {off}");
    }
}

#[test]
fn results_beyond_f32_are_refused_not_returned_as_infinity() {
    let model = EigenspaceModel::fit(array![[1e100, 0.0], [-1e100, 3.0], [5e99, 1.0]].view()).unwrap();
    let error = model.project(array![[1.0_f32, 2.0]].view()).unwrap_err();
    assert_eq!(error.to_string(), "row 0, column 0 of the result is too large for 32-bit floats");
    assert!(model.reconstruct(array![[0.0_f32]].view()).is_err());
    assert!(model.project(array![[1.0, 2.0]].view()).is_ok());
}

#[test]
fn the_variance_along_a_direction_does_not_depend_on_its_length() {
    let (_, model) = sample();
    let wanted = model.variance_along(array![1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0].view(), 1.0).unwrap();
    for length in [1e-170, 1e-30, 1e30, 1e139] {
        let direction = array![1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0] * length;
        close(model.variance_along(direction.view(), 1.0).unwrap(), wanted, 1e-12);
    }
}

#[test]
fn a_small_rest_is_measured_and_not_what_subtraction_leaves() {
    // Five strong directions and a tail of 1e-8 of them: its squares are below the rounding of the
    // total.
    let spectrum: Vec<f64> = (0..40).map(|i| if i < 5 { 1.0 } else { 1e-8 }).collect();
    for (n, d) in [(60, 200), (200, 60)] {
        let rows = Random::new(31).with_spectrum(n, d, &spectrum);
        let hidden: f64 = oracle(rows.view()).eigenvalues.iter().skip(5).sum();
        let truth = hidden / (n as f64 - 1.0) / (d as f64 - 5.0);
        let whole = EigenspaceModel::fit(rows.view()).unwrap().with_components(5).unwrap();
        let relative = whole.noise_variance().unwrap() / truth - 1.0;
        assert!(relative.abs() < 1e-6, "{n} x {d}: {relative}");
        // What is left out at once is not taken for nothing either.
        let part = EigenspaceModel::fit_with(rows.view(), Method::Auto, Truncation::Rank(5)).unwrap();
        assert!(part.certificate().lost() >= 0.9e-16, "{n} x {d}");
    }
}

#[test]
fn rounding_decides_no_sign() {
    // Every column with its opposite: in each direction every entry comes twice, with both signs.
    let half = Random::new(32).matrix(300, 40).mapv(|x| if x > 0.0 { 1.0 } else { 0.0 });
    let rows = ndarray::concatenate![Axis(1), half, 1.0 - &half];
    let truth = EigenspaceModel::fit_with(rows.view(), Method::Svd, Truncation::None).unwrap();
    for method in [Method::Auto, Method::Covariance, Method::Gram] {
        let model = EigenspaceModel::fit_with(rows.view(), method, Truncation::None).unwrap();
        for k in 0..20 {
            assert!(model.basis().row(k).dot(&truth.basis().row(k)) > 0.99, "{method:?}, direction {k}");
        }
    }
}

/// Correlations of scores, from plain loops, are those of the identity.
#[test]
fn scores_are_uncorrelated() {
    let mut random = Random::new(31);
    let rows = random.matrix(90, 6).dot(&random.matrix(6, 6)) + 4.0;
    let model = EigenspaceModel::fit(rows.view()).unwrap();
    for view in [View::raw(model.clone()), model.standardize().unwrap()] {
        let z = view.project(rows.view()).unwrap();
        let n = z.nrows() as f64;
        let mean = |i: usize| z.column(i).sum() / n;
        let covariance = |i: usize, j: usize| {
            z.rows().into_iter().map(|row| (row[i] - mean(i)) * (row[j] - mean(j))).sum::<f64>() / (n - 1.0)
        };
        for i in 0..z.ncols() {
            close(covariance(i, i), view.explained_variance().unwrap()[i], 1e-12 * covariance(0, 0));
            for j in 0..i {
                let correlation = covariance(i, j) / (covariance(i, i) * covariance(j, j)).sqrt();
                // Rounding of the scores is relative to the longest of them.
                close(correlation, 0.0, 1e-13 * (covariance(0, 0) / covariance(5, 5)).sqrt());
            }
        }
    }
}

#[test]
fn the_left_singular_vectors_are_orthonormal_and_give_the_rows_back() {
    let (rows, _) = sample();
    let model = EigenspaceModel::fit(rows.view()).unwrap();
    for view in [View::raw(model.clone()), model.standardize().unwrap()] {
        let (u, s, v) =
            (view.left_singular_vectors(&rows).unwrap(), view.singular_values(), view.model().components().to_owned());
        let identity = u.t().dot(&u);
        for i in 0..7 {
            for j in 0..7 {
                close(identity[[i, j]], f64::from(u8::from(i == j)), 1e-12);
            }
        }
        let scales = view.scales().map_or_else(|| Array1::ones(7), |scales| scales.to_owned());
        for i in 0..40 {
            for j in 0..7 {
                let product: f64 = (0..7).map(|k| u[[i, k]] * s[k] * v[[k, j]]).sum();
                close(product, (rows[[i, j]] - model.mean()[j]) * scales[j], 1e-12);
            }
        }
    }
    let raw = View::raw(model.clone()).left_singular_vectors(&rows).unwrap();
    assert_eq!(model.left_singular_vectors(&rows).unwrap(), raw);
}

#[test]
fn left_singular_vectors_without_a_singular_value_are_zero() {
    let rows = array![[1.0, 1.0, 5.0], [2.0, 2.0, 5.0], [4.0, 4.0, 5.0]];
    let view = View::raw(EigenspaceModel::fit(&rows).unwrap()).at_least(3);
    let u = view.left_singular_vectors(&rows).unwrap();
    assert_eq!(u.dim(), (3, 3));
    close(u.column(0).dot(&u.column(0)), 1.0, 1e-14);
    assert!(u.slice(ndarray::s![.., 1..]).iter().all(|x| *x == 0.0));
}

#[test]
fn distances_between_rows_are_kept_as_loops_say() {
    let (rows, model) = sample();
    for view in [View::raw(model.clone()), model.standardize().unwrap().with_components(2).unwrap()] {
        let scales = view.scales().map_or_else(|| Array1::ones(7), |scales| scales.to_owned());
        let scaled = &rows * &scales;
        let z = view.project(rows.view()).unwrap();
        let apart = |table: &Array2<f64>, i: usize, j: usize| {
            (0..table.ncols()).map(|c| (table[[i, c]] - table[[j, c]]).powi(2)).sum::<f64>().sqrt()
        };
        let pairs: Vec<(f64, f64)> = (0..40)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| (apart(&scaled, i, j), apart(&z, i, j)))
            .collect();
        let n = pairs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
        let (mx, mz) = (mean(&|p| p.0), mean(&|p| p.1));
        let (sx, sz) = (mean(&|p| (p.0 - mx).powi(2)).sqrt(), mean(&|p| (p.1 - mz).powi(2)).sqrt());
        let kept = view.distances_kept(&rows).unwrap();
        assert_eq!(kept.pairs, 780);
        close(kept.share, mean(&|p| p.1 * p.1) / mean(&|p| p.0 * p.0), 1e-13);
        close(kept.mean, mean(&|p| p.1 / p.0), 1e-13);
        close(kept.least, pairs.iter().map(|p| p.1 / p.0).fold(1.0, f64::min), 1e-13);
        close(kept.correlation, mean(&|p| (p.0 - mx) * (p.1 - mz)) / (sx * sz), 1e-11);
        // Of the rows that the model was fitted on, the share is that of the variance.
        close(kept.share, view.explained_variance_ratio().sum(), 1e-13);
    }
}

#[test]
fn all_components_keep_every_distance_and_no_pair_loses_nothing() {
    let (rows, model) = sample();
    let view = View::raw(model).with_components(Components::All).unwrap();
    let kept = view.distances_kept(&rows).unwrap();
    for value in [kept.share, kept.mean, kept.least, kept.correlation] {
        close(value, 1.0, 1e-12);
    }
    let one = view.distances_kept(rows.slice(ndarray::s![..1, ..])).unwrap();
    assert_eq!((one.pairs, one.share, one.least), (0, 1.0, 1.0));
    let twice = ndarray::stack![Axis(0), rows.row(0), rows.row(0)];
    assert_eq!(view.distances_kept(&twice).unwrap().pairs, 0, "equal rows have no distance to keep");
    let mut missing = rows.clone();
    missing[[3, 1]] = f64::NAN;
    assert!(matches!(view.distances_kept(&missing), Err(Error::NonFinite { row: 3, column: 1, .. })));
}
