//! Iterative fits: equal to the direct ones where gaps allow, on spectra that are hard for an
//! iteration, and with true bounds.

use eigenspace::{Block, EigenspaceModel, FitOptions, Method, SparseRows, Truncation};
use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::support::{Oracle, Random, jacobi_svd, oracle, scatter_of, sine, weighted_oracle};

/// Every claim of the certificate, against the oracle.
fn check_claims(name: &str, model: &EigenspaceModel, truth: &Oracle) {
    let certificate = model.certificate();
    let first = truth.eigenvalues[0];
    for i in 0..model.rank() + 5 {
        let (low, high) = certificate.eigenvalue_bound(i);
        let true_value = truth.eigenvalues.get(i).copied().unwrap_or(0.0);
        // The oracle is accurate to about D units in the last place of the largest value.
        let doubt = 1e-13 * first;
        assert!(low <= true_value + doubt && true_value <= high + doubt, "{name}: {i}: {low} {true_value} {high}");
    }
    let rest = &truth.scatter - &scatter_of(model);
    // −surplus ≤ E ≤ lost: the eigenvalues of E + c are singular values if c is large enough.
    let shift = first;
    let (values, _) = jacobi_svd(&rest + &(Array2::<f64>::eye(rest.nrows()) * shift));
    assert!(values[0] - shift <= certificate.lost() + 1e-13 * first, "{name}: lost {}", certificate.lost());
    let last = values[values.len() - 1] - shift;
    assert!(last >= -certificate.surplus() - 1e-13 * first, "{name}: {last} below {}", certificate.surplus());
    let k = model.rank();
    let found = sine(model.basis(), truth.directions.select(Axis(0), &(0..k).collect::<Vec<_>>()).view());
    let bound = certificate.angle_bound(k);
    assert!(bound >= 1.0 || found <= (k as f64).sqrt() * bound + 1e-12, "{name}: sine {found}, bound {bound}");
}

/// Values to rounding, and directions as far as the gap after the last one allows.
fn check_accuracy(name: &str, model: &EigenspaceModel, truth: &Oracle, k: usize) {
    let first = truth.eigenvalues[0];
    for (i, s) in model.all_singular_values().iter().take(k).enumerate() {
        assert!(
            (s * s - truth.eigenvalues[i]).abs() <= 2e-12 * first,
            "{name}: {i}: {} {}",
            s * s,
            truth.eigenvalues[i]
        );
    }
    let gap = truth.eigenvalues[k - 1] - truth.eigenvalues.get(k).copied().unwrap_or(0.0);
    if gap > 1e-6 * first {
        let exact = truth.directions.select(Axis(0), &(0..k).collect::<Vec<_>>());
        let found = sine(model.basis().select(Axis(0), &(0..k).collect::<Vec<_>>()).view(), exact.view());
        // Residuals of 1e-12 λ₁ in each of k directions, and the rounding of the oracle.
        assert!(found <= 2e-12 * (k as f64).sqrt() * first / gap + 1e-12, "{name}: sine {found}");
    }
}

fn spectrum(values: impl Fn(usize) -> f64, count: usize) -> Vec<f64> {
    (0..count).map(values).collect()
}

