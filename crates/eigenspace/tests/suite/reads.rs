//! Reads of a stream while rows arrive: the components, and scores without the components.

use eigenspace::{Block, EigenspaceStream, Engine, FitOptions, Forgetting, Preview, SparseRows};
use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::support::{EPS, Oracle, Random, allowed, oracle, stack, weighted_oracle};

const FEATURES: usize = 300;
const K: usize = 4;

fn options() -> FitOptions {
    FitOptions::new().components(K).engine(Engine::Factor)
}

/// Rows with 60 directions, whose strengths fall by a fifth each, about a point.
fn rows(seed: u64, n: usize, offset: f64) -> Array2<f64> {
    let mut random = Random::new(seed);
    let spectrum: Vec<f64> = (0..60).map(|i| 10.0 * 0.8_f64.powi(i)).collect();
    let mixing = random.with_spectrum(60, FEATURES, &spectrum);
    let point = Array1::from_shape_simple_fn(FEATURES, || offset * (1.0 + random.uniform()));
    random.matrix(n, 60).dot(&mixing) + point
}

fn first(rows: &Array2<f64>, n: usize) -> ArrayView2<'_, f64> {
    rows.slice_axis(Axis(0), (..n).into())
}

/// The error of the oracle's scatter because its mean is one number per feature, relative to λ₁.
fn error_of_mean(truth: &Oracle, offset: f64) -> f64 {
    truth.weight * FEATURES as f64 * (EPS * offset).powi(2) / truth.eigenvalues[0]
}

/// Compares values and directions with the oracle. Both scatters have a relative rounding of
/// `allowed`, which turns a direction by at most that times λ₁ over its gap.
fn check(preview: &Preview, truth: &Oracle, n: usize, offset: f64) {
    let rounding = allowed(n, FEATURES) + error_of_mean(truth, offset);
    let lambda = &truth.eigenvalues;
    assert_eq!((preview.count(), preview.n_components()), (truth.count, K));
    let certificate = preview.certificate();
    for k in 0..K {
        let value = preview.singular_values()[k].powi(2);
        assert!((value - lambda[k]).abs() <= rounding * lambda[0], "{n} rows, value {k}: {value} {}", lambda[k]);
        let gap = (lambda[k] - lambda[k + 1]).min(if k > 0 { lambda[k - 1] - lambda[k] } else { f64::INFINITY });
        let (ours, theirs) = (preview.components().row(k).to_owned(), truth.directions.row(k).to_owned());
        let theirs = &theirs * ours.dot(&theirs).signum();
        let off = (&ours - &theirs).mapv(|x| x * x).sum().sqrt();
        assert!(off <= 4.0 * rounding * lambda[0] / gap, "{n} rows, direction {k}: {off:e}");
    }
    for (i, value) in lambda.iter().enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        let slack = rounding * lambda[0];
        assert!(low <= value + slack && *value <= high + slack, "{n} rows, bound {i}: {low} {value} {high}");
    }
}

/// Compares scores through the products of rows with scores along the components. The rounding of
/// the products is relative to the lengths of the rows, and is divided by s_k.
fn check_scores(stream: &EigenspaceStream, probes: &Array2<f64>) {
    let scores = stream.project_few(probes.view()).unwrap().expect("the components are not known yet");
    let preview = stream.preview().unwrap();
    let by_components = preview.project(probes.view()).unwrap();
    assert_eq!(scores.dim(), by_components.dim());
    let (largest, n) = (preview.singular_values()[0], preview.count() as f64);
    for (z, expected) in scores.rows().into_iter().zip(by_components.rows()) {
        let spread = expected.dot(&expected).sqrt() + largest;
        for k in 0..K {
            let rounding = allowed(n as usize, FEATURES) * spread * (largest / preview.singular_values()[k]).powi(2);
            assert!((z[k] - expected[k]).abs() <= rounding, "{n} rows, score {k}: {} {}", z[k], expected[k]);
        }
    }
}

