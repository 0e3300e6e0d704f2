//! What the documents name is there: files and tests.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

const DOCUMENTS: [&str; 13] = [
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/ARCHITECTURE.md",
    "docs/COMMAND.md",
    "docs/FACES.md",
    "docs/FROM_SCIKIT_LEARN.md",
    "docs/IMPLEMENTATION_NOTES.md",
    "docs/METHOD.md",
    "docs/PYTHON.md",
    "docs/RUST.md",
    "crates/eigenspace-py/README.md",
];
/// Where a path in a document may begin.
const FOLDERS: [&str; 19] = [
    "",
    "docs",
    "crates/eigenspace",
    "crates/eigenspace/src",
    "crates/eigenspace/src/linalg",
    "crates/eigenspace/src/rows",
    "crates/eigenspace/src/model",
    "crates/eigenspace/src/stream",
    "crates/eigenspace/src/io",
    "crates/eigenspace/src/io/source",
    "crates/eigenspace/src/faces",
    "crates/eigenspace/tests",
    "crates/eigenspace/tests/suite",
    "crates/eigenspace-cli/src",
    "crates/eigenspace-py",
    "crates/eigenspace-py/tests",
    "crates/eigenspace-py/python/eigenspace",
    "xtask/src",
    "bench",
];
/// Made by `cargo xtask bench`; the step `measured table` sees to them.
const MEASURED: [&str; 2] = ["bench/RESULTS.md", "bench/figures/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The text outside of fenced blocks.
fn prose(document: &str) -> String {
    let text = fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"));
    let mut fenced = false;
    let outside = text.lines().filter(|line| {
        fenced ^= line.starts_with("```");
        !fenced && !line.starts_with("```")
    });
    outside.collect::<Vec<_>>().join("\n")
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn rust_and_python(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_and_python(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "py") {
            into.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn links_lead_to_files() {
    for document in DOCUMENTS {
        let text = prose(document);
        let folder = root().join(document).parent().unwrap().to_path_buf();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let definitions = text.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: ").map(|(_, to)| to));
        for target in targets.chain(definitions) {
            let path = target.split('#').next().unwrap();
            let measured = MEASURED.iter().any(|name| path.starts_with(name));
            if path.is_empty() || measured || path.contains("://") {
                continue;
            }
            assert!(folder.join(path).exists(), "{document}: there is no {target}");
        }
    }
}

#[test]
fn paths_that_are_named_exist() {
    for document in DOCUMENTS {
        for path in prose(document).split('`').skip(1).step_by(2) {
            let plain = path.chars().all(|c| c.is_alphanumeric() || "/_.-".contains(c)) && !path.starts_with('.');
            let is_ours = [".rs", ".py", ".md", ".toml"].iter().any(|ending| path.ends_with(ending));
            if plain && is_ours && !MEASURED.iter().any(|name| path.starts_with(name) || name.ends_with(path)) {
                let found = FOLDERS.iter().any(|folder| root().join(folder).join(path).exists());
                assert!(found, "{document}: there is no `{path}`");
            }
        }
    }
}

#[test]
fn tests_that_are_named_exist() {
    let suite = root().join("crates/eigenspace/tests/suite");
    let mut code = String::new();
    for folder in ["crates", "xtask", "tests", "report", "bench"] {
        rust_and_python(&root().join(folder), &mut code);
    }
    for document in DOCUMENTS {
        for name in quoted(&prose(document)) {
            let last = name.rsplit("::").next().unwrap();
            let plain = last.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            // A test is a sentence.
            if plain && !last.starts_with('_') && last.matches('_').count() >= 3 {
                let module = name.strip_suffix(last).unwrap().trim_end_matches(':').replace("::", "/");
                let file = suite.join(module).with_extension("rs");
                let there = if name == last { code.clone() } else { fs::read_to_string(file).unwrap_or_default() };
                let found = there.contains(&format!("fn {last}(")) || there.contains(&format!("def {last}("));
                assert!(found, "{document}: there is no test `{name}`");
            }
        }
    }
}
