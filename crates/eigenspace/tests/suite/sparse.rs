//! Sparse rows: by every operation, the same model as from dense rows.

use eigenspace::{Block, EigenspaceModel, Engine, Error, FitOptions, Forgetting, Missing, SparseRows, Truncation};
use ndarray::{Array2, ArrayView2, Axis};
use proptest::prelude::*;

use crate::support::{self, Random, allowed, distance, oracle, weighted_oracle};

/// Compressed sparse rows of a dense matrix.
struct Csr {
    features: usize,
    offsets: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl Csr {
    fn of(rows: ArrayView2<'_, f64>) -> Self {
        let mut csr = Self { features: rows.ncols(), offsets: vec![0], indices: Vec::new(), values: Vec::new() };
        for row in rows.rows() {
            // Backward: the order of cells must not matter.
            for (j, x) in row.iter().enumerate().rev().filter(|(_, x)| **x != 0.0) {
                csr.indices.push(j);
                csr.values.push(*x);
            }
            csr.offsets.push(csr.indices.len());
        }
        csr
    }

    fn rows(&self) -> SparseRows<'_> {
        SparseRows::new(self.features, &self.offsets, &self.indices, &self.values).unwrap()
    }
}

/// A tenth of the cells are non-zero, in some features much more often than in others.
fn thin(seed: u64, n: usize, d: usize) -> Array2<f64> {
    let mut random = Random::new(seed);
    let often: Vec<f64> = (0..d).map(|j| 0.5 / (1.0 + j as f64).sqrt()).collect();
    Array2::from_shape_fn((n, d), |(_, j)| if random.uniform() < often[j] { 1.0 + random.uniform() } else { 0.0 })
}

fn engines() -> [FitOptions; 3] {
    let base = FitOptions::new();
    [
        base.clone().engine(Engine::Factor),
        base.clone().engine(Engine::Scatter),
        base.engine(Engine::Factor).max_rank(100),
    ]
}

proptest! {
    #![proptest_config(support::cases(12))]

    #[test]
    fn sparse_rows_give_the_model_of_the_dense_ones(seed in 0u64.., n in 2usize..1300, d in 2usize..30, f in 0.98f64..1.0) {
        let rows = thin(seed, n, d);
        let mut random = Random::new(seed);
        let given: Vec<f64> = (0..n).map(|_| 0.5 + random.uniform()).collect();
        let csr = Csr::of(rows.view());
        let faded: Vec<f64> = (0..n).map(|i| given[i] * f.powi((n - 1 - i) as i32)).collect();
        let (plain, weighted) = (oracle(rows.view()), weighted_oracle(rows.view(), &faded));
        for options in engines() {
            let model = options.fit(csr.rows()).unwrap();
            let far = distance(&model, &plain);
            prop_assert!(far.worst() <= 8.0 * allowed(n, d), "{:?}", far);
            let options = options.forgetting(Forgetting::PerRow(f));
            let model = options.fit(Block::from(csr.rows()).weighted(&given)).unwrap();
            let far = distance(&model, &weighted);
            prop_assert!(far.worst() <= 8.0 * allowed(n, d), "{:?}", far);
        }
        for model in [EigenspaceModel::fit(csr.rows()).unwrap(), EigenspaceModel::empty(d).update(csr.rows(), Truncation::None).unwrap()] {
            prop_assert!(distance(&model, &plain).worst() <= 8.0 * allowed(n, d));
            prop_assert!(model.remove(csr.rows()).unwrap().is_empty());
        }
    }
}

#[test]
fn the_cut_of_sparse_rows_does_not_matter_and_reading_changes_nothing() {
    let rows = thin(1, 1500, 40);
    let options = FitOptions::new().components(5).max_rank(12).engine(Engine::Factor);
    let whole = options.fit(Csr::of(rows.view()).rows()).unwrap();
    let mut stream = options.stream(40).unwrap();
    for (turn, block) in rows.axis_chunks_iter(Axis(0), 37).enumerate() {
        stream.update(Csr::of(block).rows()).unwrap();
        if turn % 5 == 0 {
            stream.model().unwrap();
        }
    }
    assert_eq!(*stream.model().unwrap(), whole);
    assert!(!whole.certificate().is_exact());
    let truth = oracle(rows.view());
    for (i, value) in truth.eigenvalues.iter().enumerate() {
        let (low, high) = whole.certificate().eigenvalue_bound(i);
        assert!(low <= value * (1.0 + 1e-9) && *value <= high * (1.0 + 1e-9), "{i}: {low} {value} {high}");
    }
}

