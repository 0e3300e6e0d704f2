//! More than 1,024 features: states drop directions, so results are compared within the bounds of
//! their certificates.
//!
//! The rows are mixed by the Hartley matrix H, which is orthogonal, so their eigenvalues and
//! directions are known:
//!
//! ```text
//! rows  μ ± H diag(s) E,     H_ij = (cos 2πij/n + sin 2πij/n) / √n,     scatter = 2 Eᵀ diag(s²) E
//! ```
//!
//! where E has different rows of the identity matrix.

use std::f64::consts::TAU;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::Accumulator;
use datafusion::physical_expr::aggregate::AggregateExprBuilder;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use eigenspace::EigenspaceModel;

use crate::reference::jacobi;
use crate::support::{ask, lists, model, one_model};

/// Number of features.
const D: usize = 1030;
/// Number of components.
const K: usize = 3;

/// The length of direction j: three that stand out, and a tail that is nearly flat, so that much is
/// dropped.
fn length(direction: usize) -> f64 {
    [30.0, 20.0, 12.0].get(direction).copied().unwrap_or(1.0 + 1.0 / direction as f64)
}

/// The feature of direction j; 7 and D have no common divisor.
fn feature(direction: usize) -> usize {
    (7 * direction + 3) % D
}

fn mean(feature: usize) -> f64 {
    (feature % 5) as f64 - 2.0
}

/// Twice as many rows as there are directions. A row is followed by its opposite.
fn rows(directions: usize) -> Vec<Vec<f64>> {
    let root = (directions as f64).sqrt();
    let row = |i: usize, sign: f64| {
        let mut row: Vec<f64> = (0..D).map(mean).collect();
        for j in 0..directions {
            let turn = TAU * (i * j % directions) as f64 / directions as f64;
            row[feature(j)] += sign * length(j) * (turn.cos() + turn.sin()) / root;
        }
        row
    };
    (0..directions).flat_map(|i| [row(i, 1.0), row(i, -1.0)]).collect()
}

/// Checks a model of all `rows(directions)` of which directions were dropped.
fn check_within_certificate(model: &EigenspaceModel, directions: usize) {
    let certificate = model.certificate();
    assert!(certificate.is_proven() && !certificate.is_exact());
    assert_eq!((model.count(), model.features()), (2 * directions as u64, D));
    assert!(model.n_components() == K && model.rank() < directions);
    // The mean of n cells below 5 is off by at most n ε of them.
    let allowed = 5.0 * model.count() as f64 * f64::EPSILON;
    assert!(model.mean().iter().enumerate().all(|(column, found)| (found - mean(column)).abs() < allowed));
    for j in 0..K {
        let (low, high) = certificate.eigenvalue_bound(j);
        let expected = 2.0 * length(j).powi(2);
        assert!(low <= expected && expected <= high, "{expected} is not between {low} and {high}");
    }
    // What the components have outside of the true subspace: a K x K matrix, whose largest
    // eigenvalue is the squared sine.
    let components = model.components();
    let outside: Vec<usize> = (0..D).filter(|&column| (0..K).all(|j| feature(j) != column)).collect();
    let product =
        |a: usize, b: usize| outside.iter().map(|&column| components[[a, column]] * components[[b, column]]).sum();
    let (squares, _) = jacobi((0..K).map(|a| (0..K).map(|b| product(a, b)).collect()).collect());
    let (sine, bound) = (squares[0].sqrt(), certificate.angle_bound(K));
    assert!(sine <= bound && bound < 1.0, "{sine} and {bound}");
}

/// A session with the table `t` of these rows, with the columns `day` and `x`, in this many
/// partitions.
fn session_of(rows: &[Vec<f64>], partitions: usize) -> SessionContext {
    let context = eigenspace_sql::context(Some(partitions));
    let share = rows.len().div_ceil(partitions);
    let batch = |(part, rows): (usize, &[Vec<f64>])| {
        let first = (part * share) as i64;
        let days: ArrayRef = Arc::new(Int64Array::from_iter_values(first..first + rows.len() as i64));
        vec![RecordBatch::try_from_iter([("day", days), ("x", lists(rows, D))]).unwrap()]
    };
    let parts: Vec<_> = rows.chunks(share).enumerate().map(batch).collect();
    let table = MemTable::try_new(parts[0][0].schema(), parts).unwrap();
    context.register_table("t", Arc::new(table)).unwrap();
    context
}

