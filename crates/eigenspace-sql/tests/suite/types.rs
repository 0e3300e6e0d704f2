//! Every numeric type and every kind of list gives the same model.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, FixedSizeListArray, Float64Array, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::datasource::MemTable;

use crate::reference::{D, Reference, rows};
use crate::support::{ask, lists, one_model, session_of};

/// Rows of whole numbers, which every type holds exactly.
fn whole() -> Vec<[f64; D]> {
    rows(120).iter().map(|row| row.map(|value| (10.0 * value).round())).collect()
}

#[tokio::test]
async fn columns_of_every_numeric_type() {
    let context = session_of(&whole(), 2);
    let expected = Reference::of(&whole());
    for name in ["SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)"] {
        let columns = ["a", "b", "c", "d"].map(|column| format!("CAST({column} AS {name})")).join(", ");
        expected.check(&one_model(&context, &format!("SELECT pca({columns}, 2) FROM t")).await);
    }
    expected.check(&one_model(&context, "SELECT pca(a, CAST(b AS INT), c, d, 2) FROM t").await);
}

#[tokio::test]
async fn lists_of_every_kind() {
    let all = whole();
    let expected = Reference::of(&all);
    let element = |kind: DataType| Arc::new(Field::new_list_field(kind, true));
    let kinds = [
        DataType::List(element(DataType::Float64)),
        DataType::LargeList(element(DataType::Float64)),
        DataType::FixedSizeList(element(DataType::Float32), D as i32),
        DataType::List(element(DataType::Int16)),
        DataType::LargeList(element(DataType::Int64)),
    ];
    for kind in kinds {
        let column = cast(&lists(&all, D), &kind).unwrap();
        // A slice in two parts: offsets do not start at 0.
        let (one, two) = (column.slice(0, 50), column.slice(50, 70));
        let part = |array| vec![RecordBatch::try_from_iter([("x", array)]).unwrap()];
        let (one, two) = (part(one), part(two));
        let context = eigenspace_sql::context(Some(2));
        let table = MemTable::try_new(one[0].schema(), vec![one, two]).unwrap();
        context.register_table("u", Arc::new(table)).unwrap();
        expected.check(&one_model(&context, "SELECT pca(x, 2) FROM u").await);
        let scores = ask(&context, "SELECT pca_project((SELECT pca(x, 2) FROM u), x) FROM u").await;
        assert_eq!((scores.num_rows(), scores.column(0).null_count()), (120, 0));
    }
}

#[tokio::test]
async fn models_are_read_from_every_binary_type() {
    let context = session_of(&whole(), 1);
    for name in ["Binary", "LargeBinary", "BinaryView"] {
        let query =
            format!("SELECT pca_merge(arrow_cast(m, '{name}')) FROM (SELECT pca(x, 2) AS m FROM t GROUP BY site)");
        Reference::of(&whole()).check(&one_model(&context, &query).await);
        let query = format!("SELECT pca_describe(arrow_cast(pca(x, 2), '{name}')) FROM t");
        let batch = ask(&context, &query).await;
        assert_eq!(batch.column(0).as_string::<i32>().value(0), "model of 120 rows, 4 features, 2 components");
    }
}

#[tokio::test]
async fn more_features_than_the_scatter_holds() {
    // Above 1,024 features the state is a factor; few rows are kept as they are, so the model is
    // exact.
    let cells: Vec<f64> = rows(60 * 275).into_iter().flatten().collect();
    let element = Arc::new(Field::new_list_field(DataType::Float64, false));
    let part = |first: usize, count: usize| {
        let cells = Float64Array::from(cells[1100 * first..1100 * (first + count)].to_vec());
        let lists = FixedSizeListArray::new(Arc::clone(&element), 1100, Arc::new(cells), None);
        vec![RecordBatch::try_from_iter([("x", Arc::new(lists) as ArrayRef)]).unwrap()]
    };
    let parts = vec![part(0, 25), part(25, 5), part(30, 30)];
    let context = eigenspace_sql::context(Some(3));
    let table = MemTable::try_new(parts[0][0].schema(), parts).unwrap();
    context.register_table("u", Arc::new(table)).unwrap();
    let found = one_model(&context, "SELECT pca(x, 2) FROM u").await;
    assert_eq!((found.count(), found.features(), found.n_components()), (60, 1100, 2));
    assert!(found.certificate().is_exact());
    // The sum of the eigenvalues of the scatter is the sum of squares of the centered rows.
    let mean = |column: usize| (0..60).map(|row| cells[1100 * row + column]).sum::<f64>() / 60.0;
    let squares = |column: usize| (0..60).map(|row| (cells[1100 * row + column] - mean(column)).powi(2)).sum::<f64>();
    let expected: f64 = (0..1100).map(squares).sum();
    let total: f64 = found.all_singular_values().iter().map(|value| value * value).sum();
    assert!((total - expected).abs() < 1e-11 * expected, "{total}, expected {expected}");
}
