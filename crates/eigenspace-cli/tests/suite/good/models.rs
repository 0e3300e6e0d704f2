//! Models that are updated, merged, split and inspected.

use insta::assert_snapshot;
use serde_json::Value;

use crate::files::{csv, lines};
use crate::oracle::{Rows, ones, table, variances};
use crate::support::{Directory, near, numbers};

/// 60 rows as `all.csv`, the first 25 as `left.csv`, the others as `right.csv`, and a model of
/// each.
fn halves() -> (Directory, Rows) {
    let rows = table(60, 4, 11);
    let directory = Directory::with("all.csv", csv(&rows));
    directory.write("left.csv", csv(&rows[..25].to_vec()));
    directory.write("right.csv", csv(&rows[25..].to_vec()));
    for name in ["all", "left", "right"] {
        directory.done(&format!("fit {name}.csv -o {name}.safetensors -q"));
    }
    (directory, rows)
}

/// The two models show the same directions, variances, means and counts.
fn same_models(directory: &Directory, a: &str, b: &str) {
    let found = directory.json(&format!("compare {a} {b} --within 1e-9 --json"));
    assert_eq!(found["within"], true);
    near(&[found["mean_distance"].as_f64().unwrap()], &[0.0], 1e-12);
    near(&[found["deviation_difference"].as_f64().unwrap()], &[0.0], 1e-12);
    assert_eq!(found["counts"][0], found["counts"][1]);
    let total = numbers(&found["total_variances"]);
    near(&total[..1], &total[1..], 1e-12);
}

#[test]
fn update_adds_the_rows_of_a_file_in_place() {
    let (directory, rows) = halves();
    directory.done("update left.safetensors right.csv -q");
    same_models(&directory, "left.safetensors", "all.safetensors");
    let found = directory.json("inspect left.safetensors --json");
    near(&numbers(&found["explained_variance"]), &variances(&rows, &ones(&rows)).0, 1e-13);
}

