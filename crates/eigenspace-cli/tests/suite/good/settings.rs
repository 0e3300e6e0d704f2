//! Options of `fit` and their effect on the model.

use insta::assert_snapshot;
use serde_json::Value;

use crate::files::{csv, lines, npy};
use crate::oracle::{Rows, covariance, eigenvalues, ones, table, variances};
use crate::support::{Directory, near, numbers};

fn fit(directory: &Directory, arguments: &str) -> Value {
    directory.json(&format!("fit {arguments} -o m.safetensors --json -q"))
}

fn explained(model: &Value) -> Vec<f64> {
    numbers(&model["explained_variance"])
}

#[test]
fn a_standardized_model_is_that_of_the_correlations() {
    let rows = table(60, 4, 31);
    let directory = Directory::with("t.csv", csv(&rows));
    let c = covariance(&rows, &ones(&rows));
    let correlation = |i: usize, j: usize| c[i][j] / (c[i][i] * c[j][j]).sqrt();
    let matrix: Rows = (0..4).map(|i| (0..4).map(|j| correlation(i, j)).collect()).collect();
    let shares: Vec<f64> = eigenvalues(matrix).iter().map(|value| value / 4.0).collect();
    let found = fit(&directory, "t.csv --standardize");
    near(&numbers(&found["explained_variance_ratio"]), &shares, 1e-13);
    assert_eq!(found["standardize"], true);
    // The view is a matter of looking: the file says it, and later rows keep it.
    directory.done("update m.safetensors t.csv -q");
    near(&numbers(&directory.json("inspect m.safetensors --json")["explained_variance_ratio"]), &shares, 1e-13);
    assert_snapshot!(directory.run("inspect m.safetensors"), @"
    exit: 0
    ----- stdout -----
    model        m.safetensors
    rows         120
    features     4: a, b, c, d
    components   4 reported, 4 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped
    view         standardized: each feature is divided by its standard deviation

    component  singular value   variance    ratio  cumulative
            1         19.8782    3.32053  82.32 %     82.32 %
            2         7.56499   0.480917  11.92 %     94.24 %
            3         4.52886   0.172358   4.27 %     98.52 %
            4         2.66781  0.0598086   1.48 %    100.00 %
    ");
}

#[test]
fn without_centering_the_directions_are_those_about_the_origin() {
    let rows = table(60, 3, 32);
    let directory = Directory::with("t.csv", csv(&rows));
    let moment = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
    let matrix: Rows = (0..3).map(|i| (0..3).map(|j| moment(i, j)).collect()).collect();
    let singular: Vec<f64> = eigenvalues(matrix).iter().map(|value| value.sqrt()).collect();
    let found = fit(&directory, "t.csv --uncentered");
    near(&numbers(&found["singular_values"]), &singular, 1e-12);
    assert_eq!(found["centered"], false);
}

#[test]
fn a_weight_is_a_row_repeated() {
    let rows = table(30, 3, 33);
    let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 4)).collect();
    let weighted: Rows = rows.iter().zip(&weights).map(|(row, w)| [&row[..], &[*w]].concat()).collect();
    let repeated: Rows = rows.iter().zip(&weights).flat_map(|(row, w)| vec![row.clone(); *w as usize]).collect();
    let directory = Directory::with("t.csv", lines(Some("a,b,c,w"), &weighted, ","));
    directory.write("plain.csv", csv(&rows));
    directory.write("repeated.csv", csv(&repeated));
    directory.write("w.csv", lines(None, &weights.iter().map(|w| vec![*w]).collect(), ","));
    directory.write("w.npy", [crate::files::npy_header("<f8", false, "(30,)"), bytes(&weights)].concat());
    let (values, _) = variances(&rows, &weights);
    for arguments in
        ["repeated.csv", "t.csv --weight-column w", "plain.csv --weights w.csv", "plain.csv --weights w.npy"]
    {
        let found = fit(&directory, arguments);
        near(&explained(&found), &values, 1e-13);
        assert_eq!(found["weight"], weights.iter().sum::<f64>(), "{arguments}");
    }
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn forgetting_weighs_old_rows_less() {
    let rows = table(80, 3, 34);
    let directory = Directory::with("t.csv", csv(&rows));
    let weights: Vec<f64> = (0..80).map(|i| 0.5_f64.powf(f64::from(79 - i) / 10.0)).collect();
    let (values, _) = variances(&rows, &weights);
    for arguments in ["--half-life 10".to_owned(), format!("--forgetting {}", 0.5_f64.powf(0.1))] {
        for engine in ["scatter", "factor --block-rows 7"] {
            let found = fit(&directory, &format!("t.csv {arguments} --engine {engine}"));
            near(&explained(&found), &values, 1e-12);
            near(&[found["weight"].as_f64().unwrap()], &[weights.iter().sum()], 1e-12);
            assert_eq!(found["count"], 80);
        }
    }
}

