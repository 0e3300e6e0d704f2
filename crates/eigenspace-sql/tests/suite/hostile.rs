//! What a careless or hostile user does: every query ends with a right result or a clear error,
//! never with a panic.

use std::fs;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, LargeBinaryArray, RecordBatch};
use datafusion::arrow::datatypes::{Int64Type, UInt64Type};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;

use crate::command::{command, write_npy};
use crate::reference::{D, Reference, rows};
use crate::support::{ask, model, one_model, refusal, session, session_of};

#[tokio::test]
async fn columns_that_are_not_numbers() {
    let context = session(1);
    for (column, kind) in [
        ("a > 1", "Boolean"),
        ("CAST('2026-01-01' AS DATE)", "Date32"),
        ("CAST('2026-01-01' AS TIMESTAMP)", "Timestamp"),
        ("named_struct('a', a)", "Struct"),
        ("[[a]]", "List"),
        ("NULL", "Null"),
        ("[]", "List"),
    ] {
        let found = refusal(&context, &format!("SELECT pca({column}, 1) FROM t")).await;
        assert!(found.starts_with("pca: ") && found.contains(kind) && found.contains("\nhint: "), "{column}: {found}");
    }
}

#[tokio::test]
async fn numbers_that_cannot_be_squared() {
    let context = session(1);
    for value in ["'Infinity'::double", "'-Infinity'::double", "1e200", "-1e141"] {
        let query = format!("SELECT pca(a, CASE WHEN day = 8 THEN {value} ELSE b END, 1) FROM t");
        let found = refusal(&context, &query).await;
        assert!(
            found.contains("pca: in partition 0, row 8, column 1: the value ") && found.contains("\nhint: "),
            "{value}: {found}"
        );
    }
}

#[tokio::test]
async fn tables_and_groups_without_rows() {
    let context = session(2);
    let none = "FROM t WHERE a > 1e9";
    let batch = ask(&context, &format!("SELECT pca(x, 2), pca(a, b, 2), pca_weighted(x, w, 2) {none}")).await;
    assert_eq!(batch.num_rows(), 1);
    assert!((0..3).all(|column| batch.column(column).is_null(0)));
    assert_eq!(ask(&context, &format!("SELECT site, pca(x, 2) {none} GROUP BY site")).await.num_rows(), 0);
    let scalars = "pca_explained(m), pca_components(m), pca_mean(m), pca_count(m), pca_describe(m), pca_certificate(m),
        pca_split(m, m), pca_project(m, [1, 2]), pca_reconstruct(m, [1]), pca_t2(m, 1, 2), pca_q(m, 1, 2), pca_merge(m) OVER ()";
    let batch = ask(&context, &format!("SELECT {scalars} FROM (SELECT pca(x, 2) AS m {none})")).await;
    assert_eq!(batch.num_rows(), 1);
    assert!(batch.columns().iter().all(|column| column.is_null(0)), "{batch:?}");
    let batch = ask(&context, &format!("SELECT {scalars} FROM (SELECT pca(x, 2) AS m {none} GROUP BY site)")).await;
    assert_eq!(batch.num_rows(), 0);
    // All weights are 0: there are no rows.
    let batch = ask(&context, "SELECT pca_weighted(x, 0, 2) FROM t").await;
    assert!(batch.column(0).is_null(0));
}

#[tokio::test]
async fn lists_without_numbers() {
    let found = refusal(&session(1), "SELECT pca(arrow_cast(array_resize(x, 0), 'List(Float64)'), 2) FROM t").await;
    assert!(found.starts_with("pca: ") && found.contains("columns") && found.contains("\nhint: "), "{found}");
}

