//! The list of every `unsafe` in the code of this project.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

/// Every line with `unsafe` code. `window.rs` explains why its one call is sound.
const UNSAFE: [(&str, &str); 1] = [(
    "crates/eigenspace/src/io/source/window.rs",
    "unsafe { MmapOptions::new().offset(offset).len(length).map(file) }",
)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn rust_files(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn all_unsafe_code_is_on_the_list() {
    let mut files = Vec::new();
    for directory in ["crates", "xtask", "bench", "fuzz"].map(|directory| root().join(directory)) {
        if directory.is_dir() {
            rust_files(&directory, &mut files);
        }
    }
    // Only uses of the keyword: a block, a function, a trait, an attribute. This file mentions it in text.
    let keyword = |line: &str| {
        let code = line.split("//").next().unwrap();
        code.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "unsafe" || word == "no_mangle")
    };
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("xtask/tests/unsafe_code.rs")) {
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(file).unwrap();
        found.extend(text.lines().filter(|line| keyword(line)).map(|line| (name.clone(), line.trim().to_owned())));
    }
    let listed = UNSAFE.map(|(file, line)| (file.to_owned(), line.to_owned()));
    assert_eq!(found, listed, "unsafe code found, and the list");
}

#[test]
fn every_crate_forbids_unsafe_code_and_the_library_allows_it_in_one_file() {
    for file in ["eigenspace-cli/src/main.rs", "eigenspace-py/src/lib.rs", "eigenspace-sql/src/lib.rs"] {
        let text = fs::read_to_string(root().join("crates").join(file)).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{file}");
    }
    let mut files = Vec::new();
    rust_files(&root().join("crates/eigenspace/src"), &mut files);
    let allows = |file: &&PathBuf| fs::read_to_string(file).unwrap().contains("allow(unsafe_code)");
    let allowed: Vec<_> = files.iter().filter(allows).collect();
    assert_eq!(allowed, [&root().join("crates/eigenspace/src/io/source/window.rs")]);
}
