//! The functions of models and rows against the reference.

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{Float64Type, UInt64Type};

use crate::reference::{D, Reference, rows};
use crate::support::{ask, list, model, one_model, session};

const MODEL: &str = "(SELECT pca(x, 2) FROM t)";

fn close(found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= 1e-11 * scale, "{found}, expected {expected}");
}

#[tokio::test]
async fn explained_mean_components_and_count() {
    let context = session(2);
    let query = format!(
        "SELECT pca_explained(m), pca_mean(m), pca_components(m), pca_count(m), pca_describe(m) FROM (SELECT {MODEL} AS m)"
    );
    let batch = ask(&context, &query).await;
    let expected = Reference::of(&rows(300));
    let total: f64 = expected.values.iter().sum();
    let ratios = list(batch.column(0), 0);
    assert_eq!(ratios.len(), 2);
    ratios.iter().zip(&expected.values).for_each(|(ratio, value)| close(*ratio, value / total, 1.0));
    list(batch.column(1), 0).iter().zip(&expected.mean).for_each(|(found, mean)| close(*found, *mean, 10.0));
    let components = batch.column(2).as_list::<i32>().value(0);
    assert_eq!(components.len(), 2);
    for k in 0..2 {
        let product: f64 = list(&components, k).iter().zip(&expected.vectors[k]).map(|(a, b)| a * b).sum();
        close(product.abs(), 1.0, 1.0);
    }
    assert_eq!(batch.column(3).as_primitive::<UInt64Type>().value(0), 300);
    assert_eq!(batch.column(4).as_string::<i32>().value(0), "model of 300 rows, 4 features, 2 components");
}

#[tokio::test]
async fn scores_distances_and_reconstructed_rows() {
    let context = session(2);
    let calls = |x: &str| {
        format!(
            "pca_project({MODEL}, {x}) AS z, pca_t2({MODEL}, {x}), pca_q({MODEL}, {x}), pca_reconstruct({MODEL}, pca_project({MODEL}, {x}))"
        )
    };
    let all = rows(300);
    let expected = Reference::of(&all);
    for x in ["x", "a, b, c, d", "[a, b, c, d]"] {
        let batch = ask(&context, &format!("SELECT {} FROM t ORDER BY day", calls(x))).await;
        assert_eq!(batch.num_rows(), 300);
        // A component may point either way, the same in every row.
        let signs: Vec<f64> =
            (0..2).map(|k| (list(batch.column(0), 0)[k] * expected.scores(&all[0], 2)[k]).signum()).collect();
        for (index, row) in all.iter().enumerate() {
            let scores = expected.scores(row, D);
            let found = list(batch.column(0), index);
            assert_eq!(found.len(), 2);
            (0..2).for_each(|k| close(found[k], signs[k] * scores[k], 10.0));
            let t2: f64 = (0..2).map(|k| scores[k].powi(2) / (expected.values[k] / 299.0)).sum();
            close(batch.column(1).as_primitive::<Float64Type>().value(index), t2, 10.0);
            let q: f64 = (2..D).map(|k| scores[k].powi(2)).sum();
            close(batch.column(2).as_primitive::<Float64Type>().value(index), q, 100.0);
            let again = list(batch.column(3), index);
            assert_eq!(again.len(), D);
            for (j, found) in again.iter().enumerate() {
                let value = expected.mean[j] + (0..2).map(|k| scores[k] * expected.vectors[k][j]).sum::<f64>();
                close(*found, value, 10.0);
            }
        }
    }
}

#[tokio::test]
async fn every_row_can_have_its_own_model() {
    let context = session(2);
    let query = "WITH m AS (SELECT site, pca(x, 1) AS m FROM t GROUP BY site)
        SELECT t.site, sum(pca_project(m.m, t.x)[1]) FROM t JOIN m ON t.site = m.site GROUP BY t.site";
    let batch = ask(&context, query).await;
    assert_eq!(batch.num_rows(), 3);
    // The scores of the rows of a model have the mean 0.
    (0..3).for_each(|row| close(batch.column(1).as_primitive::<Float64Type>().value(row), 0.0, 1000.0));
}

#[tokio::test]
async fn splitting_leaves_the_other_rows() {
    let context = session(2);
    let query = "SELECT pca_split(pca(x, 2), pca(x, 2) FILTER (WHERE a > 10)) FROM t";
    let found = one_model(&context, query).await;
    Reference::of(rows(300).iter().filter(|row| row[0] <= 10.0)).check(&found);
}

#[tokio::test]
async fn a_certificate_is_a_struct() {
    let context = session(2);
    let query =
        "SELECT c['exact'], c['proven'], c['error_bound'], c['relative_error_bound'], c['angle_bound'], c['confidence']
        FROM (SELECT pca_certificate(pca(x, 2)) AS c FROM t)";
    let batch = ask(&context, query).await;
    assert!(batch.column(0).as_boolean().value(0) && batch.column(1).as_boolean().value(0));
    let number = |column: usize| batch.column(column).as_primitive::<Float64Type>().value(0);
    assert!(number(2) >= 0.0 && number(3) < 1e-9 && number(4) < 1e-9);
    assert_eq!(number(5), 1.0);
    // A model that dropped a direction says what it may miss: at least the variance that it
    // dropped.
    let truncated = "SELECT pca_merge(m, 2) FROM (SELECT site, pca(x, 1) AS m FROM t GROUP BY site)";
    let query = format!("SELECT c['exact'], c['error_bound'] FROM (SELECT pca_certificate(({truncated})) AS c)");
    let batch = ask(&context, &query).await;
    assert!(!batch.column(0).as_boolean().value(0));
    let bound = batch.column(1).as_primitive::<Float64Type>().value(0);
    let third = Reference::of(&rows(300)).values[2];
    assert!(bound >= 0.999 * third && bound.is_finite(), "{bound}, {third}");
}

#[tokio::test]
async fn null_in_null_out() {
    let context = session(1);
    let query = format!(
        "SELECT pca_project(NULL, x), pca_explained(NULL), pca_split(NULL, {MODEL}), pca_t2({MODEL}, NULL),
            pca_project({MODEL}, CASE WHEN day > 0 THEN x END), pca_q({MODEL}, a, b, CASE WHEN day > 0 THEN c END, d),
            pca_project({MODEL}, [a, b, CASE WHEN day > 0 THEN c END, d])
         FROM t ORDER BY day LIMIT 2"
    );
    let batch = ask(&context, &query).await;
    (0..4).for_each(|column| assert_eq!(batch.column(column).null_count(), 2, "{column}"));
    for column in 4..7 {
        // The first row has no numbers, the second has all.
        assert!(batch.column(column).is_null(0) && batch.column(column).is_valid(1), "{column}");
    }
}

#[tokio::test]
async fn constants_give_a_constant() {
    let context = session(1);
    let batch = ask(&context, &format!("SELECT pca_project({MODEL}, [1, 2, 3, 4]), pca_t2({MODEL}, 1, 2, 3, 4)")).await;
    let expected = Reference::of(&rows(300)).scores(&[1.0, 2.0, 3.0, 4.0], 2);
    let found = list(batch.column(0), 0);
    (0..2).for_each(|k| close(found[k].abs(), expected[k].abs(), 10.0));
    assert!(model(&ask(&context, &format!("SELECT {MODEL}")).await, 0, 0).is_some());
}
