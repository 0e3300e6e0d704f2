//! Another pass over the rows of a model: closer to batch PCA, with true bounds, and only over the
//! same rows.

use eigenspace::{Block, EigenspaceModel, Engine, Error, FitOptions, Missing, SparseRows};
use ndarray::{Array2, ArrayView2, Axis};

use crate::support::{Oracle, Random, jacobi_svd, oracle, scatter_of, sine, weighted_oracle};

const FEATURES: usize = 160;
const K: usize = 4;

/// Rows whose spectrum falls so slowly that a stream of few directions misses some of the leading
/// ones.
fn rows(seed: u64, n: usize, offset: f64) -> Array2<f64> {
    let mut random = Random::new(seed);
    let spectrum: Vec<f64> = (0..120).map(|i| 30.0 * 0.96_f64.powi(i)).collect();
    random.with_spectrum(n, FEATURES, &spectrum) + offset
}

fn options() -> FitOptions {
    FitOptions::new().components(K).max_rank(12).engine(Engine::Factor).block_rows(15)
}

fn fitted<'a>(rows: impl Into<Block<'a>>) -> EigenspaceModel {
    let mut stream = options().stream(FEATURES).unwrap();
    stream.update(rows).unwrap();
    EigenspaceModel::clone(&*stream.model().unwrap())
}

fn refined<'a>(model: &EigenspaceModel, rows: impl Into<Block<'a>>) -> EigenspaceModel {
    let mut pass = model.refine().unwrap();
    pass.update(rows).unwrap();
    pass.finish().unwrap()
}

fn error(model: &EigenspaceModel, truth: &Oracle) -> f64 {
    let exact = truth.directions.select(Axis(0), &(0..K).collect::<Vec<_>>());
    sine(model.components(), exact.view())
}

/// −surplus ≤ M − L ≤ lost, and the bounds on the eigenvalues and on the angle.
fn check_claims(model: &EigenspaceModel, truth: &Oracle) {
    let (certificate, first) = (model.certificate(), truth.eigenvalues[0]);
    let rest = &truth.scatter - &scatter_of(model);
    // The eigenvalues of E + λ₁ I are its singular values. The oracle is accurate to about D units
    // in the last place of λ₁.
    let (values, _) = jacobi_svd(&rest + &(Array2::<f64>::eye(FEATURES) * first));
    let doubt = 1e-13 * first;
    assert!(values[0] - first <= certificate.lost() + doubt, "{} {}", values[0] - first, certificate.lost());
    assert!(values[values.len() - 1] - first >= -certificate.surplus() - doubt);
    for (i, value) in truth.eigenvalues.iter().enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        assert!(low <= value + doubt && *value <= high + doubt, "{i}: {low} {value} {high}");
    }
    let bound = certificate.angle_bound(K);
    assert!(bound >= 1.0 || error(model, truth) <= (K as f64).sqrt() * bound + 1e-12);
}

#[test]
fn each_pass_is_closer_to_batch_pca_and_its_bounds_hold() {
    for offset in [0.0, 300.0] {
        let rows = rows(1, 400, offset);
        let truth = oracle(rows.view());
        let mut model = fitted(&rows);
        let rank = model.rank();
        let mut before = error(&model, &truth);
        assert!(before > 0.1, "one pass is enough for these rows: {before}");
        for pass in 0..3 {
            let lost = model.certificate().lost();
            model = refined(&model, &rows);
            let now = error(&model, &truth);
            assert!(now < 0.9 * before, "offset {offset}, pass {pass}: {before} {now}");
            check_claims(&model, &truth);
            // What was left out before bounds what is left out now. The rounding of this pass,
            // which is all of the surplus, is added.
            let certificate = model.certificate();
            assert!(certificate.lost() - certificate.surplus() <= lost * (1.0 + 1e-12));
            assert_eq!((model.rank(), model.n_components(), model.count()), (rank, K, 400));
            assert!(model.orthogonality_loss() < 1e-13);
            before = now;
        }
    }
}

/// The method in the words of a textbook: V M, its Ritz pairs, and F, with plain products.
#[test]
fn a_pass_is_a_step_of_subspace_iteration() {
    let rows = rows(2, 300, 5.0);
    let (model, truth) = (fitted(&rows), oracle(rows.view()));
    let images = model.basis().dot(&truth.scatter);
    let exact = sine(refined(&model, &rows).basis(), crate::support::gram_schmidt(images).view());
    // Rounding of M, over the smallest of twelve directions in the span of V M.
    assert!(exact < 1e-10, "{exact}");
}

#[test]
fn the_division_into_blocks_and_the_threads_do_not_matter() {
    let rows = rows(3, 700, 1.0);
    let model = fitted(&rows);
    let by = |size: usize, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut pass = model.refine().unwrap();
            rows.axis_chunks_iter(Axis(0), size).for_each(|block| pass.update(block).unwrap());
            pass.finish().unwrap()
        })
    };
    let whole = by(700, 1);
    assert_eq!(by(1, 1), whole);
    assert_eq!(by(97, 3), whole);
}

/// CSR of dense rows.
fn sparse_parts(rows: ArrayView2<'_, f64>) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows.rows() {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j);
            values.push(*x);
        }
        offsets.push(indices.len());
    }
    (offsets, indices, values)
}