#[tokio::test]
async fn numbers_of_components_of_any_size() {
    let context = session(2);
    for k in ["5", "1000000", "9223372036854775807", "18446744073709551615"] {
        let found = one_model(&context, &format!("SELECT pca(x, {k}) FROM t")).await;
        assert_eq!(found.n_components(), D, "{k}");
        Reference::of(&rows(300)).check(&found);
    }
    for k in ["18446744073709551616", "1e300", "'NaN'::double", "true", "x", "''"] {
        let found = refusal(&context, &format!("SELECT pca(x, {k}) FROM t")).await;
        assert!(found.starts_with("pca: ") && found.contains("\nhint: "), "{k}: {found}");
    }
    let one = one_model(&context, "SELECT pca(x, 3) FROM t WHERE day = 0").await;
    assert_eq!((one.count(), one.rank()), (1, 0));
}

#[tokio::test]
async fn models_of_other_widths() {
    let context = session(2);
    let models = "SELECT pca(a, b, 1) AS m FROM t UNION ALL SELECT pca(a, b, c, 1) AS m FROM t";
    for call in ["pca_merge(m)", "pca_merge(m) OVER ()", "pca_merge(m) OVER (ROWS 1 PRECEDING)"] {
        let found = refusal(&context, &format!("SELECT {call} FROM ({models})")).await;
        assert!(found.starts_with("pca_merge: ") && found.contains("\nhint: "), "{call}: {found}");
    }
    let pair = "(SELECT pca(a, b, c, 1) FROM t), (SELECT pca(a, b, 1) FROM t WHERE day < 9)";
    let found = refusal(&context, &format!("SELECT pca_split({pair})")).await;
    assert!(found.starts_with("pca_split: ") && found.contains("\nhint: "), "{found}");
    // Same width, other columns.
    let models = "SELECT pca(a, b, 1) AS m FROM t UNION ALL SELECT pca(b, a, 1) AS m FROM t";
    let found = refusal(&context, &format!("SELECT pca_merge(m) FROM ({models})")).await;
    assert!(found.contains("column 0 is `") && found.contains("\nhint: "), "{found}");
}

/// The number of components does not depend on the order in which states arrive.
#[tokio::test]
async fn models_that_report_other_numbers_of_components() {
    let context = session(2);
    for (one, two, expected) in [("1", "3", 3), ("2", "'all'", D), ("1", "0.9999999", D), ("0.1", "0.9999999", D)] {
        for (first, second) in [(one, two), (two, one)] {
            let part = |k: &str, days: &str| format!("SELECT pca(x, {k}) AS m FROM t WHERE {days}");
            let models = format!("{} UNION ALL {}", part(first, "day < 100"), part(second, "day >= 100"));
            for call in ["pca_merge(m)", "pca_merge(m, 4)", "pca_merge(m) OVER ()"] {
                let found = one_model(&context, &format!("SELECT {call} FROM ({models}) LIMIT 1")).await;
                assert_eq!((found.count(), found.n_components()), (300, expected), "{first}, {second}, {call}");
            }
        }
    }
}

/// Rows that are NULL have no result, but are counted.
#[tokio::test]
async fn rows_in_errors_of_scalars_are_those_of_the_batch() {
    let context = session(1);
    let model = "(SELECT pca(a, b, 1) FROM t)";
    for (value, words) in
        [("'NaN'::double", "value is NaN"), ("'Infinity'::double", "value is inf"), ("1e200", "1e200")]
    {
        let row = format!("CASE WHEN day > 4 THEN a END, CASE WHEN day = 10 THEN {value} ELSE b END");
        for call in ["pca_project", "pca_t2", "pca_q"] {
            let found = refusal(&context, &format!("SELECT {call}({model}, {row}) FROM t")).await;
            let place = format!("{call}: row 10, column 1: the ");
            assert!(found.starts_with(&place) && found.contains(words), "{found}");
            assert!(found.contains("(rows are counted from 0 within their batch)\nhint: "), "{found}");
        }
    }
    let found = refusal(&context, "SELECT pca(a, CASE WHEN day = 3 THEN 'NaN'::double ELSE b END, 1) FROM t").await;
    assert!(
        found.ends_with(
            "\nhint: leave out such rows with WHERE or FILTER (WHERE NOT isnan(…)), or replace the NaN with nanvl"
        ),
        "{found}"
    );
}

