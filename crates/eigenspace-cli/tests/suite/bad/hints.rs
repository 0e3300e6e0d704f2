//! Hints must help: following one leads to a command that succeeds.

use crate::files::{csv, list_with_a_null, npy, npy_header, pgm};
use crate::oracle::table;
use crate::support::Directory;

/// A table, and a model of it.
fn fitted() -> Directory {
    let directory = Directory::with("t.csv", csv(&table(20, 3, 91)));
    directory.done("fit t.csv -o m.safetensors -q");
    directory
}

/// Checks the hint of a command that fails.
fn advised(directory: &Directory, line: &str, hint: &str) {
    let said = directory.refused(line);
    assert!(said.err.ends_with(&format!("\nhint: {hint}\n")), "{line}\n{said}");
}

#[test]
fn rows_before_the_model() {
    let directory = fitted();
    for command in ["project", "update", "inspect", "reconstruct"] {
        advised(&directory, &format!("{command} t.csv m.safetensors"), "pass the model first, and the rows after it");
    }
    directory.done("project m.safetensors t.csv -q");
}

#[test]
fn a_model_in_place_of_rows_is_called_a_model_even_if_it_would_be_overwritten() {
    let directory = fitted();
    let said = directory.refused("update m.safetensors m.safetensors");
    assert!(said.err.starts_with("error: cannot read rows from `m.safetensors`: it is a model\n"), "{said}");
}

#[test]
fn separators_of_thousands() {
    let directory = Directory::with("t.csv", "a,b\n\"1,234.5\",65\n\"2,345.5\",70\n");
    let remove = "remove the commas that separate thousands from the cells";
    let hint = format!("{remove}; if the model does not need the column, leave it out with --exclude a");
    advised(&directory, "fit t.csv -o m -q", &hint);
    directory.done("fit t.csv --exclude a -o m -q");
    directory.write("t.csv", "a,b\n\"1,234,567\",65\n\"2,345,678\",70\n");
    advised(&directory, "fit t.csv -o n -q", &hint);
    directory.write("t.csv", "a;b\n1.234,5;65\n2.345,5;70\n");
    let said = directory.refused("fit t.csv --delimiter ; -o n -q");
    assert!(
        said.err.contains("remove the points that separate thousands from the cells, and use --decimal ','"),
        "{said}"
    );
    directory.write("n.csv", "1.234,5;2\n2.345,5;3\n");
    let said = directory.refused("fit n.csv --decimal , -o n -q");
    assert!(said.err.contains("remove the points that separate thousands"), "{said}");
    directory.write("t.csv", "a;b\n1234,5;65\n2345,5;70\n");
    directory.done("fit t.csv --decimal , -o n -q");
}

#[test]
fn a_decimal_comma_in_cells_that_are_delimited_by_commas() {
    let directory = Directory::with("t.csv", "a,b\n\"1,5\",\"2,5\"\n\"3,5\",\"1,5\"\n");
    let hint = "leave out --decimal ',' and write the numbers with decimal points: the header is delimited by commas";
    advised(&directory, "fit t.csv --decimal , -o m -q", hint);
    directory.write("t.csv", "a,b\n1.5,2.5\n3.5,1.5\n");
    advised(&directory, "fit t.csv --decimal , -o m -q", hint);
    directory.done("fit t.csv -o m -q");
}

#[test]
fn a_header_that_repeats_in_joined_tables() {
    let directory = Directory::with("t.csv", "a,b,c\n1,2,3\n4,5,7\na,b,c\n8,9,1\n");
    let said = directory.refused("fit t.csv -o m -q");
    let cause = "line 4, column `a`: `a` is not a number; there is also text in the columns `b` and `c`\n";
    assert!(said.err.contains(cause), "{said}");
    advised(&directory, "fit t.csv -o m -q", "correct this line; if it repeats the names of the columns, remove it");
}

#[test]
fn standard_input_for_two_inputs() {
    let directory = fitted();
    advised(&directory, "fit - - -o n -q", "pass `-` only once");
    advised(&directory, "fit - --weights - -o n -q", "save the rows to a file first");
    for command in ["inspect -", "merge - m.safetensors -o n", "project - t.csv"] {
        let said = directory.refused(command);
        assert!(said.err.starts_with("error: cannot read a model from standard input"), "{said}");
        advised(&directory, command, "pass a file name instead of `-`");
    }
    advised(&directory, "faces list -", "pass a file name instead of `-`");
}

#[test]
fn a_column_that_is_there_twice() {
    let directory = Directory::with("t.csv", "a,b,c\n1,2,3\n4,5,7\n8,9,1\n");
    directory.done("fit t.csv -o m -q");
    directory.write("d.csv", "a,b,c,a\n1,2,3,0\n4,5,7,0\n");
    let hint = "choose columns by number instead of by name, for example --columns 0,3; with a model, leave out those \
                that it does not have, for example with --exclude 3";
    for command in ["project m d.csv", "fit d.csv --columns a -o n -q"] {
        advised(&directory, command, hint);
    }
    directory.done("project m d.csv --exclude 3");
    directory.done("fit d.csv --columns 0,3 -o n -q");
}