#[test]
fn hard_spectra_give_the_directions_of_batch_pca_and_true_bounds() {
    let mut random = Random::new(16);
    let (rows, features, k) = (260, 210, 6);
    let cases = [
        ("falling", spectrum(|i| 100.0 / (1.0 + i as f64), 200)),
        ("flat tail", spectrum(|i| if i < 6 { 20.0 - i as f64 } else { 3.0 - 0.01 * i as f64 }, 200)),
        ("equal values at the cut", spectrum(|i| if i < 3 { 10.0 } else { 7.0 / (1.0 + (i / 30) as f64) }, 200)),
        ("all but one equal", spectrum(|i| if i == 0 { 9.0 } else { 2.0 }, 200)),
        ("a cluster at the cut", spectrum(|i| if i < 4 { 10.0 } else { 5.0 - 1e-5 * i as f64 }, 200)),
        ("no more directions than wanted", spectrum(|i| 3.0 + i as f64, 6)),
        ("fewer directions than wanted", spectrum(|i| 3.0 + i as f64, 4)),
    ];
    for (name, spectrum) in cases {
        let tall = random.with_spectrum(rows, features, &spectrum) + 5.0;
        for (side, rows) in [("tall", tall.clone()), ("wide", tall.t().as_standard_layout().into_owned())] {
            let name = format!("{name}, {side}");
            let truth = oracle(rows.view());
            let model = EigenspaceModel::fit_with(&rows, Method::Iterative, Truncation::Rank(k)).unwrap();
            assert!(model.rank() <= k && model.orthogonality_loss() < 1e-13, "{name}");
            check_accuracy(&name, &model, &truth, k.min(model.rank()));
            check_claims(&name, &model, &truth);
        }
    }
}

#[test]
fn offsets_weights_and_constant_features_change_nothing() {
    let mut random = Random::new(17);
    let mut rows = random.with_spectrum(300, 180, &spectrum(|i| 50.0 * 0.8_f64.powi(i as i32) + 0.5, 170));
    rows.column_mut(7).fill(3.25);
    rows.column_mut(100).fill(0.0);
    rows += &Array1::from_shape_fn(180, |j| if j % 3 == 0 { 1e5 } else { -2.0 });
    let weights: Vec<f64> = (0..300).map(|i| [1.0, 2.5, 0.0, 0.25][i % 4]).collect();
    let truth = weighted_oracle(rows.view(), &weights);
    let model =
        EigenspaceModel::fit_with(Block::from(&rows).weighted(&weights), Method::Iterative, Truncation::Rank(5))
            .unwrap();
    assert_eq!(model.count(), 225);
    assert!(model.basis().column(7).iter().all(|x| *x == 0.0));
    check_claims("weights", &model, &truth);
    let first = truth.eigenvalues[0];
    for (i, s) in model.all_singular_values().iter().enumerate() {
        // The offset costs the oracle, which has no second number for its mean, some digits.
        assert!((s * s - truth.eigenvalues[i]).abs() <= 1e-9 * first);
    }
}

#[test]
fn features_on_very_different_scales_are_decomposed_directly() {
    let mut random = Random::new(18);
    let mut rows = random.matrix(300, 180);
    rows.column_mut(3).mapv_inplace(|x| 1e8 * x);
    let iterative = EigenspaceModel::fit_with(&rows, Method::Iterative, Truncation::Rank(4)).unwrap();
    let direct = EigenspaceModel::fit_with(&rows, Method::Auto, Truncation::Rank(4)).unwrap();
    assert_eq!(iterative, direct);
    assert!(iterative.certificate().is_proven());
}

/// CSR of dense rows.
struct Csr {
    offsets: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl Csr {
    fn of(rows: ArrayView2<'_, f64>) -> Self {
        let mut csr = Self { offsets: vec![0], indices: Vec::new(), values: Vec::new() };
        for row in rows.rows() {
            for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                csr.indices.push(j);
                csr.values.push(*x);
            }
            csr.offsets.push(csr.indices.len());
        }
        csr
    }

    fn rows(&self, features: usize) -> SparseRows<'_> {
        SparseRows::new(features, &self.offsets, &self.indices, &self.values).unwrap()
    }
}

/// Rows with few cells, a column far from zero that every row has, and one that most rows have.
fn sparse_rows(rows: usize, features: usize, seed: u64) -> Array2<f64> {
    let mut random = Random::new(seed);
    let mut dense = Array2::zeros((rows, features));
    for i in 0..rows {
        for topic in 0..12 {
            let j = (random.uniform() * features as f64 / (1.0 + (i + topic) as f64 % 7.0)) as usize;
            dense[[i, j]] += 1.0 + random.uniform();
        }
        dense[[i, 1]] = 1000.0 + random.normal();
        dense[[i, 2]] = if i % 5 == 0 { 0.0 } else { 30.0 + random.normal() };
    }
    dense
}

