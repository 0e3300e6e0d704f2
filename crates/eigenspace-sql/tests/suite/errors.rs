//! What is refused, and what the message says.

use std::sync::Arc;

use datafusion::arrow::array::{ListArray, RecordBatch};
use datafusion::arrow::datatypes::Float64Type;
use datafusion::datasource::MemTable;

use crate::support::{refusal, session};

#[tokio::test]
async fn distinct_is_refused_with_a_reason() {
    let context = session(2);
    let queries = [
        ("pca", "SELECT pca(DISTINCT x, 2) FROM t"),
        ("pca", "SELECT site, pca(DISTINCT a, b, 2) FROM t GROUP BY site"),
        ("pca_weighted", "SELECT pca_weighted(DISTINCT x, w, 2) FROM t"),
        ("pca_merge", "SELECT pca_merge(DISTINCT m) FROM (SELECT pca(x, 1) AS m FROM t GROUP BY site)"),
    ];
    for (function, query) in queries {
        let expected = format!(
            "{function}: DISTINCT is not supported, because the state of a fit does not keep its rows\n\
             hint: remove duplicates first: FROM (SELECT DISTINCT … FROM …)"
        );
        assert_eq!(refusal(&context, query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn missing_values_are_refused_with_row_and_column() {
    let context = session(1);
    let counted = "(partitions are counted from 0, and rows within their group and partition)";
    let queries = [
        ("pca(CASE WHEN day <> 41 THEN x END, 2)", "pca: in partition 0, row 41: the list is NULL"),
        ("pca([a, CASE WHEN day <> 50 THEN b END], 2)", "pca: in partition 0, row 50, column 1: the value is NULL"),
        ("pca(a, CASE WHEN day <> 99 THEN b END, 2)", "pca: in partition 0, row 99, column 1: the value is NULL"),
        (
            "pca(a, CASE WHEN day = 77 THEN 'NaN'::double ELSE b END, 2)",
            "pca: in partition 0, row 77, column 1: the value is NaN, expected a finite number",
        ),
        (
            "pca_weighted(x, CASE WHEN day <> 40 THEN w END, 2)",
            "pca_weighted: in partition 0, row 40: the weight is NULL",
        ),
        (
            "pca_weighted(x, CASE WHEN day = 40 THEN -1 ELSE w END, 2)",
            "pca_weighted: in partition 0, row 40: the weight is -1.0, expected a number from 0 to 1e140",
        ),
        (
            "pca(array_resize([a, b, c], CASE WHEN day = 10 THEN 2 ELSE 3 END), 2)",
            "pca: in partition 0, row 10: the list has 2 numbers, those before it have 3",
        ),
        ("pca(array_resize([a, b, c], CASE WHEN day < 200 THEN 2 ELSE 3 END), 2)", "the list has 3 numbers"),
    ];
    for (call, expected) in queries {
        let found = refusal(&context, &format!("SELECT {call} FROM t")).await;
        assert!(found.contains(expected), "{call}: {found}");
        assert!(found.contains(counted) && found.contains("\nhint: "), "{call}: {found}");
    }
    // Four partitions of 75 rows: the row is named as its partition counts it.
    let found = refusal(&session(4), "SELECT pca(a, nullif(day, 200), 2) FROM t").await;
    assert!(found.starts_with("pca: in partition 2, row 50, column 1: the value is NULL"), "{found}");
    // A frame belongs to no partition of the table.
    let found = refusal(&context, "SELECT pca(a, nullif(day, 200), 2) OVER (ORDER BY day) FROM t").await;
    assert!(found.starts_with("pca: row 200, column 1: the value is NULL (rows are counted"), "{found}");
    // A column of a table is named.
    let query = "SELECT pca(a, v, 2) FROM (SELECT a, nullif(day, 200) AS v FROM t)";
    let found = refusal(&context, query).await;
    assert!(found.contains("row 200, column `v`: the value is NULL"), "{found}");
    // Rows are counted within their group.
    let found = refusal(&context, "SELECT site, pca(a, nullif(day, 8), 1) FROM t GROUP BY site").await;
    assert!(found.contains("row 2, column 1: the value is NULL"), "{found}");
}

#[tokio::test]
async fn lists_of_different_lengths_in_different_batches_are_refused() {
    let lists = |width: usize| {
        let list = ListArray::from_iter_primitive::<Float64Type, _, _>([Some(vec![Some(1.0); width])]);
        RecordBatch::try_from_iter([("x", Arc::new(list) as _)]).unwrap()
    };
    for partitions in [vec![vec![lists(3), lists(2)]], vec![vec![lists(3)], vec![lists(2)]]] {
        let context = eigenspace_sql::context(Some(2));
        let table = MemTable::try_new(lists(1).schema(), partitions).unwrap();
        context.register_table("u", Arc::new(table)).unwrap();
        let found = refusal(&context, "SELECT pca(x, 1) FROM u").await;
        let widths = found.contains("a list has 2 numbers, those before it have 3")
            || found.contains("a list has 3 numbers, those before it have 2")
            || found.contains("the numbers of features differ");
        assert!(widths && found.contains("\nhint: "), "{found}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_refused_while_planning() {
    let context = session(1);
    let queries = [
        ("pca(x)", "pca: 1 arguments are too few"),
        ("pca_weighted(x, 2)", "pca_weighted: 2 arguments are too few"),
        ("pca(site, 2)", "pca: a column of Utf8 has no numbers"),
        ("pca([site], 2)", "are not numbers"),
        ("pca(x, a, 2)", "pca: a column of lists cannot be combined with other columns"),
        ("pca_weighted(x, site, 2)", "pca_weighted: the weight is a column of Utf8, expected numbers"),
        ("pca(x, day)", "pca: invalid number of components: expected a constant"),
        ("pca(x, 0)", "pca: invalid number of components `0`\nhint: use a number such as 10"),
        ("pca(x, -3)", "pca: invalid number of components"),
        ("pca(x, NULL)", "pca: invalid number of components"),
        ("pca(x, 1.5)", "pca: invalid share of variance 1.5"),
        ("pca(x, 'many')", "pca: invalid number of components"),
        ("pca_merge(a)", "pca_merge: expected a model, found a column of Float64"),
        ("pca_merge(pca_split(NULL, NULL), 0)", "pca_merge: invalid rank: expected a constant of at least 1\nhint: "),
        ("max(pca_explained(a))", "pca_explained: expected a model, found a column of Float64"),
        ("max(pca_project(a, a))", "pca_project: expected a model, found a column of Float64"),
        ("max(pca_project(arrow_cast('x', 'Binary'), site))", "pca_project: a column of Utf8 has no numbers"),
    ];
    for (call, expected) in queries {
        let found = refusal(&context, &format!("SELECT {call} FROM t")).await;
        assert!(found.contains(expected), "{call}: {found}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_model_and_rows_that_do_not_fit_are_refused() {
    let context = session(1);
    let model = "(SELECT pca(a, b, c, 2) FROM t)";
    let queries = [
        ("pca_explained(arrow_cast('x', 'Binary'))".to_owned(), "pca_explained, row 0: "),
        (format!("pca_project({model}, a, b)"), "pca_project: the rows have 2 columns, but the model has 3 features"),
        (format!("pca_project({model}, a, c, b)"), "column 1 is `b` in one and `c` in the other"),
        (format!("pca_reconstruct({model}, [1, 2, 3, 4])"), "pca_reconstruct: the scores have 4 columns"),
        (format!("pca_project({model}, a, b, 'NaN'::double)"), "the value is NaN"),
        (
            format!("pca_split((SELECT pca(a, b, c, 2) FROM t WHERE day < 5), {model})"),
            "pca_split: cannot split 300 rows",
        ),
    ];
    for (call, expected) in queries {
        let found = refusal(&context, &format!("SELECT {call} FROM t")).await;
        assert!(found.contains(expected) && found.contains("\nhint: "), "{call}: {found}");
    }
}