#[test]
fn rows_with_holes_are_skipped_or_filled_when_told() {
    let rows = table(40, 3, 35);
    let text: String = csv(&rows)
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 8 || i == 20 { format!("{}\n", blank(line)) } else { format!("{line}\n") })
        .collect();
    let directory = Directory::with("t.csv", text);
    let whole: Rows =
        rows.iter().enumerate().filter(|(i, _)| *i != 7 && *i != 19).map(|(_, row)| row.clone()).collect();
    let skipped = fit(&directory, "t.csv --missing skip");
    assert_eq!((&skipped["count"], &skipped["imputed"]), (&38.into(), &0.into()));
    near(&explained(&skipped), &variances(&whole, &ones(&whole)).0, 1e-13);
    let filled = fit(&directory, "t.csv --missing impute");
    assert_eq!((&filled["count"], &filled["imputed"]), (&40.into(), &2.into()));
    near(&explained(&filled), &variances(&rows, &ones(&rows)).0, 0.02);
}

/// The line with its second cell empty.
fn blank(line: &str) -> String {
    let cells: Vec<&str> = line.split(',').collect();
    format!("{},,{}", cells[0], cells[2])
}

#[test]
fn every_rule_of_truncation_keeps_what_it_promises() {
    let rows = table(1100, 60, 36);
    let directory = Directory::with("t.csv", csv(&rows));
    let (values, _) = variances(&rows, &ones(&rows));
    let total: f64 = values.iter().sum();
    let small = "t.csv --engine factor --block-rows 20";
    // Rows that came after the last compression are kept as they are, so there may be a block more.
    for (rule, ranks) in
        [("none", 60..=60), ("rank:5", 5..=25), ("fd:6", 6..=26), ("tolerance:0.2", 2..=59), ("energy:0.9", 2..=59)]
    {
        let found = fit(&directory, &format!("{small} --truncation {rule}"));
        let kept = found["rank"].as_u64().unwrap();
        assert!(ranks.contains(&kept), "{rule} keeps {kept}");
        // No rule may lose track of the whole, and none may be off by more than it says.
        near(&[found["total_variance"].as_f64().unwrap()], &[total], 1e-12);
        for (bounds, value) in found["certificate"]["eigenvalue_bounds"].as_array().unwrap().iter().zip(&values) {
            let bounds = numbers(bounds);
            assert!(
                bounds[0] <= 1099.0 * value + 1e-9 && 1099.0 * value <= bounds[1] + 1e-9,
                "{rule}: {bounds:?} {value}"
            );
        }
        assert_eq!(found["certificate"]["exact"], rule == "none", "{rule}");
    }
}

#[test]
fn more_rank_is_kept_than_shown_unless_told_otherwise() {
    let directory = Directory::with("t.npy", npy(&table(1100, 80, 37), "<f8", false));
    let ranks = |arguments: &str| {
        let found = fit(&directory, &format!("t.npy --engine factor --block-rows 10 {arguments}"));
        (found["n_components"].as_u64().unwrap(), found["rank"].as_u64().unwrap())
    };
    // Kept from block to block, and a last block of ten rows.
    let (shown, kept) = ranks("-k 3");
    assert!(shown == 3 && (38..=48).contains(&kept), "{kept}");
    let (shown, kept) = ranks("-k 3 --max-rank 4");
    assert!(shown == 3 && (4..=14).contains(&kept), "{kept}");
    assert_eq!(ranks("-k 3 --max-rank all"), (3, 80));
    assert_eq!(ranks("-k all"), (80, 80));
}

