//! Window frames: growing ones add rows, sliding ones have the model of their rows alone.

use datafusion::arrow::array::Array;

use crate::reference::{D, Reference, rows, weight};
use crate::support::{ask, model, refusal, session, session_of};

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

/// Frames of several blocks of 512 rows, whose start and end pass the blocks in every way.
#[tokio::test]
async fn long_frames_have_the_models_of_their_rows() {
    let (all, count) = (rows(2600), 2600);
    let context = session_of(&all, 2);
    for length in [511_usize, 512, 513, 1100] {
        for call in ["pca(x, 2)", "pca_weighted(x, w, 2)"] {
            let frame = format!("OVER (ORDER BY day ROWS {} PRECEDING)", length - 1);
            let batch = ask(&context, &format!("SELECT day, {call} {frame} FROM t ORDER BY day")).await;
            for row in (9..count).step_by(83).chain([length - 1, length, 2 * length, 1535, 1536, count - 1]) {
                let frame = (row + 1).saturating_sub(length)..=row;
                let found = model(&batch, 1, row).unwrap();
                if call == "pca(x, 2)" {
                    Reference::of(&all[frame]).check(&found);
                    continue;
                }
                let mut expected = Reference::of(frame.clone().flat_map(|row| vec![&all[row]; weight(row)]));
                expected.count = frame.filter(|&row| weight(row) > 0).count();
                expected.check(&found);
            }
        }
    }
}

/// Frames that move by more than one row at a time: all rows of the same decade enter and leave
/// together.
#[tokio::test]
async fn frames_of_ranges() {
    let all = rows(2000);
    let query = "SELECT day, pca(x, 2) OVER (ORDER BY day / 10 RANGE BETWEEN 70 PRECEDING AND 3 PRECEDING)
        FROM t ORDER BY day";
    let batch = ask(&session_of(&all, 2), query).await;
    for row in [50_usize, 700, 1200, 1999] {
        let decade = row / 10;
        let first = 10 * decade.saturating_sub(70);
        Reference::of(&all[first..10 * (decade - 3) + 10]).check(&model(&batch, 1, row).unwrap());
    }
    assert!((0..30).all(|row| batch.column(1).is_null(row)));
}

/// Frames whose rows only leave, that begin after the row, and that count groups.
#[tokio::test]
async fn frames_of_every_kind() {
    let all = rows(300);
    let context = session(2);
    let frame = |bounds: &str| format!("SELECT day, pca(x, 2) OVER (ORDER BY {bounds}) FROM t ORDER BY day");
    let leaving = ask(&context, &frame("day ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")).await;
    let after = ask(&context, &frame("day ROWS BETWEEN 2 FOLLOWING AND 60 FOLLOWING")).await;
    let groups = ask(&context, &frame("day / 10 GROUPS BETWEEN 2 PRECEDING AND 1 PRECEDING")).await;
    for row in [0_usize, 7, 150, 280] {
        Reference::of(&all[row..]).check(&model(&leaving, 1, row).unwrap());
        Reference::of(&all[row + 2..(row + 61).min(300)]).check(&model(&after, 1, row).unwrap());
    }
    for row in [25_usize, 150, 299] {
        let decade = row / 10;
        Reference::of(&all[10 * (decade - 2)..10 * decade]).check(&model(&groups, 1, row).unwrap());
    }
    assert!(after.column(1).is_null(299) && groups.column(1).is_null(9));
}

/// A row that is far larger than the others leaves no trace, as it would if it were subtracted.
#[tokio::test]
async fn a_row_that_has_left_a_frame_leaves_no_trace() {
    let (mut all, far) = (rows(1800), 40);
    all[far] = [1e8, -2e8, 5e7, 3e8];
    let context = session_of(&all, 1);
    for length in [50, 700] {
        let query =
            format!("SELECT day, pca(x, 2) OVER (ORDER BY day ROWS {} PRECEDING) FROM t ORDER BY day", length - 1);
        let batch = ask(&context, &query).await;
        for row in [far + length, far + length + 1, 1000, 1799] {
            Reference::of(&all[row + 1 - length..=row]).check(&model(&batch, 1, row).unwrap());
        }
    }
    // The sums of squares of the rows after it, computed by adding all rows and subtracting those
    // that have left.
    let rest = &all[far + 1..];
    let sum = |rows: &[[f64; D]]| rows.iter().map(|row| row[0] * row[0]).sum::<f64>();
    let subtracted = all[..=far].iter().fold(sum(&all), |sum, row| sum - row[0] * row[0]);
    assert!((subtracted - sum(rest)).abs() > 1e-6 * sum(rest), "{subtracted} and {}", sum(rest));
}

#[tokio::test]
async fn errors_in_frames_count_the_rows_of_their_partition() {
    let context = session_of(&rows(900), 1);
    let frame = "OVER (ORDER BY day ROWS 9 PRECEDING)";
    for (call, expected) in [
        ("pca(a, CASE WHEN day = 777 THEN 'NaN'::double ELSE b END, 2)", "pca: row 777, column 1: the value is NaN"),
        (
            "pca(a, CASE WHEN day = 777 THEN 1e200 ELSE b END, 2)",
            "pca: row 777, column 1: the value 1e200 is too large",
        ),
        ("pca(a, CASE WHEN day <> 777 THEN b END, 2)", "pca: row 777, column 1: the value is NULL"),
        (
            "pca_weighted(x, CASE WHEN day = 777 THEN -1 ELSE w END, 2)",
            "pca_weighted: row 777: the weight is -1.0, expected a number from 0 to 1e140",
        ),
        (
            "pca(array_resize([a, b, c], CASE WHEN day = 777 THEN 2 ELSE 3 END), 2)",
            "pca: a list has 2 numbers, those before it have 3",
        ),
    ] {
        let found = refusal(&context, &format!("SELECT {call} {frame} FROM t")).await;
        assert!(found.contains(expected) && found.contains("\nhint: "), "{call}: {found}");
    }
}
