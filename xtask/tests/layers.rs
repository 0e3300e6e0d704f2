//! The layers of the library: a directory uses only directories before it, and a file only files before it in its directory.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Directories and their files, in the order of `docs/ARCHITECTURE.md`.
fn layers() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let list = text.split("```text layers\n").nth(1).unwrap().split("```").next().unwrap();
    let mut layers: Vec<(String, Vec<String>)> = Vec::new();
    for line in list.lines() {
        let mut words = line.split_whitespace().map(String::from);
        if !line.starts_with(' ') {
            layers.push((words.next().unwrap(), Vec::new()));
        }
        layers.last_mut().unwrap().1.extend(words);
    }
    layers
}

/// Code without its comments and tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap().to_owned();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The files with code; files and directories of tests may use anything.
fn files(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("tests") || path.ends_with("tests.rs") {
            continue;
        }
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// The names after a word such as `crate::`, each with what follows it.
fn named(code: &str, before: &str) -> BTreeSet<(String, String)> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let after = |rest: &str| {
        let first = name(rest);
        let second = rest[first.len()..].strip_prefix("::").map(name).unwrap_or_default();
        (first, second)
    };
    assert!(!code.contains(&format!("{before}{{")), "one `use` for each file: {before}{{");
    code.split(before).skip(1).map(after).collect()
}

#[test]
fn layers_and_files_use_only_what_is_before_them() {
    let layers = layers();
    let source = root().join("crates/eigenspace/src");
    let place = |layer: &str| layers.iter().position(|(name, _)| name == layer);
    let mut paths = Vec::new();
    files(&source, &mut paths);
    let (mut wrong, mut found) = (Vec::new(), BTreeSet::new());
    for path in paths.iter().filter(|path| !path.ends_with("lib.rs")) {
        let inside = path.strip_prefix(&source).unwrap();
        let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().replace(".rs", "")).collect();
        // The errors of the library, and the printing of names in them, come before all directories.
        let (layer, file) = if parts.len() == 1 { ("error", &parts[0]) } else { (parts[0].as_str(), &parts[1]) };
        let own = place(layer).unwrap_or_else(|| panic!("no layer `{layer}`"));
        let at = layers[own].1.iter().position(|name| name == file);
        if file == "mod" {
            continue;
        }
        let at = at.unwrap_or_else(|| panic!("{} is not in the list", inside.display()));
        found.insert((layer.to_owned(), file.clone()));
        let code = code(path);
        let mut uses = named(&code, "crate::");
        if parts.len() == 2 {
            uses.extend(named(&code, "super::").into_iter().map(|(file, _)| (layer.to_owned(), file)));
        }
        for (used_layer, used_file) in uses {
            let used_layer = if ["Error", "device_error", "error", "printable"].contains(&used_layer.as_str()) {
                "error"
            } else {
                &used_layer
            };
            let later = match place(used_layer) {
                None => true,
                Some(used) if used == own && layer != "error" => {
                    let used = layers[own].1.iter().position(|name| *name == used_file);
                    used.is_some_and(|used| used > at)
                }
                Some(used) => used > own,
            };
            if later {
                wrong.push(format!("{}: {used_layer}::{used_file}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "these use what comes later:\n{}", wrong.join("\n"));
    let listed: BTreeSet<_> =
        layers.iter().flat_map(|(layer, files)| files.iter().map(move |file| (layer.clone(), file.clone()))).collect();
    assert_eq!(found, listed, "the files that are there, and the list");
}