#[test]
fn reads_after_every_row_equal_batch_pca() {
    for offset in [0.0, 1e8] {
        let rows = rows(1, 70, offset);
        let mut stream = options().stream(FEATURES).unwrap();
        for n in 1..=70 {
            stream.update(rows.slice_axis(Axis(0), (n - 1..n).into())).unwrap();
            if n >= 28 {
                check_scores(&stream, &rows.slice_axis(Axis(0), (n - 2..n).into()).to_owned());
            }
            if n > K && (n % 7 == 0 || n < 8) {
                check(&stream.preview().unwrap(), &oracle(first(&rows, n)), n, offset);
            }
        }
    }
}

#[test]
fn a_single_read_equals_batch_pca() {
    for (n, offset) in [(70, 0.0), (70, 1e8), (30, -5.0)] {
        let rows = rows(11, n, offset);
        let mut stream = options().stream(FEATURES).unwrap();
        stream.update(&rows).unwrap();
        check(&stream.preview_once().unwrap(), &oracle(rows.view()), n, offset);
    }
}

#[test]
fn scores_after_earlier_reads_have_the_bytes_of_a_first_read() {
    let rows = rows(12, 90, 3.0);
    let mut read_often = options().stream(FEATURES).unwrap();
    for n in 30..=90 {
        let start = if n == 30 { 0 } else { n - 1 };
        read_often.update(rows.slice_axis(Axis(0), (start..n).into())).unwrap();
        let mut read_once = options().stream(FEATURES).unwrap();
        read_once.update(first(&rows, n)).unwrap();
        let probe = rows.slice_axis(Axis(0), (..1).into());
        assert_eq!(read_often.project_few(probe).unwrap(), read_once.project_few(probe).unwrap(), "{n} rows");
        if n % 10 == 0 {
            assert_eq!(read_often.preview().unwrap(), read_once.preview().unwrap(), "{n} rows");
        }
    }
}

#[test]
fn an_outlier_as_the_first_row_costs_no_digits_that_matter() {
    let mut rows = rows(2, 60, 0.0);
    rows.row_mut(0).mapv_inplace(|x| x * 1e6);
    let mut stream = options().stream(FEATURES).unwrap();
    for (n, row) in rows.axis_chunks_iter(Axis(0), 1).enumerate() {
        stream.update(row).unwrap();
        if n > 30 && n % 9 == 0 {
            stream.preview().unwrap();
        }
    }
    let (preview, truth) = (stream.preview().unwrap(), oracle(rows.view()));
    let difference = (preview.singular_values()[0].powi(2) - truth.eigenvalues[0]).abs();
    assert!(difference <= allowed(60, FEATURES) * truth.eigenvalues[0]);
    let model = stream.model().unwrap();
    for k in 0..K {
        let product = preview.components().row(k).dot(&model.components().row(k));
        assert!(product > 1.0 - 1e-12, "direction {k}: {product}");
    }
}

#[test]
fn a_first_row_with_almost_no_weight_does_not_spoil_the_products() {
    let mut rows = rows(3, 60, 0.0);
    rows.row_mut(0).fill(1e9);
    let mut weights = vec![1.0; 60];
    weights[0] = 1e-30;
    let mut stream = options().stream(FEATURES).unwrap();
    stream.update(Block::from(&rows).weighted(&weights)).unwrap();
    check(&stream.preview().unwrap(), &weighted_oracle(rows.view(), &weights), 60, 0.0);
}