#[test]
fn a_comma_too_many() {
    advised(&fitted(), "fit t.csv --columns 0,,1 -o n -q", "remove the extra comma from the list of columns");
}

#[test]
fn an_address_in_place_of_a_file() {
    let hint = "download the file first, and pass its path: addresses are not read";
    advised(&fitted(), "fit https://example.com/t.csv -o n -q", hint);
}

#[test]
fn weights_that_sum_to_one() {
    let directory = Directory::with("t.csv", "a,b,w\n1,2,0.25\n3,1,0.25\n4,6,0.25\n5,5,0.25\n");
    let said = directory.run("fit t.csv --weight-column w -o m");
    assert!(said.err.contains("warning: the variances are undefined: the weights sum to 1.00000, expected"), "{said}");
    let said = directory.run("fit t.csv --weight-column w --weight-kind reliability -o n");
    assert!(!said.err.contains("undefined"), "{said}");
}

#[test]
fn units_and_symbols() {
    let directory = Directory::with("u.csv", "h,w\n171 cm,65\n180 cm,70\n");
    let hint = "remove `cm` from the cells; if the model does not need the column, leave it out with --exclude h";
    advised(&directory, "fit u.csv -o m -q", hint);
    directory.done("fit u.csv --exclude h -o m -q");
    directory.write("u.csv", "h,w\n171 cm,65 kg\n180 cm,70 kg\n");
    advised(&directory, "fit u.csv -o n -q", "remove symbols and units, such as `cm`, from the cells");
}

#[test]
fn a_header_that_is_read_as_a_row() {
    let directory = fitted();
    let hint = "if the first line holds the names of the columns, leave out --no-header";
    advised(&directory, "fit t.csv --no-header -o n -q", hint);
}

#[test]
fn infinite_and_huge_values() {
    let directory = Directory::with("v.csv", "a,b\n1,2\ninf,4\n5,7\n3,1\n");
    let hint = "to leave out the row, treat the value as missing, for example with --na inf,+inf,infinity,+infinity --missing skip; \
                if the model does not need the column, leave it out with --exclude a";
    advised(&directory, "fit v.csv -o m -q", hint);
    directory.done("fit v.csv --na inf,+inf,infinity,+infinity --missing skip -o m -q");
    directory.done("fit v.csv --exclude a -o n -q");
    directory.write("v.csv", "a,b\n1,2\n1e400,4\n5,7\n");
    let hint = "remove the row, or divide the column by a constant; \
                if the model does not need the column, leave it out with --exclude a";
    advised(&directory, "fit v.csv -o m -q", hint);
}

#[test]
fn another_delimiter() {
    let directory = Directory::with("d.csv", "1 2 3\n4 5 6\n7 8 8\n");
    advised(&directory, "fit d.csv -o m -q", "use --delimiter ' ', which seems to separate the cells");
    directory.write("d.csv", "a,b\n\"1,5\",\"2,5\"\n\"2,5\",\"1,0\"\n");
    let hint = "set the delimiter of the file, for example --delimiter ';'; \
                if the delimiter is a comma, write the numbers with decimal points";
    advised(&directory, "fit d.csv --decimal , --delimiter , -o m -q", hint);
}

#[test]
fn a_wrong_format() {
    let directory = Directory::with("x.npy", npy(&table(5, 3, 92), "<f8", false));
    let hint = "check that --format is the format of the file, or leave it out";
    advised(&directory, "fit x.npy --format csv -o m -q", hint);
    advised(&directory, "fit x.npy --format parquet -o m -q", hint);
    advised(&directory, "fit x.npy --format images -o m -q", hint);
    directory.done("fit x.npy -o m -q");
}

#[test]
fn missing_scores() {
    let directory = fitted();
    directory.write("z.csv", "PC1,PC2\n1,2\n,3\n");
    advised(&directory, "reconstruct m.safetensors z.csv", "fill in the missing scores, or remove their rows");
}

#[test]
fn a_file_in_place_of_a_directory() {
    let directory = fitted();
    advised(&directory, "man t.csv", "pass a directory instead: `t.csv` is a file");
    let hint = "pass at least 40 images, arranged as person/image.pgm, or leave out --faces to fetch the ORL faces";
    advised(&directory, "demo --faces t.csv -o d", hint);
}

#[test]
fn arrays_have_hints_of_their_own() {
    let image =
        |size: usize| [npy_header("<f8", false, &format!("(3, {size}, {size})")), vec![0; 24 * size * size]].concat();
    let directory = Directory::with("8.npy", image(8));
    directory.write("9.npy", image(9));
    advised(&directory, "fit 8.npy 9.npy -o m -q", "save arrays of images that are 8x8");
    directory.write("t.npy", npy(&table(20, 4, 93), "<f8", false));
    directory.done("fit t.npy -o m -q");
    directory.done("project m t.npy -o s.npy -q");
    let hint = "leave out -k to use all scores; to use 3, run `eigenspace project` again with -k 3";
    advised(&directory, "reconstruct m s.npy -k 3", hint);
    directory.done("reconstruct m s.npy");
    directory.done("project m t.npy -k 3 -o s.npy -q");
    directory.done("reconstruct m s.npy -k 3");
}

