//! `pca`, `pca_weighted` and `pca_merge` against the reference: groups, filters, partitions.

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::util::pretty::pretty_format_batches;

use crate::reference::{D, Reference, rows, site, weight};
use crate::support::{ask, model, one_model, session, session_of};

#[tokio::test]
async fn a_model_of_lists_is_batch_pca() {
    let context = session(1);
    let found = one_model(&context, "SELECT pca(x, 2) FROM t").await;
    Reference::of(&rows(300)).check(&found);
    assert_eq!(found.n_components(), 2);
    assert!(found.certificate().is_exact());
    assert!(found.metadata().feature_names().is_none());
}

#[tokio::test]
async fn a_model_of_columns_is_the_same_and_knows_their_names() {
    let context = session(1);
    let columns = one_model(&context, "SELECT pca(a, b, c, d, 2) FROM t").await;
    Reference::of(&rows(300)).check(&columns);
    assert_eq!(columns.metadata().feature_names().unwrap(), ["a", "b", "c", "d"]);
    // Expressions have no names, and the same column twice has none either.
    let expressions = one_model(&context, "SELECT pca(a + 1, b, 1) FROM t").await;
    assert!(expressions.metadata().feature_names().is_none());
    let twice = one_model(&context, "SELECT pca(a, a, 1) FROM t").await;
    assert!(twice.metadata().feature_names().is_none());
    // The number of components can be a share of the variance, or all.
    let share = one_model(&context, "SELECT pca(a, b, c, d, 0.999) FROM t").await;
    assert!(share.explained_variance_ratio().sum() >= 0.999 && share.n_components() < D);
    assert_eq!(one_model(&context, "SELECT pca(x, 'all') FROM t").await.n_components(), D);
}

#[tokio::test]
async fn any_number_of_partitions_gives_the_same_model_up_to_rounding() {
    let one = one_model(&session(1), "SELECT pca(x, 2) FROM t").await;
    for partitions in [2, 5] {
        let found = one_model(&session(partitions), "SELECT pca(x, 2) FROM t").await;
        Reference::of(&rows(300)).check(&found);
        for (a, b) in found.all_singular_values().iter().zip(one.all_singular_values()) {
            assert!((a - b).abs() <= 1e-13 * one.all_singular_values()[0]);
        }
    }
}

#[tokio::test]
async fn one_partition_gives_the_same_bytes_every_time() {
    let query = "SELECT site, pca(x, 2) FROM t GROUP BY site ORDER BY site";
    let first = ask(&session(1), query).await;
    assert_eq!(first, ask(&session(1), query).await);
}

#[tokio::test]
async fn the_value_has_the_bytes_of_a_model_file() {
    let batch = ask(&session(1), "SELECT pca(x, 2) FROM t").await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.safetensors");
    model(&batch, 0, 0).unwrap().save(&path).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), batch.column(0).as_binary::<i64>().value(0));
}

#[tokio::test]
async fn each_group_has_the_model_of_its_rows() {
    for partitions in [1, 3] {
        let batch = ask(&session(partitions), "SELECT site, pca(x, 1) FROM t GROUP BY site ORDER BY site").await;
        let all = rows(300);
        for (index, name) in ["north", "south", "west"].into_iter().enumerate() {
            assert_eq!(batch.column(0).as_string::<i32>().value(index), name);
            let own = all.iter().enumerate().filter(|(row, _)| site(*row) == name).map(|(_, row)| row);
            Reference::of(own).check(&model(&batch, 1, index).unwrap());
        }
    }
}

