//! Arrays that are truncated, of the wrong kind, or ambiguous.

use insta::assert_snapshot;

use crate::files::{arrow, npy, npy_header, npz, parquet};
use crate::oracle::{Rows, table};
use crate::support::Directory;

fn rows() -> Rows {
    table(20, 3, 51)
}

#[test]
fn an_array_that_is_cut_short() {
    let bytes = npy(&rows(), "<f8", false);
    let directory = Directory::with("t.npy", &bytes[..bytes.len() - 5]);
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npy`
      cause: it has 603 bytes, but its header says 608

    hint: copy the file again: it is incomplete, or still being written
    ");
    assert_snapshot!(directory.refused_with("fit - -o m.safetensors -q", &bytes[..bytes.len() - 5]), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from standard input
      cause: it has 475 bytes, but its header says 480

    hint: check the command before the pipe: its output is incomplete
    ");
    directory.write("t.npy", &bytes[..40]);
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npy`
      cause: not a valid NumPy array: it ends within its header

    hint: check that the file is complete and has the format that its name suggests, or set the format with --format
    ");
    let by_column = npy(&rows(), "<f8", true);
    assert_snapshot!(directory.refused_with("fit - -o m.safetensors -q", &by_column[..by_column.len() - 5]), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from standard input
      cause: it has 475 bytes, but its header says 480

    hint: check the command before the pipe: its output is incomplete
    ");
}

#[test]
fn an_array_of_complex_numbers() {
    let directory = Directory::with("t.npy", [npy_header("<c16", false, "(2, 2)"), vec![0; 64]].concat());
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npy`
      cause: its elements are complex numbers (<c16), expected real numbers

    hint: save real numbers, for example the real and the imaginary part of each number in two columns
    ");
    directory.write("t.npy", [npy_header("<U4", false, "(2, 2)"), vec![0; 64]].concat());
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npy`
      cause: its elements are text (<U4), expected real numbers

    hint: save the array as numbers, for example with astype(float)
    ");
}

#[test]
fn an_array_that_is_no_table() {
    let directory = Directory::with("t.npy", [npy_header("<f8", false, "(4,)"), vec![0; 32]].concat());
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npy`
      cause: its shape is [4], expected rows and columns

    hint: save it with one observation per row, for example with reshape(len(a), -1)
    ");
    let y = [npy_header("<f8", false, "(4,)"), vec![0; 32]].concat();
    directory.write("t.npz", npz(&[("x", npy(&rows(), "<f8", false)), ("y", y)]));
    assert_snapshot!(directory.refused("fit t.npz --key y -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npz`
      cause: the array `y` has the shape [4], expected rows and columns

    hint: choose another array with --key, or save it with one row for each observation
    ");
    let record = npy_header("[('a', '<f8'), ('b', '<f8')]", false, "(2,)");
    let record = String::from_utf8_lossy(&record[10..]).replace("'[(", "[(").replace(")]'", ")]");
    let length = u16::try_from(record.len()).unwrap().to_le_bytes();
    directory.write("t.npy", [b"\x93NUMPY\x01\x00", &length[..], record.as_bytes(), &[0; 32]].concat());
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npy`
      cause: its elements are records ([('a', '<f8'), ('b', '<f8')]), expected real numbers

    hint: save the array as numbers, for example with numpy.lib.recfunctions.structured_to_unstructured(a)
    ");
    directory.write("t.npy", [npy_header("<f8", false, "()"), vec![0; 8]].concat());
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npy`
      cause: it is a single number, expected rows and columns

    hint: save a table with one row for each observation
    ");
    directory.write("t.npy", npy_header("<f8", false, "(0, 3)"));
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot fit a model: `t.npy` has no rows

    hint: check that this is the right file and that it is complete
    ");
    directory.write("t.npy", npy_header("<f8", false, "(3, 0)"));
    assert_snapshot!(directory.refused("fit t.npy -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npy`
      cause: its rows have no columns

    hint: save it with at least one column
    ");
    directory.write("t.npy", npy_header("<f8", false, "(4611686018427387904, 4)"));
    // Told in other words where overflow is not checked, as in a release build.
    let said = directory.refused("fit t.npy -o m.safetensors -q");
    assert!(said.err.starts_with("error: cannot read rows from `t.npy`\n  cause: "), "{said}");
}

#[test]
fn one_of_two_arrays_must_be_named() {
    let directory =
        Directory::with("t.npz", npz(&[("a", npy(&rows(), "<f8", false)), ("b", npy(&rows(), "<f4", false))]));
    assert_snapshot!(directory.refused("fit t.npz -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npz`
      cause: it has 2 arrays, and none was chosen

    hint: choose one of them with --key: `a`, `b`
    ");
    assert_snapshot!(directory.refused("fit t.npz --key c -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.npz`
      cause: there is no array `c`

    hint: choose one of them with --key: `a`, `b`
    ");
}

#[test]
fn a_sparse_matrix_and_a_file_without_arrays() {
    let part = || npy_header("<f8", false, "(0,)");
    let parts = ["indices", "indptr", "format", "shape", "data"].map(|name| (name, part()));
    let directory = Directory::with("s.npz", npz(&parts));
    assert_snapshot!(directory.refused("fit s.npz -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `s.npz`
      cause: it has 5 arrays, and none was chosen

    hint: save the sparse matrix as a dense array, for example with numpy.save('rows.npy', scipy.sparse.load_npz(FILE).toarray())
    ");
    directory.write("e.npz", npz(&[]));
    for options in ["", "--key x"] {
        let said = directory.refused(&format!("fit e.npz {options} -o m.safetensors"));
        assert!(said.err.contains("cause: not a valid npz file: it has no arrays\n"), "{said}");
    }
}

#[test]
fn files_of_another_number_type_than_the_first_are_no_reason_to_stop() {
    let whole: Rows = rows().iter().map(|row| row.iter().map(|x| x.round()).collect()).collect();
    let directory = Directory::with("1.npy", npy(&whole, "<i2", false));
    directory.write("2.npy", npy(&whole, "<f8", false));
    directory.write("3.npy", npy(&whole, "<f4", false));
    directory.write("4.npy", npy(&whole, "<f8", true));
    let expected: Rows = (0..4).flat_map(|_| whole.clone()).collect();
    directory.write("all.npy", npy(&expected, "<f8", false));
    directory.done("fit 1.npy 2.npy 3.npy 4.npy -o mixed.safetensors -q");
    directory.done("fit all.npy -o all.safetensors -q");
    assert_eq!(directory.json("compare mixed.safetensors all.safetensors --within 1e-6 --json")["within"], true);
}

#[test]
fn tables_that_are_cut_short_or_something_else() {
    let labels = ["x"; 20];
    let (parquet, arrow) = (parquet(&rows(), &labels), arrow(&rows(), &labels));
    let directory = Directory::with("t.parquet", &parquet[..parquet.len() - 9]);
    directory.write("t.arrow", &arrow[..arrow.len() / 2]);
    directory.write("wrong.parquet", "a,b\n1,2\n");
    directory.write("wrong.npz", "a,b\n1,2\n");
    for name in ["t.parquet", "t.arrow", "wrong.parquet", "wrong.npz"] {
        let label = if name == "wrong.npz" { "" } else { "--label kind" };
        let said = directory.refused(&format!("fit {name} {label} -o m.safetensors -q"));
        assert!(said.err.starts_with(&format!("error: cannot read rows from `{name}`\n  cause: not a valid ")));
        let cause = match name {
            "t.parquet" => "not a valid Parquet file: its end is missing or damaged\n",
            "wrong.parquet" => "not a valid Parquet file: it does not start with the signature of Parquet\n",
            _ => "",
        };
        assert!(said.err.contains(cause), "{said}");
    }
    for (name, bytes, kind, format) in [
        ("p.csv", &parquet, "a Parquet file", "parquet"),
        ("a.csv", &arrow, "an Arrow file", "arrow"),
        ("n.tsv", &npy(&rows(), "<f8", false), "a NumPy array", "npy"),
    ] {
        directory.write(name, bytes);
        let said = directory.refused(&format!("fit {name} -o m.safetensors -q"));
        let words =
            format!("error: cannot read rows from `{name}`\n  cause: it is {kind}\n\nhint: use --format {format}\n");
        assert_eq!(said.err, words);
    }
    let said = directory.refused_with("fit - -o m.safetensors -q", &parquet);
    let words = "error: cannot read rows from standard input\n  cause: it is a Parquet file\n\nhint: save the rows to a file first\n";
    assert_eq!(said.err, words);
    directory.write("t.npy", npy(&rows(), "<f8", false));
    directory.done("fit t.npy -o m -q");
    directory.write("m.csv", directory.read("m"));
    let said = directory.refused("fit m.csv -o m.safetensors -q");
    assert!(said.err.starts_with("error: cannot read rows from `m.csv`: it is a model\n"), "{said}");
    directory.write("t.parquet", &parquet);
    assert_snapshot!(directory.refused("fit t.parquet -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.parquet`
      cause: the column `kind` holds text (Utf8), expected numbers

    hint: if the model does not need the column, leave it out with --exclude kind, or use it as the label with --label kind
    ");
}