#[test]
fn repeated_rows_and_few_directions_are_read_as_they_are() {
    let distinct = rows(4, 12, 5.0);
    let repeated = stack(&stack(&distinct, &distinct), &stack(&distinct, &distinct));
    let mut stream = options().stream(FEATURES).unwrap();
    for (n, row) in repeated.axis_chunks_iter(Axis(0), 1).enumerate() {
        stream.update(row).unwrap();
        if n > 27 {
            // 12 rows have 11 directions, fewer than a preview looks at.
            let (scores, preview) = (stream.project(row).unwrap(), stream.preview().unwrap());
            assert_eq!(scores, preview.project(row).unwrap());
            check(&preview, &oracle(first(&repeated, n + 1)), n + 1, 5.0);
        }
    }
    let same = Array2::from_elem((40, FEATURES), 3.25);
    let mut stream = options().stream(FEATURES).unwrap();
    stream.update(same.view()).unwrap();
    assert_eq!(stream.preview().unwrap().n_components(), 0);
    assert_eq!(stream.project(same.view()).unwrap().dim(), (40, 0));
}

#[test]
fn weights_and_forgetting_are_those_of_weighted_rows() {
    let rows = rows(5, 64, 20.0);
    let weights: Vec<f64> = (0..64).map(|i| 0.5 + f64::from(i % 5)).collect();
    let mut stream = options().stream(FEATURES).unwrap();
    let mut fading = options().forgetting(Forgetting::PerRow(0.97)).stream(FEATURES).unwrap();
    for n in 1..=64 {
        let row = rows.slice_axis(Axis(0), (n - 1..n).into());
        stream.update(Block::from(row).weighted(&weights[n - 1..n])).unwrap();
        fading.update(row).unwrap();
        if n >= 32 && n % 8 == 0 {
            check_scores(&stream, &row.to_owned());
            check_scores(&fading, &row.to_owned());
            let ages: Vec<f64> = (0..n).map(|i| 0.97_f64.powf((n - 1 - i) as f64)).collect();
            check(&stream.preview().unwrap(), &weighted_oracle(first(&rows, n), &weights[..n]), n, 20.0);
            check(&fading.preview().unwrap(), &weighted_oracle(first(&rows, n), &ages), n, 20.0);
        }
    }
}

#[test]
fn rows_that_are_not_centered_are_read_alike() {
    let rows = rows(6, 60, 0.1);
    let mut stream = options().centered(false).stream(FEATURES).unwrap();
    for row in rows.axis_chunks_iter(Axis(0), 1) {
        stream.update(row).unwrap();
        if stream.count().is_multiple_of(20) && stream.count() > 30 {
            check_scores(&stream, &row.to_owned());
        }
    }
    let (preview, model) = (stream.preview().unwrap(), options().centered(false).fit(rows.view()).unwrap());
    for k in 0..K {
        let product = preview.components().row(k).dot(&model.components().row(k));
        assert!(product > 1.0 - 1e-13, "direction {k}: {product}");
        let relative = preview.singular_values()[k] / model.singular_values()[k] - 1.0;
        assert!(relative.abs() <= allowed(60, FEATURES), "value {k}: {relative}");
    }
}

/// 30 directions fit the rank, so nothing is dropped, and batch PCA of all rows is the truth.
#[test]
fn reads_after_a_compression_equal_batch_pca() {
    let mut random = Random::new(7);
    let spectrum: Vec<f64> = (0..30).map(|i| 10.0 * 0.9_f64.powi(i)).collect();
    let mixing = random.with_spectrum(30, FEATURES, &spectrum);
    let rows = random.matrix(150, 30).dot(&mixing) + 4.0;
    for fade in [1.0, 0.98] {
        let mut stream =
            options().max_rank(40).block_rows(30).forgetting(Forgetting::PerRow(fade)).stream(FEATURES).unwrap();
        for n in 1..=150 {
            let row = rows.slice_axis(Axis(0), (n - 1..n).into());
            stream.update(row).unwrap();
            if n > 75 && n % 15 == 4 {
                check_scores(&stream, &row.to_owned());
                let ages: Vec<f64> = (0..n).map(|i| fade.powf((n - 1 - i) as f64)).collect();
                check(&stream.preview().unwrap(), &weighted_oracle(first(&rows, n), &ages), n, 4.0);
            }
        }
    }
}

