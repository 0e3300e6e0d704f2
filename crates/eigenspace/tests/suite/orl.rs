//! The three tests of the specification on the ORL faces, with the defaults.
//!
//! The faces are 400 images of 92 × 112 pixels. `cargo xtask test` fetches them and sets
//! `EIGENSPACE_ORL`; without it these tests fail, because a skipped test would show nothing.

use std::path::PathBuf;
use std::sync::OnceLock;

use eigenspace::{EigenspaceModel, FitOptions, Method, Truncation, subspace_distance};
use ndarray::{Array2, Axis};

use crate::support::cut;

const PIXELS: usize = 92 * 112;

/// One face per row: people in order, images in order.
pub(crate) fn faces() -> &'static Array2<f64> {
    static FACES: OnceLock<Array2<f64>> = OnceLock::new();
    FACES.get_or_init(|| {
        let directory = std::env::var_os("EIGENSPACE_ORL").map(PathBuf::from);
        let directory = directory
            .expect("EIGENSPACE_ORL is not set: run `cargo xtask test`, or set it to what `cargo xtask orl` prints");
        let mut pixels = Vec::with_capacity(400 * PIXELS);
        for person in 1..=40 {
            for image in 1..=10 {
                let path = directory.join(format!("s{person}/{image}.pgm"));
                let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let header = b"P5\n92 112\n255\n";
                assert!(bytes.starts_with(header) && bytes.len() == header.len() + PIXELS, "{}", path.display());
                pixels.extend(bytes[header.len()..].iter().map(|&pixel| f64::from(pixel)));
            }
        }
        Array2::from_shape_vec((400, PIXELS), pixels).unwrap()
    })
}

/// The first 50 components, by a Jacobi eigensolver on the Gram matrix, all in loops.
fn truth() -> &'static Array2<f64> {
    static TRUTH: OnceLock<Array2<f64>> = OnceLock::new();
    TRUTH.get_or_init(|| {
        let rows = faces();
        let mean = rows.mean_axis(Axis(0)).unwrap();
        let centered = rows - &mean;
        // The rows' own coordinates: 400 numbers each, so that the rotations are short.
        let (left, values) = symmetric_jacobi(centered.dot(&centered.t()));
        let mut components = left.dot(&centered);
        for (mut row, value) in components.rows_mut().into_iter().zip(values) {
            row /= value.sqrt();
            let largest = row.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
            row *= largest.signum();
        }
        components
    })
}