#[test]
fn sparse_rows_with_offsets_give_the_directions_of_dense_ones() {
    for (rows, features) in [(260, 200), (190, 240)] {
        let dense = sparse_rows(rows, features, 3);
        let csr = Csr::of(dense.view());
        let weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
        for weights in [vec![1.0; rows], weights] {
            let truth = weighted_oracle(dense.view(), &weights);
            let block = Block::from(csr.rows(features)).weighted(&weights);
            let model = EigenspaceModel::fit_with(block, Method::Iterative, Truncation::Rank(5)).unwrap();
            let name = format!("sparse {rows} x {features}");
            check_accuracy(&name, &model, &truth, 5);
            check_claims(&name, &model, &truth);
            for (found, mean) in model.mean().iter().zip(&truth.mean) {
                assert!((found - mean).abs() <= 1e-12 * mean.abs().max(1.0));
            }
        }
    }
}

#[test]
fn options_fit_sparse_rows_at_hand_iteratively_and_keep_spare_directions() {
    let (rows, features, k) = (1400, 1300, 10);
    let dense = sparse_rows(rows, features, 4);
    let csr = Csr::of(dense.view());
    let options = FitOptions::new().components(k);
    let model = options.fit(csr.rows(features)).unwrap();
    assert_eq!((model.n_components(), model.rank()), (k, 2 * k + 32));
    assert!(!model.certificate().is_proven() && model.certificate().confidence() > 1.0 - 1e-11);
    let direct = EigenspaceModel::fit(&dense).unwrap();
    let found = sine(model.components(), direct.with_components(k).unwrap().components());
    let squared: Vec<f64> = direct.all_singular_values().iter().map(|s| s * s).collect();
    assert!(found <= 1e-11 * squared[0] / (squared[k - 1] - squared[k]), "{found}");
    assert!(squared[model.rank()] <= model.certificate().lost());
    // Without centering, the directions are others.
    let about_origin = options.clone().centered(false).fit(csr.rows(features)).unwrap();
    let bound = about_origin.certificate().eigenvalue_bound(0);
    let (values, _) = (about_origin.all_singular_values().to_owned(), 0);
    assert!(bound.0 <= values[0].powi(2) && values[0].powi(2) <= bound.1 && !about_origin.is_centered());
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let mut random = Random::new(19);
    let rows = random.with_spectrum(700, 400, &spectrum(|i| 90.0 * 0.9_f64.powi(i as i32), 300));
    let csr = Csr::of(sparse_rows(700, 900, 5).view());
    let fit = || {
        let dense = EigenspaceModel::fit_with(&rows, Method::Iterative, Truncation::Rank(9)).unwrap();
        let sparse = EigenspaceModel::fit_with(csr.rows(900), Method::Iterative, Truncation::Rank(9)).unwrap();
        (dense.to_bytes(), sparse.to_bytes())
    };
    let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(fit);
    let (one, three) = (with(1), with(3));
    assert!(one.0 == three.0 && one.1 == three.1);
}

#[test]
fn the_confidence_follows_a_model_into_files_and_merges() {
    let mut random = Random::new(20);
    let rows = random.with_spectrum(300, 200, &spectrum(|i| 50.0 * 0.9_f64.powi(i as i32), 190));
    let model = EigenspaceModel::fit_with(&rows, Method::Iterative, Truncation::Rank(6)).unwrap();
    let certificate = model.certificate();
    assert!(!certificate.is_proven() && !certificate.is_exact());
    let again = EigenspaceModel::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!((again.certificate().confidence(), &again), (certificate.confidence(), &model));
    let both = model.merge(&again, Truncation::None).unwrap();
    assert!(both.certificate().confidence() < certificate.confidence());
    let direct = EigenspaceModel::fit_with(&rows, Method::Covariance, Truncation::Rank(6)).unwrap();
    assert!(direct.certificate().is_proven());
}