#[test]
fn sparse_rows_are_read_as_dense_rows() {
    let dense = rows(8, 60, 0.0).mapv(|x| if x.abs() > 0.5 { x } else { 0.0 });
    let cells: Vec<Vec<(usize, f64)>> = dense
        .rows()
        .into_iter()
        .map(|row| row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect())
        .collect();
    let mut stream = options().stream(FEATURES).unwrap();
    for (n, cells) in cells.iter().enumerate() {
        let (columns, values): (Vec<usize>, Vec<f64>) = cells.iter().copied().unzip();
        stream.update(SparseRows::new(FEATURES, &[0, columns.len()], &columns, &values).unwrap()).unwrap();
        if n % 20 == 19 && n > 30 {
            check(&stream.preview().unwrap(), &oracle(first(&dense, n + 1)), n + 1, 0.0);
            let probe = dense.slice_axis(Axis(0), (n..=n).into());
            assert_eq!(stream.project(probe).unwrap(), stream.preview().unwrap().project(probe).unwrap());
        }
    }
}

/// What a stream says at its end: the model, the preview, and scores that were computed without it.
fn end(mut stream: EigenspaceStream, last: ArrayView2<'_, f64>) -> (Vec<u8>, Preview, Array2<f64>) {
    stream.update(last).unwrap();
    let scores = stream.project(last).unwrap();
    let preview = stream.preview().unwrap();
    (stream.model().unwrap().to_bytes(), preview, scores)
}

#[test]
fn earlier_reads_change_no_byte_of_any_read() {
    let rows = rows(9, 131, 2.0);
    for options in [
        options(),
        options().max_rank(40).block_rows(30),
        options().forgetting(Forgetting::HalfLife(40.0)),
        options().max_rank(40).block_rows(30).forgetting(Forgetting::PerRow(0.98)),
    ] {
        let streams: Vec<EigenspaceStream> = (0..6)
            .map(|reader| {
                let mut stream = options.stream(FEATURES).unwrap();
                let length = if reader == 5 { 13 } else { 1 };
                for (i, block) in first(&rows, 130).axis_chunks_iter(Axis(0), length).enumerate() {
                    stream.update(block).unwrap();
                    match reader {
                        1 => drop(stream.preview().unwrap()),
                        2 => drop(stream.project(block).unwrap()),
                        3 if i % 7 == 0 => drop((stream.project(block).unwrap(), stream.model().unwrap())),
                        4 if i == 90 => stream = EigenspaceStream::restore(&stream.checkpoint(""), &options).unwrap().0,
                        5 => drop((stream.preview().unwrap(), stream.clone())),
                        _ => {}
                    }
                }
                stream
            })
            .collect();
        let last = rows.slice_axis(Axis(0), (130..).into());
        let ends: Vec<_> = streams.into_iter().map(|stream| end(stream, last)).collect();
        for (reader, other) in ends.iter().enumerate().skip(1) {
            assert!(other.0 == ends[0].0, "model, reader {reader}, {options:?}");
            assert!(other.1 == ends[0].1, "preview, reader {reader}, {options:?}");
            assert!(other.2 == ends[0].2, "scores, reader {reader}, {options:?}");
        }
    }
}

#[test]
fn a_checkpoint_does_not_hold_what_reads_keep() {
    let rows = rows(10, 90, 0.0);
    let mut stream = options().stream(FEATURES).unwrap();
    stream.update(rows.view()).unwrap();
    let before = stream.checkpoint("");
    stream.project(first(&rows, 1)).unwrap();
    stream.preview().unwrap();
    assert!(stream.checkpoint("") == before);
}