#[test]
fn dense_and_sparse_blocks_can_take_turns() {
    let rows = thin(2, 900, 25);
    let mut stream = FitOptions::new().engine(Engine::Factor).stream(25).unwrap();
    for (turn, block) in rows.axis_chunks_iter(Axis(0), 100).enumerate() {
        if turn % 2 == 0 { stream.update(block) } else { stream.update(Csr::of(block).rows()) }.unwrap();
    }
    let far = distance(&stream.model().unwrap(), &oracle(rows.view()));
    assert!(far.worst() <= 8.0 * allowed(900, 25), "{far:?}");
}

#[test]
fn frequent_directions_keeps_its_promise_on_sparse_rows() {
    let rows = thin(3, 1600, 30);
    let truth = oracle(rows.view());
    let model = FitOptions::new()
        .truncation(Truncation::FrequentDirections(8))
        .engine(Engine::Factor)
        .fit(Csr::of(rows.view()).rows())
        .unwrap();
    let error = support::jacobi_svd(&truth.scatter - &support::scatter_of(&model)).0[0];
    for k in 0..8 {
        let promise = truth.eigenvalues.iter().skip(k).sum::<f64>() / (8 - k) as f64;
        assert!(error <= promise, "{k}: {error} {promise}");
    }
}

#[test]
fn sparse_rows_project_as_dense_ones_and_merge_and_standardize() {
    let rows = thin(4, 600, 20);
    let csr = Csr::of(rows.view());
    let model = FitOptions::new().components(4).engine(Engine::Factor).fit(csr.rows()).unwrap();
    let (z, wanted) = (model.project(csr.rows()).unwrap(), model.project(rows.view()).unwrap());
    assert!((&z - &wanted).iter().all(|x| x.abs() < 1e-12));
    let half = Csr::of(rows.slice_axis(Axis(0), (..300).into()));
    let left = model.split(&EigenspaceModel::fit(half.rows()).unwrap()).unwrap();
    let rest = EigenspaceModel::fit(rows.slice_axis(Axis(0), (300..).into())).unwrap().with_components(4).unwrap();
    assert!(left.subspace_distance(&rest).unwrap() < 1e-9);
    let view = model.standardize().unwrap();
    let total = view.model().total_variance(0.0).unwrap();
    assert!((total - 20.0).abs() < 1e-10, "{total}");
}

#[test]
fn repeated_cells_add_up() {
    let sparse = SparseRows::new(2, &[0, 3, 4], &[1, 0, 1], &[1.0, 5.0, 2.0]);
    assert!(matches!(sparse, Err(Error::SparseSlices { offsets: 3, indices: 3, values: 3 })));
    let sparse = SparseRows::new(2, &[0, 3, 3], &[1, 0, 1], &[1.0, 5.0, 2.0]).unwrap();
    for engine in [Engine::Factor, Engine::Scatter] {
        let model = FitOptions::new().engine(engine).fit(sparse).unwrap();
        assert_eq!(model.mean().to_vec(), [2.5, 1.5]);
    }
}

#[test]
fn bad_sparse_rows_are_named() {
    let words = |result: Result<SparseRows<'_>, Error>| result.unwrap_err().to_string();
    assert_eq!(
        words(SparseRows::new(3, &[0, 2, 1], &[0, 1], &[1.0, 1.0])),
        "invalid sparse rows: the 3 offsets cannot divide 2 indices and 2 values into rows"
    );
    assert_eq!(
        words(SparseRows::new(3, &[0, 1], &[3], &[1.0])),
        "row 0: column 3 is out of range; the rows have 3 columns"
    );
    assert!(SparseRows::new(3, &[], &[], &[]).is_err());
    let (offsets, indices, values) = ([0, 1, 2], [0, 2], [1.0, f64::NAN]);
    let rows = SparseRows::new(3, &offsets, &indices, &values).unwrap();
    for missing in [Missing::Refuse, Missing::Skip, Missing::Impute] {
        let error = FitOptions::new().missing(missing).fit(rows).unwrap_err();
        assert!(matches!(error, Error::SparseMissing { row: 1, column: 2 }));
    }
    assert!(matches!(
        FitOptions::new().stream(4).unwrap().update(rows),
        Err(Error::WidthMismatch { expected: 4, found: 3 })
    ));
    assert_eq!(FitOptions::new().fit(Block::from(rows).weighted(&[1.0, 0.0])).unwrap().count(), 1);
    let large = SparseRows::new(1, &[0, 1], &[0], &[1e100]).unwrap();
    assert!(matches!(
        FitOptions::new().fit(Block::from(large).weighted(&[1e100])),
        Err(Error::TooLarge { row: 0, .. })
    ));
}