#[test]
fn a_list_is_left_out_by_its_own_name() {
    let directory = Directory::with("t.parquet", list_with_a_null());
    let said = directory.refused("fit t.parquet -o m -q");
    assert!(said.err.ends_with("; if the model does not need the column, leave it out with --exclude v\n"), "{said}");
}

#[test]
fn aligned_text() {
    let directory = Directory::with("t.txt", "a   b    c\n1   2    4\n10  20   5\n7   1    3\n");
    let hint =
        "separate the cells with one delimiter each, for example: tr -s ' ' < t.txt > new.txt, and use --delimiter ' '";
    advised(&directory, "fit t.txt -o m -q", hint);
    let mut command = directory.command("fit t.txt -o m -q --delimiter");
    let said = crate::support::finish(command.arg(" "), b"");
    assert!(said.err.ends_with(&format!("\nhint: {hint}\n")), "{said}");
    directory.write("t.txt", "1   2   4\n5   1   2\n");
    let mut command = directory.command("fit t.txt -o m -q --delimiter");
    let said = crate::support::finish(command.arg(" "), b"");
    assert!(said.err.ends_with(&format!("\nhint: {hint}\n")), "{said}");
    directory.write("new.txt", "a b c\n1 2 4\n10 20 5\n7 1 3\n");
    let mut command = directory.command("fit new.txt -o m -q --delimiter");
    assert_eq!(crate::support::finish(command.arg(" "), b"").code, Some(0));
}

#[test]
fn columns_that_are_chosen_wrongly() {
    let directory = Directory::with("t.csv", "name,height,weight\nx,1,2\ny,3,1\nz,2,2\n");
    let hint = "leave out --no-header, or choose a column by its number, from 0 to 2";
    advised(&directory, "fit t.csv --no-header --label name -o m -q", hint);
    for (roles, holds) in [("--label name --weight-column weight", "weights"), ("--label weight", "labels")] {
        let said = directory.refused(&format!("fit t.csv {roles} --columns height,weight -o m -q"));
        let words = format!(
            "error: cannot read rows from `t.csv`\n  cause: cannot use the column `weight` as a feature: it holds the {holds}\n\n\
             hint: leave `weight` out of --columns\n"
        );
        assert_eq!(said.err, words);
    }
    let mut command = directory.command("fit t.csv -o m -q --columns");
    assert_eq!(crate::support::finish(command.arg("height, weight"), b"").code, Some(0), "spaces do not matter");
}

#[test]
fn sizes_that_are_too_large() {
    let directory = Directory::with("faces/1.pgm", pgm(2, 2, |at| at as u8));
    let said = directory.refused("fit faces --resize 100000x100000 -o m");
    assert_eq!(
        said.err,
        "error: invalid image size 100000x100000: expected at most 134,217,728 pixels\n\n\
         hint: use a smaller width and height\n"
    );
}

#[test]
fn weights_of_another_number_of_rows() {
    let directory = Directory::with("t.csv", csv(&table(10, 3, 94)));
    directory.write("w.csv", "w\n1\n2\n3\n");
    let said = directory.refused("fit t.csv --weights w.csv -o m -q");
    assert_eq!(
        said.err,
        "error: cannot use the weights in `w.csv` for the rows in `t.csv`: found 3 weights for 10 rows\n\n\
         hint: pass exactly one weight for each row\n"
    );
    directory.write("v.csv", "a,b,w\n1,2,65\n2,1,3\n");
    let said = directory.refused("fit v.csv --weight-column w --na 65 -o m -q");
    assert!(said.err.contains("cause: line 2, column `w`: the weight is missing\n"), "{said}");
    directory.write("n.csv", "1,2,65\n2,1,3\n");
    let said = directory.refused("fit n.csv --no-header --weight-column 2 --na 65 -o m -q");
    assert!(said.err.contains("cause: line 1, column 2: the weight is missing\n"), "{said}");
}

#[test]
fn scores_that_are_not_what_they_are_taken_for() {
    let directory = fitted();
    directory.done("project m.safetensors t.csv -o s.csv -q");
    let said = directory.refused("reconstruct m.safetensors s.csv --whiten");
    assert_eq!(
        said.err,
        "error: cannot use --whiten with `s.csv`: its scores are named PC1, PC2, …, so they are not whitened\n\n\
         hint: leave out --whiten\n"
    );
    directory.done("project m.safetensors t.csv --whiten -o w.csv -q");
    directory.done("reconstruct m.safetensors w.csv --whiten -q");
    directory.write("x.csv", "x,y\n1,2\n3,4\n");
    let said = directory.run("reconstruct m.safetensors x.csv");
    let notice = "no column of `x.csv` is named as a score (PC1, PC2, …); its columns are read as scores, in the order of the file\n";
    assert_eq!((said.code, &*said.err), (Some(0), notice));
}
