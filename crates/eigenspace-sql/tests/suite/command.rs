//! The command on files.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use datafusion::arrow::ipc::writer::FileWriter;
use eigenspace::EigenspaceModel;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::reference::{Reference, rows, site};
use crate::support::batch;

/// Runs the command in a directory.
pub(crate) fn command(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eigenspace-sql"));
    command.args(words).current_dir(directory).output().unwrap()
}

/// The stdout of a command that succeeds.
fn printed(directory: &Path, words: &[&str]) -> String {
    let output = command(directory, words);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The stderr of a command that fails with this code.
fn failed(directory: &Path, words: &[&str], code: i32) -> String {
    let output = command(directory, words);
    assert_eq!(output.status.code(), Some(code), "{words:?}");
    assert!(output.stdout.is_empty(), "{words:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// A directory with the rows as CSV, Arrow, NPY and NPZ.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let (place, all) = (directory.path(), rows(300));
    let lines = all.iter().enumerate().map(|(row, [a, b, c, d])| format!("{},{a:?},{b:?},{c:?},{d:?}\n", site(row)));
    fs::write(place.join("rows.csv"), format!("site,a,b,c,d\n{}", lines.collect::<String>())).unwrap();
    let batch = batch(&all, 0);
    let mut writer = FileWriter::try_new(fs::File::create(place.join("rows.arrow")).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    write_npy(&place.join("rows.npy"), &all);
    write_npz(&place.join("rows.npz"), &all, CompressionMethod::Stored);
    write_npz(&place.join("packed.npz"), &all, CompressionMethod::Deflated);
    directory
}

pub(crate) fn write_npy<const WIDTH: usize>(path: &Path, rows: &[[f64; WIDTH]]) {
    fs::write(path, npy(rows)).unwrap();
}

/// The archive that `numpy.savez` writes, or `numpy.savez_compressed`.
fn write_npz<const WIDTH: usize>(path: &Path, rows: &[[f64; WIDTH]], method: CompressionMethod) {
    let mut archive = ZipWriter::new(fs::File::create(path).unwrap());
    archive.start_file("arr_0.npy", SimpleFileOptions::default().compression_method(method)).unwrap();
    archive.write_all(&npy(rows)).unwrap();
    archive.finish().unwrap();
}

/// The bytes of an NPY file.
fn npy<const WIDTH: usize>(rows: &[[f64; WIDTH]]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {WIDTH}), }}", rows.len());
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[test]
fn models_of_a_csv_file_by_group() {
    let directory = directory();
    let query = "SELECT site, pca(a, b, c, d, 2) AS model FROM 'rows.csv' GROUP BY site ORDER BY site";
    let expected = "\
+-------+---------------------------------------------+
| site  | model                                       |
+-------+---------------------------------------------+
| north | model of 75 rows, 4 features, 2 components  |
| south | model of 150 rows, 4 features, 2 components |
| west  | model of 75 rows, 4 features, 2 components  |
+-------+---------------------------------------------+
";
    assert_eq!(printed(directory.path(), &[query]), expected);
}

#[test]
fn groups_without_a_name_and_without_rows_are_null() {
    let directory = directory();
    let query = "SELECT site, pca(a, b, 2) FILTER (WHERE site <> 'west') AS model FROM 'rows.csv' GROUP BY ROLLUP (site) ORDER BY site";
    let expected = "\
+-------+---------------------------------------------+
| site  | model                                       |
+-------+---------------------------------------------+
| north | model of 75 rows, 2 features, 2 components  |
| south | model of 150 rows, 2 features, 2 components |
| west  | NULL                                        |
| NULL  | model of 225 rows, 2 features, 2 components |
+-------+---------------------------------------------+
";
    assert_eq!(printed(directory.path(), &[query]), expected);
    // Their files are named too; a NULL is not written.
    command(directory.path(), &["--models", "out", query]);
    let mut names: Vec<_> =
        fs::read_dir(directory.path().join("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["north.safetensors", "null.safetensors", "south.safetensors"]);
}

#[test]
fn every_format_gives_the_same_model() {
    let directory = directory();
    let place = directory.path();
    let copy = "SELECT * FROM 'rows.arrow'";
    let output = command(place, &["--output", "rows.parquet", copy]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "wrote 300 rows to rows.parquet\n");
    let expected = Reference::of(&rows(300));
    let sources = [
        ("csv", "pca([a, b, c, d], 2) AS csv FROM 'rows.csv'"),
        ("arrow", "pca(x, 2) AS arrow FROM 'rows.arrow'"),
        ("parquet", "pca(x, 2) AS parquet FROM '*.parquet'"),
        ("npy", "pca(features, 2) AS npy FROM 'rows.npy'"),
        ("npz", "pca(features, 2) AS npz FROM 'rows.npz'"),
        ("packed", "pca(features, 2) AS packed FROM 'packed.npz'"),
    ];
    for (name, query) in sources {
        let output = command(place, &["--models", "out", &format!("SELECT {query}")]);
        let told = format!("out/{name}.safetensors: model of 300 rows, 4 features, 2 components\n");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), told);
        assert!(output.stdout.is_empty());
        expected.check(&EigenspaceModel::load(place.join(format!("out/{name}.safetensors"))).unwrap());
    }
}

#[test]
fn npy_and_npz_files_are_read_in_several_partitions() {
    let directory = tempfile::tempdir().unwrap();
    let (place, all) = (directory.path(), rows(40_000));
    write_npy(&place.join("long.npy"), &all);
    write_npz(&place.join("long.npz"), &all, CompressionMethod::Stored);
    write_npz(&place.join("packed.npz"), &all, CompressionMethod::Deflated);
    for name in ["long.npy", "long.npz", "packed.npz"] {
        let query = format!("SELECT pca(features, 2) AS m FROM '{name}'");
        let plan = printed(place, &["--partitions", "4", &format!("EXPLAIN {query}")]);
        assert!(plan.contains("mode=Partial") && plan.contains("mode=Final"), "{plan}");
        assert!(plan.contains("NpyScan: features=4, partitions=4"), "{plan}");
        let models = format!("of-{name}");
        command(place, &["--partitions=4", "--models", &models, &query]);
        Reference::of(&all).check(&EigenspaceModel::load(place.join(models).join("m.safetensors")).unwrap());
    }
}

#[test]
fn models_in_parquet_can_be_used_again() {
    let directory = directory();
    let place = directory.path();
    printed(place, &["--output", "models.parquet", "SELECT site, pca(x, 2) AS m FROM 'rows.arrow' GROUP BY site"]);
    let text = printed(place, &["SELECT pca_describe(pca_merge(m)) AS all_sites FROM 'models.parquet'"]);
    assert!(text.contains("model of 300 rows, 4 features, 2 components"), "{text}");
    let text = printed(place, &["SELECT site, m FROM 'models.parquet' ORDER BY site LIMIT 1"]);
    assert!(text.contains("| north | model of 75 rows, 4 features, 2 components |"), "{text}");
}

#[test]
fn results_as_csv() {
    let directory = directory();
    let place = directory.path();
    let query = "SELECT site, array_length(pca_explained(pca(x, 2))) AS k, pca_mean(pca(x, 1))[1] > 0 AS positive, [1, NULL] AS l
        FROM 'rows.arrow' GROUP BY site ORDER BY site LIMIT 2";
    printed(place, &["--output", "out.csv", query]);
    let text = fs::read_to_string(place.join("out.csv")).unwrap();
    assert_eq!(text, "site,k,positive,l\nnorth,2,true,\"[1, NULL]\"\nsouth,2,true,\"[1, NULL]\"\n");
    let query = "SELECT pca(x, 2) AS m FROM 'rows.arrow'";
    let expected = "error: cannot write the models in column `m` to a CSV file\nhint: write a .parquet file, or use --models DIR\n";
    assert_eq!(failed(place, &["--output", "no.csv", query], 1), expected);
    assert!(!place.join("no.csv").exists());
}

#[test]
fn the_query_can_come_from_stdin() {
    use std::io::Write;
    let directory = directory();
    let mut command = Command::new(env!("CARGO_BIN_EXE_eigenspace-sql"));
    let command = command.arg("-").current_dir(directory.path());
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"SELECT count(*) AS n FROM 'rows.csv'").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("| 300 |"));
}

