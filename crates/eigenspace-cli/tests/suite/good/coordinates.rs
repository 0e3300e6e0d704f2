//! Projection and reconstruction of rows.

use insta::assert_snapshot;

use crate::files::{csv, npy};
use crate::oracle::{Rows, covariance, mean, ones, table, variances};
use crate::support::{Directory, near};

/// The cells of text, without its header.
fn cells(text: &str) -> Rows {
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// The cells of an array of f64 with a header of 128 bytes.
fn array(bytes: &[u8], columns: usize) -> Rows {
    let values: Vec<f64> = bytes[128..].chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect();
    values.chunks_exact(columns).map(<[f64]>::to_vec).collect()
}

fn column(rows: &Rows, j: usize) -> Vec<f64> {
    rows.iter().map(|row| row[j]).collect()
}

/// 50 rows of 4 columns, and their model.
fn fitted(options: &str) -> (Directory, Rows) {
    let rows = table(50, 4, 21);
    let directory = Directory::with("t.csv", csv(&rows));
    directory.done(&format!("fit t.csv -o m.safetensors -q {options}"));
    (directory, rows)
}

#[test]
fn coordinates_of_three_points_go_to_standard_output() {
    let directory = Directory::with("t.csv", "x,y,kind\n0,0,low\n3,4,middle\n6,8,high\n");
    directory.done("fit t.csv --label kind -o m.safetensors -q -k 1");
    // The spread is 10 along (0.6, 0.8); rounding shows in the last digits, so they are cut.
    let said = directory.run("project m.safetensors t.csv --label kind");
    let round = |line: &str| match line.split_once(',').map(|(label, x)| (label, x.parse::<f64>())) {
        Some((label, Ok(x))) => format!("{label},{x:.9}\n").replace("-0.000000000", "0.000000000"),
        _ => format!("{line}\n"),
    };
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_snapshot!(said.out.lines().map(round).collect::<String>(), @"
    label,PC1
    low,-5.000000000
    middle,0.000000000
    high,5.000000000
    ");
}

#[test]
fn coordinates_have_the_variances_of_the_model_and_do_not_go_together() {
    let (directory, rows) = fitted("");
    let found = cells(&directory.done("project m.safetensors t.csv"));
    let (values, _) = variances(&rows, &ones(&rows));
    let found = covariance(&found, &ones(&found));
    for (i, row) in found.iter().enumerate() {
        let expected: Vec<f64> = (0..4).map(|j| if i == j { values[i] } else { 0.0 }).collect();
        near(row, &expected, 1e-13);
    }
}

#[test]
fn every_output_format_holds_the_same_coordinates() {
    let (directory, _) = fitted("-k 2");
    let expected = cells(&directory.done("project m.safetensors t.csv"));
    assert_snapshot!(directory.run("project m.safetensors t.csv -o c.npy"), @"
    exit: 0
    ----- stderr -----
    wrote 50 rows of 2 scores to `c.npy`
    ");
    for (name, quiet) in [("c.csv", ""), ("c.tsv", "-q"), ("c.parquet", "--quiet")] {
        let said = directory.run(&format!("project m.safetensors t.csv -o {name} {quiet}"));
        assert_eq!((said.code, said.out.is_empty(), said.err.is_empty()), (Some(0), true, !quiet.is_empty()), "{said}");
    }
    assert_eq!(array(&directory.read("c.npy"), 2), expected);
    assert_eq!(cells(&directory.text("c.csv")), expected);
    assert_eq!(cells(&directory.text("c.tsv").replace('\t', ",")), expected);
    // Parquet is read back by the command itself: the same model as from text.
    directory.done("fit c.parquet -o parquet.safetensors -q");
    directory.done("fit c.csv -o csv.safetensors -q");
    assert_eq!(directory.read("parquet.safetensors"), directory.read("csv.safetensors"));
}

#[test]
fn narrow_rows_give_narrow_coordinates() {
    let rows = table(50, 4, 22);
    let directory = Directory::with("t.npy", npy(&rows, "<f4", false));
    directory.done("fit t.npy -o m.safetensors -q");
    directory.done("project m.safetensors t.npy -o c.npy -q");
    assert_eq!(directory.read("c.npy").len(), 128 + 50 * 4 * 4);
}

#[test]
fn whitened_coordinates_have_unit_variance() {
    for options in ["", "--standardize"] {
        let (directory, _) = fitted(options);
        let found = cells(&directory.done("project m.safetensors t.csv --whiten"));
        let found = covariance(&found, &ones(&found));
        for (i, row) in found.iter().enumerate() {
            near(row, &(0..4).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>(), 1e-12);
        }
    }
}

#[test]
fn distances_are_those_of_hotelling_and_to_the_subspace() {
    let (directory, rows) = fitted("-k 2");
    let found = cells(&directory.done("project m.safetensors t.csv --distances"));
    let (values, _) = variances(&rows, &ones(&rows));
    let center = mean(&rows, &ones(&rows));
    for (row, found) in rows.iter().zip(&found) {
        let t2 = found[0].powi(2) / values[0] + found[1].powi(2) / values[1];
        let length: f64 = row.iter().zip(&center).map(|(x, m)| (x - m).powi(2)).sum();
        near(&found[2..], &[t2, length - found[0].powi(2) - found[1].powi(2)], 1e-12);
    }
}

#[test]
fn fewer_or_more_components_can_be_asked_for() {
    let (directory, _) = fitted("-k 2");
    let all = cells(&directory.done("project m.safetensors t.csv -k all"));
    assert_eq!(all[0].len(), 4);
    let two = cells(&directory.done("project m.safetensors t.csv"));
    assert_eq!((two[0].len(), column(&two, 0)), (2, column(&all, 0)));
    assert_eq!(cells(&directory.done("project m.safetensors t.csv -k 1"))[0].len(), 1);
}

#[test]
fn labels_go_with_their_rows_to_coordinates_and_back() {
    let directory = Directory::with("t.csv", "kind,x,y\nred,1,2\nblue,2,1\nred,4,5\n\"a, b\",7,6\n");
    directory.done("fit t.csv --label kind -o m.safetensors -q");
    directory.done("project m.safetensors t.csv --label kind -o c.csv -q");
    directory.done("reconstruct m.safetensors c.csv --label label -o back.csv -q");
    let labels = |name: &str| {
        let text = directory.text(name);
        text.lines().map(|line| line.rsplitn(3, ',').nth(2).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels("c.csv"), ["label", "red", "blue", "red", "\"a, b\""]);
    assert_eq!(labels("back.csv"), ["label", "red", "blue", "red", "\"a, b\""]);
}

#[test]
fn text_that_the_model_does_not_know_is_passed_over() {
    let (directory, rows) = fitted("");
    let mut text = String::from("note,d,c,b,a\n");
    for row in &rows {
        text += &format!("free text,{},{},{},{}\n", row[3], row[2], row[1], row[0]);
    }
    directory.write("notes.csv", text);
    assert_eq!(directory.done("project m.safetensors notes.csv"), directory.done("project m.safetensors t.csv"));
}

#[test]
fn rows_from_standard_input_are_all_there_and_found_by_name() {
    // More than any buffer holds.
    let rows = table(20_000, 4, 23);
    let directory = Directory::with("t.csv", csv(&rows));
    directory.done("fit t.csv -o m.safetensors -q");
    let expected = directory.done("project m.safetensors t.csv");
    assert_eq!(expected.lines().count(), 20_001);
    let mut turned = String::from("note,d,c,b,a\n");
    for row in &rows {
        turned += &format!("text,{},{},{},{}\n", row[3], row[2], row[1], row[0]);
    }
    for input in [csv(&rows).into_bytes(), turned.into_bytes(), npy(&rows, "<f8", false), npy(&rows, "<f8", true)] {
        let said = directory.run_with("project m.safetensors -", &input);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        assert!(said.out == expected);
        directory.run_with("update m.safetensors - -o more.safetensors -q", &input);
        assert_eq!(directory.json("inspect more.safetensors --json")["count"], 40_000);
    }
}

#[test]
fn all_coordinates_lead_back_to_the_rows() {
    for options in ["", "--standardize", "--uncentered"] {
        let (directory, rows) = fitted(options);
        for coordinates in ["c.csv", "c.npy", "c.parquet"] {
            directory.done(&format!("project m.safetensors t.csv -o {coordinates} -q"));
            let back = directory.done(&format!("reconstruct m.safetensors {coordinates}"));
            assert!(back.starts_with("a,b,c,d\n"), "{back}");
            for (back, row) in cells(&back).iter().zip(&rows) {
                near(back, row, 1e-13);
            }
        }
    }
}

#[test]
fn two_of_four_coordinates_lead_back_with_the_error_that_was_left_out() {
    let (directory, rows) = fitted("-k 2");
    directory.done("project m.safetensors t.csv -o c.npy -q");
    assert_snapshot!(directory.run("reconstruct m.safetensors c.npy -o back.npy"), @"
    exit: 0
    ----- stderr -----
    wrote 50 rows of 4 columns to `back.npy`
    ");
    let back = array(&directory.read("back.npy"), 4);
    let squares: f64 = back.iter().flatten().zip(rows.iter().flatten()).map(|(a, b)| (a - b).powi(2)).sum();
    let (values, _) = variances(&rows, &ones(&rows));
    near(&[squares / 49.0], &[values[2] + values[3]], 1e-13);
}

#[test]
fn missing_cells_are_filled_or_their_rows_left_out_when_rows_are_looked_at() {
    let directory = Directory::with("line.csv", "who,x,y\na,0,0\nb,1,2\nc,2,4\nd,3,6\n");
    directory.done("fit line.csv --label who -k 1 -o m -q");
    directory.write("holes.csv", "who,x,y\ne,1,2\nf,,4\ng,3,6\n");
    let said = directory.refused("project m holes.csv --label who");
    assert!(said.err.contains("fill missing cells with --missing impute"), "{said}");
    let first = |text: &str| -> Vec<(String, f64)> {
        let cells = text.lines().skip(1).map(|line| line.split_once(',').unwrap());
        cells.map(|(label, x)| (label.to_owned(), x.parse().unwrap())).collect()
    };
    let whole = first(&directory.done("project m line.csv --label who -q"));
    let skipped = first(&directory.done("project m holes.csv --label who --missing skip -q"));
    assert_eq!(skipped.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>(), ["e", "g"]);
    let filled = first(&directory.done("project m holes.csv --label who --missing impute -q"));
    // On the line the missing x of (x, 4) is 2.
    assert!((filled[1].1 - whole[2].1).abs() < 1e-6, "{filled:?} {whole:?}");
    directory.write("plane.csv", "who,x,y\na,0,0\nb,1,2\nc,2,4\nd,3,5\ne,1,1\n");
    directory.done("fit plane.csv --label who -o plane -q");
    directory.done("plot scatter plane holes.csv --label who --missing impute -o p.svg");
    directory.done("plot monitor plane holes.csv --label who -k 1 --missing skip -o p.svg");
}