/// States of partitions drop other directions than one state of all rows, and so do other orders of
/// the partitions.
#[tokio::test]
async fn partitions_of_wide_rows_are_within_the_certificate() {
    let all = rows(D);
    let mut found = Vec::new();
    for partitions in [1, 2, 3] {
        let model = one_model(&session_of(&all, partitions), &format!("SELECT pca(x, {K}) FROM t")).await;
        check_within_certificate(&model, D);
        found.push(model.singular_values()[K - 1]);
    }
    // These are no rounding errors.
    assert!((found[0] - found[2]).abs() > 1e-9, "{found:?}");
    // The same for models of groups that are merged.
    let groups = format!("SELECT day % 3 AS g, pca(x, {K}) AS m FROM t GROUP BY day % 3");
    let merged = format!("SELECT pca_merge(m, {}) FROM ({groups})", 2 * K + 32);
    check_within_certificate(&one_model(&session_of(&all, 2), &merged).await, D);
}

/// The model of a frame of few rows is exact: its singular values are those of the inner products
/// of the rows.
#[tokio::test]
async fn short_frames_of_wide_rows_are_exact() {
    let all = rows(40);
    for (frame, first) in [("ORDER BY day ROWS 19 PRECEDING", 20), ("ORDER BY day", 80)] {
        let query = format!("SELECT day, pca(x, {K}) OVER ({frame}) FROM t ORDER BY day");
        let batch = ask(&session_of(&all, 2), &query).await;
        for row in [1_usize, 19, 20, 45] {
            let frame = &all[(row + 1).saturating_sub(first)..=row];
            let found = model(&batch, 1, row).unwrap();
            assert!(found.certificate().is_exact());
            assert_eq!(found.count(), frame.len() as u64);
            let mean: Vec<f64> =
                (0..D).map(|j| frame.iter().map(|row| row[j]).sum::<f64>() / frame.len() as f64).collect();
            let product = |a: &Vec<f64>, b: &Vec<f64>| (0..D).map(|j| (a[j] - mean[j]) * (b[j] - mean[j])).sum::<f64>();
            let (values, _) = jacobi(frame.iter().map(|a| frame.iter().map(|b| product(a, b)).collect()).collect());
            for (found, expected) in found.singular_values().iter().zip(&values) {
                // D ε relative to the largest, on both sides.
                assert!((found * found - expected).abs() < 1e-12 * values[0], "{found}² and {expected}");
            }
        }
    }
}

/// A sliding frame of a column `x` of lists.
fn frame(width: usize) -> Box<dyn Accumulator> {
    let element = Arc::new(Field::new_list_field(DataType::Float64, true));
    let lists = DataType::FixedSizeList(element, width as i32);
    let schema = Arc::new(Schema::new(vec![Field::new("x", lists, false)]));
    let pca = eigenspace_sql::context(Some(1)).udaf("pca").unwrap();
    let k = Literal::new(ScalarValue::Int64(Some(K as i64)));
    let call = AggregateExprBuilder::new(pca, vec![Arc::new(Column::new("x", 0)), Arc::new(k)]);
    call.schema(schema).alias("m").build().unwrap().create_sliding_accumulator().unwrap()
}

/// The arguments of `pca(x, k)` for these rows.
fn arguments(rows: &[Vec<f64>]) -> [ArrayRef; 2] {
    let width = rows[0].len();
    [lists(rows, width), Arc::new(Int64Array::from(vec![K as i64; rows.len()]))]
}

/// A long frame of wide rows is fitted again for each result: the model is that of its rows as a
/// group, to the last bit.
#[tokio::test]
async fn a_long_frame_of_wide_rows_is_fitted_again() {
    const DIRECTIONS: usize = 300;
    let (inside, before) = (rows(DIRECTIONS), rows(30));
    let mut frame = frame(D);
    frame.update_batch(&arguments(&before)).unwrap();
    for part in inside.chunks(250) {
        frame.update_batch(&arguments(part)).unwrap();
    }
    frame.retract_batch(&arguments(&before)).unwrap();
    let ScalarValue::LargeBinary(Some(bytes)) = frame.evaluate().unwrap() else { panic!("no model") };
    check_within_certificate(&EigenspaceModel::from_bytes(&bytes).unwrap(), DIRECTIONS);
    let group = one_model(&session_of(&inside, 1), &format!("SELECT pca(x, {K}) FROM t")).await;
    assert!(bytes == group.to_bytes());
}

/// Of 1,099 rows, 75 are loose. The state of the last block has its 512 rows, and the state before
/// it has 512 rows and a scatter, which is two D x D matrices.
#[test]
fn the_size_of_a_frame_counts_its_rows_and_both_matrices_of_its_states() {
    const WIDTH: usize = 200;
    const ROWS: usize = 1100;
    let rows: Vec<Vec<f64>> = (0..ROWS).map(|i| (0..WIDTH).map(|j| ((i * (j + 3)) % 17) as f64).collect()).collect();
    let mut frame = frame(WIDTH);
    frame.update_batch(&arguments(&rows)).unwrap();
    frame.retract_batch(&arguments(&rows[..1])).unwrap();
    assert!(frame.size() >= 8 * WIDTH * (ROWS - 1 + 2 * 512 + 2 * WIDTH), "{}", frame.size());
}
