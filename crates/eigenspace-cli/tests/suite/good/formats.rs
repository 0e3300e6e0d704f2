//! `fit` reads the same rows out of every format.

use insta::assert_snapshot;

use crate::files::{arrow, csv, gzip, lines, npy, npz, parquet, pgm};
use crate::oracle::{Rows, TEN_POINTS, ones, table, variances};
use crate::support::{Directory, near, numbers};

fn ten_points() -> Rows {
    TEN_POINTS.map(|row| row.to_vec()).to_vec()
}

/// Fits a file and compares what is printed with the oracle.
fn fitted(directory: &Directory, arguments: &str, rows: &Rows, tolerance: f64) {
    let found = directory.json(&format!("fit {arguments} -o found.safetensors --json -q"));
    let (values, shares) = variances(rows, &ones(rows));
    assert_eq!(found["count"], rows.len(), "{arguments}");
    near(&numbers(&found["explained_variance"]), &values, tolerance);
    near(&numbers(&found["explained_variance_ratio"]), &shares, tolerance);
    near(&[found["total_variance"].as_f64().unwrap()], &[values.iter().sum()], tolerance);
}

#[test]
fn ten_points_with_a_known_answer_are_fitted_and_shown() {
    let rows = ten_points();
    let (values, _) = variances(&rows, &ones(&rows));
    near(&values, &[1.571264, 0.037871], 0.5e-6);
    let directory = Directory::with("points.csv", lines(Some("x,y"), &rows, ","));
    assert_snapshot!(directory.run("fit points.csv -o m.safetensors"), @"
    exit: 0
    ----- stdout -----
    model        m.safetensors
    rows         10
    features     2: x, y
    components   2 reported, 2 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped

    component  singular value   variance    ratio  cumulative
            1         3.76050    1.57126  97.65 %     97.65 %
            2        0.583812  0.0378708   2.35 %    100.00 %
    ----- stderr -----
    scatter engine, nothing dropped, blocks of 512 rows
    ");
    fitted(&directory, "points.csv", &rows, 1e-14);
}

#[test]
fn a_column_of_labels_is_left_out_of_the_model() {
    let directory = Directory::with("t.csv", "kind,x,y\nred,1,2\nblue,2,1\nred,4,5\nblue,7,6\n");
    assert_snapshot!(directory.run("fit t.csv --label kind -o m.safetensors -q"), @"
    exit: 0
    ----- stdout -----
    model        m.safetensors
    rows         4
    features     2: x, y
    components   2 reported, 2 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped

    component  singular value  variance    ratio  cumulative
            1         6.00976   12.0391  95.05 %     95.05 %
            2         1.37214  0.627586   4.95 %    100.00 %
    ");
}

#[test]
fn text_in_any_dress_gives_the_same_model() {
    let rows = table(40, 4, 1);
    let directory = Directory::with("t.csv", csv(&rows));
    directory.done("fit t.csv -o m.safetensors -q");
    let expected = directory.read("m.safetensors");
    directory.write("t.tsv", lines(Some("a,b,c,d"), &rows, "\t"));
    directory.write("t.csv.gz", gzip(csv(&rows).as_bytes()));
    directory.write("crlf.csv", csv(&rows).replace('\n', "\r\n"));
    directory.write("semicolons.csv", lines(Some("a,b,c,d"), &rows, ";"));
    directory.write("data", csv(&rows));
    for arguments in ["t.tsv", "t.csv.gz", "crlf.csv", "semicolons.csv --delimiter ;", "data --format csv"] {
        directory.done(&format!("fit {arguments} -o other.safetensors -q"));
        assert_eq!(directory.read("other.safetensors"), expected, "{arguments}");
    }
    let said = directory.run_with("fit - -o other.safetensors -q", csv(&rows).as_bytes());
    assert_eq!((said.code, directory.read("other.safetensors") == expected), (Some(0), true), "{said}");
}

#[test]
fn arrays_of_every_kind_are_read() {
    let rows = table(40, 4, 2);
    let whole: Rows = rows.iter().map(|row| row.iter().map(|x| (1000.0 * x).round()).collect()).collect();
    let directory = Directory::new();
    directory.write("wide.npy", npy(&rows, "<f8", false));
    directory.write("narrow.npy", npy(&rows, "<f4", false));
    directory.write("swapped.npy", npy(&rows, ">f8", false));
    directory.write("columns.npy", npy(&rows, "<f8", true));
    directory.write("narrow_columns.npy", npy(&rows, "<f4", true));
    directory.write("integers.npy", npy(&whole, "<i2", false));
    directory.write("two.npz", npz(&[("other", npy(&whole, "<i2", false)), ("rows", npy(&rows, "<f8", false))]));
    for name in ["wide.npy", "swapped.npy", "columns.npy", "two.npz --key rows"] {
        fitted(&directory, name, &rows, 1e-13);
    }
    for name in ["narrow.npy", "narrow_columns.npy"] {
        fitted(&directory, name, &rows, 1e-6);
    }
    fitted(&directory, "integers.npy", &whole, 1e-6);
    fitted(&directory, "two.npz --key other", &whole, 1e-6);
}

#[test]
fn an_array_on_standard_input_gives_the_model_of_its_file() {
    let rows = table(40, 4, 3);
    let directory = Directory::new();
    for fortran in [false, true] {
        let bytes = npy(&rows, "<f8", fortran);
        directory.write("t.npy", &bytes);
        directory.done("fit t.npy -o file.safetensors -q");
        let said = directory.run_with("fit - -o stream.safetensors -q", &bytes);
        assert_eq!(said.code, Some(0), "{said}");
        assert_eq!(directory.read("file.safetensors"), directory.read("stream.safetensors"));
    }
}

#[test]
fn columns_of_parquet_and_arrow_are_rows_like_any_other() {
    let rows = table(40, 3, 4);
    let labels: Vec<&str> = (0..40).map(|i| ["red", "blue"][i % 2]).collect();
    let directory = Directory::with("t.csv", csv(&rows));
    directory.write("t.parquet", parquet(&rows, &labels));
    directory.write("t.arrow", arrow(&rows, &labels));
    directory.done("fit t.csv -o expected.safetensors -q");
    for name in ["t.parquet", "t.arrow"] {
        for options in ["--label kind", "--columns a,b,c", "--columns 0-2", "--exclude kind"] {
            directory.done(&format!("fit {name} {options} -o m.safetensors -q"));
            assert_eq!(directory.read("m.safetensors"), directory.read("expected.safetensors"), "{name} {options}");
        }
    }
}

#[test]
fn a_directory_of_images_in_classes_is_one_row_for_each_image() {
    let directory = Directory::new();
    for (class, base) in [("cat", 10), ("dog", 90)] {
        for i in 0..3_usize {
            let image = pgm(3, 2, |at| (base + 7 * i + (i + 1) * at * at) as u8);
            directory.write(&format!("faces/{class}/{}.pgm", i + 1), image);
        }
    }
    assert_snapshot!(directory.run("fit faces -k 2 -o m.safetensors -q"), @"
    exit: 0
    ----- stdout -----
    model        m.safetensors
    rows         6
    features     6, images of 3x2
    components   2 reported, 2 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped

    component  singular value  variance    ratio  cumulative
            1         253.109   12812.9  97.40 %     97.40 %
            2         41.3241   341.537   2.60 %    100.00 %
    ");
    assert_snapshot!(directory.run("project m.safetensors faces -k 1 -o coordinates.csv"), @"
    exit: 0
    ----- stderr -----
    wrote 6 rows of 1 score to `coordinates.csv`
    ");
    let labels: Vec<String> =
        directory.text("coordinates.csv").lines().map(|line| line.split(',').next().unwrap().into()).collect();
    assert_eq!(labels, ["label", "cat", "cat", "cat", "dog", "dog", "dog"]);
    let rows: Rows = [10, 90]
        .iter()
        .flat_map(|base| (0..3).map(move |i| (0..6).map(|at| f64::from(base + 7 * i + (i + 1) * at * at)).collect()))
        .collect();
    let found = directory.json("inspect m.safetensors --json");
    near(&numbers(&found["explained_variance"]), &variances(&rows, &ones(&rows)).0[..2], 1e-9);
}

#[test]
fn files_patterns_and_directories_are_one_stream() {
    let rows = table(90, 5, 5);
    let directory = Directory::with("all.csv", csv(&rows));
    for (name, part) in [("2", 0..30), ("10", 30..50), ("11", 50..90)] {
        directory.write(&format!("parts/{name}.csv"), csv(&rows[part].to_vec()));
    }
    directory.done("fit all.csv -o all.safetensors -q");
    let expected = directory.read("all.safetensors");
    for data in ["parts/2.csv parts/10.csv parts/11.csv", "parts/*.csv", "parts", "parts/2.csv parts/1?.csv"] {
        directory.done(&format!("fit {data} -o m.safetensors -q"));
        assert_eq!(directory.read("m.safetensors"), expected, "{data}");
    }
    let said =
        directory.run_with("fit parts/2.csv parts/10.csv - -o m.safetensors -q", &directory.read("parts/11.csv"));
    assert_eq!((said.code, directory.read("m.safetensors") == expected), (Some(0), true), "{said}");
}

#[test]
fn a_first_line_of_numbers_is_a_row_unless_told_otherwise() {
    let directory = Directory::with("t.csv", "1,2\n3,1\n5,9\n7,4\n");
    let count =
        |options: &str| directory.json(&format!("fit t.csv {options} -o m.safetensors --json -q"))["count"].clone();
    assert_eq!((count(""), count("--no-header"), count("--header")), (4.into(), 4.into(), 3.into()));
    assert_eq!(directory.json("inspect m.safetensors --json")["feature_names"], serde_json::json!(["1", "2"]));
}

#[test]
fn images_in_color_are_gray_unless_told_otherwise() {
    let directory = Directory::new();
    for i in 0..4_u8 {
        let pixels: Vec<u8> = (0..18).map(|at| 40 * i + at * (i + 1)).collect();
        directory.write(&format!("p/{i}.ppm"), [b"P6\n3 2\n255\n", &pixels[..]].concat());
    }
    let features =
        |options: &str| directory.json(&format!("fit p {options} -o m.safetensors --json -q"))["features"].clone();
    assert_eq!((features(""), features("--resize 2x2"), features("--color")), (6.into(), 4.into(), 18.into()));
    assert!(directory.done("inspect m.safetensors").contains("features     18, images of 3x2 in color\n"));
}
