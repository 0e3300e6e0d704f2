//! The list of every `unsafe` in the code of this project.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

const CUDA: &str = "crates/eigenspace/src/linalg/cuda";

/// Every line with `unsafe` code: the file, what it does, and how often. A comment before each says
/// why it is sound.
const UNSAFE: [(&str, &str, &str, usize); 14] = [
    (CUDA, "/kernels.rs", "unsafe { arguments.launch(configuration) }.map(drop)", 1),
    (CUDA, "/leading.rs", "unsafe {", 5),
    (
        CUDA,
        "/leading.rs",
        "unsafe { solver::cusolverDnDpotrf_bufferSize(self.solver, upper, n, matrix as *mut f64, n, &mut size) }",
        1,
    ),
    (CUDA, "/memory.rs", "unsafe { _mm_sfence() };", 1),
    (CUDA, "/memory.rs", "unsafe { _mm_stream_pd(to.as_mut_ptr(), _mm_loadu_pd(from.as_ptr())) };", 1),
    (CUDA, "/open.rs", "let (base, length) = unsafe {", 1),
    (CUDA, "/open.rs", "let found = unsafe {", 1),
    (CUDA, "/open.rs", "unsafe impl Send for Libraries {}", 1),
    (CUDA, "/open.rs", "unsafe {", 2),
    (CUDA, "/open.rs", "unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;", 1),
    (CUDA, "/products.rs", "unsafe {", 7),
    (CUDA, "/staging.rs", "let (from, _read) = unsafe { part.stream_synced_slice(queue) };", 1),
    (CUDA, "/staging.rs", "unsafe {", 2),
    (CUDA, "/staging.rs", "unsafe { context.alloc_pinned_with_flags(PART_BYTES, 0) }", 1),
];

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
    // Only uses of the keyword: a block, a function, a trait, an attribute. This file mentions it
    // in text.
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
    found.sort();
    let each = |(directory, file, line, times): &(&str, &str, &str, usize)| {
        std::iter::repeat_n((format!("{directory}{file}"), (*line).to_owned()), *times)
    };
    let mut listed: Vec<(String, String)> = UNSAFE.iter().flat_map(each).collect();
    listed.sort();
    assert_eq!(found, listed, "unsafe code found, and the list");
}

#[test]
fn every_crate_forbids_unsafe_code_and_the_library_allows_it_only_for_cuda() {
    for file in ["eigenspace-cli/src/main.rs", "eigenspace-py/src/lib.rs", "eigenspace-sql/src/lib.rs"] {
        let text = fs::read_to_string(root().join("crates").join(file)).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{file}");
    }
    let mut files = Vec::new();
    rust_files(&root().join("crates/eigenspace/src"), &mut files);
    let allows = |file: &&PathBuf| fs::read_to_string(file).unwrap().contains("allow(unsafe_code)");
    let name = |file: &PathBuf| file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    let others: Vec<String> = files.iter().filter(allows).map(name).filter(|name| !name.starts_with(CUDA)).collect();
    assert!(others.is_empty(), "{others:?}");
}
