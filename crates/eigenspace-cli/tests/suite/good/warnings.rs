//! Warnings about results that differ from the request or are not reliable.

use insta::assert_snapshot;

use crate::files::{csv, npy};
use crate::oracle::table;
use crate::support::Directory;

/// The warning of a command that succeeds.
fn warning(directory: &Directory, line: &str) -> String {
    let said = directory.run(line);
    assert_eq!(said.code, Some(0), "{said}");
    said.err.lines().find(|line| line.starts_with("warning: ")).unwrap_or("none").to_owned()
}

#[test]
fn fewer_components_than_requested_are_a_warning() {
    let directory = Directory::with("t.csv", csv(&table(20, 4, 71)));
    let warning = |line: &str| warning(&directory, line);
    assert_snapshot!(warning("fit t.csv -k 50 -o m"), @"warning: 50 components were requested, but the model has 4: the rows have only 4 features");
    assert_snapshot!(warning("update m t.csv"), @"warning: 50 components were requested, but the model has 4: the rows have only 4 features");
    assert_snapshot!(warning("merge m m -k 7 -o n"), @"warning: 7 components were requested, but the model has 4: the rows have only 4 features");
    assert_snapshot!(warning("fit t.csv -k 4 -o m"), @"none");
    directory.write("same.csv", "1,2\n1,2\n1,2\n");
    assert_snapshot!(warning("fit same.csv -k 2 -o m"), @"warning: 2 components were requested, but the model has 0: all rows are equal, or differ by too little");
    assert_snapshot!(warning("fit same.csv -k 2 --uncentered -o m"), @"warning: 2 components were requested, but the model has 1: the rows vary in only 1 direction, apart from rounding");
    directory.write("one.csv", "1,2\n");
    assert_snapshot!(warning("fit one.csv -k 2 -o m"), @"warning: 2 components were requested, but the model has 0: a single row has no variance");
    assert_snapshot!(warning("fit one.csv -k 2 --uncentered -o m"), @"warning: 2 components were requested, but the model has 1: 1 row spans at most 1 direction");
    directory.write("few.csv", csv(&table(3, 4, 7)));
    assert_snapshot!(warning("fit few.csv -k 4 -o m"), @"warning: 4 components were requested, but the model has 2: 3 rows span at most 2 directions");
    let line: Vec<Vec<f64>> = (0..9).map(|i| vec![f64::from(i), 2.0 * f64::from(i), 1.0]).collect();
    directory.write("line.csv", csv(&line));
    assert_snapshot!(warning("fit line.csv -k 2 -o m"), @"warning: 2 components were requested, but the model has 1: the rows vary in only 1 direction, apart from rounding");
}

/// The messages of a command that succeeds.
fn notices(directory: &Directory, line: &str) -> String {
    let said = directory.run(line);
    assert_eq!(said.code, Some(0), "{said}");
    said.err
}

#[test]
fn input_that_may_be_meant_otherwise_has_a_notice() {
    let directory = Directory::new();
    let notice = "the first line holds only numbers and was read as a row; if these are column names, read the text with a \
                  header (use --header)\n";
    for (first, expected) in [("0,1,2", true), ("2019,2020,2021", true), ("0,1,3", false), ("2021,2020,2019", false)] {
        directory.write("t.csv", format!("{first}\n5,7,1\n2,9,3\n4,4,8\n"));
        assert_eq!(notices(&directory, "fit t.csv -o m").contains(notice), expected, "{first}");
        assert!(!notices(&directory, "fit t.csv --header -o m").contains(notice));
    }
    let array = npy(&table(20, 3, 73), "<f8", false);
    directory.write("t.npy", [&array[..], &[0; 50]].concat());
    let said = notices(&directory, "fit t.npy -o m");
    assert!(said.starts_with("50 bytes after the end of the array in `t.npy` were not read\n"), "{said}");
    directory.write("t.npy", array);
    let said = notices(&directory, "fit t.npy ./t.npy -o m");
    assert!(said.starts_with("`./t.npy` was given twice; its rows count twice\n"), "{said}");
    let said = notices(&directory, "update m t.npy --max-rank 1");
    assert!(said.contains("--max-rank has no effect: the scatter engine drops nothing"), "{said}");
    let said = notices(&directory, "fit t.npy -o out.npy");
    let words =
        "`out.npy` becomes a model, but its name ends like that of a data file; use a name that ends in .safetensors\n";
    assert!(said.starts_with(words), "{said}");
}

