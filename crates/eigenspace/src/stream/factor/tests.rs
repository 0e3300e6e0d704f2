//! Compressions: rows of a factor stay orthogonal, and what is dropped and rounded is counted as
//! the equations say.

use std::cell::Cell;

use ndarray::array;

use super::*;
use crate::model::moments::Absorbed;
use crate::model::weight::Weight;
use crate::rows::block::Block;
use crate::rows::sparse::SparseRows;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::options::FitOptions;
use crate::stream::plan::Engine;
use crate::stream::state::EngineState;

const FEATURES: usize = 300;
const BLOCK: usize = 110;

fn stream() -> EigenspaceStream {
    FitOptions::new()
        .components(40)
        .max_rank(100)
        .engine(Engine::Factor)
        .block_rows(BLOCK)
        .stream(FEATURES)
        .expect("good rows")
}

/// Directions whose strength decreases slowly, and some noise.
fn block(seed: usize) -> Array2<f64> {
    let wave = |i: usize, j: usize| (((i * 7919 + j * 104_729 + i * j) % 9973) as f64 / 9973.0) - 0.5;
    let loads = Array2::from_shape_fn((BLOCK, 120), |(i, k)| wave(i + BLOCK * seed, k + 13) * 0.96_f64.powi(k as i32));
    let directions = Array2::from_shape_fn((120, FEATURES), |(k, j)| wave(k + 1, j + 1));
    loads.dot(&directions) + Array2::from_shape_fn((BLOCK, FEATURES), |(i, j)| 0.01 * wave(i + seed, j + 7))
}

/// The largest product of two different rows of F, relative to the largest squared length.
fn skew(stream: &EigenspaceStream) -> f64 {
    let f = stream.state.buffer.factor();
    let products = f.dot(&f.t());
    let largest = products.diag().iter().fold(0.0_f64, |a, b| a.max(*b));
    let off_diagonal = products.indexed_iter().filter(|((i, j), _)| i != j).map(|(_, x)| x.abs()).fold(0.0, f64::max);
    off_diagonal / largest.max(f64::MIN_POSITIVE)
}

fn compressions(stream: &EigenspaceStream) -> u64 {
    match &stream.state.engine {
        EngineState::Factor(factor) => factor.compressions(),
        EngineState::Scatter(_) => 0,
    }
}

/// Bound on the skew after sixteen compressions: each leaves at most the residual that `leading`
/// accepts, with ‖T‖ ≤ 3 λ₁.
fn trusted() -> f64 {
    TRUSTED_COMPRESSIONS as f64 * 12.0 * f64::EPSILON * ((100 + BLOCK) as f64).sqrt()
}

#[test]
fn rows_of_a_factor_stay_orthogonal_over_many_compressions() {
    let mut stream = stream();
    for turn in 0..50 {
        stream.update(block(turn).view()).expect("good rows");
        assert!(skew(&stream) <= trusted(), "turn {turn}: {}", skew(&stream));
    }
    assert!(compressions(&stream) > 40);
}

#[test]
fn rows_of_a_factor_stay_orthogonal_when_dense_and_sparse_rows_take_turns() {
    let mut mixed = stream();
    for turn in 0..50 {
        let rows = block(turn);
        if turn % 2 == 0 {
            let thin: Vec<(usize, f64)> =
                rows.indexed_iter().map(|((_, j), x)| (j, *x)).filter(|(j, _)| j % 3 == turn % 3).collect();
            let each = thin.len() / BLOCK;
            let offsets: Vec<usize> = (0..=BLOCK).map(|i| i * each).collect();
            let (columns, values): (Vec<usize>, Vec<f64>) = thin.into_iter().unzip();
            mixed
                .update(SparseRows::new(FEATURES, &offsets, &columns, &values).expect("good rows"))
                .expect("good rows");
        } else {
            mixed.update(rows.view()).expect("good rows");
        }
        assert!(skew(&mixed) <= trusted(), "turn {turn}: {}", skew(&mixed));
    }
    assert!(compressions(&mixed) > 40);
}

