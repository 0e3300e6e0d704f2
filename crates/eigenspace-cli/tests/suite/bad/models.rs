//! Models that are broken, do not match, or are not models at all.

use insta::assert_snapshot;

use crate::files::csv;
use crate::oracle::table;
use crate::support::{Directory, grouped};

/// `a`, of 30 rows, `b`, of 20 others, both of 3 columns, and `wide`, of 4 columns.
fn models() -> Directory {
    let directory = Directory::new();
    for (name, rows, columns, seed) in [("a", 30, 3, 61), ("b", 20, 3, 62), ("wide", 30, 4, 63)] {
        directory.write(&format!("{name}.csv"), csv(&table(rows, columns, seed)));
        directory.done(&format!("fit {name}.csv -o {name}.safetensors -q"));
    }
    directory
}

/// Every command that reads a model.
const READERS: [&str; 7] = [
    "update broken.safetensors a.csv",
    "merge a.safetensors broken.safetensors -o m.safetensors",
    "split a.safetensors broken.safetensors -o m.safetensors",
    "project broken.safetensors a.csv -o c.csv",
    "reconstruct broken.safetensors a.csv -o c.csv",
    "inspect broken.safetensors",
    "compare broken.safetensors a.safetensors",
];

#[test]
fn bytes_that_are_no_model() {
    let directory = models();
    directory.write("broken.safetensors", "nothing that anybody could take for a model");
    for line in READERS {
        let said = directory.refused(line);
        assert!(said.err.starts_with("error: cannot read `broken.safetensors` as a model\n  cause: "), "{said}");
    }
    assert_snapshot!(directory.refused("inspect broken.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `broken.safetensors` as a model
      cause: it is a text file

    hint: pass a model here; if this file is a table, make one from it: eigenspace fit broken.safetensors --format csv -o MODEL
    ");
    directory.write("broken.safetensors", "");
    assert_snapshot!(directory.refused("inspect broken.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `broken.safetensors` as a model
      cause: it is empty

    hint: copy the file again from its source
    ");
    let header = r#"{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    let other = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 8]].concat();
    directory.write("broken.safetensors", other);
    assert_snapshot!(directory.refused("inspect broken.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `broken.safetensors` as a model
      cause: a safetensors file, but not an eigenspace model: the metadata key `eigenspace` is missing or unreadable

    hint: check that eigenspace wrote this file
    ");
}

#[test]
fn a_model_cut_short_at_any_place() {
    let directory = models();
    let whole = directory.read("a.safetensors");
    for length in (0..whole.len()).step_by(37).chain([whole.len() - 1]) {
        directory.write("broken.safetensors", &whole[..length]);
        directory.refused("inspect broken.safetensors");
    }
    directory.write("broken.safetensors", &whole[..whole.len() - 1]);
    let found = grouped(whole.len() - 1);
    assert_eq!(
        directory.refused("inspect broken.safetensors").to_string(),
        format!(
            "exit: 2\n----- stderr -----\nerror: cannot read `broken.safetensors` as a model\n  cause: it has {found} bytes, \
             expected at least {}\n\nhint: copy the file again from its source\n",
            grouped(whole.len())
        )
    );
}

#[test]
fn a_model_with_any_bit_turned() {
    let directory = models();
    let whole = directory.read("a.safetensors");
    for (i, place) in (0..whole.len()).step_by(23).enumerate() {
        let mut broken = whole.clone();
        broken[place] ^= 1 << (i % 8);
        directory.write("broken.safetensors", broken);
        directory.refused("inspect broken.safetensors");
    }
    let mut broken = whole.clone();
    *broken.last_mut().unwrap() ^= 1;
    directory.write("broken.safetensors", broken);
    assert_snapshot!(directory.refused("inspect broken.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `broken.safetensors` as a model
      cause: the checksum does not match: the file was changed after it was written

    hint: copy the file again from its source
    ");
}

#[test]
fn a_model_where_rows_are_meant_and_rows_where_a_model_is_meant() {
    let directory = models();
    assert_snapshot!(directory.refused("fit a.safetensors -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `a.safetensors`: it is a model

    hint: pass rows here, for example a table or a directory of images; to combine models, use `eigenspace merge`
    ");
    assert_snapshot!(directory.refused("update a.safetensors b.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `b.safetensors`: it is a model

    hint: pass rows here, for example a table or a directory of images; to combine models, use `eigenspace merge`
    ");
    assert_snapshot!(directory.refused("update a.csv b.csv"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `a.csv` as a model
      cause: it is a text file

    hint: pass a model here; to make one from this file, run: eigenspace fit a.csv -o MODEL
    ");
    assert_snapshot!(directory.refused("merge a.safetensors b.csv -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `b.csv` as a model
      cause: it is a text file

    hint: pass a model here; to make one from this file, run: eigenspace fit b.csv -o MODEL
    ");
}

#[test]
fn models_of_different_widths() {
    let directory = models();
    assert_snapshot!(directory.refused("merge a.safetensors wide.safetensors -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot merge `a.safetensors` with `wide.safetensors`
      cause: the numbers of features differ: 3 and 4

    hint: merge, split and compare only models that were fitted on the same columns
    ");
    assert_snapshot!(directory.refused("split a.safetensors wide.safetensors -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot split `wide.safetensors` from `a.safetensors`
      cause: the numbers of features differ: 3 and 4

    hint: merge, split and compare only models that were fitted on the same columns
    ");
    assert_snapshot!(directory.refused("compare a.safetensors wide.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot compare `a.safetensors` with `wide.safetensors`
      cause: the numbers of features differ: 3 and 4

    hint: merge, split and compare only models that were fitted on the same columns
    ");
}

#[test]
fn models_about_the_mean_and_about_the_origin() {
    let directory = models();
    directory.done("fit b.csv --uncentered -o b.safetensors -q");
    assert_snapshot!(directory.refused("merge a.safetensors b.safetensors -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot merge `a.safetensors` and `b.safetensors`
      cause: one model is centered on the mean, and the other on the origin

    hint: fit both models with --uncentered, or both without
    ");
}

#[test]
fn a_part_that_was_never_in_the_whole() {
    let directory = models();
    let said = directory.refused("split a.safetensors b.safetensors -o m.safetensors").to_string();
    // The sum of squares depends on rounding, so it is left out.
    let lines: Vec<String> = said
        .lines()
        .map(|line| match line.split_once(" (-") {
            Some((before, after)) => format!("{before}{}", after.split_once(')').unwrap().1),
            None => line.to_owned(),
        })
        .collect();
    assert_snapshot!(lines.join("\n"), @"
    exit: 2
    ----- stderr -----
    error: cannot split `b.safetensors` from `a.safetensors`
      cause: the model does not contain these rows: removing them would leave a negative sum of squares, which rounding cannot explain

    hint: split off only rows that were added before, with the same preprocessing and weights
    ");
}

#[test]
fn a_part_of_a_model_that_dropped_directions_or_forgot_rows() {
    let directory = models();
    directory.done("merge a.safetensors a.safetensors --max-rank 1 -o low.safetensors -q");
    directory.write("far.csv", "a,b,c\n1e9,0,0\n-1e9,0,0\n");
    directory.done("fit far.csv -o far.safetensors -q");
    let said = directory.refused("split low.safetensors far.safetensors -o m.safetensors");
    assert!(said.err.contains(", which rounding and dropped directions cannot explain\n"), "{said}");
    assert!(said.err.ends_with("; if they were, fit both models again and keep more directions\n"), "{said}");
    directory.done("fit a.csv --half-life 2 -o late.safetensors -q");
    let said = directory.refused("split late.safetensors b.safetensors -o m.safetensors");
    assert!(said.err.contains("cannot split 20 rows (weight 20) off a model of 30 rows (weight 3.414)\n"), "{said}");
    assert!(said.err.ends_with("; with forgetting, old rows have less weight and cannot be split off\n"), "{said}");
}

#[test]
fn a_merge_says_what_the_models_do_not_share() {
    let directory = models();
    let message = |line: &str| directory.run(line).err;
    assert_eq!(message("merge a.safetensors b.safetensors -o m.safetensors"), "");
    directory.done("fit b.csv --standardize -o b.safetensors -q");
    let said = message("merge a.safetensors b.safetensors -o m.safetensors");
    assert_eq!(said, "only some of the models are standardized, so the result is not\n");
    directory.write("b.csv", csv(&table(20, 3, 62)).lines().skip(1).collect::<Vec<_>>().join("\n"));
    directory.done("fit b.csv --no-header -o b.safetensors -q");
    let said = message("merge a.safetensors b.safetensors -o m.safetensors");
    let words =
        "`b.safetensors` has no column names, so the columns were matched by position and the result has no names\n";
    assert_eq!(said, words);
    let said = message("merge a.safetensors a.safetensors -o m.safetensors");
    assert_eq!(said, "`a.safetensors` was given twice; its rows count twice\n");
}

#[test]
fn a_part_larger_than_the_whole() {
    let directory = models();
    assert_snapshot!(directory.refused("split b.safetensors a.safetensors -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot split `a.safetensors` from `b.safetensors`
      cause: cannot split 30 rows (weight 30) off a model of 20 rows (weight 20)

    hint: remove only rows that were added before; in a split, the whole comes first and the part second
    ");
}

#[test]
fn more_coordinates_than_the_model_has_directions() {
    let directory = models();
    directory.write("c.csv", "1,2,3,4\n");
    assert_snapshot!(directory.refused("reconstruct a.safetensors c.csv -o back.csv"), @"
    exit: 2
    ----- stderr -----
    error: cannot read scores from `c.csv`: it has 4 columns, and the model keeps 3 directions

    hint: pass the output of `eigenspace project`; if it has columns of distances, write it to .csv (with its header) or .parquet, because these columns are recognized by name
    ");
}

#[test]
fn more_components_than_there_are_to_compare() {
    let directory = models();
    assert_snapshot!(directory.refused("compare a.safetensors b.safetensors -k 9"), @"
    exit: 2
    ----- stderr -----
    error: cannot compare 9 components: `a.safetensors` has 3

    hint: use -k with a number from 1 to 3
    ");
    directory.write("line.csv", "a,b,c\n1,2,3\n2,3,5\n");
    directory.done("fit line.csv -o line.safetensors -q");
    for line in ["compare a.safetensors line.safetensors -k 9", "compare line.safetensors a.safetensors -k 2"] {
        let said = directory.refused(line);
        assert!(said.err.ends_with("components: `line.safetensors` has 1\n\nhint: use -k 1\n"), "{said}");
    }
    directory.write("same.csv", "a,b,c\n1,2,3\n1,2,3\n");
    directory.done("fit same.csv -o same.safetensors -q");
    assert_snapshot!(directory.refused("compare a.safetensors same.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot use the model `same.safetensors`: it has no variance

    hint: use `eigenspace update` to add rows that are not all equal
    ");
}

#[test]
fn a_file_of_another_kind_is_told_with_the_command_that_makes_a_model() {
    let directory = Directory::with("t.csv", "a,b\n1,2\n3,5\n4,4\n");
    assert_snapshot!(directory.refused("inspect t.csv"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `t.csv` as a model
      cause: it is a text file

    hint: pass a model here; to make one from this file, run: eigenspace fit t.csv -o MODEL
    ");
    directory.done("fit t.csv -o m -q");
    directory.write("x.ckpt", "eigenspace checkpoint 5\nabc");
    for (line, cause, hint) in [
        ("inspect x.ckpt", "the checkpoint of a fit that has not ended", "again with --checkpoint x.ckpt"),
        ("faces recognize t.csv t.csv", "a text file", "eigenspace faces train DIRECTORY -o RECOGNIZER"),
        ("faces recognize m t.csv", "a model without people", "eigenspace faces train DIRECTORY -o RECOGNIZER"),
    ] {
        let said = directory.refused(line);
        assert!(said.err.contains(&format!("cause: it is {cause}\n")) && said.err.contains(hint), "{said}");
    }
    for (name, bytes, kind) in [
        ("a", &b"\x93NUMPY\x01\x00"[..], "a NumPy array"),
        ("b", b"PAR1abcdefgh", "a Parquet file"),
        ("c", b"\x89PNG\r\n\x1a\n", "a PNG image"),
    ] {
        directory.write(name, bytes);
        let said = directory.refused(&format!("inspect {name}"));
        assert!(said.err.contains(&format!("cause: it is {kind}\n")), "{said}");
    }
    let said = directory.refused("project m m");
    assert!(said.err.starts_with("error: cannot read rows from `m`: it is a model\n"), "{said}");
}

#[test]
fn models_of_different_widths_cannot_be_compared() {
    let directory = Directory::with("a.csv", "a,b\n1,2\n3,5\n4,4\n");
    directory.write("b.csv", "a,b,c\n1,2,3\n3,5,1\n4,4,4\n");
    directory.done("fit a.csv -o a -q");
    directory.done("fit b.csv -o b -q");
    let said = directory.refused("compare a b");
    assert!(said.err.starts_with("error: cannot compare `a` with `b`\n") && !said.err.contains("combine"), "{said}");
}