/// Two rows of 70,000 columns have one direction, that of their difference.
#[tokio::test]
async fn more_columns_than_other_systems_accept() {
    let context = eigenspace_sql::context(Some(2));
    let wide = "SELECT array_agg(CAST(value % 7 + k AS DOUBLE)) AS x FROM generate_series(1, 70000), (VALUES (0), (3)) AS v(k) GROUP BY k";
    let found = one_model(&context, &format!("SELECT pca(x, 5) FROM ({wide})")).await;
    assert_eq!((found.count(), found.features(), found.n_components()), (2, 70_000, 1));
}

/// A table `u` with one column of these bytes.
fn table_of(context: &SessionContext, bytes: Vec<Option<&[u8]>>) {
    let column: ArrayRef = Arc::new(LargeBinaryArray::from(bytes));
    let batch = RecordBatch::try_from_iter([("m", column)]).unwrap();
    let _ = context.deregister_table("u").unwrap();
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).unwrap();
    context.register_table("u", Arc::new(table)).unwrap();
}

#[tokio::test]
async fn bytes_that_were_changed() {
    let context = session(1);
    let whole = one_model(&context, "SELECT pca(x, 2) FROM t").await.to_bytes();
    let calls = [
        "pca_merge(m)",
        "max(pca_count(m))",
        "max(pca_describe(m))",
        "count(pca_explained(m))",
        "count(pca_components(m))",
        "count(pca_mean(m))",
        "count(pca_certificate(m))",
        "count(pca_split(m, m))",
        "count(pca_project(m, [1, 2, 3, 4]))",
        "count(pca_reconstruct(m, [1, 2]))",
        "max(pca_t2(m, [1, 2, 3, 4]))",
        "max(pca_q(m, [1, 2, 3, 4]))",
    ];
    for (number, call) in calls.into_iter().enumerate() {
        // Every call gets other damage: each sixth byte changed once, and every length.
        for place in (number..whole.len()).step_by(6 * calls.len()) {
            let mut changed = whole.clone();
            changed[place] ^= 0x55;
            table_of(&context, vec![Some(&changed)]);
            let found = refusal(&context, &format!("SELECT {call} FROM u")).await;
            assert!(found.starts_with("pca_") && found.contains(", row 0: "), "{call}, byte {place}: {found}");
        }
        for length in [0, 1, 7, 8, 9, whole.len() / 2, whole.len() - 1] {
            table_of(&context, vec![None, Some(&whole[..length])]);
            let found = refusal(&context, &format!("SELECT {call} FROM u")).await;
            assert!(found.starts_with("pca_") && found.contains(", row 1: "), "{call}, length {length}: {found}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        table_of(&context, vec![Some(&longer)]);
        assert!(refusal(&context, &format!("SELECT {call} FROM u")).await.starts_with("pca_"), "{call}");
    }
    // A table that shows them is not an error.
    table_of(&context, vec![Some(&whole[..9])]);
    assert_eq!(ask(&context, "SELECT m FROM u").await.num_rows(), 1);
}

/// A model merged with itself has twice as many rows; after 60 times there are too many to count.
#[tokio::test]
async fn more_rows_than_can_be_counted() {
    let context = session(1);
    let mut bytes = one_model(&context, "SELECT pca(x, 2) FROM t").await.to_bytes();
    for doubled in 0..64 {
        table_of(&context, vec![Some(&bytes), Some(&bytes)]);
        if 300_u64.checked_mul(1 << doubled).and_then(|count| count.checked_mul(2)).is_none() {
            let found = refusal(&context, "SELECT pca_merge(m) FROM u").await;
            assert!(found.starts_with("pca_merge: the row count would exceed 2^64 - 1"), "{found}");
            return;
        }
        let merged = one_model(&context, "SELECT pca_merge(m) FROM u").await;
        assert_eq!(merged.count(), 300 << (doubled + 1));
        bytes = merged.to_bytes();
    }
    panic!("no count was refused");
}

#[tokio::test]
async fn groups_of_every_kind() {
    let context = session_of(&rows(600), 3);
    let query = "SELECT site, day % 2 AS odd, pca_count(pca(x, 1)) AS n FROM t GROUP BY";
    for (groups, expected) in [
        // North has even days only, west odd ones.
        ("CUBE (site, day % 2)", 4 + 3 + 2 + 1),
        ("ROLLUP (site, day % 2)", 4 + 3 + 1),
        ("GROUPING SETS ((site), (day % 2), ())", 3 + 2 + 1),
    ] {
        let batch = ask(&context, &format!("{query} {groups}")).await;
        assert_eq!(batch.num_rows(), expected, "{groups}");
        let largest = batch.column(2).as_primitive::<UInt64Type>().iter().flatten().max();
        assert_eq!(largest, Some(600), "{groups}");
    }
    // One group for each row, most of them with a single row.
    let batch = ask(&context, "SELECT count(*) FROM (SELECT pca(x, 1) AS m FROM t GROUP BY a, b)").await;
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(0), 600);
    let batch = ask(&context, "SELECT pca(x, 1) FROM t GROUP BY a HAVING pca_count(pca(x, 1)) > 1").await;
    assert_eq!(batch.num_rows(), 0);
    assert!(model(&ask(&context, "SELECT pca(x, 1) FROM t ORDER BY 1").await, 0, 0).is_some());
}

/// A file that is there while the query is written, and gone when it is read, is not a table
/// without rows.
#[tokio::test]
async fn a_file_that_vanishes() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let copy = "SELECT 1.5 AS a, 2.5 AS b UNION ALL SELECT 3, 4";
    assert!(command(place, &["--output", "rows.parquet", copy]).status.success());
    fs::write(place.join("rows.csv"), "a,b\n1,2\n3,5\n").unwrap();
    fs::create_dir(place.join("data")).unwrap();
    fs::write(place.join("data/one.csv"), "a,b\n1,2\n3,5\n").unwrap();
    write_npy(&place.join("rows.npy"), &rows(40));
    for (name, file, call) in [
        ("rows.csv", "rows.csv", "pca(a, b, 1)"),
        ("rows.parquet", "rows.parquet", "pca(a, b, 1)"),
        ("rows.npy", "rows.npy", "pca(features, 1)"),
        ("data/*.csv", "data/one.csv", "pca(a, b, 1)"),
        ("data", "data/one.csv", "pca(a, b, 1)"),
    ] {
        let path = place.join(file);
        let bytes = fs::read(&path).unwrap();
        let context = eigenspace_sql::context(Some(1));
        let sources =
            [format!("'{0}/{name}'", place.display()), format!("(SELECT * FROM '{0}/{name}')", place.display())];
        for source in sources {
            let frame = context.sql(&format!("SELECT {call} FROM {source}")).await.unwrap();
            assert!(frame.clone().collect().await.is_ok());
            fs::remove_file(&path).unwrap();
            let error = frame.collect().await.unwrap_err();
            let text = eigenspace_sql::Error::inside(&error).unwrap().to_string();
            assert!(text.starts_with("cannot read `") && text.contains(name), "{name}: {text}");
            assert!(text.contains("o such file") && text.contains("\nhint: "), "{name}: {text}");
            fs::write(&path, &bytes).unwrap();
        }
    }
}

