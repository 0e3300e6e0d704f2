//! The layers of the library and of the command: a directory uses only directories before it, and a
//! file only files before it in its directory. That holds inside nested directories too. A `mod.rs` names the files
//! of its directory and what they share, so it may use them and they may use it; names that it
//! passes on count as those of the file they come from.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The names from the root of a crate to a file or an item, such as `io`, `source`, `open`.
type Names = Vec<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Directories and their files, in the order of a list in `docs/ARCHITECTURE.md`.
fn layers(list: &str) -> Vec<(String, Names)> {
    let text = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let list = text.split(&format!("```text {list}\n")).nth(1).unwrap().split("```").next().unwrap();
    let mut layers: Vec<(String, Names)> = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace().map(String::from);
        if !line.starts_with(' ') {
            layers.push((words.next().unwrap(), Vec::new()));
        }
        layers.last_mut().unwrap().1.extend(words);
    }
    layers
}

/// Code without its comments and without what is only for tests.
fn code(path: &Path) -> String {
    without_tests(&fs::read_to_string(path).unwrap())
}

fn without_tests(text: &str) -> String {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start() == "#[cfg(test)]" {
            // The item or the field below: to the end of its line, or to its closing brace.
            let ends = |below: &str| indentation(below) == indentation(line) && below.ends_with([';', ',', '}']);
            lines.by_ref().find(|below| ends(below));
        } else if !line.trim_start().starts_with("//") {
            code.extend([line, "\n"]);
        }
    }
    code
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
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

/// Reads the names at the start of a text, such as `a::b` or `a::{b, c::d as e}`, and returns what
/// follows them.
fn tree<'a>(text: &'a str, before: &[String], into: &mut Vec<Names>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start();
            match rest.chars().next() {
                Some('}') | None => return rest.strip_prefix('}').unwrap_or(rest),
                _ => rest = tree(rest, before, into),
            }
            let end = rest.find([',', '}']).unwrap_or(rest.len());
            rest = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]);
        }
    }
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let rest = &text[name.len()..];
    let mut names = before.to_vec();
    if !name.is_empty() && name != "self" {
        names.push(name);
    }
    match rest.strip_prefix("::") {
        Some(rest) => tree(rest, &names, into),
        None => {
            into.push(names);
            rest
        }
    }
}

/// Everything that is named after a word such as `crate::`.
fn named(code: &str, word: &str) -> Vec<Names> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(word) {
        if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
            tree(&code[at + word.len()..], &[], &mut found);
        }
    }
    found
}

/// The files of the library, or of the command.
struct Sources {
    source: PathBuf,
    /// The file that declares the modules; it may use all of them.
    root: &'static str,
    /// The list in `docs/ARCHITECTURE.md`.
    list: &'static str,
    /// The place of a file in that list.
    place: fn(&[String]) -> Names,
}

impl Sources {
    fn library() -> Self {
        let source = root().join("crates/eigenspace/src");
        Self { source, root: "lib.rs", list: "layers", place: place_in_library }
    }

    fn command() -> Self {
        let source = root().join("crates/eigenspace-cli/src");
        let place = |names: &[String]| [&["src".into()], names].concat();
        Self { source, root: "main.rs", list: "layers of the command", place }
    }

    /// The files that the layers concern.
    fn paths(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        files(&self.source, &mut paths);
        paths.retain(|path| *path != self.source.join(self.root));
        paths
    }