#[test]
fn the_plan_is_said_before_the_work() {
    let directory = Directory::with("t.npy", npy(&table(300, 12, 37), "<f8", false));
    assert_snapshot!(directory.run("fit t.npy -k 3 --max-rank 4 --engine factor -o m.safetensors"), @"
    exit: 0
    ----- stdout -----
    model        m.safetensors
    rows         300
    features     12
    components   3 reported, 12 directions kept
    explained    98.01 % of the variance
    certificate  eigenvalues are off by at most 3.7e-3 of the largest eigenvalue
    angle        at most 0.223 rad between the 3 components and the exact ones

    component  singular value   variance    ratio  cumulative
            1         17.5103    1.02545  90.22 %     90.22 %
            2         4.56388  0.0696623   6.13 %     96.35 %
            3         2.38008  0.0189457   1.67 %     98.01 %
    ----- stderr -----
    factor engine, exact for the first 68 rows, then 4 directions kept after each block of 64 rows
    ");
}

#[test]
fn a_share_of_variance_shows_as_many_components_as_it_takes() {
    let rows = table(100, 6, 38);
    let directory = Directory::with("t.csv", csv(&rows));
    let (_, shares) = variances(&rows, &ones(&rows));
    for share in [0.5, 0.8, 0.95, 0.999] {
        let needed = (1..=6).find(|&k| shares[..k].iter().sum::<f64>() >= share).unwrap();
        assert_eq!(fit(&directory, &format!("t.csv -k {share}"))["n_components"], needed, "{share}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let directory = Directory::with("t.npy", npy(&table(3000, 40, 39), "<f8", false));
    let mut models = Vec::new();
    for threads in ["--threads 1", "--threads 2", "--threads 5", ""] {
        for engine in ["--engine scatter", "--engine factor --max-rank 12"] {
            directory.done(&format!("fit t.npy -o m.safetensors -q {engine} {threads}"));
            models.push(directory.read("m.safetensors"));
        }
    }
    for pair in models.chunks_exact(2) {
        assert!(pair == &models[..2]);
    }
}

#[test]
fn quiet_commands_say_nothing_on_standard_error() {
    let directory = Directory::with("t.csv", csv(&table(30, 3, 40)));
    directory.done("fit t.csv -o other.safetensors -q --standardize");
    for line in [
        "fit t.csv -o m.safetensors",
        "update m.safetensors t.csv",
        "merge m.safetensors other.safetensors -o merged.safetensors",
        "split m.safetensors other.safetensors -o rest.safetensors",
        "project m.safetensors t.csv -o c.csv",
        "reconstruct m.safetensors c.csv -o back.csv",
        "inspect m.safetensors",
        "compare m.safetensors other.safetensors",
        "man pages",
    ] {
        let said = directory.run(&format!("{line} --quiet"));
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{line}\n{said}");
    }
}

#[test]
fn each_pass_captures_more_of_the_variance() {
    let rows = table(300, 40, 37);
    let directory = Directory::with("t.npy", npy(&rows, "<f8", false));
    let exact: f64 = variances(&rows, &ones(&rows)).0.iter().take(3).sum();
    let missed = |passes: usize| {
        let options = format!("t.npy -k 3 --max-rank 3 --engine factor --block-rows 6 --passes {passes}");
        exact - explained(&fit(&directory, &options)).iter().sum::<f64>()
    };
    let (one, two, four) = (missed(1), missed(2), missed(4));
    // What is captured never exceeds the eigenvalues, apart from rounding.
    assert!(four >= -1e-10 * exact && four < two && two < one, "{one} {two} {four}");
    let said = directory.run("fit t.npy -k 3 --passes 2 -o n.safetensors");
    assert!(said.err.contains("nothing was dropped, so the rows are not read again"), "{}", said.err);
}

#[test]
fn a_share_of_variance_drops_directions_unless_all_are_to_be_kept() {
    let directory = Directory::with("t.npy", npy(&table(700, 150, 93), "<f8", false));
    let is_exact = |options: &str| {
        fit(&directory, &format!("t.npy -k 0.3 --engine factor {options}"))["certificate"]["exact"] == true
    };
    assert!(!is_exact(""));
    assert!(is_exact("--max-rank all"));
}
