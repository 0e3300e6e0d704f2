//! Input that is not rows, or whose rows differ.

use insta::assert_snapshot;

use crate::files::{csv, gzip, npy, pgm};
use crate::oracle::table;
use crate::support::Directory;

/// A model of three named columns, and a file for it.
fn fitted_and(name: &str, bytes: impl AsRef<[u8]>) -> Directory {
    let directory = Directory::with("t.csv", csv(&table(20, 3, 41)));
    directory.done("fit t.csv -o m.safetensors -q");
    directory.write(name, bytes);
    directory
}

#[test]
fn no_rows() {
    assert_snapshot!(fitted_and("e.csv", "").refused("fit e.csv -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `e.csv`
      cause: it has no rows

    hint: check that this is the right file and that it is complete
    ");
    assert_snapshot!(fitted_and("e.csv", "a,b,c\n").refused("fit e.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot fit a model: `e.csv` has no rows

    hint: check that this is the right file and that it is complete
    ");
    assert_snapshot!(fitted_and("e.npy", "").refused("fit e.npy -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `e.npy`
      cause: not a valid NumPy array: it ends within its header

    hint: check that the file is complete and has the format that its name suggests, or set the format with --format
    ");
    assert_snapshot!(fitted_and("e.csv.gz", "").refused("fit e.csv.gz -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `e.csv.gz`
      cause: it has no rows

    hint: check that this is the right file and that it is complete
    ");
    assert_snapshot!(fitted_and("e.csv", "a,b\n1,\n,2\n").refused("fit e.csv --missing skip -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot fit a model: all 2 rows have missing cells and were skipped

    hint: fill missing cells with --missing impute, or leave out the columns that have many of them
    ");
    assert_snapshot!(Directory::new().refused_with("fit - -o m.safetensors", b""), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from standard input
      cause: it has no rows

    hint: check the command before the pipe
    ");
}

#[test]
fn another_width_than_the_model() {
    let directory = fitted_and("wide.npy", npy(&table(5, 4, 42), "<f8", false));
    assert_snapshot!(directory.refused("update m.safetensors wide.npy"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `wide.npy`
      cause: it has 4 columns, expected 3

    hint: pass rows with 3 columns, like the model or the other inputs
    ");
    assert_snapshot!(directory.refused("project m.safetensors wide.npy -o c.csv"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `wide.npy`
      cause: it has 4 columns, expected 3

    hint: pass rows with 3 columns, like the model or the other inputs
    ");
    directory.write("other.csv", "a,b,z\n1,2,3\n");
    assert_snapshot!(directory.refused("update m.safetensors other.csv"), @"
    exit: 2
    ----- stderr -----
    error: cannot use `other.csv`: the model needs the column `c`, and the file does not have it

    hint: add the column, or rename the column that holds it; the file has: `a`, `b`, `z`
    ");
    assert_snapshot!(directory.refused("update m.safetensors t.csv --exclude b"), @"
    exit: 2
    ----- stderr -----
    error: cannot leave out the column `b` of `t.csv`: the model needs it

    hint: leave out --exclude b
    ");
}

#[test]
fn a_cell_that_is_text() {
    let directory = fitted_and("t2.csv", "a,b,c\n1,2,3\n4,five,6\n");
    assert_snapshot!(directory.refused("fit t2.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t2.csv`
      cause: line 3, column `b`: `five` is not a number

    hint: correct the cell, or leave out its row with --na five --missing skip; if the model does not need the column, leave it out with --exclude b
    ");
    assert_snapshot!(directory.refused("update m.safetensors t2.csv -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t2.csv`
      cause: line 3, column `b`: `five` is not a number

    hint: correct the cell, or leave out its row with --na five --missing skip; the column `b` cannot be left out, because the model uses it
    ");
    directory.write("nameless.csv", "1,2,3\n4,five,6\n");
    assert_snapshot!(directory.refused("project m.safetensors nameless.csv -o c.csv"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `nameless.csv`
      cause: line 2, column 1: `five` is not a number

    hint: correct the cell, or leave out its row with --na five --missing skip; the column 1 cannot be left out, because the model uses it
    ");
}

#[test]
fn a_missing_cell_is_refused_with_its_line_or_row_and_its_column() {
    let directory = fitted_and("holes.csv", "a,b,c\n1,2,3\n2,4,1\n4,,6\n");
    assert_snapshot!(directory.refused("fit holes.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `holes.csv`
      cause: line 4, column `b`: the value is missing (an empty cell or a word such as NA)

    hint: fill missing cells with --missing impute, or leave out their rows with --missing skip; if the model does not need the column, leave it out with --exclude b
    ");
    assert_snapshot!(directory.refused("update m.safetensors holes.csv -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `holes.csv`
      cause: line 4, column `b`: the value is missing (an empty cell or a word such as NA)

    hint: fill missing cells with --missing impute, or leave out their rows with --missing skip
    ");
    assert_snapshot!(directory.refused("project m.safetensors holes.csv -o c.npy -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `holes.csv`
      cause: line 4, column `b`: the value is missing (an empty cell or a word such as NA)

    hint: fill missing cells with --missing impute, or leave out their rows with --missing skip
    ");
    let mut rows = table(9000, 3, 43);
    rows[8999][1] = f64::NAN;
    directory.write("late.npy", npy(&rows, "<f8", false));
    assert_snapshot!(directory.refused("fit late.npy -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `late.npy`
      cause: row 8999, column 1: the value is missing (NaN or null)

    hint: fill missing cells with --missing impute, or leave out their rows with --missing skip
    ");
    directory.write("infinite.csv", "a,b,c\n1,2,3\n2,inf,1\n");
    assert_snapshot!(directory.refused("fit infinite.csv --missing skip -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `infinite.csv`
      cause: line 3, column `b`: the value is inf, expected a number between -1e140 and 1e140

    hint: to leave out the row, treat the value as missing, for example with --na inf,+inf,infinity,+infinity --missing skip; if the model does not need the column, leave it out with --exclude b
    ");
}

#[test]
fn the_index_of_a_data_frame_is_left_out_with_a_notice() {
    let directory = fitted_and("frame.csv", ",x,y\n0,1.5,2\n1,3,4\n2,5,7\n");
    let said = directory.run("fit frame.csv -o m.safetensors");
    let notice = "the first column has no name and looks like the index of a data frame; leaving it out (use --keep-index to keep it)\n";
    assert!(said.err.starts_with(notice), "{}", said.err);
    assert!(said.out.contains("features     2: x, y\n"), "{}", said.out);
    let said = directory.run("fit frame.csv --keep-index -o m.safetensors");
    assert!(!said.err.contains("no name"), "{}", said.err);
    assert!(said.out.contains("features     3: (unnamed), x, y\n"), "{}", said.out);
}

#[test]
fn images_in_formats_that_are_not_read() {
    let directory = fitted_and("photos/one.gif", b"GIF89a");
    for data in ["photos", "photos/one.gif"] {
        let said = directory.refused(&format!("fit {data} -o m.safetensors -q"));
        assert!(said.err.contains("cause: GIF images are not supported\n"), "{said}");
        assert!(said.err.contains("hint: convert them to PNG, JPEG, PGM, PPM or PBM\n"), "{said}");
    }
}

#[test]
fn a_row_of_another_length() {
    let directory = fitted_and("ragged.csv", "a,b,c\n1,2,3\n4,5\n");
    assert_snapshot!(directory.refused("fit ragged.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `ragged.csv`
      cause: line 3 has 2 columns, expected 3

    hint: all rows must have 3 columns, like the first; check this line for an unclosed quotation mark; if the line is a comment, remove the line
    ");
    directory.write("ragged.csv", "1,2,3\n4,5,6,7\n");
    assert_snapshot!(directory.refused("fit ragged.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `ragged.csv`
      cause: line 2 has 4 columns, expected 3

    hint: all rows must have 3 columns, like the first; put cells that contain the delimiter in quotation marks
    ");
}

#[test]
fn files_with_other_columns_than_the_first() {
    let directory = fitted_and("other.csv", "a,c,b\n1,2,3\n");
    assert_snapshot!(directory.refused("fit t.csv other.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `other.csv`
      cause: column 1 is named `c`, expected `b` as in the earlier files

    hint: choose columns by name with --columns; their order then does not matter
    ");
    directory.write("narrow.csv", "a,b\n1,2\n");
    assert_snapshot!(directory.refused("fit t.csv narrow.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `narrow.csv`
      cause: it has no column `c`, which the earlier files have

    hint: use only columns that all files have, with --columns; this file has: `a`, `b`
    ");
}

#[test]
fn columns_that_are_not_there_or_chosen_twice() {
    let directory = fitted_and("x.csv", "a,b\n1,2\n");
    assert_snapshot!(directory.refused("fit t.csv --columns a,z -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.csv`
      cause: there is no column `z`

    hint: the columns are: `a`, `b`, `c`
    ");
    assert_snapshot!(directory.refused("fit t.csv --columns a,0 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.csv`
      cause: the column `a` is requested twice

    hint: name each column once
    ");
    assert_snapshot!(directory.refused("fit t.csv --exclude 0-2 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.csv`
      cause: no column is left to read

    hint: keep at least one of these columns: `a`, `b`, `c`
    ");
    assert_snapshot!(directory.refused("fit t.csv --label kind -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.csv`
      cause: there is no column `kind`

    hint: the columns are: `a`, `b`, `c`
    ");
}

#[test]
fn weights_of_the_wrong_number_sign_or_shape() {
    let directory = fitted_and("w.csv", "1\n2\n3\n");
    assert_snapshot!(directory.refused("fit t.csv --weights w.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot use the weights in `w.csv` for the rows in `t.csv`: found 3 weights for 20 rows

    hint: pass exactly one weight for each row
    ");
    directory.write("w.csv", "1\n".repeat(21));
    assert_snapshot!(directory.refused("fit t.csv --weights w.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot use the weights in `w.csv` for the rows in `t.csv`: found 21 weights for 20 rows

    hint: pass exactly one weight for each row
    ");
    directory.write("w.csv", format!("{}-1\n{}", "1\n".repeat(4), "1\n".repeat(15)));
    assert_snapshot!(directory.refused("fit t.csv --weights w.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `w.csv`
      cause: line 5: the weight is -1, expected a number from 0 to 1e140

    hint: use a weight of 0 to leave the row out
    ");
    directory.write("w.csv", "1,2\n".repeat(20));
    assert_snapshot!(directory.refused("fit t.csv --weights w.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `w.csv`
      cause: the weights have 2 columns, expected 1

    hint: pass a file with one column, the weights
    ");
    directory.write("negative.csv", "a,w\n1,1\n2,-3\n");
    assert_snapshot!(directory.refused("fit negative.csv --weight-column w -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `negative.csv`
      cause: line 3, column `w`: the weight is -3, expected a number from 0 to 1e140

    hint: use a weight of 0 to leave the row out
    ");
}

#[test]
fn text_that_is_not_text() {
    let directory = fitted_and("t.csv.gz", &gzip(b"a,b,c\n1,2,3\n4,5,6\n")[..20]);
    assert_snapshot!(directory.refused("fit t.csv.gz -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.csv.gz`
      cause: not a valid CSV file: its gzip data is incomplete

    hint: check that the file is complete and has the format that its name suggests, or set the format with --format
    ");
    directory.write("latin.csv", b"a,b\xe9\n1,2\n");
    assert_snapshot!(directory.refused("fit latin.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `latin.csv`
      cause: not a valid CSV file: line 1 is not UTF-8

    hint: save the file as UTF-8 text
    ");
}

#[test]
fn a_column_without_a_name_of_its_own_is_called_by_its_number() {
    let directory = Directory::with("t.csv", "a,b,\n1,2,\n3,4,\n");
    let said = directory.refused("fit t.csv -o m -q");
    assert!(
        said.err.contains("line 2, column 2: the value is missing") && said.err.contains("--exclude 2\n"),
        "{said}"
    );
    directory.write("t.csv", "x,a,a\n0,1,2\n0,3,?\n");
    let said = directory.refused("fit t.csv --exclude x -o m -q");
    assert!(
        said.err.contains("line 3, column 2: the value is missing") && said.err.contains("--exclude 2\n"),
        "{said}"
    );
    directory.write("t.csv", "x,a,a\n0,1,2\n0,3,word\n");
    let said = directory.refused("fit t.csv --exclude x -o m -q");
    assert!(said.err.contains("line 3, column 2: `word` is not a number"), "{said}");
}

#[test]
fn formats_that_cannot_come_from_standard_input() {
    let directory = Directory::new();
    for format in ["parquet", "arrow", "npz", "images"] {
        let said = directory.refused_with(&format!("fit - --format {format} -o m -q"), b"PAR1");
        assert!(said.err.contains("cause: only text and .npy arrays can be read from standard input\n"), "{said}");
    }
}

#[test]
fn notes_beside_tables_are_left_out_with_a_notice() {
    let directory = Directory::with("tables/1.csv", "a,b\n1,2\n2,5\n4,4\n");
    directory.write("tables/2.csv", "a,b\n3,3\n");
    directory.write("tables/notes.txt", "measured on Monday\n");
    let said = directory.run("fit tables -o m");
    assert!(said.err.contains("left out `notes.txt`, because the directory has files of other formats"), "{said}");
    assert!(directory.done("inspect m --json").contains("\"count\": 4"));
    // Text alone is a table.
    directory.write("text/a.txt", "a,b\n1,2\n2,5\n4,4\n");
    let said = directory.run("fit text -o n");
    assert!(said.code == Some(0) && !said.err.contains("left out"), "{said}");
}

#[test]
fn images_beside_tables_are_left_out_with_a_notice() {
    let directory = Directory::with("mixed/1.csv", "a,b\n1,2\n2,5\n4,4\n");
    directory.write("mixed/1.pgm", pgm(2, 2, |at| at as u8));
    directory.write("mixed/more/2.pgm", pgm(2, 2, |at| at as u8 + 3));
    let said = directory.run("fit mixed -o m");
    let notice = "2 images were left out, because the directory has tables or arrays; to read the images instead, choose their format (use --format images)\n";
    assert!(said.err.starts_with(notice), "{said}");
    assert_eq!(directory.json("inspect m --json")["features"], 2);
    let said = directory.run("fit mixed --format images -o m");
    assert!(!said.err.contains("left out"), "{said}");
    assert_eq!(directory.json("inspect m --json")["features"], 4);
}

#[test]
fn hints_look_at_the_command_line() {
    let directory = Directory::with("t.csv", "who,a b,c\nx,1,2\ny,2,1\nz,4,4\n");
    directory.write("u.csv", "who,c,a b\nx,1,2\n");
    std::fs::create_dir(directory.path("empty")).unwrap();
    for (line, hint) in [
        ("fit t.csv --label who --decimal , -o m", "leave out --decimal ',': the header is delimited by commas"),
        ("fit t.csv --columns a b -o m", "put a column name that contains a space in quotation marks"),
        ("fit empty -o m", "put files in it whose names end in a known ending, such as .csv, .npy, .parquet or .png"),
        ("faces train empty -o m", "add a subdirectory of images for each person to this directory"),
        ("faces train t.csv -o m", "pass a directory with a subdirectory of images for each person"),
        ("demo -o t.csv --synthetic", "pass a directory instead: `t.csv` is a file"),
    ] {
        let said = directory.refused(line);
        assert!(said.err.ends_with(&format!("{hint}\n")), "{line}\n{said}");
    }
    let said = directory.refused("fit t.csv u.csv --label who -o m");
    assert!(said.err.contains("column 1 is named `c`, expected `a b` as in the earlier files"), "{said}");
}