#[test]
fn a_large_bound_comes_with_a_remedy() {
    // All directions are equal, so what is dropped is as large as what is kept.
    let cell = |i: usize, j: usize| if (i * 7) % 60 == j { 1.0 } else { 0.0 };
    let rows: Vec<Vec<f64>> = (0..300).map(|i| (0..60).map(|j| cell(i, j)).collect()).collect();
    let directory = Directory::with("t.npy", npy(&rows, "<f8", false));
    directory.done("fit t.npy --engine factor --max-rank 2 -k 2 --block-rows 20 -o m -q");
    let said = directory.done("inspect m");
    assert!(said.contains("certificate  large error bound: eigenvalues may be off by up to "), "{said}");
    let remedy = "remedy       fit again with --engine scatter, which is exact and needs 1 MiB for 60 features; \
                  if `merge` dropped directions, merge again without --max-rank and --truncation\n";
    assert!(said.contains(remedy), "{said}");
    assert!(
        said.contains("angle        no bound on the angle between the 2 components and the exact ones\n"),
        "{said}"
    );
    let said = directory.done("inspect m -k 1");
    assert!(said.contains("angle        no bound on the angle between the component and the exact one\n"), "{said}");
}

#[test]
fn a_single_row_that_is_left_by_a_split_must_be_fitted_again() {
    let all = csv(&table(10, 3, 72));
    let directory = Directory::with("all.csv", &all);
    directory.write("part.csv", all.lines().take(10).map(|line| format!("{line}\n")).collect::<String>());
    directory.done("fit all.csv -o all -q");
    directory.done("fit part.csv -o part -q");
    let said = directory.done("split all part -o rest");
    let remedy = "remedy       the rows that are left vary too little compared with the removed ones; \
                  fit the remaining rows again\n";
    assert!(said.contains("rows         1\n") && said.contains(remedy), "{said}");
}

#[test]
fn a_share_of_the_variance_that_the_kept_directions_do_not_hold() {
    let directory = Directory::with("t.csv", csv(&table(60, 8, 5)));
    let warning = |line: &str| warning(&directory, line);
    assert_eq!(warning("fit t.csv -k 0.95 -o all"), "none");
    let said = warning("merge all all --max-rank 1 -o m");
    let start = "warning: 95.00 % of the variance was requested, but the 1 kept direction explains only ";
    let end = " %; fit again with a larger --max-rank or another --truncation";
    assert!(said.starts_with(start) && said.ends_with(end), "{said}");
    for line in ["merge m m -o n", "inspect m -k 0.99", "project m t.csv -k 0.99", "plot scree m -k 0.99 -o s.svg"] {
        assert!(warning(line).contains("of the variance was requested, but the 1 kept direction "), "{line}");
    }
    assert_eq!(warning("inspect m -k 0.1"), "none");
    // Of a standardized model, the share of the standardized variance counts.
    directory.done("fit t.csv -k 0.95 --standardize -o s -q");
    assert!(warning("merge s s --max-rank 1 -o n").contains("explains only "));
}

#[test]
fn rows_without_variance_are_a_warning() {
    let directory = Directory::with("one.csv", "a,b\n1,2\n");
    directory.write("same.csv", "a,b\n1,2\n1,2\n");
    directory.write("zero.csv", "a,b\n0,0\n");
    for (line, reason) in [
        ("fit one.csv -o m", "a single row has no variance"),
        ("fit same.csv -k 0.9 -o m --json", "all rows are equal, or differ by too little"),
        ("fit zero.csv --uncentered -o m", "all values are zero"),
    ] {
        let said = directory.run(line);
        assert!(said.code == Some(0), "{said}");
        assert!(said.err.contains(&format!("warning: the model has no components: {reason}\n")), "{said}");
    }
}
