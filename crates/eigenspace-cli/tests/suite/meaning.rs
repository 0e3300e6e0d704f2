//! Columns are identified by their names, whatever their order.

use insta::assert_snapshot;

use crate::support::Directory;

const TABLE: &str = "a,b,c\n1,2,4\n3,1,0\n2,5,7\n6,4,1\n";
/// The same rows.
const TURNED: &str = "c,a,b\n4,1,2\n0,3,1\n7,2,5\n1,6,4\n";

fn fitted() -> Directory {
    let directory = Directory::with("t.csv", TABLE);
    directory.write("turned.csv", TURNED);
    directory.done("fit t.csv -o m --quiet");
    directory
}

#[test]
fn columns_are_matched_with_those_of_the_model_by_name() {
    let directory = fitted();
    let expected = directory.done("project m t.csv");
    directory.done("update m t.csv -o twice --quiet");
    let ways = [
        "t.csv --columns c,b,a",
        "t.csv --columns 2,0,1",
        "turned.csv",
        "turned.csv --columns c,a,b",
        "turned.csv --columns 0-2",
    ];
    for way in ways {
        assert_eq!(directory.done(&format!("project m {way}")), expected, "{way}");
        directory.done(&format!("update m {way} -o more --quiet"));
        assert!(directory.read("more") == directory.read("twice"), "{way}: other rows were added");
    }
    directory.done("plot scatter m turned.csv --columns c,a,b -o turned.svg");
    directory.done("plot scatter m t.csv -o t.svg");
    assert!(directory.read("turned.svg") == directory.read("t.svg"));
}

#[test]
fn other_columns_than_those_of_the_model_are_refused_by_name() {
    let directory = fitted();
    directory.write("x.csv", "a,b,x,c\n1,2,0,4\n3,1,9,0\n");
    for line in ["update m x.csv --columns a,b,x", "project m x.csv --columns x,b,a -o z.npy"] {
        let said = directory.refused(line);
        let start = "error: cannot use the columns chosen from `x.csv`: the model's column `c` is not among ";
        assert!(said.err.contains(start), "{line}\n{said}");
        assert!(
            said.err.ends_with("hint: leave out --columns: the columns of the model are found by name\n"),
            "{line}\n{said}"
        );
    }
}

#[test]
fn in_a_table_without_names_columns_are_taken_by_their_places() {
    let directory = fitted();
    let bare: String = TURNED.lines().skip(1).map(|line| format!("{line}\n")).collect();
    directory.write("bare.csv", bare);
    assert_eq!(directory.done("project m bare.csv --columns 1,2,0"), directory.done("project m t.csv"));
    // A model that was fitted on such a table remembers the numbers.
    directory.done("fit bare.csv --columns 1,0 -o n --quiet");
    let expected = directory.done("project n bare.csv --columns 1,0");
    assert_eq!(directory.done("project n bare.csv --columns 0,1"), expected);
}

#[test]
fn lists_are_matched_with_those_of_the_model_too() {
    let directory = Directory::new();
    crate::files::lists(&directory.path("vw.parquet"), &["v", "w"]);
    crate::files::lists(&directory.path("wv.parquet"), &["w", "v"]);
    directory.done("fit vw.parquet -o m --quiet");
    let expected = directory.done("project m vw.parquet");
    for way in ["wv.parquet", "wv.parquet --columns w,v", "vw.parquet --columns w,v"] {
        assert_eq!(directory.done(&format!("project m {way}")), expected, "{way}");
    }
}