/// An NPY file that is replaced by one with other columns, or fewer rows, is not read as if it were
/// the first one.
#[tokio::test]
async fn an_array_that_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.npy");
    let query = format!("SELECT pca(features, 1), count(*) FROM '{}'", path.display());
    let whole = rows(40);
    let wide: Vec<[f64; 2 * D]> = whole.chunks(2).map(|two| std::array::from_fn(|j| two[j / D][j % D])).collect();
    for changed in ["wider", "shorter"] {
        write_npy(&path, &whole);
        let context = eigenspace_sql::context(Some(1));
        let frame = context.sql(&query).await.unwrap();
        match changed {
            "wider" => write_npy(&path, &wide),
            _ => write_npy(&path, &whole[..39]),
        }
        let error = frame.collect().await.unwrap_err();
        let text = eigenspace_sql::Error::inside(&error).unwrap().to_string();
        assert!(
            text.ends_with("rows.npy` has changed since the query was planned\nhint: run the query again"),
            "{text}"
        );
    }
}

#[test]
fn files_with_nothing_or_something_else_in_them() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    fs::write(place.join("empty.csv"), "").unwrap();
    fs::write(place.join("header.csv"), "a,b\n").unwrap();
    fs::write(place.join("ragged.csv"), "a,b\n1,2\n3,4,5\n").unwrap();
    fs::write(place.join("words.csv"), "a,b\n1,two\n").unwrap();
    for ending in ["parquet", "arrow", "npy", "npz", "json"] {
        fs::write(place.join(format!("empty.{ending}")), "").unwrap();
        fs::write(place.join(format!("text.{ending}")), "this is not such a file\n").unwrap();
    }
    fs::create_dir(place.join("none")).unwrap();
    // Columns without a value have no type.
    let output = command(place, &["SELECT pca(CAST(a AS DOUBLE), CAST(b AS DOUBLE), 1) AS m FROM 'header.csv'"]);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("| NULL |"));
    let failing = [
        "SELECT pca(a, b, 1) FROM 'header.csv'",
        "SELECT pca(a, b, 1) FROM 'empty.csv'",
        "SELECT pca(a, b, 1) FROM 'ragged.csv'",
        "SELECT pca(a, b, 1) FROM 'words.csv'",
        "SELECT count(*) FROM 'empty.parquet'",
        "SELECT count(*) FROM 'text.parquet'",
        "SELECT count(*) FROM 'text.arrow'",
        "SELECT count(*) FROM 'empty.npy'",
        "SELECT count(*) FROM 'text.npy'",
        "SELECT count(*) FROM 'empty.npz'",
        "SELECT count(*) FROM 'text.npz'",
        "SELECT count(*) FROM 'text.json'",
        "SELECT * FROM 'none'",
        "SELECT 1; SELECT 2",
        "",
        ";",
        "SELECT pca(a, b, 1) FROM 'header.csv' WHERE",
    ];
    for query in failing {
        let output = command(place, &["--models", "out", query]);
        let heard = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{query}: {heard}");
        assert!(heard.starts_with("error: ") && output.stdout.is_empty(), "{query}: {heard}");
        assert!(!heard.contains("panicked") && !heard.contains("RUST_BACKTRACE"), "{query}: {heard}");
        assert!(!place.join("out").exists(), "{query}");
    }
}