const U: f64 = f64::EPSILON / 2.0;

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 64.0 * U * expected.abs(), "{found:e}, not {expected:e}");
}

/// Moments of 9 rows with this scatter.
fn moments(scatter: Array1<f64>) -> Moments {
    let features = scatter.len();
    Moments::empty(features).with_rows(9, Weight::of_rows(9), 9.0).with_scatter(scatter)
}

/// A factor of 9 rows after this number of compressions, and its buffer: two rows that are *not*
/// orthogonal, and `pending`.
fn factor(compressions: u64, pending: &Array2<f64>, sparse: bool) -> (Factor, RowBuffer) {
    let f = array![[4.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0, 1.0]];
    let q = array![17.0, 4.0, 0.0, 0.0, 1.0];
    let mut buffer = RowBuffer::starting_with(f);
    let which: Vec<usize> = (0..pending.nrows()).collect();
    if sparse {
        let cells: Vec<(usize, f64)> = pending.indexed_iter().map(|((_, j), x)| (j, *x)).collect();
        let offsets: Vec<usize> = (0..=pending.nrows()).map(|i| 5 * i).collect();
        let (columns, values): (Vec<usize>, Vec<f64>) = cells.into_iter().unzip();
        let rows = SparseRows::new(5, &offsets, &columns, &values).expect("good rows");
        buffer.append(&Block::from(rows), &which, true, usize::MAX, |_| 0);
    } else {
        buffer.append(&Block::from(pending), &which, false, usize::MAX, |_| 0);
    }
    let before = moments(q).with_mean(array![0.0, 0.0, 0.0, 5.0, 0.0], Array1::zeros(5));
    (Factor { compressions, ..Factor::new(before, Bound::exact(5)) }, buffer)
}

/// Rows far from zero, so that centering cancels digits; the fourth feature is always 5.
fn pending(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 5), |(i, j)| if j == 3 { 5.0 } else { (10 + 3 * i * i + 7 * i * j + j) as f64 })
}

fn rule(standardized: bool) -> Rule<'static> {
    Rule {
        limit: Rank::AtMost(5),
        standardized,
        cut: &|squared, _| Cut { keep: squared.len(), lost: 0.0, shrink: 0.0 },
    }
}

/// Compares the lower triangle of a Gram matrix with the products of these rows, where some are
/// taken to be orthogonal.
#[track_caller]
fn has_products(gram: &Array2<f64>, rows: &Array2<f64>, orthogonal: usize) {
    let products = rows.dot(&rows.t());
    let largest = products.diag().iter().fold(0.0_f64, |a, b| a.max(*b));
    assert_eq!(gram.dim(), products.dim());
    for ((i, j), product) in products.indexed_iter().filter(|((i, j), _)| i >= j) {
        let expected = if i != j && i < orthogonal { 0.0 } else { *product };
        assert!((gram[[i, j]] - expected).abs() <= 256.0 * U * largest, "{i}, {j}: {} {expected}", gram[[i, j]]);
    }
}

#[test]
fn products_of_the_factor_are_trusted_for_sixteen_compressions() {
    for standardized in [false, true] {
        for compressions in [0, 1, 15, 16, 17] {
            let trusted = if standardized || compressions % 16 == 0 { 0 } else { 2 };
            let (factor, mut buffer) = factor(compressions, &pending(3), false);
            let prepared = factor.prepare_dense(&mut buffer, None, &rule(standardized)).expect("good rows");
            let units = prepared.moments.scatter().mapv(|q| if q > 0.0 { q.sqrt() } else { 1.0 });
            let rows = if standardized { &buffer.all() / &units } else { buffer.all().to_owned() };
            has_products(&prepared.gram, &rows, trusted);
            assert_eq!(prepared.units, standardized.then_some(units));
            // As many rows as features, rotated once, there and back.
            assert_eq!((prepared.rounding, prepared.cancellation), (rotation(10), 0.0));
        }
    }
}

