//! Hints must help: following one leads to a command that succeeds.

use crate::files::{csv, npy};
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
    // The directory of the demo is created before the faces are read.
    let said = directory.run("demo --faces t.csv -o d");
    let hint =
        "hint: pass at least 40 images, arranged as person/image.pgm, or leave out --faces to fetch the ORL faces\n";
    assert!(said.err.ends_with(hint), "{said}");
}
