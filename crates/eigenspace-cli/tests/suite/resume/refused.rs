//! Checkpoints that do not belong to the fit are rejected and not changed.

use std::fs;

use insta::assert_snapshot;

use super::{interrupt, write_array};
use crate::files::{csv, npy};
use crate::oracle::table;
use crate::support::Directory;

const FIT: &str = "-o m.safetensors -q --checkpoint f.ckpt --every 1";

/// A fit that was killed after its first checkpoint.
fn interrupted(arguments: &str) -> Directory {
    let directory = Directory::new();
    let rows = table(150_000, 4, 91);
    directory.write("t.csv", csv(&rows));
    directory.write("u.csv", csv(&table(20, 4, 92)));
    directory.write("w.csv", "1\n".repeat(150_000));
    interrupt(&directory, &format!("fit {arguments} {FIT}"), &[1]);
    // A write that was under way when the fit was killed.
    for entry in fs::read_dir(directory.path(".")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "tmp") {
            fs::remove_file(path).unwrap();
        }
    }
    directory
}

/// What is said, without the directory, whose name differs from run to run.
fn said(directory: &Directory, line: &str) -> String {
    let here = fs::canonicalize(directory.path(".")).unwrap();
    let given = directory.path("");
    let said = directory.refused(line).to_string();
    said.replace(&format!("{}/", here.display()), "").replace(&given.display().to_string(), "")
}