#[test]
fn more_rows_than_features_are_rotated_twice() {
    let (factor, mut buffer) = factor(1, &pending(4), false);
    let prepared = factor.prepare_dense(&mut buffer, None, &rule(false)).expect("good rows");
    assert_eq!((buffer.all().nrows(), prepared.gram.nrows(), prepared.rounding), (5, 5, rotation(20)));
    has_products(&prepared.gram, &buffer.all().to_owned(), 0);
}

#[test]
fn centering_inside_products_is_counted() {
    let weights = [1.0, 2.0];
    for standardized in [false, true] {
        for compressions in [1, 16] {
            let (factor, buffer) = factor(compressions, &pending(2), true);
            let prepared = factor.prepare_sparse(&buffer, &weights, &rule(standardized)).expect("good rows");
            let (q, center) = (prepared.moments.scatter(), prepared.center.expect("sparse rows"));
            let units = q.mapv(|q| if standardized && q > 0.0 { q.sqrt() } else { 1.0 });
            let centered = (pending(2) - &center) * array![[1.0], [2_f64.sqrt()]];
            let rows = ndarray::concatenate![Axis(0), buffer.factor(), centered] / &units;
            has_products(&prepared.gram, &rows, if standardized || compressions == 16 { 0 } else { 2 });
            // 64 u w Σt², and columns that are √(1 + w max t²/q) as long.
            let squares = (&center / &units).mapv(|t| t * t).sum();
            near(prepared.cancellation, 64.0 * U * 3.0 * squares);
            let varying = center.iter().zip(q).filter(|(_, q)| **q > 0.0);
            let worst = varying.map(|(t, q)| 3.0 * t * t / q).fold(0.0, f64::max);
            assert!(worst > 0.01 && q[3] == 0.0 && center[3] == 5.0, "{worst}");
            near(prepared.rounding.column_error(), rotation(8).column_error() * (1.0 + worst).sqrt());
            assert_eq!(prepared.rounding.for_longer_columns(0.0), rotation(8).for_longer_columns(0.0));
            let off = center.mapv(|t| 3_f64.sqrt() * U * t.abs());
            let (absorbed, _) = buffer.sparse().absorb(&factor.moments, &weights).expect("good rows");
            let expected = Bound::exact(5).shifted(absorbed.c(), &off, q).absorbed(&factor.moments, &absorbed);
            near(prepared.bound.noise(), expected.noise());
            assert!(expected.noise() > 1.001 * Bound::exact(5).absorbed(&factor.moments, &absorbed).noise());
            let pairs = prepared.bound.feature_noise().iter().zip(expected.feature_noise());
            pairs.for_each(|(found, expected)| near(*found, *expected));
        }
    }
}

#[test]
fn a_compression_counts_what_it_drops_and_rounds() {
    let (q, lost, error) = (array![20.0, 8.0, 1.0, 0.0, 4.0], 3.0, 5.0 * U);
    let f = array![[1.0, 2.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0, 1.0]];
    for units in [None, Some(array![2.0, 3.0, 1.0, 1.0, 2.0])] {
        let (mut found, _) = factor(6, &pending(1), false);
        let nothing = || Array1::zeros(5);
        let after = moments(q.clone()).with_rows(12, Weight::of_rows(12), 9.0);
        let absorbed = Absorbed::new(after.clone(), nothing(), nothing(), 20.0);
        let start = found.bound.absorbed(&found.moments, &absorbed);
        let prepared = Prepared {
            moments: after.clone(),
            bound: start.clone(),
            gram: Array2::zeros((0, 0)),
            units: units.clone(),
            center: None,
            cancellation: 7.0 * U,
            rounding: rotation(4),
        };
        let largest = linalg::squared_lengths(f.view()).iter().fold(0.0, |a: f64, b| a.max(*b));
        found.record(largest, prepared, lost, error);
        // The largest squared length of a row is 17.
        let expected = match &units {
            None => start.losing(lost).rounded(rotation(4).with_whole_error(12.0 * U), &q, 17.0),
            Some(units) => {
                start.with_lost(units * units * lost).rounded(rotation(4).with_feature_error(12.0 * U), &q, 17.0)
            }
        };
        assert_eq!((found.bound, found.moments, found.compressions), (expected, after, 7));
    }
}