/// Files that match a pattern have columns in any order; one that lacks a column has NULL there.
#[test]
fn patterns_of_files_that_differ() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    for (name, query) in [
        ("p1", "SELECT 1.5 AS a, 2.5 AS b UNION ALL SELECT 3, 4"),
        ("p2", "SELECT 9.5 AS b, 6.5 AS a"),
        ("q1", "SELECT 1.5 AS a"),
    ] {
        assert!(command(place, &["--output", &format!("{name}.parquet"), query]).status.success());
    }
    let mean = "SELECT pca_count(pca(a, b, 1)) AS n, round(pca_mean(pca(a, b, 1))[2], 3) AS b FROM";
    for source in [
        "'p*.parquet'",
        "'p[12].parquet'",
        "'p?.parquet'",
        "(SELECT a, b FROM 'p1.parquet' UNION ALL SELECT a, b FROM 'p2.parquet')",
    ] {
        let output = command(place, &[&format!("{mean} {source}")]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains("| 3 | 5.333 |"), "{source}: {printed}");
    }
    let output = command(place, &[&format!("{mean} '*.parquet'")]);
    let heard = String::from_utf8(output.stderr).unwrap();
    assert!(
        heard.starts_with("error: ") && heard.contains("'b'") && heard.contains("\nhint: all files of a pattern"),
        "{heard}"
    );
}

