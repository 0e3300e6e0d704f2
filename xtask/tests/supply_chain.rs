//! What enters the build: the rules of `deny.toml` held against `cargo metadata`, without another
//! tool; and the list of every `unsafe` in our own code.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Every line of ours with `unsafe` code. `window.rs` says why its one call is sound.
const UNSAFE: [(&str, &str); 1] =
    [("crates/eigenspace/src/source/window.rs", "unsafe { MmapOptions::new().offset(offset).len(length).map(file) }")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The texts in double quotes of a list in `deny.toml`.
fn listed(list: &str, before: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("deny.toml")).unwrap();
    let start = text.find(&format!("\n{list} = [")).unwrap();
    let inside = text[start..].split("\n]").next().unwrap();
    let lines = inside.lines().skip(2).filter_map(|line| line.trim().strip_prefix(before));
    lines.map(|line| line.trim_start_matches('"').split('"').next().unwrap().to_owned()).collect()
}

fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked"]).current_dir(root());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Whether an SPDX expression can be met with these licenses: `AND` binds closer than `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.trim();
    if let Some((left, right)) = outside_of_brackets(expression, " OR ") {
        return is_allowed(left, allowed) || is_allowed(right, allowed);
    }
    if let Some((left, right)) = outside_of_brackets(expression, " AND ") {
        return is_allowed(left, allowed) && is_allowed(right, allowed);
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => is_allowed(inner, allowed),
        None => allowed.contains(expression),
    }
}

fn outside_of_brackets<'a>(expression: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let depth = |part: &str| part.matches('(').count() as i64 - part.matches(')').count() as i64;
    let (at, _) = expression.match_indices(word).find(|(at, _)| depth(&expression[..*at]) == 0)?;
    Some((&expression[..at], &expression[at + word.len()..]))
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    let allowed = ["MIT", "Zlib"].map(String::from).into();
    for good in ["MIT", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Zlib", "MIT AND Zlib OR GPL-3.0"] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND GPL-3.0", "", "MIT WITH exception"] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}

#[test]
fn every_license_is_on_the_list() {
    let allowed = listed("allow", "");
    assert!(allowed.contains("MIT") && allowed.len() > 3, "{allowed:?}");
    for package in packages() {
        // The old way to write OR.
        let license = package["license"].as_str().unwrap_or_default().replace('/', " OR ");
        assert!(is_allowed(&license, &allowed), "{} {}: `{license}`", package["name"], package["version"]);
    }
}

#[test]
fn every_crate_is_ours_or_from_the_registry() {
    let ours = ["eigenspace", "eigenspace-cli", "eigenspace-py", "xtask"];
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        match package["source"].as_str() {
            None => assert!(ours.contains(&name), "{name} is neither ours nor from the registry"),
            Some(source) => assert!(
                source.starts_with("registry+") && source.ends_with("/crates.io-index"),
                "{name} comes from {source}"
            ),
        }
    }
}

#[test]
fn no_crate_comes_in_two_versions_but_those_on_the_list() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let text = |key: &str| package[key].as_str().unwrap().to_owned();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    let several: BTreeSet<String> = versions.into_iter().filter(|(_, of)| of.len() > 1).map(|(name, _)| name).collect();
    assert_eq!(several, listed("skip", "{ crate = "), "crates in several versions, and `skip` in deny.toml");
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
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
    for folder in ["crates", "xtask", "bench", "fuzz"].map(|folder| root().join(folder)) {
        if folder.is_dir() {
            rust_files(&folder, &mut files);
        }
    }
    // The word as code has it: a block, a function, a trait, an attribute. This file speaks of it.
    let keyword = |line: &str| {
        let code = line.split("//").next().unwrap();
        code.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "unsafe" || word == "no_mangle")
    };
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("xtask/tests/supply_chain.rs")) {
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(file).unwrap();
        found.extend(text.lines().filter(|line| keyword(line)).map(|line| (name.clone(), line.trim().to_owned())));
    }
    let listed = UNSAFE.map(|(file, line)| (file.to_owned(), line.to_owned()));
    assert_eq!(found, listed, "unsafe code found, and the list");
}

#[test]
fn every_crate_forbids_unsafe_code_and_the_library_allows_it_in_one_file() {
    for file in ["eigenspace-cli/src/main.rs", "eigenspace-py/src/lib.rs"] {
        let text = fs::read_to_string(root().join("crates").join(file)).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{file}");
    }
    let mut files = Vec::new();
    rust_files(&root().join("crates/eigenspace/src"), &mut files);
    let allows = |file: &&PathBuf| fs::read_to_string(file).unwrap().contains("allow(unsafe_code)");
    let allowed: Vec<_> = files.iter().filter(allows).collect();
    assert_eq!(allowed, [&root().join("crates/eigenspace/src/source/window.rs")]);
}