#[test]
fn update_finds_columns_by_their_names() {
    let (directory, rows) = halves();
    let turned: Rows = rows[25..].iter().map(|r| vec![r[2], 99.0, r[0], r[3], r[1]]).collect();
    directory.write("turned.csv", lines(Some("c,stranger,a,d,b"), &turned, ","));
    let before = directory.read("left.safetensors");
    assert_snapshot!(directory.run("update left.safetensors turned.csv -o more.safetensors"), @"
    exit: 0
    ----- stdout -----
    model        more.safetensors
    rows         60
    features     4: a, b, c, d
    components   4 reported, 4 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped

    component  singular value    variance    ratio  cumulative
            1         4.87596    0.402965  83.82 %     83.82 %
            2         1.81010   0.0555335  11.55 %     95.37 %
            3        0.945690   0.0151581   3.15 %     98.52 %
            4        0.647079  0.00709680   1.48 %    100.00 %
    ----- stderr -----
    scatter engine, nothing dropped, blocks of 512 rows
    added 35 rows
    ");
    assert!(directory.read("left.safetensors") == before, "-o leaves the model alone");
    same_models(&directory, "more.safetensors", "all.safetensors");
}

#[test]
fn merge_gives_the_model_of_all_rows() {
    let (directory, rows) = halves();
    assert_snapshot!(directory.run("merge left.safetensors right.safetensors -o merged.safetensors"), @"
    exit: 0
    ----- stdout -----
    model        merged.safetensors
    rows         60
    features     4: a, b, c, d
    components   4 reported, 4 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped

    component  singular value    variance    ratio  cumulative
            1         4.87596    0.402965  83.82 %     83.82 %
            2         1.81010   0.0555335  11.55 %     95.37 %
            3        0.945690   0.0151581   3.15 %     98.52 %
            4        0.647079  0.00709680   1.48 %    100.00 %
    ");
    same_models(&directory, "merged.safetensors", "all.safetensors");
    let found = directory.json("inspect merged.safetensors --json");
    near(&numbers(&found["explained_variance"]), &variances(&rows, &ones(&rows)).0, 1e-13);
}

#[test]
fn merge_keeps_what_the_models_share_and_says_so() {
    let (directory, rows) = halves();
    directory.write("nameless.csv", lines(None, &rows[25..].to_vec(), ","));
    directory.done("fit nameless.csv -o nameless.safetensors -q");
    let said = directory.run("merge left.safetensors nameless.safetensors -k 2 -o m.safetensors");
    assert_snapshot!(said, @"
    exit: 0
    ----- stdout -----
    model        m.safetensors
    rows         60
    features     4
    components   2 reported, 4 directions kept
    explained    95.37 % of the variance
    certificate  exact: nothing was dropped

    component  singular value   variance    ratio  cumulative
            1         4.87596   0.402965  83.82 %     83.82 %
            2         1.81010  0.0555335  11.55 %     95.37 %
    ----- stderr -----
    `nameless.safetensors` has no column names, so the columns were matched by position and the result has no names
    ");
    let other_order = directory.run("merge nameless.safetensors left.safetensors -k 2 -o m.safetensors");
    assert_eq!(other_order.err, said.err);
}

#[test]
fn split_gives_back_the_part() {
    let (directory, _) = halves();
    assert_snapshot!(directory.run("split all.safetensors right.safetensors -o rest.safetensors"), @"
    exit: 0
    ----- stdout -----
    model        rest.safetensors
    rows         25
    features     4: a, b, c, d
    components   4 reported, 4 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped

    component  singular value    variance    ratio  cumulative
            1         3.13042    0.408313  84.18 %     84.18 %
            2         1.16828   0.0568698  11.73 %     95.91 %
            3        0.576397   0.0138431   2.85 %     98.76 %
            4        0.379331  0.00599549   1.24 %    100.00 %
    ");
    same_models(&directory, "rest.safetensors", "left.safetensors");
}

#[test]
fn inspect_says_the_same_in_text_and_json() {
    let rows = table(60, 12, 12);
    let directory = Directory::with("t.csv", csv(&rows));
    directory.done("fit t.csv -o m.safetensors -q");
    assert_snapshot!(directory.run("inspect m.safetensors"), @"
    exit: 0
    ----- stdout -----
    model        m.safetensors
    rows         60
    features     12: a, b, c, d, e, f, …
    components   12 reported, 12 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped

    component  singular value    variance    ratio  cumulative
            1         7.36158    0.918524  87.40 %     87.40 %
            2         2.30113   0.0897493   8.54 %     95.94 %
            3         1.05450   0.0188471   1.79 %     97.74 %
            4        0.728596  0.00899750   0.86 %     98.59 %
            5        0.554726  0.00521562   0.50 %     99.09 %
            6        0.436842  0.00323442   0.31 %     99.40 %
            7        0.371167  0.00233500   0.22 %     99.62 %
            8        0.264485  0.00118563   0.11 %     99.73 %
            9        0.236673   9.4939e-4   0.09 %     99.82 %
           10        0.217318   8.0046e-4   0.08 %     99.90 %
    … and 2 more: eigenspace inspect m.safetensors --all
    ");
    assert_eq!(directory.done("inspect m.safetensors --all").lines().count(), 8 + 12);
    let found = directory.json("inspect m.safetensors --json");
    let (values, shares) = variances(&rows, &ones(&rows));
    near(&numbers(&found["explained_variance"]), &values, 1e-13);
    near(&numbers(&found["explained_variance_ratio"]), &shares, 1e-13);
    let singular: Vec<f64> = values.iter().map(|value| (59.0 * value).sqrt()).collect();
    near(&numbers(&found["singular_values"]), &singular, 1e-12);
    assert_eq!(found["certificate"]["exact"], true);
    assert_eq!(found["image"], Value::Null);
    assert_eq!(found["feature_names"][11], "l");
}

#[test]
fn distances_are_reported_only_between_rows_that_differ() {
    let directory = Directory::with("t.csv", "x,y\n1,0\n-1,0\n0,0.5\n0,-0.5\n");
    directory.done("fit t.csv -o m.safetensors -q");
    directory.write("equal.csv", "x,y\n1,2\n1,2\n");
    let said = directory.done("inspect m.safetensors equal.csv");
    assert!(
        said.ends_with("\n\ndistances    none: the data has 2 rows, and at least two different rows are needed\n"),
        "{said}"
    );
    let said = directory.done("inspect m.safetensors t.csv");
    assert!(said.contains("\n\ndistances    between 4 rows, 6 pairs, before and after the projection\n"), "{said}");
}

#[test]
fn fit_prints_what_inspect_prints() {
    let directory = Directory::with("t.csv", csv(&table(30, 3, 13)));
    let fitted = directory.done("fit t.csv -o m.safetensors -q");
    assert_eq!(fitted, directory.done("inspect m.safetensors"));
    assert_eq!(directory.done("fit t.csv -o m.safetensors -q --json"), directory.done("inspect m.safetensors --json"));
}

#[test]
fn compare_answers_yes_with_0_and_no_with_1() {
    let directory = Directory::with("x.csv", "x,y\n1,0\n-1,0\n0,0.5\n0,-0.5\n");
    directory.write("y.csv", "x,y\n0,1\n0,-1\n0.5,0\n-0.5,0\n");
    directory.done("fit x.csv -o x.safetensors -q");
    directory.done("fit y.csv -o y.safetensors -q");
    assert_snapshot!(directory.run("compare x.safetensors x.safetensors -k 1 --within 0"), @"
    exit: 0
    ----- stdout -----
    components         1
    subspace distance  0 (sine of the largest angle)
    largest angle      0 rad (0.000 degrees)
    deviations         standard deviations differ by at most 0 times the largest
    means              0 apart
    rows               4 and 4
    total variance     0.833333 and 0.833333
    within             yes (limit 0)
    ");
    let said = directory.run("compare x.safetensors y.safetensors -k 1 --within 0.5").to_string();
    // Which hardware is at work shows in the rounding.
    let rounding = |line: &&str| !line.starts_with("deviations");
    assert_snapshot!(said.lines().filter(rounding).collect::<Vec<_>>().join("\n"), @"
    exit: 1
    ----- stdout -----
    components         1
    subspace distance  1.00000 (sine of the largest angle)
    largest angle      1.57080 rad (90.000 degrees)
    means              0 apart
    rows               4 and 4
    total variance     0.833333 and 0.833333
    within             no (limit 0.5)
    ");
    // Both plane: the same, and it is said that this means little.
    assert!(directory.run("compare x.safetensors y.safetensors").err.contains("the components span the whole space"));
    assert_eq!(directory.run("compare x.safetensors y.safetensors --within 1e-12").code, Some(0));
    // Without a limit there is no question.
    assert_eq!(directory.run("compare x.safetensors y.safetensors -k 1").code, Some(0));
    let said = directory.run("compare x.safetensors y.safetensors -k 1 --within 0.5 --json");
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &found["within"]), (Some(1), &Value::Bool(false)));
    near(&numbers(&found["principal_angles"]), &[std::f64::consts::FRAC_PI_2], 1e-12);
}

#[test]
fn the_means_of_models_are_compared_only_if_both_are_known() {
    let directory = Directory::with("t.csv", "x,y\n4,1\n2,1\n3,3\n3,-1\n");
    directory.write("moved.csv", "x,y\n7,5\n5,5\n6,7\n6,3\n");
    directory.done("fit t.csv -o t -q");
    directory.done("fit moved.csv -o moved -q");
    directory.done("fit t.csv --uncentered -o origin -q");
    let both = directory.run("compare t moved -k 1");
    assert!(both.out.contains("\nmeans              5.00000 apart\n") && !both.err.contains("centered"), "{both}");
    let one = directory.run("compare t origin -k 1");
    assert!(one.out.contains("\ncenters            3.16228 apart\n"), "{one}");
    assert!(one.err.contains("only one of the models is centered"), "{one}");
    assert_eq!(directory.json("compare t origin -k 1 --json")["mean_distance"], Value::Null);
    near(&[directory.json("compare t moved -k 1 --json")["mean_distance"].as_f64().unwrap()], &[5.0], 1e-12);
}

#[test]
fn models_that_spread_otherwise_along_the_same_directions_are_not_the_same() {
    let directory = Directory::with("x.csv", "x,y\n1,0\n-1,0\n0,0.5\n0,-0.5\n");
    directory.write("wide.csv", "x,y\n2,0\n-2,0\n0,0.5\n0,-0.5\n");
    directory.done("fit x.csv -o x -q");
    directory.done("fit wide.csv -o wide -q");
    let found = directory.run("compare x wide -k 1 --within 0.4 --json");
    assert_eq!(found.code, Some(1), "{found}");
    let json: Value = serde_json::from_str(&found.out).unwrap();
    near(&[json["deviation_difference"].as_f64().unwrap()], &[0.5], 1e-12);
    assert_eq!(directory.run("compare x wide -k 1 --within 0.6").code, Some(0));
}

#[test]
fn loadings_are_components_times_the_deviations_along_them() {
    let directory = Directory::with("t.csv", "x,y\n1,10\n-1,10\n3,10.5\n-3,9.5\n");
    directory.done("fit t.csv -o m -q");
    let described = directory.json("inspect m --json --loadings -k 1");
    near(&numbers(&described["mean"]), &[0.0, 10.0], 1e-12);
    // By hand: the scatter is [[20, 3], [3, 0.5]].
    let value = 10.25 + (9.75_f64.powi(2) + 9.0).sqrt();
    let length = (9.0 + (value - 20.0).powi(2)).sqrt();
    near(&numbers(&described["components"][0]), &[3.0 / length, (value - 20.0) / length], 1e-12);
    // Four rows, so the variance along the component is its eigenvalue of the scatter / 4.
    let deviation = (value / 4.0).sqrt();
    let loadings = [3.0 / length * deviation, (value - 20.0) / length * deviation];
    let found: Vec<f64> =
        described["loadings"].as_array().unwrap().iter().map(|row| row[0].as_f64().unwrap()).collect();
    near(&found, &loadings, 1e-12);
    let text = directory.done("inspect m --loadings -k 1");
    assert!(
        text.ends_with("column     mean       PC1\n     x        0   2.23601\n     y  10.0000  0.336223\n"),
        "{text}"
    );
}

#[test]
fn a_model_is_within_nothing_of_itself() {
    let directory = Directory::with("t.csv", csv(&table(60, 8, 5)));
    directory.done("fit t.csv -o a -k 3 -q");
    directory.done("fit t.csv -o b -k 3 -q");
    assert_eq!(directory.json("compare a b --within 0 --json")["within"], true);
    directory.write("u.csv", csv(&table(61, 8, 5)));
    directory.done("fit u.csv -o c -k 3 -q");
    assert_eq!(directory.run("compare a c --within 0").code, Some(1));
}