#[test]
fn reads_have_the_same_bytes_with_one_two_and_four_threads() {
    let rows = Random::new(11).with_spectrum(120, 3000, &(0..80).map(|i| 0.95_f64.powi(i)).collect::<Vec<_>>());
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut stream = FitOptions::new().components(6).stream(3000).unwrap();
            stream.update(first(&rows, 100)).unwrap();
            stream.preview().unwrap();
            stream.update(rows.slice_axis(Axis(0), (100..).into())).unwrap();
            let scores = stream.project_few(first(&rows, 3)).unwrap().expect("the components are not known yet");
            (scores, stream.preview().unwrap())
        })
    };
    let one = run(1);
    for threads in [2, 4] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

/// In each component of twins, the largest entry occurs with both signs; no precision decides which
/// is larger.
#[test]
fn signs_that_cannot_be_told_are_those_of_the_components() {
    let half = rows(12, 60, 0.0);
    let mut twins = Array2::zeros((60, FEATURES));
    for j in 0..FEATURES / 2 {
        twins.column_mut(j).assign(&half.column(j));
        twins.column_mut(FEATURES / 2 + j).assign(&half.column(j).mapv(|x| -x));
    }
    let mut stream = options().stream(FEATURES).unwrap();
    stream.update(twins.view()).unwrap();
    let probe = first(&twins, 2);
    assert!(stream.project_few(probe).unwrap().is_none(), "the first of two equal entries decides");
    assert_eq!(stream.project(probe).unwrap(), stream.preview().unwrap().project(probe).unwrap());
}

/// Every kind of row has the scores of the same cells in an array, whether or not the components
/// are known.
#[test]
fn rows_of_any_kind_are_projected() {
    let rows = rows(14, 60, 0.0);
    let probe = first(&rows, 2).to_owned();
    let indices: Vec<usize> = (0..2).flat_map(|_| 0..FEATURES).collect();
    let cells: Vec<f64> = probe.iter().copied().collect();
    let sparse = SparseRows::new(FEATURES, &[0, FEATURES, 2 * FEATURES], &indices, &cells).unwrap();
    for components_are_known in [false, true] {
        let stream = || {
            let mut stream = options().stream(FEATURES).unwrap();
            stream.update(&rows).unwrap();
            if components_are_known {
                stream.preview().unwrap();
            }
            stream
        };
        let wanted = stream().project(&probe).unwrap();
        let length = cells.iter().map(|x| x * x).sum::<f64>().sqrt();
        let close = |found: Array2<f64>| (&found - &wanted).iter().all(|x| x.abs() <= 1e3 * EPS * length);
        assert!(close(stream().project(sparse).unwrap()));
        // A weight of zero does not leave a row out: scores do not depend on weights.
        assert!(close(stream().project(Block::from(&probe).weighted(&[0.0, 3.0])).unwrap()));
        assert!(stream().project(SparseRows::new(FEATURES + 1, &[0, 0], &[], &[]).unwrap()).is_err());
    }
}

#[test]
fn many_rows_are_projected_along_components_and_bad_rows_are_refused() {
    let rows = rows(13, 60, 0.0);
    let mut stream = options().stream(FEATURES).unwrap();
    stream.update(rows.view()).unwrap();
    assert!(stream.project_few(rows.view()).unwrap().is_none());
    assert!(stream.project(Array2::<f64>::zeros((1, 3)).view()).is_err());
    let mut bad = first(&rows, 2).to_owned();
    bad[[1, 7]] = f64::NAN;
    assert!(stream.project(bad.view()).is_err());
    let narrow = first(&rows, 2).mapv(|x| x as f32);
    let scores: Array2<f32> = stream.project(narrow.view()).unwrap();
    assert_eq!(scores.dim(), (2, K));
    // After some rows, the components are computed, and the scores stay the same up to rounding.
    let one: Vec<Array2<f64>> = (0..12).map(|_| stream.project(first(&rows, 1)).unwrap()).collect();
    let largest = one[0].iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    assert!(one.iter().all(|z| (z - &one[0]).iter().all(|x| x.abs() <= 1e-11 * largest)));
}
