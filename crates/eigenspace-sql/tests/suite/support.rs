//! Tables and queries.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Schema};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use eigenspace::EigenspaceModel;

use crate::reference::{D, rows, site, weight};

/// A column of lists of this length.
pub(crate) fn lists(rows: &[impl AsRef<[f64]>], width: usize) -> ArrayRef {
    let cells = Float64Array::from_iter_values(rows.iter().flat_map(|row| row.as_ref().iter().copied()));
    let element = Arc::new(Field::new_list_field(DataType::Float64, true));
    Arc::new(FixedSizeListArray::new(element, width as i32, Arc::new(cells), None))
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
        ("x", lists(rows, D)),
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
