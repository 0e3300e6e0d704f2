//! The command, the Python package and the SQL functions translate, and the library computes: the
//! list of files in them that do arithmetic on the numbers of a model, with the reason for each.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files with arithmetic, and why it is not the library's.
const COMPUTING: [(&str, &str); 9] = [
    ("crates/eigenspace-cli/src/commands/compare.rs", "differences between two models, printed by one command"),
    ("crates/eigenspace-cli/src/commands/demo/page.rs", "the curve of one plot"),
    ("crates/eigenspace-cli/src/commands/demo/synthetic.rs", "draws generated faces"),
    ("crates/eigenspace-cli/src/commands/faces/quality.rs", "rounds scores to see what that costs"),
    ("crates/eigenspace-py/python/eigenspace/_measures.py", "the error between any two arrays"),
    ("crates/eigenspace-py/python/eigenspace/_minka.py", "scikit-learn's n_components='mle'"),
    ("crates/eigenspace-py/python/eigenspace/_model.py", "names a formula in its documentation"),
    ("crates/eigenspace-py/python/eigenspace/plot/_images.py", "the error in a caption"),
    ("crates/eigenspace-py/python/eigenspace/plot/_scree.py", "the cumulative curve of one plot"),
];
/// Calls that compute with vectors and variances.
const RUST: [&str; 5] = [".dot(", ".sqrt(", ".mapv(", ".powi(", ".ln("];
const PYTHON: [&str; 9] =
    ["np.linalg", "np.dot", "np.matmul", "np.einsum", " @ ", "np.log(", "np.sqrt", "np.square", "np.cumsum"];

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

#[test]
fn only_the_listed_files_of_the_command_and_the_package_compute() {
    let mut found = BTreeSet::new();
    let directories = [
        ("crates/eigenspace-cli/src", "rs", &RUST[..]),
        ("crates/eigenspace-py/src", "rs", &RUST[..]),
        ("crates/eigenspace-sql/src", "rs", &RUST[..]),
        ("crates/eigenspace-py/python", "py", &PYTHON[..]),
    ];
    for (directory, ending, calls) in directories {
        let mut paths = Vec::new();
        files(&root().join(directory), ending, &mut paths);
        assert!(!paths.is_empty(), "{directory}");
        for path in paths {
            let code = fs::read_to_string(&path).unwrap();
            if calls.iter().any(|call| code.contains(call)) {
                found.insert(path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    let listed: BTreeSet<String> = COMPUTING.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(found, listed, "files that compute, and the list");
}