#[test]
fn distances_are_not_taken_for_scores() {
    let directory = fitted();
    directory.done("fit t.csv -k 1 -o k1 --quiet");
    for (line, model) in [("k1 t.csv --distances", "k1"), ("m t.csv -k 1 --distances", "m -k 1")] {
        directory.done(&format!("project {line} -o w.npy --quiet"));
        let said = directory.refused(&format!("reconstruct {model} w.npy"));
        assert_eq!(
            said.err,
            "error: cannot tell scores from distances in `w.npy`: none of its 3 columns is named as a score \
             (PC1, PC2, …), and the model reports 1 component\n\nhint: let `eigenspace project` write the scores to \
             .csv or .parquet, which keep the names, or leave out --distances; if all 3 columns are scores, use -k 3\n"
        );
    }
    directory.done("project k1 t.csv -k 3 -o all.npy --quiet");
    directory.done("project k1 t.csv -k 3 -o all.csv --quiet");
    assert_eq!(directory.done("reconstruct k1 all.npy -k 3"), directory.done("reconstruct k1 all.csv"));
    let said = directory.refused("reconstruct k1 all.csv -k 2");
    assert_eq!(
        said.err,
        "error: cannot read 2 scores from `all.csv`: it has 3 columns of scores\n\nhint: leave out -k to use all \
         scores; to use only some of them, choose them, for example --columns PC1,PC2\n"
    );
    directory.done("project k1 t.csv -k 2 -o two.csv --quiet");
    let two = directory.done("reconstruct k1 two.csv");
    assert_eq!(directory.done("reconstruct k1 all.csv --columns PC1,PC2"), two);
    directory.done("project k1 t.csv --distances -o w.csv --quiet");
    directory.done("project k1 t.csv --distances -o w.parquet --quiet");
    directory.done("project k1 t.csv -o z.csv --quiet");
    for file in ["w.csv", "w.parquet"] {
        assert_eq!(directory.done(&format!("reconstruct k1 {file}")), directory.done("reconstruct k1 z.csv"), "{file}");
    }
}

#[test]
fn scores_are_not_taken_for_one_another() {
    let directory = fitted();
    directory.done("project m t.csv -k 2 --distances -o z.csv --quiet");
    for columns in ["PC2,PC1", "T2,Q", "PC1,T2"] {
        let said = directory.refused(&format!("reconstruct m z.csv --columns {columns}"));
        assert!(said.err.starts_with("error: cannot read scores from `z.csv`: column "), "{said}");
        assert!(
            said.err.contains("hint: the columns of scores must be PC1, PC2, … (or W1, W2, …), in this order"),
            "{said}"
        );
    }
}

#[test]
fn a_name_of_two_columns_is_refused_and_a_number_is_not() {
    let directory = Directory::with("t.csv", "a,b,a\n1,2,4\n3,1,0\n2,5,7\n6,4,1\n");
    directory.write("turned.csv", "b,a,a\n2,1,4\n1,3,0\n5,2,7\n4,6,1\n");
    directory.write("plain.csv", "a,b\n1,2\n3,1\n2,5\n6,4\n");
    assert_snapshot!(directory.refused("fit t.csv --columns a,b -o m"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.csv`
      cause: 2 columns have the name `a`: numbers 0 and 2

    hint: choose columns by number instead of by name, for example --columns 0,2; with a model, leave out those that it does not have, for example with --exclude 2
    ");
    for option in ["--exclude a", "--label a", "--weight-column a"] {
        let said = directory.refused(&format!("fit t.csv {option} -o m"));
        assert!(said.err.contains("cause: 2 columns have the name `a`: numbers 0 and 2"), "{option}\n{said}");
    }
    let said = directory.run("fit t.csv -o m");
    assert!(said.err.contains("several columns have the same name: `a`"), "{said}");
    // In the order of the model there is nothing to mistake.
    directory.done("project m t.csv");
    assert_eq!(directory.done("project m turned.csv --columns 1,0,2"), directory.done("project m t.csv"));
    for line in ["project m turned.csv", "update m turned.csv", "project m turned.csv --columns 0-2"] {
        let said = directory.refused(line);
        assert!(said.err.contains("`a`"), "{line}\n{said}");
    }
    directory.done("fit plain.csv -o p -q");
    let said = directory.refused("project p t.csv");
    assert!(said.err.contains("2 columns have the name `a`"), "{said}");
    assert_eq!(directory.done("project p t.csv --columns 0,1"), directory.done("project p plain.csv"));
}

#[test]
fn rows_are_not_taken_for_their_scores() {
    let directory = fitted();
    let said = directory.refused("reconstruct m t.csv");
    assert!(
        said.err.starts_with("error: cannot read scores from `t.csv`: its columns are those of the rows"),
        "{said}"
    );
    directory.write("plain.csv", "x,y,z\n1,2,3\n");
    directory.done("reconstruct m plain.csv");
}