#[tokio::test]
async fn filters_apply_to_rows_and_a_group_without_rows_is_null() {
    for partitions in [1, 3] {
        let context = session(partitions);
        let query = "SELECT pca(x, 1) FILTER (WHERE a > 10), pca(x, 1) FILTER (WHERE a > 1e9) FROM t";
        let batch = ask(&context, query).await;
        let all = rows(300);
        Reference::of(all.iter().filter(|row| row[0] > 10.0)).check(&model(&batch, 0, 0).unwrap());
        assert!(model(&batch, 1, 0).is_none());
        let query = "SELECT pca(a, b, 1), pca_weighted(x, w, 1), pca_merge(pca_split(NULL, NULL)) FROM t WHERE a > 1e9";
        let empty = ask(&context, query).await;
        assert!((0..3).all(|column| model(&empty, column, 0).is_none()));
    }
}

#[tokio::test]
async fn rollup_adds_the_model_of_all_rows() {
    let batch =
        ask(&session(2), "SELECT site, pca(x, 1) FROM t GROUP BY ROLLUP (site) ORDER BY site NULLS FIRST").await;
    assert_eq!(batch.num_rows(), 4);
    assert!(batch.column(0).is_null(0));
    Reference::of(&rows(300)).check(&model(&batch, 1, 0).unwrap());
    assert_eq!((1..4).map(|row| model(&batch, 1, row).unwrap().count()).sum::<u64>(), 300);
}

#[tokio::test]
async fn a_weight_counts_the_row_so_many_times() {
    for partitions in [1, 3] {
        let context = session(partitions);
        let all = rows(300);
        let repeated = all.iter().enumerate().flat_map(|(row, values)| vec![values; weight(row)]);
        let mut expected = Reference::of(repeated);
        // A weight of 0 leaves the row out; the others count as rows once.
        assert_eq!(expected.count, 300);
        expected.count = 200;
        for query in ["SELECT pca_weighted(x, w, 2) FROM t", "SELECT pca_weighted(a, b, c, d, w, 2) FROM t"] {
            let found = one_model(&context, query).await;
            assert_eq!(found.weight(), 300.0);
            expected.check(&found);
        }
    }
}

#[tokio::test]
async fn models_of_groups_merge_to_the_model_of_all_rows() {
    for partitions in [1, 3] {
        let context = session(partitions);
        let groups = "SELECT site, pca(x, 2) AS m FROM t GROUP BY site";
        let merged = one_model(&context, &format!("SELECT pca_merge(m) FROM ({groups})")).await;
        Reference::of(&rows(300)).check(&merged);
        assert_eq!(merged.n_components(), 2);
        // NULL changes nothing.
        let query = format!("SELECT pca_merge(CASE WHEN site = 'south' THEN m END) FROM ({groups})");
        assert_eq!(one_model(&context, &query).await.count(), 150);
        let limited = one_model(&context, &format!("SELECT pca_merge(m, 3) FROM ({groups})")).await;
        assert_eq!(limited.rank(), 3);
        assert!(!limited.certificate().is_exact());
    }
}

#[tokio::test]
async fn the_plan_has_a_partial_and_a_final_aggregation() {
    let context = session(3);
    let plan = ask(&context, "EXPLAIN SELECT site, pca(x, 2) FROM t GROUP BY site").await;
    let text = pretty_format_batches(&[plan]).unwrap().to_string();
    assert!(text.contains("mode=Partial") && text.contains("mode=FinalPartitioned"), "{text}");
    let plan = ask(&context, "EXPLAIN SELECT pca(x, 2) FROM t").await;
    let text = pretty_format_batches(&[plan]).unwrap().to_string();
    assert!(text.contains("mode=Partial") && text.contains("mode=Final"), "{text}");
}

#[tokio::test]
async fn many_small_groups() {
    let context = session_of(&rows(3000), 3);
    let query = "SELECT sum(pca_count(m)), count(*) FROM (SELECT day % 1000 AS g, pca(x, 1) AS m FROM t GROUP BY 1)";
    let batch = ask(&context, query).await;
    assert_eq!(batch.column(0).as_primitive::<datafusion::arrow::datatypes::UInt64Type>().value(0), 3000);
    assert_eq!(batch.column(1).as_primitive::<datafusion::arrow::datatypes::Int64Type>().value(0), 1000);
}
