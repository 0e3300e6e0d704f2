//! Paths that do not exist, or are of the wrong kind.

use insta::assert_snapshot;

use crate::support::Directory;

const TABLE: &str = "x,y\n1,2\n2,1\n4,5\n";

/// `t.csv` and its model.
fn fitted() -> Directory {
    let directory = Directory::with("t.csv", TABLE);
    directory.done("fit t.csv -o m.safetensors -q");
    directory
}

#[test]
fn a_file_that_is_not_there() {
    let directory = fitted();
    assert_snapshot!(directory.refused("fit no.csv -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `no.csv`
      cause: No such file or directory (os error 2)

    hint: check the spelling of the path and the current directory
    ");
    assert_snapshot!(directory.refused("fit t.csv no.csv -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `no.csv`
      cause: No such file or directory (os error 2)

    hint: check the spelling of the path and the current directory
    ");
    assert_snapshot!(directory.refused("inspect no.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `no.safetensors`
      cause: No such file or directory (os error 2)

    hint: check the spelling of the path and the current directory
    ");
    assert_snapshot!(directory.refused("fit t.csv --weights no.csv -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `no.csv`
      cause: No such file or directory (os error 2)

    hint: check the spelling of the path and the current directory
    ");
}

#[test]
fn a_pattern_that_nothing_matches_and_a_directory_with_nothing_in_it() {
    let directory = fitted();
    std::fs::create_dir(directory.path("empty")).unwrap();
    assert_snapshot!(directory.refused("fit no*.csv -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `no*.csv`
      cause: no file matches the pattern

    hint: check the spelling of the pattern, and put patterns in quotation marks
    ");
    assert_snapshot!(directory.refused("fit empty -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `empty`
      cause: found no files in a supported format

    hint: put files in it whose names end in a known ending, such as .csv, .npy, .parquet or .png
    ");
    directory.write("nest/x/t.csv", TABLE);
    assert_snapshot!(directory.refused("fit nest -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `nest`
      cause: found no files in a supported format

    hint: tables in subdirectories are not read; pass nest/x, or a pattern such as 'nest/*/*.csv'
    ");
    directory.done("fit nest/*/*.csv -o n.safetensors -q");
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_no_ordinary_file() {
    let directory = fitted();
    for (line, file) in [
        ("fit t.csv -o /dev/stdout", "/dev/stdout"),
        ("fit t.csv -o /dev/full", "/dev/full"),
        ("merge m.safetensors m.safetensors -o /dev/null", "/dev/null"),
        ("plot scree m.safetensors -o pipe.svg", "pipe.svg"),
    ] {
        if file == "pipe.svg" {
            let made = std::process::Command::new("mkfifo").arg(directory.path(file)).status().unwrap();
            assert!(made.success());
        }
        let said = directory.run(line);
        let words = format!(
            "error: cannot write `{file}`: expected an ordinary file\n\n\
             hint: write to an ordinary file with -o; a model or a plot cannot go to standard output\n"
        );
        assert_eq!((said.code, &said.err), (Some(2), &words), "{line}");
    }
}

#[test]
fn a_directory_where_a_file_is_meant() {
    let directory = fitted();
    directory.write("directory/t.csv", TABLE);
    assert_snapshot!(directory.refused("inspect directory"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `directory`
      cause: Is a directory (os error 21)

    hint: pass a file instead of a directory
    ");
    assert_snapshot!(directory.refused("fit t.csv -o directory -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot write `directory`
      cause: is a directory

    hint: pass a file instead of a directory
    ");
    assert_snapshot!(directory.refused("project m.safetensors t.csv -o directory"), @"
    exit: 2
    ----- stderr -----
    error: cannot write rows to `directory`
      cause: cannot infer the format from the name

    hint: use a file name that ends in .npy, .csv, .tsv or .parquet
    ");
    assert_snapshot!(directory.refused("fit t.csv -o m.safetensors --checkpoint directory"), @"
    exit: 2
    ----- stderr -----
    error: cannot write `directory`
      cause: is a directory

    hint: pass a file instead of a directory
    ");
}

#[test]
fn an_output_in_a_directory_that_does_not_exist() {
    let directory = fitted();
    assert_snapshot!(directory.refused("fit t.csv -o no/m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot write `no/m.safetensors`
      cause: No such file or directory (os error 2)

    hint: make the directory first: mkdir -p no
    ");
    assert_snapshot!(directory.refused("project m.safetensors t.csv -o no/c.npy"), @"
    exit: 2
    ----- stderr -----
    error: cannot write `no/c.npy`
      cause: No such file or directory (os error 2)

    hint: make the directory first: mkdir -p no
    ");
}

#[test]
fn a_name_that_tells_no_format() {
    let directory = fitted();
    directory.write("t.xlsx", TABLE);
    directory.write("t", TABLE);
    assert_snapshot!(directory.refused("fit t.xlsx -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.xlsx`
      cause: Excel spreadsheets are not supported

    hint: export the sheet as CSV
    ");
    directory.write("t.json", TABLE);
    assert_snapshot!(directory.refused("fit t.json -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t.json`
      cause: JSON files are not supported

    hint: convert it to CSV, Parquet or NPY first
    ");
    assert_snapshot!(directory.refused("fit t -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `t`
      cause: cannot infer the format from the name

    hint: set the format with --format; known endings are .npy, .npz, .csv, .txt, .tsv (also with .gz), .parquet, .arrow, .feather, .pgm, .ppm, .pbm, .png, .jpg and .jpeg
    ");
    assert_snapshot!(directory.refused("project m.safetensors t.csv -o c.xlsx"), @"
    exit: 2
    ----- stderr -----
    error: cannot write rows to `c.xlsx`
      cause: cannot infer the format from the name

    hint: use a file name that ends in .npy, .csv, .tsv or .parquet
    ");
}

/// Root may read any file, whatever its permissions, so this is a file that nobody can read: the
/// memory of a process from address 0 on, which is never mapped.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read() {
    let directory = fitted();
    std::os::unix::fs::symlink("/proc/self/mem", directory.path("mem.csv")).unwrap();
    for line in ["fit mem.csv -o m.safetensors", "inspect mem.csv", "update m.safetensors mem.csv"] {
        let before = (directory.read("t.csv"), directory.read("m.safetensors"));
        let said = directory.run(line);
        assert_eq!(said.code, Some(2), "{said}");
        assert!(said.err.starts_with("error: "), "{said}");
        assert!(before == (directory.read("t.csv"), directory.read("m.safetensors")));
    }
    assert_snapshot!(directory.run("fit mem.csv -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `mem.csv`
      cause: Input/output error (os error 5)
    ");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let directory = fitted();
    directory.write("closed.csv", TABLE);
    std::fs::set_permissions(directory.path("closed.csv"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let said = directory.run("fit closed.csv -o closed.safetensors -q");
    if std::fs::File::open(directory.path("closed.csv")).is_ok() {
        // We are root, whom permissions do not bind: the same model as of the open file.
        assert_eq!(said.code, Some(0), "{said}");
        assert_eq!(directory.read("closed.safetensors"), directory.read("m.safetensors"));
        return;
    }
    assert_eq!(
        said.to_string(),
        "exit: 2\n----- stderr -----\nerror: cannot read `closed.csv`\n  cause: Permission denied (os error 13)\n\n\
         hint: check the permissions of the file and of its directory\n"
    );
    assert!(!directory.exists("closed.safetensors"));
}
