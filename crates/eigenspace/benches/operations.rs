//! Times of batch, update, merge, split, stream and project over features, rank and block.
//!
//! `cargo bench --bench operations -- merge` runs the benchmarks whose name contains `merge`.
//! Absolute times of a shared machine mean little; compare lines of one run.
#![allow(missing_docs)]

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use eigenspace::{EigenspaceModel, FitOptions, Method, Truncation};
use ndarray::Array2;

/// Rows with a decaying spectrum, the same in every run.
fn rows(n: usize, features: usize) -> Array2<f64> {
    let mut state = 11_u64;
    Array2::from_shape_simple_fn((n, features), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    })
}

fn model(n: usize, features: usize, rank: usize) -> EigenspaceModel {
    EigenspaceModel::fit_with(rows(n, features).view(), Method::Auto, Truncation::Rank(rank)).expect("finite rows")
}

fn batch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("batch");
    for (n, features) in [(400, 10_304), (2_000, 64), (2_000, 784)] {
        let data = rows(n, features);
        for method in [Method::Gram, Method::Covariance, Method::Svd] {
            let sensible = match method {
                Method::Gram => n < features,
                Method::Covariance => features <= n,
                _ => features < 10_000,
            };
            if sensible {
                let name = BenchmarkId::new(format!("{method:?}"), format!("{n}x{features}"));
                group.bench_function(name, |bench| {
                    bench.iter(|| EigenspaceModel::fit_with(data.view(), method, Truncation::None));
                });
            }
        }
    }
}

fn update(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("update");
    for features in [784, 10_304] {
        for rank in [20, 50] {
            let model = model(rank + 1, features, rank);
            for block in [1, 10, 100] {
                let data = rows(block, features);
                let name = BenchmarkId::from_parameter(format!("D{features} r{rank} m{block}"));
                group.bench_function(name, |bench| bench.iter(|| model.update(data.view(), Truncation::Rank(rank))));
            }
            let data = rows(1, features);
            let name = BenchmarkId::from_parameter(format!("D{features} r{rank} brand"));
            group.bench_function(name, |bench| bench.iter(|| model.update_row(data.row(0), Truncation::Rank(rank))));
        }
    }
}

fn merge_and_split(criterion: &mut Criterion) {
    for features in [784, 10_304] {
        for rank in [20, 50] {
            let data = rows(2 * rank + 2, features);
            let (one, two) = data.view().split_at(ndarray::Axis(0), rank + 1);
            let [one, two] = [one, two].map(|rows| EigenspaceModel::fit(rows).expect("finite rows"));
            let both = one.merge(&two, Truncation::None).expect("same width");
            let name = format!("D{features} r{rank}");
            let mut group = criterion.benchmark_group("merge");
            group.bench_function(&name, |bench| bench.iter(|| one.merge(&two, Truncation::Rank(rank))));
            group.finish();
            let mut group = criterion.benchmark_group("split");
            group.bench_function(&name, |bench| bench.iter(|| both.split(&two)));
        }
    }
}

fn stream(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream 1000 rows");
    for (features, rank) in [(784, 50), (4_096, 50), (10_304, 50), (10_304, 132)] {
        let data = rows(1_000, features);
        let options = FitOptions::new().components(50).max_rank(rank);
        for block in [1, 50, 1_000] {
            let name = BenchmarkId::from_parameter(format!("D{features} r{rank} m{block}"));
            group.bench_function(name, |bench| {
                bench.iter_batched_ref(
                    || options.stream(features).expect("valid options"),
                    |stream| data.axis_chunks_iter(ndarray::Axis(0), block).try_for_each(|rows| stream.update(rows)),
                    BatchSize::LargeInput,
                );
            });
        }
    }
}

fn project(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("project 1000 rows");
    for features in [784, 10_304] {
        let (data, model) = (rows(1_000, features), model(51, features, 50));
        let narrow = data.mapv(|x| x as f32);
        group.bench_function(format!("D{features} k50 f64"), |bench| bench.iter(|| model.project(data.view())));
        group.bench_function(format!("D{features} k50 f32"), |bench| bench.iter(|| model.project(narrow.view())));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = batch, update, merge_and_split, stream, project
}
criterion_main!(benches);