/// The 50 leading eigenvectors (rows) and eigenvalues of a symmetric matrix.
fn symmetric_jacobi(mut g: Array2<f64>) -> (Array2<f64>, Vec<f64>) {
    let n = g.nrows();
    let mut vectors = Array2::<f64>::eye(n);
    let size = g.iter().map(|x| x * x).sum::<f64>().sqrt();
    for _ in 0..20 {
        let mut off = 0.0;
        for p in 0..n {
            for q in 0..p {
                let entry = g[[p, q]];
                off += entry * entry;
                if entry.abs() <= 1e-18 * size {
                    continue;
                }
                let theta = (g[[q, q]] - g[[p, p]]) / (2.0 * entry);
                let t = if theta == 0.0 { 1.0 } else { theta.signum() / (theta.abs() + (1.0 + theta * theta).sqrt()) };
                let cos = 1.0 / (1.0 + t * t).sqrt();
                let sin = cos * t;
                turn_rows(&mut g, p, q, cos, sin);
                for i in 0..n {
                    let (a, b) = (g[[i, p]], g[[i, q]]);
                    g[[i, p]] = a * cos - b * sin;
                    g[[i, q]] = a * sin + b * cos;
                }
                turn_rows(&mut vectors, p, q, cos, sin);
            }
        }
        if off.sqrt() <= 1e-16 * size {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| g[[b, b]].total_cmp(&g[[a, a]]));
    order.truncate(50);
    (vectors.select(Axis(0), &order), order.iter().map(|&i| g[[i, i]]).collect())
}

fn turn_rows(m: &mut Array2<f64>, p: usize, q: usize, cos: f64, sin: f64) {
    for j in 0..m.ncols() {
        let (a, b) = (m[[p, j]], m[[q, j]]);
        m[[p, j]] = a * cos - b * sin;
        m[[q, j]] = a * sin + b * cos;
    }
}

fn options() -> FitOptions {
    FitOptions::new().components(50)
}

#[test]
fn test_1_one_batch_equals_batch_pca() {
    let incremental = options().fit(faces().view()).unwrap();
    for method in [Method::Auto, Method::Svd] {
        let batch =
            EigenspaceModel::fit_with(faces().view(), method, Truncation::None).unwrap().with_components(50).unwrap();
        for model in [&incremental, &batch] {
            let worst = (&model.components() - truth()).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            assert!(worst <= 1e-10, "{method:?}: {worst:e}");
        }
    }
}

#[test]
fn test_2_two_batches_equal_one() {
    let rows = faces();
    let mut stream = options().stream(PIXELS).unwrap();
    stream.update(rows.slice_axis(Axis(0), (..200).into())).unwrap();
    stream.model().unwrap();
    stream.update(rows.slice_axis(Axis(0), (200..).into())).unwrap();
    let error = subspace_distance(stream.model().unwrap().components(), truth().view()).unwrap();
    assert!(error < 1e-6, "the specification's bound: {error:e}");
    assert!(error < 1e-11, "ours, for nothing was dropped: {error:e}");
    assert!(stream.model().unwrap().certificate().is_exact());
}

#[test]
fn test_2_holds_in_twenty_blocks_in_single_rows_and_for_merged_models() {
    let rows = faces();
    let in_blocks = |length: usize| {
        let mut stream = options().stream(PIXELS).unwrap();
        rows.axis_chunks_iter(Axis(0), length).for_each(|block| stream.update(block).unwrap());
        (*stream.model().unwrap()).clone()
    };
    let updated =
        cut(rows, &[100]).try_fold(EigenspaceModel::empty(PIXELS), |m, block| m.update(block, Truncation::None));
    let parts: Vec<_> = rows.axis_chunks_iter(Axis(0), 100).map(|part| options().fit(part).unwrap()).collect();
    let merged = EigenspaceModel::merge_all(&parts, Truncation::None);
    let roads = [
        ("twenty blocks of twenty", in_blocks(20)),
        ("four hundred single rows", in_blocks(1)),
        ("updates of a model", updated.unwrap().with_components(50).unwrap()),
        ("merged quarters", merged.unwrap()),
    ];
    for (road, model) in roads {
        assert_eq!((model.count(), model.rank()), (400, 399), "{road}");
        let error = subspace_distance(model.components(), truth().view()).unwrap();
        assert!(error < 1e-11, "{road}: {error:e}");
    }
}

#[test]
fn test_3_the_reconstruction_error_falls_with_every_component_more() {
    let errors: Vec<f64> = [10, 20, 30, 40, 50]
        .map(|k| {
            let model = FitOptions::new().components(k).fit(faces().view()).unwrap();
            let back = model.reconstruct(model.project(faces().view()).unwrap().view()).unwrap();
            let by_hand = (faces() - &back).iter().map(|x| x * x).sum::<f64>().sqrt();
            let reported = model.reconstruction_error(faces().view()).unwrap().frobenius;
            assert!((by_hand / reported - 1.0).abs() < 1e-12);
            by_hand
        })
        .to_vec();
    assert!(errors.windows(2).all(|pair| pair[0] > pair[1]), "{errors:?}");
}

#[test]
fn keeping_no_more_than_is_shown_is_wrong_and_the_certificate_says_so() {
    let rows = faces();
    let mut lean = options().max_rank(50).block_rows(150).stream(PIXELS).unwrap();
    rows.axis_chunks_iter(Axis(0), 200).for_each(|block| lean.update(block).unwrap());
    let model = lean.model().unwrap();
    let error = subspace_distance(model.components(), truth().view()).unwrap();
    assert!(error > 0.01, "{error}");
    assert!(!model.certificate().is_exact());
    assert!(model.certificate().angle_bound(50) >= error);
}
