//! The command, the Python package and the SQL functions translate, and the library computes: the
//! list of files in them that do arithmetic on the numbers of a model, with the reason for each.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files with arithmetic, and why it is not the library's.
const COMPUTING: [(&str, &str); 8] = [
    ("crates/eigenspace-cli/src/commands/compare.rs", "differences between two models, printed by one command"),
    ("crates/eigenspace-cli/src/commands/demo/page.rs", "the curve of one plot"),
    ("crates/eigenspace-cli/src/commands/demo/synthetic.rs", "draws generated faces"),
    ("crates/eigenspace-cli/src/commands/faces/quality.rs", "rounds scores to see what that costs"),
    ("crates/eigenspace-py/python/eigenspace/_measures.py", "the error between any two arrays"),
    ("crates/eigenspace-py/python/eigenspace/_model.py", "names a formula in its documentation"),
    ("crates/eigenspace-py/python/eigenspace/plot/_images.py", "the error in a caption"),
    ("crates/eigenspace-py/python/eigenspace/plot/_scree.py", "the cumulative curve of one plot"),
];
/// Further files in Rust that add or compare numbers, and what these are.
const ADDING: [(&str, &str); 15] = [
    ("crates/eigenspace-cli/src/commands/demo/measures.rs", "the largest of some angles"),
    ("crates/eigenspace-cli/src/commands/demo/story.rs", "what all components explain"),
    ("crates/eigenspace-cli/src/commands/faces/report.rs", "what all components explain"),
    ("crates/eigenspace-cli/src/commands/inspect.rs", "what all components explain"),
    ("crates/eigenspace-cli/src/commands/merge.rs", "ranks, to estimate memory; metadata of several models"),
    ("crates/eigenspace-cli/src/explore/images.rs", "the largest pixel, to scale an image"),
    ("crates/eigenspace-cli/src/explore/monitor.rs", "the largest of the rows that share a pixel"),
    ("crates/eigenspace-cli/src/explore/security.rs", "compares tokens in constant time"),
    ("crates/eigenspace-cli/src/plots.rs", "the total variance; the range of gray values"),
    ("crates/eigenspace-cli/src/warn.rs", "whether the rows vary at all"),
    ("crates/eigenspace-sql/src/aggregate/model_frame.rs", "bytes of memory"),
    ("crates/eigenspace-sql/src/aggregate/row_frame.rs", "bytes of memory"),
    ("crates/eigenspace-sql/src/bin/eigenspace-sql/servers.rs", "settings, one after the other"),
    ("crates/eigenspace-sql/src/cluster/constants.rs", "a number of rows"),
    ("crates/eigenspace-sql/src/error.rs", "the texts of several errors"),
];
/// Calls that compute with vectors and variances.
const RUST: [&str; 5] = [".dot(", ".sqrt(", ".mapv(", ".powi(", ".ln("];
/// Calls that add or compare numbers.
const RUST_SUMS: [&str; 3] = [".sum(", ".sum::<", ".fold("];
const PYTHON: [&str; 9] =
    ["np.linalg", "np.dot", "np.matmul", "np.einsum", " @ ", "np.log(", "np.sqrt", "np.square", "np.cumsum"];

/// The fronts in Rust.
const RUST_FRONTS: [&str; 3] = ["crates/eigenspace-cli/src", "crates/eigenspace-py/src", "crates/eigenspace-sql/src"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn files(directory: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // Drawing turns numbers into places on a page, which is its own arithmetic.
        if path.is_dir() && !path.ends_with("src/draw") {
            files(&path, ending, into);
        } else if path.extension().is_some_and(|found| found == ending) {
            into.push(path);
        }
    }
}

/// The files below a directory that contain one of the calls.
fn calling(directory: &str, ending: &str, calls: &[&str], into: &mut BTreeSet<String>) {
    let mut paths = Vec::new();
    files(&root().join(directory), ending, &mut paths);
    assert!(!paths.is_empty(), "{directory}");
    for path in paths {
        let code = fs::read_to_string(&path).unwrap();
        if calls.iter().any(|call| code.contains(call)) {
            into.insert(path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/"));
        }
    }
}

fn assert_listed(found: &BTreeSet<String>, list: &[(&str, &str)]) {
    let listed: BTreeSet<String> = list.iter().map(|(path, _)| (*path).to_owned()).collect();
    let (new, gone) = (found.difference(&listed), listed.difference(found));
    assert!(
        *found == listed,
        "not on the list: {:#?}\nremove from the list: {:#?}",
        new.collect::<Vec<_>>(),
        gone.collect::<Vec<_>>()
    );
}

#[test]
fn only_the_listed_files_of_the_command_and_the_package_compute() {
    let mut found = BTreeSet::new();
    for directory in RUST_FRONTS {
        calling(directory, "rs", &RUST, &mut found);
    }
    calling("crates/eigenspace-py/python", "py", &PYTHON, &mut found);
    assert_listed(&found, &COMPUTING);
}

#[test]
fn only_the_listed_files_in_rust_add_numbers() {
    let mut found = BTreeSet::new();
    for directory in RUST_FRONTS {
        calling(directory, "rs", &RUST_SUMS, &mut found);
    }
    found.retain(|path| COMPUTING.iter().all(|(listed, _)| path != listed));
    assert_listed(&found, &ADDING);
}