#[test]
fn sparse_rows_and_weights_give_the_model_of_the_same_dense_rows() {
    let mut dense = rows(4, 500, 0.0);
    let mut random = Random::new(5);
    dense.mapv_inplace(|x| if random.uniform() < 0.8 { 0.0 } else { x });
    // A column that is stored in every row, far from zero compared with its spread, and a constant
    // one.
    dense.column_mut(9).mapv_inplace(|x| 1000.0 + x);
    dense.column_mut(20).fill(2.5);
    let weights: Vec<f64> = (0..500).map(|i| [1.0, 2.0, 0.0, 0.5][i % 4]).collect();
    let (offsets, indices, values) = sparse_parts(dense.view());
    let sparse = SparseRows::new(FEATURES, &offsets, &indices, &values).unwrap();
    let model = fitted(Block::from(&dense).weighted(&weights));
    let truth = weighted_oracle(dense.view(), &weights);
    let ours = refined(&model, Block::from(sparse).weighted(&weights));
    let theirs = refined(&model, Block::from(&dense).weighted(&weights));
    check_claims(&ours, &truth);
    check_claims(&theirs, &truth);
    // Sums of 500 products in different orders; the mean of column 9 costs three digits.
    for (a, b) in ours.all_singular_values().iter().zip(theirs.all_singular_values()) {
        assert!((a - b).abs() <= 1e-10 * ours.all_singular_values()[0], "{a} {b}");
    }
    assert!(error(&ours, &truth) < error(&model, &truth));
}

#[test]
fn rows_about_the_origin_and_skipped_rows_can_be_read_again() {
    let mut rows = rows(6, 300, 2.0);
    rows[[17, 3]] = f64::NAN;
    let complete = rows.select(Axis(0), &(0..300).filter(|i| *i != 17).collect::<Vec<_>>());
    let mut stream = options().missing(Missing::Skip).centered(false).stream(FEATURES).unwrap();
    stream.update(&rows).unwrap();
    let model = stream.model().unwrap();
    let mut pass = model.refine().unwrap().missing(Missing::Skip);
    pass.update(&rows).unwrap();
    let after = pass.finish().unwrap();
    let mut again = model.refine().unwrap();
    again.update(&complete).unwrap();
    assert_eq!(again.finish().unwrap(), after);
    let captured = |model: &EigenspaceModel| complete.dot(&model.components().t()).mapv(|x| x * x).sum();
    assert!(captured(&after) > captured(&model) && !after.is_centered());
}

#[test]
fn a_model_that_has_dropped_nothing_stays_as_it_is() {
    let rows = rows(7, 60, 0.0);
    let model = EigenspaceModel::fit(&rows).unwrap();
    assert_eq!(refined(&model, &rows), model);
}

#[test]
fn other_rows_are_refused() {
    let rows = rows(8, 300, 1.0);
    let model = fitted(&rows);
    let result = |rows: Block<'_>| {
        let mut pass = model.refine().unwrap();
        pass.update(rows).and_then(|()| pass.finish())
    };
    let fewer = rows.slice_axis(Axis(0), (..299).into());
    let found = |result: Result<EigenspaceModel, Error>| match result {
        Err(Error::RefineOther { expected: 300, found }) => Some(found),
        _ => None,
    };
    assert_eq!(found(result(fewer.into())), Some(299));
    let more = ndarray::concatenate![Axis(0), rows, rows.slice_axis(Axis(0), (..1).into())];
    assert_eq!(found(result((&more).into())), Some(301));
    let mut changed = rows.clone();
    changed[[5, 7]] += 1.0;
    assert_eq!(found(result((&changed).into())), Some(300));
    let weights = vec![1.01; 300];
    assert_eq!(found(result(Block::from(&rows).weighted(&weights))), Some(300));
    assert!(matches!(result(rows.slice_axis(Axis(1), (..5).into()).into()), Err(Error::WidthMismatch { .. })));
    let mut forgetting = options().forgetting(eigenspace::Forgetting::PerRow(0.99)).stream(FEATURES).unwrap();
    forgetting.update(&rows).unwrap();
    let mut pass = forgetting.model().unwrap().refine().unwrap();
    pass.update(&rows).unwrap();
    assert!(matches!(pass.finish(), Err(Error::RefineOther { expected: 300, found: 300 })));
}

#[test]
fn filled_cells_cannot_be_read_again() {
    let mut rows = rows(9, 100, 0.0);
    rows[[50, 3]] = f64::NAN;
    let mut stream = options().missing(Missing::Impute).stream(FEATURES).unwrap();
    stream.update(&rows).unwrap();
    assert!(matches!(stream.model().unwrap().refine(), Err(Error::RefineImputed { cells: 1 })));
}

#[test]
fn a_pass_over_rows_of_any_magnitude_has_the_same_bits() {
    let rows = rows(9, 300, 0.0);
    let plain = refined(&fitted(&rows), &rows);
    for exponent in [-450, -275, 265, 440] {
        let scale = 2.0_f64.powi(exponent);
        let scaled = &rows * scale;
        let model = refined(&fitted(&scaled), &scaled);
        assert_eq!(model.basis(), plain.basis(), "2^{exponent}");
        assert_eq!(model.all_singular_values().mapv(|s| s / scale), plain.all_singular_values());
        let (found, expected) = (model.certificate(), plain.certificate());
        assert_eq!(found.lost() / scale / scale, expected.lost(), "2^{exponent}");
        let ratio = found.surplus() / scale / scale / expected.surplus();
        assert!((ratio - 1.0).abs() < 1e-12, "2^{exponent}: {ratio}");
        assert_eq!(EigenspaceModel::from_bytes(&model.to_bytes()).unwrap(), model);
    }
}
