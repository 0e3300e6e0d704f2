//! Window frames: growing ones add rows, sliding ones are fitted again from their rows.

use datafusion::arrow::array::Array;

use crate::reference::{Reference, rows, weight};
use crate::support::{ask, model, session};

#[tokio::test]
async fn a_growing_frame_adds_rows() {
    let batch = ask(&session(2), "SELECT day, pca(x, 2) OVER (ORDER BY day) FROM t ORDER BY day").await;
    let all = rows(300);
    for row in [9, 10, 150, 299] {
        Reference::of(&all[..=row]).check(&model(&batch, 1, row).unwrap());
    }
    assert_eq!(model(&batch, 1, 0).unwrap().count(), 1);
}

#[tokio::test]
async fn a_sliding_frame_has_the_model_of_its_rows() {
    let context = session(2);
    let frame = "OVER (ORDER BY day ROWS BETWEEN 19 PRECEDING AND CURRENT ROW)";
    let all = rows(300);
    for call in ["pca(x, 2)", "pca(a, b, c, d, 2)"] {
        let batch = ask(&context, &format!("SELECT day, {call} {frame} FROM t ORDER BY day")).await;
        assert_eq!(batch.num_rows(), 300);
        for row in (9..300).step_by(10).chain([299]) {
            let first = (row + 1_usize).saturating_sub(20);
            Reference::of(&all[first..=row]).check(&model(&batch, 1, row).unwrap());
        }
    }
    let batch = ask(&context, &format!("SELECT day, pca_weighted(x, w, 2) {frame} FROM t ORDER BY day")).await;
    for row in [40, 299] {
        let repeated = (row - 19..=row).flat_map(|row| vec![&all[row]; weight(row)]);
        let found = model(&batch, 1, row).unwrap();
        let mut expected = Reference::of(repeated);
        assert_eq!(found.weight(), expected.count as f64);
        expected.count = (row - 19..=row).filter(|&row| weight(row) > 0).count();
        expected.check(&found);
    }
}

#[tokio::test]
async fn a_sliding_frame_of_models_is_merged() {
    // A model for each ten days, and the model of the last fifty days.
    let query = "SELECT decade, pca_merge(m) OVER (ORDER BY decade ROWS 4 PRECEDING)
        FROM (SELECT day / 10 AS decade, pca(x, 2) AS m FROM t GROUP BY day / 10) ORDER BY decade";
    let batch = ask(&session(2), query).await;
    assert_eq!(batch.num_rows(), 30);
    let all = rows(300);
    for decade in [0_usize, 3, 4, 17, 29] {
        let first = 10 * decade.saturating_sub(4);
        Reference::of(&all[first..10 * decade + 10]).check(&model(&batch, 1, decade).unwrap());
    }
}

#[tokio::test]
async fn an_empty_frame_is_null_and_the_next_one_is_right() {
    let query =
        "SELECT day, pca(x, 2) OVER (ORDER BY day ROWS BETWEEN 12 PRECEDING AND 3 PRECEDING) FROM t ORDER BY day";
    let batch = ask(&session(1), query).await;
    assert_eq!((0..300).filter(|&row| batch.column(1).is_null(row)).count(), 3);
    Reference::of(&rows(300)[88..=97]).check(&model(&batch, 1, 100).unwrap());
}

#[tokio::test]
async fn frames_of_partitions_and_filters() {
    let query = "SELECT day, pca(x, 2) FILTER (WHERE a > 10) OVER (PARTITION BY site ORDER BY day ROWS 39 PRECEDING)
        FROM t ORDER BY day";
    let batch = ask(&session(2), query).await;
    let all = rows(300);
    // Row 299 is of the site `west`, which has every fourth row.
    let own: Vec<_> = (0..300).filter(|row| row % 4 == 3).collect();
    let frame = own[own.len() - 40..].iter().map(|&row| &all[row]).filter(|row| row[0] > 10.0);
    Reference::of(frame).check(&model(&batch, 1, 299).unwrap());
}