#[test]
fn a_byte_changed_in_the_input() {
    let directory = interrupted("t.csv");
    let modified = fs::metadata(directory.path("t.csv")).unwrap().modified().unwrap();
    let mut bytes = directory.read("t.csv");
    let last = bytes.len() - 3;
    bytes[last] = if bytes[last] == b'1' { b'2' } else { b'1' };
    directory.write("t.csv", bytes);
    // Even if nobody is meant to notice.
    fs::File::options().write(true).open(directory.path("t.csv")).unwrap().set_modified(modified).unwrap();
    assert_snapshot!(said(&directory, &format!("fit t.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: `t.csv` has changed since the checkpoint was written

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
}

#[test]
fn a_row_appended_to_the_input() {
    let directory = interrupted("t.csv");
    directory.write("t.csv", [directory.read("t.csv"), b"1,2,3,4\n".to_vec()].concat());
    assert_snapshot!(said(&directory, &format!("fit t.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: `t.csv` has changed since the checkpoint was written

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
}

#[test]
fn another_list_of_files() {
    let directory = interrupted("t.csv u.csv");
    assert_snapshot!(said(&directory, &format!("fit t.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: the checkpoint was written for 2 input files, but now there are 1

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
    assert_snapshot!(said(&directory, &format!("fit u.csv t.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: the input was `t.csv` and is now `u.csv`

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
    // Named otherwise and yet the same.
    directory.done(&format!("fit ./t.csv ./u.csv {FIT}"));
}

#[test]
fn weights_changed() {
    let directory = interrupted("t.csv --weights w.csv");
    directory.write("w.csv", format!("{}2\n", "1\n".repeat(149_999)));
    assert_snapshot!(said(&directory, &format!("fit t.csv --weights w.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: `w.csv` has changed since the checkpoint was written

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
    assert_snapshot!(said(&directory, &format!("fit t.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: the checkpoint was written for 2 input files, but now there are 1

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
}

#[test]
fn other_columns_and_other_options() {
    let directory = interrupted("t.csv");
    assert_snapshot!(said(&directory, &format!("fit t.csv --columns b,a,c,d {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: the options for reading the input have changed

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
    assert_snapshot!(said(&directory, &format!("fit t.csv --columns a,b {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: the options for reading the input have changed

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
    assert_snapshot!(said(&directory, &format!("fit t.csv -k 2 {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: it was made with another -k

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
    assert_snapshot!(said(&directory, &format!("fit t.csv --half-life 9 {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: it was made with another --forgetting or --half-life

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
    // What only looks at the model, and how often it is put aside, may change.
    directory.done("fit t.csv --standardize --checkpoint f.ckpt --every 7 --threads 1 -o m.safetensors -q");
    assert!(!directory.exists("f.ckpt"));
}

#[test]
fn bytes_that_are_no_checkpoint() {
    let directory = Directory::with("t.csv", csv(&table(20, 3, 93)));
    directory.write("f.ckpt", "something else");
    assert_snapshot!(directory.refused(&format!("fit t.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from `f.ckpt`: it is not a checkpoint

    hint: use another file with --checkpoint; nothing was changed
    ");
    directory.write("f.ckpt", "eigenspace checkpoint 1\nthe state of another version");
    assert_snapshot!(directory.refused(&format!("fit t.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`
      cause: it is not a checkpoint of this version of eigenspace

    hint: remove it to start over; only the version that wrote a checkpoint can resume from it
    ");
    assert_snapshot!(directory.refused("fit t.csv -o m.safetensors --checkpoint t.csv"), @"
    exit: 2
    ----- stderr -----
    error: cannot write the checkpoint to `t.csv`: the same command reads it

    hint: use another file with --checkpoint; nothing was changed
    ");
}

#[test]
fn a_checkpoint_that_is_cut_short_or_has_a_bit_turned() {
    let directory = interrupted("t.csv");
    let whole = directory.read("f.ckpt");
    for length in [0, 10, 40, 60, whole.len() / 2, whole.len() - 1] {
        directory.write("f.ckpt", &whole[..length]);
        directory.refused(&format!("fit t.csv {FIT}"));
    }
    for place in (0..whole.len()).step_by(whole.len() / 25) {
        let mut broken = whole.clone();
        broken[place] ^= 4;
        directory.write("f.ckpt", broken);
        directory.refused(&format!("fit t.csv {FIT}"));
    }
    let mut broken = whole.clone();
    *broken.last_mut().unwrap() ^= 1;
    directory.write("f.ckpt", broken);
    assert_snapshot!(directory.refused(&format!("fit t.csv {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`
      cause: the checksum does not match: the file was changed after it was written

    hint: remove it to start over; only the version that wrote a checkpoint can resume from it
    ");
    directory.write("f.ckpt", whole);
    directory.done(&format!("fit t.csv {FIT}"));
}

#[test]
fn standard_input_cannot_be_taken_up_again() {
    let rows = npy(&table(20, 3, 94), "<f8", false);
    let directory = Directory::with("t.npy", &rows);
    assert_snapshot!(directory.refused_with(&format!("fit - {FIT}"), &rows), @"
    exit: 2
    ----- stderr -----
    error: cannot use --checkpoint with standard input: it cannot be read again after an interruption

    hint: save the rows to a file first, or leave out --checkpoint
    ");
    assert_snapshot!(directory.refused_with(&format!("fit t.npy --weights - {FIT}"), "1\n".repeat(20).as_bytes()), @"
    exit: 2
    ----- stderr -----
    error: cannot use --checkpoint with standard input: it cannot be read again after an interruption

    hint: save the rows to a file first, or leave out --checkpoint
    ");
}

/// Other files with the same rows: the width alone tells nothing.
#[test]
fn a_checkpoint_of_another_array() {
    let directory = Directory::new();
    write_array(&directory.path("a.npy"), 6000, 900, false);
    write_array(&directory.path("b.npy"), 6000, 900, false);
    interrupt(&directory, &format!("fit a.npy {FIT}"), &[1]);
    assert_snapshot!(said(&directory, &format!("fit b.npy {FIT}")), @"
    exit: 2
    ----- stderr -----
    error: cannot resume from the checkpoint `f.ckpt`: the input was `a.npy` and is now `b.npy`

    hint: pass the same files and options as in the interrupted fit, or remove the checkpoint to start over
    ");
}