#[test]
fn sparse_rows_with_a_mean_far_from_zero_are_certified() {
    let mut rows = thin(5, 860, 450);
    rows.column_mut(0).mapv_inplace(|x| 1e6 + x);
    let truth = oracle(rows.view());
    let model =
        FitOptions::new().components(3).max_rank(40).engine(Engine::Factor).fit(Csr::of(rows.view()).rows()).unwrap();
    for (i, value) in truth.eigenvalues.iter().enumerate() {
        let (low, high) = model.certificate().eigenvalue_bound(i);
        assert!(low <= *value && *value <= high, "{i}: {low} {value} {high}");
    }
    assert!(!model.certificate().is_exact());
}

#[test]
fn weights_forgetting_sparse_rows_merge_split_and_standardizing_go_together() {
    let (a, b) = (thin(6, 900, 18), thin(7, 500, 18) * 3.0);
    let mut random = Random::new(8);
    let given: Vec<f64> = (0..1400).map(|_| 2.0 * random.uniform()).collect();
    let f = 0.995_f64;
    let fade = |n: usize, i: usize| f.powi((n - 1 - i) as i32);
    let weights: Vec<f64> =
        (0..900).map(|i| given[i] * fade(900, i)).chain((0..500).map(|i| given[900 + i] * fade(500, i))).collect();
    for engine in [Engine::Factor, Engine::Scatter] {
        let options = FitOptions::new().engine(engine).forgetting(Forgetting::PerRow(f));
        let one = options.fit(Block::from(Csr::of(a.view()).rows()).weighted(&given[..900])).unwrap();
        let two = options.fit(Block::from(Csr::of(b.view()).rows()).weighted(&given[900..])).unwrap();
        let both = one.merge(&two, Truncation::None).unwrap();
        let truth = weighted_oracle(support::stack(&a, &b).view(), &weights);
        assert!(distance(&both, &truth).worst() <= 8.0 * allowed(1400, 18));
        let view = both.standardize().unwrap();
        let scales = truth.scatter.diag().mapv(|q| (truth.weight / q).sqrt());
        let wanted = Array2::from_shape_fn((18, 18), |(i, j)| truth.scatter[[i, j]] * scales[i] * scales[j]);
        let error =
            support::frobenius(&(support::scatter_of(view.model()) - &wanted)) / support::jacobi_svd(wanted).0[0];
        assert!(error <= 64.0 * allowed(1400, 18), "{engine:?}: {error:e}");
        let alone = weighted_oracle(a.view(), &weights[..900]);
        let left = both.split(&two).unwrap();
        let error = support::frobenius(&(support::scatter_of(&left) - &alone.scatter)) / alone.eigenvalues[0];
        assert!(error <= 1e-10, "{engine:?}: {error:e}");
    }
}

#[test]
fn a_column_that_is_the_same_in_every_sparse_row_has_no_scatter() {
    let mut rows = thin(9, 900, 1200);
    rows.column_mut(0).fill(0.1);
    rows.column_mut(1).fill(1000.0 / 3.0);
    let csr = Csr::of(rows.view());
    let model = FitOptions::new().components(5).engine(Engine::Factor).fit(csr.rows()).unwrap();
    assert_eq!((model.feature_scatter()[0], model.feature_scatter()[1]), (0.0, 0.0));
    let tiny = vec![1e-170; 900];
    let light = FitOptions::new()
        .components(5)
        .max_rank(60)
        .engine(Engine::Factor)
        .fit(Block::from(csr.rows()).weighted(&tiny))
        .unwrap();
    let plain = FitOptions::new().components(5).max_rank(60).engine(Engine::Factor).fit(csr.rows()).unwrap();
    assert!((light.all_singular_values()[0] / plain.all_singular_values()[0] / 1e-85 - 1.0).abs() < 1e-9);
    assert!((light.certificate().lost() / plain.certificate().lost() / 1e-170 - 1.0).abs() < 1e-6);
}

#[test]
fn reading_many_sparse_rows_does_not_ask_for_them_made_dense() {
    let (features, n) = (1_000_000, 300);
    let offsets: Vec<usize> = (0..=n).collect();
    let columns: Vec<usize> = (0..n).map(|i| i * 3001).collect();
    let mut stream = FitOptions::new().components(2).max_rank(5).stream(features).unwrap();
    stream.update(SparseRows::new(features, &offsets, &columns, &vec![1.0; n]).unwrap()).unwrap();
    let Err(Error::MemoryBudget { needed, .. }) = stream.try_model(0) else { panic!("reading needs memory") };
    assert!(needed < 8 * 60 * features as u64, "{} rows", needed / 8 / features as u64);
}
