//! Rows, queries, and a slow reference: plain loops for the covariance, Jacobi rotations for its eigenvalues. It shares no
//! code with the library.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Schema};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use eigenspace::EigenspaceModel;

/// Number of features of the test rows.
pub(crate) const D: usize = 4;

/// Rows with clearly different variances, from a fixed sequence of pseudo-random numbers.
pub(crate) fn rows(count: usize) -> Vec<[f64; D]> {
    let mut state = 12345_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..count)
        .map(|_| {
            let (u, v, w, z) = (8.0 * next(), 3.0 * next(), next(), 0.3 * next());
            [u + v + 10.0, u - v + w, 2.0 * w - 0.5 * u + 1.0, z + 0.25 * v - w]
        })
        .collect()
}

/// The site of row i.
pub(crate) fn site(row: usize) -> &'static str {
    ["north", "south", "south", "west"][row % 4]
}

/// The weight of row i: 0, 1, 2, 0, …
pub(crate) fn weight(row: usize) -> usize {
    row % 3
}

pub(crate) fn lists(rows: &[[f64; D]]) -> ArrayRef {
    let cells = Float64Array::from_iter_values(rows.iter().flatten().copied());
    let element = Arc::new(Field::new_list_field(DataType::Float64, true));
    Arc::new(FixedSizeListArray::new(element, D as i32, Arc::new(cells), None))
}

/// The table `t` with the columns site, day, w, a, b, c, d and x = (a, b, c, d).
pub(crate) fn batch(rows: &[[f64; D]], first: usize) -> RecordBatch {
    let numbers =
        |column: usize| -> ArrayRef { Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row[column]))) };
    let places = first..first + rows.len();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("site", Arc::new(StringArray::from_iter_values(places.clone().map(site)))),
        ("day", Arc::new(Int64Array::from_iter_values(places.clone().map(|row| row as i64)))),
        ("w", Arc::new(Int64Array::from_iter_values(places.map(|row| weight(row) as i64)))),
        ("a", numbers(0)),
        ("b", numbers(1)),
        ("c", numbers(2)),
        ("d", numbers(3)),
        ("x", lists(rows)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A session with the table `t` of these rows, in this many partitions of small batches.
pub(crate) fn session_of(rows: &[[f64; D]], partitions: usize) -> SessionContext {
    let context = eigenspace_sql::context(Some(partitions));
    let share = rows.len().div_ceil(partitions);
    let batches: Vec<Vec<RecordBatch>> = (0..partitions)
        .map(|part| {
            let own = &rows[(part * share).min(rows.len())..((part + 1) * share).min(rows.len())];
            let starts = (0..own.len()).step_by(37);
            starts.map(|start| batch(&own[start..own.len().min(start + 37)], part * share + start)).collect()
        })
        .collect();
    let schema = batch(&rows[..0], 0).schema();
    context.register_table("t", Arc::new(MemTable::try_new(schema, batches).unwrap())).unwrap();
    context
}

/// The same with 300 rows.
pub(crate) fn session(partitions: usize) -> SessionContext {
    session_of(&rows(300), partitions)
}

/// The result of a query as one batch.
pub(crate) async fn ask(context: &SessionContext, query: &str) -> RecordBatch {
    let frame = context.sql(query).await.unwrap();
    let schema: Arc<Schema> = frame.schema().inner().clone();
    let batches = frame.collect().await.unwrap_or_else(|error| panic!("{query}: {error}"));
    datafusion::arrow::compute::concat_batches(&schema, &batches).unwrap()
}

/// The error of a query, which may come while it is planned or while it runs.
pub(crate) async fn refusal(context: &SessionContext, query: &str) -> String {
    let result = match context.sql(query).await {
        Ok(frame) => frame.collect().await.map(drop),
        Err(error) => Err(error),
    };
    let error = result.expect_err(query);
    eigenspace_sql::Error::inside(&error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The model in a row of the column with this number; `None` for NULL.
pub(crate) fn model(batch: &RecordBatch, column: usize, row: usize) -> Option<EigenspaceModel> {
    let models = batch.column(column).as_binary::<i64>();
    models.is_valid(row).then(|| EigenspaceModel::from_bytes(models.value(row)).unwrap())
}

/// The only model that a query returns.
pub(crate) async fn one_model(context: &SessionContext, query: &str) -> EigenspaceModel {
    let batch = ask(context, query).await;
    assert_eq!((batch.num_rows(), batch.num_columns()), (1, 1), "{query}");
    model(&batch, 0, 0).unwrap()
}

/// The numbers of a list.
pub(crate) fn list(array: &ArrayRef, row: usize) -> Vec<f64> {
    array.as_list::<i32>().value(row).as_primitive::<Float64Type>().values().to_vec()
}

/// Batch PCA by plain loops.
pub(crate) struct Reference {
    pub(crate) count: usize,
    pub(crate) mean: Vec<f64>,
    /// Eigenvalues of the scatter, largest first, and their vectors.
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Vec<Vec<f64>>,
}

impl Reference {
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a [f64; D]>) -> Self {
        let rows: Vec<&[f64; D]> = rows.into_iter().collect();
        let mean: Vec<f64> = (0..D).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / rows.len() as f64).collect();
        let mut scatter = vec![vec![0.0; D]; D];
        for row in &rows {
            for (i, line) in scatter.iter_mut().enumerate() {
                for (j, cell) in line.iter_mut().enumerate() {
                    *cell += (row[i] - mean[i]) * (row[j] - mean[j]);
                }
            }
        }
        let (values, vectors) = jacobi(scatter);
        Self { count: rows.len(), mean, values, vectors }
    }

    /// Checks count, mean, singular values and components, up to the sign of each component.
    pub(crate) fn check(&self, model: &EigenspaceModel) {
        assert_eq!(model.count(), self.count as u64);
        for (found, expected) in model.mean().iter().zip(&self.mean) {
            assert!((found - expected).abs() < 1e-12, "mean {found}, expected {expected}");
        }
        assert_eq!(model.all_singular_values().len(), D.min(self.count - 1));
        for (found, expected) in model.all_singular_values().iter().zip(&self.values) {
            // The scatter is computed to about n ε relative to its largest eigenvalue, on both sides.
            assert!((found * found - expected).abs() < 1e-12 * self.values[0], "{found}² and {expected}");
        }
        for (component, expected) in model.components().outer_iter().zip(&self.vectors) {
            let product: f64 = component.iter().zip(expected).map(|(a, b)| a * b).sum();
            assert!((product.abs() - 1.0).abs() < 1e-12, "component {component} and {expected:?}");
        }
    }

    /// The scores of a row along the reference's directions.
    pub(crate) fn scores(&self, row: &[f64; D], k: usize) -> Vec<f64> {
        let along = |vector: &Vec<f64>| (0..D).map(|j| vector[j] * (row[j] - self.mean[j])).sum();
        self.vectors.iter().take(k).map(along).collect()
    }
}

/// Eigenvalues and eigenvectors of a symmetric matrix, largest first, by cyclic Jacobi rotations.
fn jacobi(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (s, c) = angle.sin_cos();
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for k in 0..n {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                    (v[p][k], v[q][k]) = (c * v[p][k] - s * v[q][k], s * v[p][k] + c * v[q][k]);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    (order.iter().map(|&i| a[i][i]).collect(), order.iter().map(|&i| v[i].clone()).collect())
}