#[test]
fn files_named_like_patterns_and_statements_that_are_not_queries() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let names = ["st*r.csv", "sp ace.csv", "quo'te.csv", "per%20cent.csv", "ha#sh.csv", "semi;colon.csv", "q?m.csv"];
    for name in names {
        fs::write(place.join(name), "a,b\n1,2\n3,5\n").unwrap();
        let output =
            command(place, &[&format!("SELECT pca_count(pca(a, b, 1)) AS n FROM '{}'", name.replace('\'', "''"))]);
        assert!(String::from_utf8_lossy(&output.stdout).contains("| 2 |"), "{name}: {output:?}");
    }
    fs::write(place.join("part[1].csv"), "a,b\n1,2\n3,5\n").unwrap();
    let output = command(place, &["SELECT * FROM 'part[1].csv'"]);
    let heard = String::from_utf8(output.stderr).unwrap();
    assert!(heard.ends_with("\nhint: write ? instead of them: 'part?1?.csv'\n"), "{heard}");
    let output = command(place, &["SELECT count(*) AS n FROM 'part?1?.csv'"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("| 2 |"), "{output:?}");
    for query in [
        "CREATE TABLE u AS SELECT 1",
        "SET datafusion.execution.batch_size = 5",
        "DROP TABLE u",
        "COPY (SELECT 1) TO 'out.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'",
        "INSERT INTO '.' SELECT 1, 2",
    ] {
        let heard = String::from_utf8(command(place, &[query]).stderr).unwrap();
        assert!(
            heard.starts_with("error: this statement is not a query") && heard.contains("\nhint: "),
            "{query}: {heard}"
        );
        assert!(!place.join("out.csv").exists(), "{query}");
    }
}

/// Names of columns are those of the model, with all their characters.
#[test]
fn columns_with_any_names() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    fs::write(place.join("rows.csv"), "\"a b\",\"c\"\"d\",É,a.b,SELECT\n1,2,3,4,5\n3,5,1,2,2\n").unwrap();
    let query = "SELECT pca(\"a b\", \"c\"\"d\", \"É\", \"a.b\", \"SELECT\", 1) AS \"m; /x\" FROM 'rows.csv'";
    let output = command(place, &["--models", "out", query]);
    assert!(output.status.success(), "{output:?}");
    let found = eigenspace::EigenspaceModel::load(place.join("out/m___x.safetensors")).unwrap();
    assert_eq!(found.metadata().feature_names().unwrap(), ["a b", "c\"d", "É", "a.b", "SELECT"]);
}

/// Names of groups become names of files; none of them leaves the directory.
#[test]
fn groups_named_like_paths() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    fs::write(place.join("rows.csv"), "name,a,b\n../../up,1,2\n/etc/x,3,4\n-rf,5,6\n.hidden,7,8\n\u{1b}[31m,9,1\n")
        .unwrap();
    let query = "SELECT name, pca(a, b, 1) FROM 'rows.csv' GROUP BY name";
    let output = command(place, &["--models", "out", query]);
    let heard = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !heard.contains('\u{1b}'), "{heard}");
    let mut names: Vec<_> = fs::read_dir(place.join("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    let expected = [
        "_-rf.safetensors",
        "_.._.._up.safetensors",
        "_.hidden.safetensors",
        "__31m.safetensors",
        "_etc_x.safetensors",
    ];
    assert_eq!(names, expected);
}