#[test]
fn errors_say_what_to_do() {
    let directory = directory();
    let place = directory.path();
    let missing = "error: cannot read `none.csv`: there is no such file\nhint: check the spelling of the path and the current directory\n";
    assert_eq!(failed(place, &["SELECT * FROM 'none.csv'"], 1), missing);
    let npy = failed(place, &["SELECT * FROM 'none.npy'"], 1);
    assert!(npy.starts_with("error: cannot read `none.npy`: No such file or directory"), "{npy}");
    let pattern = failed(place, &["SELECT * FROM 'none/*.parquet'"], 1);
    assert!(pattern.contains("`none/*.parquet`") && pattern.contains("hint: "), "{pattern}");
    let null = failed(place, &["SELECT pca(nullif(a, a), b, 1) FROM 'rows.csv'"], 1);
    assert!(
        null.starts_with(
            "error: pca: in partition 0, row 0, column 0: the value is NULL (partitions are counted from 0"
        ),
        "{null}"
    );
    assert!(null.contains("\nhint: leave out such rows with WHERE"), "{null}");
    let distinct = failed(place, &["SELECT pca(DISTINCT a, b, 1) FROM 'rows.csv'"], 1);
    assert!(distinct.starts_with("error: pca: DISTINCT is not supported"), "{distinct}");
    let column = failed(place, &["SELECT pca(nothing, 1) FROM 'rows.csv'"], 1);
    assert!(column.starts_with("error: ") && column.contains("nothing"), "{column}");
    let syntax = failed(place, &["SELEC 1"], 1);
    assert!(syntax.starts_with("error: invalid query: Expected: an SQL statement, found: SELEC"), "{syntax}");
    let table = failed(place, &["SELECT 1 FROM rows"], 1);
    let expected = "error: table 'datafusion.public.rows' not found\nhint: put the name of a file in quotes: FROM 'data.parquet'\n";
    assert_eq!(table, expected);
    let format = failed(place, &["--output", "out.xyz", "SELECT 1"], 1);
    assert!(format.contains("cannot infer the format of `out.xyz` from its name"), "{format}");
    let same =
        failed(place, &["--models", "out", "SELECT a > 10, pca(a, b, 1) FROM 'rows.csv' GROUP BY site, a > 10"], 1);
    assert!(same.contains("two rows would be written to `out/"), "{same}");
    let none = failed(place, &["--models", "out", "SELECT 1"], 1);
    assert!(none.starts_with("error: the result has no column of models"), "{none}");
    assert!(!place.join("out").exists());
    for words in [&[][..], &["SELECT 1", "2"], &["--partitions", "0", "SELECT 1"], &["--nothing"], &["--output"]] {
        assert!(failed(place, words, 2).contains("\nhint: "), "{words:?}");
    }
    assert!(printed(place, &["--help"]).contains("usage: eigenspace-sql [OPTIONS] QUERY"));
    assert!(printed(place, &["-V"]).starts_with("eigenspace-sql 0."));
}
