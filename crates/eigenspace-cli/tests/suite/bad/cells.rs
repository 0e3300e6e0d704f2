//! Cells, lines and columns that cannot be read as numbers: the hint says what to change.

use insta::assert_snapshot;

use crate::files::{npy, parquet};
use crate::oracle::table;
use crate::support::Directory;

#[test]
fn weights_that_are_text() {
    let directory = Directory::with("t.csv", "a,b,w\n1,2,x\n3,4,y\n");
    assert_snapshot!(directory.refused("fit t.csv --weight-column w -o m -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.csv`
      cause: line 2, column `w`: the weight `x` is not a number

    hint: choose a column or a file of numbers for the weights
    ");
    directory.write("w.csv", "w\n1\nx\n");
    assert_snapshot!(directory.refused("fit t.csv --exclude w --weights w.csv -o m -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `w.csv`
      cause: line 3, column `w`: the weight `x` is not a number

    hint: choose a column or a file of numbers for the weights
    ");
    directory.write("t.parquet", parquet(&table(3, 2, 5), &["x"; 3]));
    for line in ["fit t.parquet --weight-column kind -o m -q", "fit t.csv --exclude w --weights t.parquet -o m -q"] {
        let said = directory.refused(line);
        assert!(
            said.err.contains("cause: the weights in the column `kind` are text (Utf8), expected numbers\n"),
            "{said}"
        );
        assert!(said.err.ends_with("hint: choose a column or a file of numbers for the weights\n"), "{said}");
    }
}

#[test]
fn a_label_that_is_also_among_the_columns() {
    let directory = Directory::with("t.csv", "a,b,kind\n1,2,x\n3,4,y\n");
    let said = directory.refused("fit t.csv --label kind --columns a,kind -o m -q");
    assert!(said.err.ends_with("hint: leave `kind` out of --columns\n"), "{said}");
    directory.write("t.parquet", parquet(&table(3, 2, 5), &["x"; 3]));
    let said = directory.refused("fit t.parquet --label kind --columns a,kind -o m -q");
    assert!(said.err.ends_with("hint: leave `kind` out of --columns\n"), "{said}");
}

#[test]
fn a_column_without_any_value_cannot_be_imputed() {
    let directory = Directory::with("t.csv", "a,b,c d\n1,2,\n3,4,\n5,5,\n");
    assert_snapshot!(directory.refused("fit t.csv --missing impute -o m -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot fill the missing cells of column `c d` in `t.csv`: the column has no value in any row

    hint: leave it out with --exclude 'c d'
    ");
    directory.done("fit t.csv --exclude 2 -o m -q");
    directory.write("1.npy", npy(&vec![vec![1.0, f64::NAN], vec![2.0, f64::NAN]], "<f8", false));
    let said = directory.refused("fit 1.npy --missing impute -o n -q");
    assert!(said.err.starts_with("error: cannot fill the missing cells of column 1 in `1.npy`: "), "{said}");
    assert!(said.err.ends_with("hint: remove the column from the data\n"), "{said}");
}

#[test]
fn rows_that_are_all_left_out() {
    let directory = Directory::with("t.csv", "a,b,w\n1,,0\n,2,0\n3,4,0\n");
    assert_snapshot!(directory.refused("fit t.csv --weight-column w --missing impute -o m -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot fit a model: all 3 rows have weight 0 or no value in any cell

    hint: check that this is the right file, and that --na does not match all cells
    ");
    directory.write("empty.csv", "a,b\nNA,NA\n,\n");
    assert_snapshot!(directory.refused("fit empty.csv --missing impute -o m -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot fit a model: all 2 rows have no value in any cell

    hint: check that this is the right file, and that --na does not match all cells
    ");
    assert_snapshot!(directory.refused("fit t.csv --weight-column w --missing skip -o m -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot fit a model: all 3 rows have missing cells or weight 0 and were skipped

    hint: fill missing cells with --missing impute, or leave out the columns that have many of them
    ");
    directory.write("one.csv", "a,b\n1,\n");
    let said = directory.refused("fit one.csv --missing skip -o m -q");
    assert!(
        said.err.starts_with("error: cannot fit a model: the only row has missing cells and was skipped\n"),
        "{said}"
    );
    directory.write("head.csv", "a,b\n");
    assert_snapshot!(directory.refused("fit head.csv head.csv -o m -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot fit a model: `head.csv` and `head.csv` have no rows

    hint: check that these are the right files and that they are complete
    ");
    assert_snapshot!(directory.refused_with("fit - -o m -q", b"a,b\n"), @"
    exit: 2
    ----- stderr -----
    error: cannot fit a model: standard input has no rows

    hint: check the command before the pipe
    ");
}

#[test]
fn a_header_in_another_delimiter() {
    let directory = Directory::with("t.csv", "a;b;kind\n1;2;x\n3;4;y\n");
    let hint = "hint: use --delimiter ';': the header was read as a single column\n";
    let said = directory.refused("fit t.csv --label kind -o m -q");
    assert!(said.err.ends_with(hint), "{said}");
    directory.done("fit t.csv --label kind --delimiter ; -o m -q");
    let said = directory.refused("project m t.csv");
    assert!(said.err.ends_with(hint), "{said}");
}

#[test]
fn lines_that_are_comments_or_do_not_end() {
    for (text, hint) in [
        ("# made on Monday\na,b\n1,2\n", "if the first line is a comment or a title, remove it"),
        (
            "a,b,c\n1,2,3\n# a note\n",
            "check this line for an unclosed quotation mark; if the line is a comment, remove the line",
        ),
        (
            "a,b,c\n1,\"2,3\n4,5,6\n",
            "check this line for an unclosed quotation mark; if the line is a comment, remove the line",
        ),
        ("a,b\n1,\"2\n3,4\n", "check this line for an unclosed quotation mark"),
        ("a,b\n1,2\n3,4,5\n", "put cells that contain the delimiter in quotation marks"),
        (
            "a,b\nx,1,2\ny,3,4\n",
            "if the first column holds row names, add a name for it to line 1; if the lines end in a delimiter, remove it",
        ),
        ("a,b\r1,2\r", "convert the line endings to LF"),
    ] {
        let said = Directory::with("t.csv", text).refused("fit t.csv -o m -q");
        assert!(said.err.ends_with(&format!("{hint}\n")), "{text:?}\n{said}");
    }
}

#[test]
fn numbers_that_are_too_large_or_have_a_unit() {
    for (cell, words) in [
        ("1e999", "`1e999` is too large, expected a number between -1e140 and 1e140\n"),
        ("1e200", "the value is 1e200, expected a number between -1e140 and 1e140\n"),
        (
            "$5",
            "hint: remove `$` from the cells; if the model does not need the column, leave it out with --exclude b\n",
        ),
        ("5 %", "hint: remove `%` from the cells; "),
        ("5:30", "hint: if the model does not need the column, leave it out with --exclude b"),
    ] {
        let said = Directory::with("t.csv", format!("a,b\n1,{cell}\n")).refused("fit t.csv -o m -q");
        assert!(said.err.contains(words), "{said}");
    }
}

#[test]
fn cells_in_other_notations_are_told_with_the_option_that_reads_them() {
    let directory = Directory::with("quoted.csv", "a,b,c\n1,\"2,5\",3\n");
    assert_snapshot!(directory.refused("fit quoted.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `quoted.csv`
      cause: line 2, column `b`: `2,5` is not a number

    hint: if the comma is the decimal mark, use --decimal ',' or, if commas also separate the cells, write the numbers with decimal points; if the comma separates thousands, remove it
    ");
    directory.write("europe.csv", "a;b;c\n1,5;2,5;3\n2;1;1\n1;1;0\n");
    assert_snapshot!(directory.refused("fit europe.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `europe.csv`
      cause: line 2 has 3 columns, expected 1

    hint: use --delimiter ';', which seems to separate the cells; add --decimal ',' if the decimal mark is a comma
    ");
    directory.done("fit europe.csv --decimal , -o m.safetensors -q");
    directory.write("marks.csv", "a,b,c\n1,-,3\n2,1,1\n4,-999,2\n5,2,2\n");
    assert_snapshot!(directory.refused("fit marks.csv -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `marks.csv`
      cause: line 2, column `b`: `-` is not a number

    hint: if `-` stands for a missing value, add --na=- and --missing impute or --missing skip; if the model does not need the column, leave it out with --exclude b
    ");
    assert_snapshot!(directory.refused("fit marks.csv --na -,-999 -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `marks.csv`
      cause: line 2, column `b`: the value is missing (an empty cell or a word such as NA)

    hint: fill missing cells with --missing impute, or leave out their rows with --missing skip; if the model does not need the column, leave it out with --exclude b
    ");
    let said = directory.run("fit marks.csv --na -,-999 --missing skip -o m.safetensors");
    assert!(said.err.contains("left out 2 rows"), "{}", said.err);
}

#[test]
fn cells_that_something_else_separates() {
    for (text, option) in [
        ("a|b\n1|2\n", "--delimiter '|'"),
        ("1 2 3\n4 5 6\n", "--delimiter ' '"),
        ("a;b\n1;2\n", "--delimiter ';'"),
        ("a\tb\n1\t2\n", "--delimiter tab"),
    ] {
        let directory = Directory::with("t.csv", text);
        let said = directory.refused("fit t.csv -o m -q");
        assert!(said.err.contains(&format!("hint: use {option}, which seems")), "{text}\n{said}");
    }
    let directory = Directory::with("t.csv", b"gr\xf6sse,b\n1,2\n");
    let said = directory.refused("fit t.csv -o m -q");
    assert!(said.err.ends_with("hint: save the file as UTF-8 text\n"), "{said}");
}

#[test]
fn points_in_text_are_decimal_marks_only_if_there_is_another_one() {
    let directory = Directory::with("t.csv", "a;b\n1,5;2,5\n2,5;4.5\n");
    let said = directory.refused("fit t.csv --delimiter ; --decimal , -o m");
    assert!(said.err.contains("hint: if the point is the decimal mark, leave out --decimal;"), "{said}");
    directory.write("dates.csv", "a,b\n1,12.05.2020\n2,13.05.2020\n");
    let said = directory.refused("fit dates.csv -o m");
    assert!(said.err.contains("hint: if the model does not need the column, leave it out with --exclude b"), "{said}");
    let hint = "hint: correct the cell, or leave out its row with --na 13.05.2020 --missing skip; \
                if the model does not need the column, leave it out with --exclude b\n";
    directory.write("dates.csv", "a,b\n1,12\n2,13.05.2020\n3,2\n4,5\n");
    let said = directory.refused("fit dates.csv -o m");
    assert!(said.err.ends_with(hint), "{said}");
    directory.done("fit dates.csv --na 13.05.2020 --missing skip -o m -q");
}

#[test]
fn a_missing_cell_of_an_array_has_a_hint_that_works() {
    let rows = vec![vec![1.0, 2.0], vec![3.0, f64::NAN], vec![4.0, 1.0], vec![9.0, 1.0]];
    let directory = Directory::with("t.npy", npy(&rows, "<f8", false));
    let said = directory.refused("fit t.npy -o m -q");
    assert!(said.err.contains("--missing impute") && !said.err.contains("--exclude"), "{said}");
    directory.done("fit t.npy --missing skip -o m -q");
}

#[test]
fn all_text_columns_are_named_at_once_and_the_hint_works() {
    let directory = Directory::with("t.csv", "a,b,name,\"c,d\"\n1,2,x,\n3,4,z,w\n5,1,q,r\n");
    assert_snapshot!(directory.refused("fit t.csv -o m -q"), @r#"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.csv`
      cause: line 2, column `name`: `x` is not a number; the column `c,d` does not hold numbers either

    hint: if the model does not need these columns, leave them out with --exclude 'name,"c,d"'
    "#);
    directory.done("fit t.csv --exclude name,\"c,d\" -o m -q");
    let header: Vec<String> = (0..12).map(|i| format!("t{i}")).collect();
    directory.write("wide.csv", format!("a,{}\n1{}\n", header.join(","), ",x".repeat(12)));
    let said = directory.refused("fit wide.csv -o n -q");
    assert!(
        said.err.contains("the columns `t1`, `t2`, `t3`, `t4`, `t5`, `t6`, `t7`, `t8` and 3 more do not hold"),
        "{said}"
    );
    assert!(said.err.contains(&format!("--exclude {}\n", header.join(","))), "{said}");
    let said = Directory::with("t.csv", "name\nred;green\nblue\n").refused("fit t.csv -o n -q");
    assert!(
        said.err.ends_with("hint: check that this is the right file: none of the columns to read holds numbers\n"),
        "{said}"
    );
}

#[test]
fn a_column_of_the_model_is_not_suggested_to_be_left_out() {
    let directory = Directory::with("t.csv", "a,b\n1,2\n3,5\n4,4\n");
    directory.done("fit t.csv -o m -q");
    directory.write("u.csv", "a,b\n1,2\n3,x\n");
    assert_snapshot!(directory.refused("update m u.csv -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `u.csv`
      cause: line 3, column `b`: `x` is not a number

    hint: correct the cell, or leave out its row with --na x --missing skip; the column `b` cannot be left out, because the model uses it
    ");
    directory.done("update m u.csv --na x --missing skip -q");
    directory.write("u.csv", "a,b\n1,2\n3,\n");
    let said = directory.refused("project m u.csv");
    assert!(said.err.ends_with("or leave out their rows with --missing skip\n"), "{said}");
    directory.write("t.npy", npy(&table(4, 3, 5), "<f8", false));
    directory.done("fit t.npy -o n -q");
    directory.write("t.parquet", parquet(&table(3, 3, 5), &["x"; 3]));
    let said = directory.refused("project n t.parquet");
    assert!(said.err.contains("leave it out with --exclude kind"), "{said}");
    directory.done("project n t.parquet --exclude kind");
}