#[test]
fn dropped_eigenvalues_below_the_rounding_of_products_are_rounding() {
    // Three eigenvalues of a problem of size 3, and five features of which two vary.
    let eigen = Eigen::of(Array2::from_diag(&array![16.0, 4.0, 1.0]).view(), 3);
    let few = moments(array![16.0, 5.0, 0.0, 0.0, 0.0]);
    let error = 8.0 * 19.0 * U * 16.0;
    let total = Cell::new(0.0);
    let cut = |keep: usize, lost: f64, moments: &Moments, units: Option<&Array1<f64>>| {
        let choose = |squared: &[f64], all: f64| {
            assert_eq!(squared.len(), 3);
            total.set(all);
            Cut { keep, lost, shrink: lost }
        };
        let (cut, error) = Rule { limit: Rank::AtMost(5), standardized: units.is_some(), cut: &choose }.cut_of(
            &eigen.values,
            eigen.size(),
            moments,
            units,
        );
        (cut.keep, cut.lost, cut.shrink, error)
    };
    assert_eq!(cut(2, 1.0, &few, None), (2, 1.0, 1.0, error));
    assert_eq!(total.get(), 21.0);
    assert_eq!(cut(2, error, &few, Some(&Array1::ones(5))), (2, 0.0, 0.0, 2.0 * error));
    assert_eq!(total.get(), 2.0, "in standardized units, each feature that varies has a scatter of 1");
    // All directions that the rows can span are kept.
    assert_eq!(cut(3, 1.0, &few, None), (3, 0.0, 0.0, 0.0));
    let two_rows = few.clone().with_rows(2, Weight::of_rows(9), 9.0);
    assert_eq!(cut(1, 1.0, &two_rows, None), (1, 0.0, 0.0, 0.0));
    let three_rows = few.with_rows(3, Weight::of_rows(9), 9.0);
    assert_eq!(cut(1, 1.0, &three_rows, None), (1, 1.0, 1.0, error));
}

#[test]
fn a_compression_shrinks_what_it_keeps() {
    let (mut found, mut buffer) = factor(0, &pending(1), false);
    let choose = |squared: &[f64], _: f64| Cut { keep: 1, lost: squared[1], shrink: squared[1] };
    let before = Cell::new((0.0, 0.0));
    let choose = |squared: &[f64], total: f64| {
        before.set((squared[0], squared[1]));
        choose(squared, total)
    };
    found
        .compress(&mut buffer, None, &Rule { limit: Rank::AtMost(1), standardized: false, cut: &choose })
        .expect("good rows");
    let (first, second) = before.get();
    let kept = buffer.factor().row(0).to_owned();
    assert_eq!(buffer.kept(), 1);
    assert!((kept.dot(&kept) - (first - second)).abs() <= 1e-12 * first);
    assert!(second > 1.0 && found.bound.lost().iter().all(|lost| *lost == second));
}

#[test]
fn forgetting_multiplies_scatters_by_a_weight_and_rows_by_its_root() {
    let (mut found, mut buffer) = factor(3, &Array2::zeros((0, 5)), false);
    found.bound = found.bound.losing(8.0);
    found.forget(&mut buffer, 0.25);
    assert_eq!(buffer.factor(), array![[2.0, 0.0, 0.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0, 0.5]]);
    assert_eq!((found.moments.weight().value(), found.moments.scatter()[0], found.bound.lost()[0]), (2.25, 4.25, 2.0));
    assert_eq!(found.compressions(), 3);
}