    /// The names of a file.
    fn names(&self, path: &Path) -> Names {
        let inside = path.strip_prefix(&self.source).unwrap().with_extension("");
        inside.iter().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// The file that contains the items of a directory itself.
    fn root_of(&self, directory: &[String]) -> PathBuf {
        match directory {
            [] => self.source.join(self.root),
            names => {
                let directory: PathBuf = names.iter().collect();
                let inside = self.source.join(&directory).join("mod.rs");
                if inside.exists() { inside } else { self.source.join(directory).with_extension("rs") }
            }
        }
    }

    /// The file with what has these names. A name that a `mod.rs` passes on belongs to the file it
    /// comes from.
    fn file(&self, names: &[String]) -> Option<Names> {
        for length in (0..names.len()).rev() {
            let (directory, rest) = names.split_at(length);
            let place = self.source.join(directory.iter().collect::<PathBuf>());
            if place.join(&rest[0]).with_extension("rs").exists() {
                return Some(names[..=length].to_vec());
            }
            if place.join(&rest[0]).is_dir() {
                let inside = names[..=length].to_vec();
                return Some(match rest.get(1).and_then(|name| self.passed_on(&inside, name)) {
                    Some(from) => from,
                    None => [inside, vec!["mod".into()]].concat(),
                });
            }
        }
        self.passed_on(&[], names.first()?)
    }

    /// The file from which a directory passes on a name.
    fn passed_on(&self, directory: &[String], name: &str) -> Option<Names> {
        let code = code(&self.root_of(directory));
        let mut uses = Vec::new();
        for line in code.split(';').filter_map(|item| item.split("use ").nth(1)) {
            tree(line, &[], &mut uses);
        }
        let from = uses.into_iter().find(|names| names.len() > 1 && names.last().is_some_and(|last| last == name))?;
        match from[0].as_str() {
            "crate" => self.file(&from[1..]),
            _ => self.file(&[directory, &from[..]].concat()),
        }
    }

    /// The files that a file uses.
    fn uses(&self, path: &Path) -> BTreeSet<Names> {
        let mut module = self.names(path);
        if module.last().is_some_and(|name| name == "mod") {
            module.pop();
        }
        let code = code(path);
        let relative = named(&code, "super::").into_iter().map(|names| {
            let above = names.iter().take_while(|name| *name == "super").count();
            [&module[..module.len() - 1 - above], &names[above..]].concat()
        });
        named(&code, "crate::").into_iter().chain(relative).filter_map(|names| self.file(&names)).collect()
    }
}

/// Files in the root of the library are a directory of their own, which comes first: the errors, and
/// the printing of names in them.
fn place_in_library(names: &[String]) -> Names {
    let root = names.len() == 1 || names[0] == "error";
    if root { vec!["error".into(), names.last().unwrap().clone()] } else { names.to_vec() }
}

/// Whether the file `used` comes after the file `user`. Panics if a file is in no list.
fn comes_later(used: &[String], user: &[String], layers: &[(String, Names)]) -> bool {
    let common = used.iter().zip(user).take_while(|(a, b)| a == b).count();
    let (Some(used), Some(own)) = (used.get(common), user.get(common)) else { return false };
    let at = |name: &String, of: &[String]| of.iter().position(|other| other == name);
    if common == 0 {
        let directories: Names = layers.iter().map(|(directory, _)| directory.clone()).collect();
        return at(used, &directories) > at(own, &directories);
    }
    if used == "mod" || own == "mod" {
        return false;
    }
    let directory = user[..common].join("/");
    let list = layers.iter().find(|(name, _)| *name == directory);
    let (_, list) = list.unwrap_or_else(|| panic!("the files of {directory} are not in the list"));
    at(used, list) > at(own, list)
}

impl Sources {
    /// Fails if a file uses what comes later, or if the list has other files than the crate.
    fn check_order(&self) {
        let layers = layers(self.list);
        let (mut wrong, mut found) = (Vec::new(), BTreeMap::<String, BTreeSet<String>>::new());
        for path in self.paths() {
            let own = (self.place)(&self.names(&path));
            for length in 1..own.len() {
                if own[length] != "mod" {
                    found.entry(own[..length].join("/")).or_default().insert(own[length].clone());
                }
            }
            for used in self.uses(&path) {
                let used = (self.place)(&used);
                if comes_later(&used, &own, &layers) {
                    wrong.push(format!("{}: {}", own.join("/"), used.join("/")));
                }
            }
        }
        assert!(wrong.is_empty(), "these use what comes later:\n{}", wrong.join("\n"));
        // One file in a directory of its own needs no order.
        found.retain(|directory, files| files.len() > 1 || !directory.contains('/'));
        let listed: BTreeMap<_, BTreeSet<String>> =
            layers.into_iter().map(|(directory, files)| (directory, files.into_iter().collect())).collect();
        assert_eq!(found, listed, "the files that are there, and the list");
    }
}

#[test]
fn layers_and_files_use_only_what_is_before_them() {
    Sources::library().check_order();
}

#[test]
fn modules_of_the_command_use_only_what_is_before_them() {
    Sources::command().check_order();
}

#[test]
fn a_module_of_the_command_that_uses_a_later_one_is_found() {
    let (command, layers) = (Sources::command(), layers("layers of the command"));
    let place = |names: &str| (command.place)(&names.split('/').map(String::from).collect::<Names>());
    let later = |used: &str, user: &str| comes_later(&place(used), &place(user), &layers);
    assert!(later("inputs", "rows") && !later("rows", "inputs"));
    assert!(later("commands/fit", "failure") && !later("failure", "commands/fit"));
    assert!(later("draw/font", "draw/typeface") && !later("draw/typeface", "draw/font"));
    let used = command.uses(&command.source.join("inputs.rs"));
    assert!(used.contains(&vec!["rows".to_owned()]) && used.contains(&vec!["options".to_owned(), "input".to_owned()]));
}

impl Sources {
    /// The files below a file that it uses itself. It does not use what it only passes on.
    fn uses_below(&self, path: &Path) -> BTreeSet<Names> {
        let mut module = self.names(path);
        if module.last().is_some_and(|name| name == "mod") {
            module.pop();
        }
        let code = code(path);
        let (mut own, mut passed_on) = (String::new(), String::new());
        for item in code.split_inclusive(';').filter(|item| !item.contains("mod ")) {
            let at = ["pub use ", "pub(crate) use ", "pub(super) use "].iter().find_map(|start| item.find(start));
            let (before, passed) = item.split_at(at.unwrap_or(item.len()));
            own.push_str(before);
            passed_on.push_str(passed);
        }
        let words: BTreeSet<&str> = own.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let mut found = self.uses(path);
        for child in code.split("mod ").skip(1).filter_map(|rest| rest.split_once(';')).map(|(name, _)| name) {
            let word = format!("{child}::");
            let mut names = named(&passed_on, &word);
            names.retain(|names| names.last().is_some_and(|last| words.contains(last.as_str())));
            names.extend(named(&own, &word));
            found.extend(names.iter().filter_map(|names| self.file(&[&module[..], &[child.into()], names].concat())));
        }
        found.retain(|file| file.len() > module.len() && file.starts_with(&module) && file.last().unwrap() != "mod");
        found
    }
}

/// Files that use a file below them which uses them too, and why.
const MUTUAL: [(&str, &str, &str); 9] = [
    ("faces/classify/mod", "faces/classify/centroid", "makes a classifier, from what all of them share"),
    ("faces/classify/mod", "faces/classify/knn", "the same"),
    ("faces/classify/mod", "faces/classify/perceptron", "the same"),
    ("faces/classify/mod", "faces/classify/svm", "the same"),
    ("io/sink/mod", "io/sink/csv", "makes a sink, whose trait all of them implement"),
    ("io/sink/mod", "io/sink/npy", "the same"),
    ("io/sink/mod", "io/sink/parquet", "the same"),
    ("linalg/cuda/mod", "linalg/cuda/open", "makes the device"),
    ("linalg/cuda/mod", "linalg/cuda/staging", "part of the device, whose locks it uses"),
];

impl Sources {
    /// Fails if other files than these and files below them use each other.
    fn check_mutual(&self, mutual: &[(&str, &str, &str)]) {
        let mut found = BTreeSet::new();
        for path in self.paths() {
            let above = self.names(&path);
            for below in self.uses_below(&path) {
                let child = self.source.join(below.iter().collect::<PathBuf>()).with_extension("rs");
                if child.exists() && self.uses(&child).contains(&above) {
                    found.insert((above.join("/"), below.join("/")));
                }
            }
        }
        let listed: BTreeSet<_> = mutual.iter().map(|(above, below, _)| ((*above).into(), (*below).into())).collect();
        let (new, gone): (Vec<_>, Vec<_>) = (found.difference(&listed).collect(), listed.difference(&found).collect());
        assert!(new.is_empty(), "these use each other: {new:#?}");
        assert!(gone.is_empty(), "remove from the list: {gone:#?}");
    }
}

#[test]
fn a_file_and_those_below_it_do_not_use_each_other() {
    Sources::library().check_mutual(&MUTUAL);
    Sources::command().check_mutual(&[]);
}

#[test]
fn only_what_is_for_tests_is_left_out() {
    let text = "a;\n#[cfg(test)]\nmod tests;\nstruct B {\n    #[cfg(test)]\n    c: D,\n    e: F,\n}\n\
                #[cfg(test)]\n#[derive(Debug)]\nmod g {\n    fn h() {\n    }\n}\n// i\nj;\n";
    assert_eq!(without_tests(text), "a;\nstruct B {\n    e: F,\n}\nj;\n");
}

#[test]
fn names_in_braces_are_found() {
    let code =
        "use crate::a::{b::{C, D as E}, f::*, g};\nfn h() -> crate::i::J<T> { other_crate::k(); crate::l::<T>() }";
    let found: Vec<String> = named(code, "crate::").iter().map(|names| names.join(" ")).collect();
    assert_eq!(found, ["a b C", "a b D", "a f", "a g", "i J", "l"]);
}

#[test]
fn names_that_a_directory_passes_on_belong_to_their_file() {
    let library = Sources::library();
    let file = |names: &str| library.file(&names.split("::").map(String::from).collect::<Names>()).unwrap().join("/");
    assert_eq!(file("io::source::RowBlock"), "io/source/block");
    assert_eq!(file("io::source::SourceError"), "io/source_error");
    assert_eq!(file("io::source::RowSource"), "io/source/mod");
    assert_eq!(file("io::source::open::open"), "io/source/open");
    assert_eq!(file("EigenspaceModel"), "model/eigenspace_model");
}
