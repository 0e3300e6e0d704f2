//! The licenses of everything that the command and the Python package contain, the typeface of
//! plots included.
//!
//! ```text
//! cargo metadata ─► packages that are linked ─► their license files ─► THIRD-PARTY-LICENSES.txt of each artifact
//! ```
//!
//! `eigenspace --licenses` prints the first, and the wheel contains the second. Equal texts are
//! written once. Each package also contains the license of this project, as a copy, because a
//! package contains only what is in its directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::error::Error;
use crate::output;
use crate::step::Runner;

/// The artifacts: the package that is linked, and the file with the licenses of its dependencies.
const ARTIFACTS: [(&str, &str); 2] = [
    ("eigenspace-cli", "crates/eigenspace-cli/THIRD-PARTY-LICENSES.txt"),
    ("eigenspace-py", "crates/eigenspace-py/THIRD-PARTY-LICENSES.txt"),
];
/// The packages that are published, each with a copy of the license.
const PUBLISHED: [&str; 3] = ["crates/eigenspace", "crates/eigenspace-cli", "crates/eigenspace-py"];
/// Beginnings of the names of license files, in capitals.
const NAMES: [&str; 8] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE", "OFL", "FONTLOG"];
const LINE: &str = "--------------------------------------------------------------------------------";

/// A linked package.
struct Package {
    name: String,
    version: String,
    license: String,
    directory: PathBuf,
}

/// Writes the files.
pub(crate) fn write(runner: &mut Runner) -> Result<(), Error> {
    let metadata = metadata(&runner.root)?;
    for (artifact, file) in ARTIFACTS {
        let path = runner.root.join(file);
        let packages = linked(&metadata, artifact);
        fs::write(&path, text(&packages)?).map_err(Error::io("write", path.as_path()))?;
        output::message(&format!("{file}: {} packages", packages.len()));
    }
    for package in PUBLISHED {
        let (from, to) = (runner.root.join("LICENSE"), runner.root.join(package).join("LICENSE"));
        fs::copy(&from, &to).map_err(Error::io("write", to))?;
    }
    Ok(())
}

/// What cargo says about the workspace and its dependencies.
fn metadata(root: &Path) -> Result<Value, Error> {
    let mut command = Command::new("cargo");
    let found = command.args(["metadata", "--format-version", "1", "--locked"]).current_dir(root).output();
    let found = found.map_err(Error::io("start", "cargo"))?;
    let invalid = |error: serde_json::Error| Error::io("read the answer of", "cargo metadata")(error.into());
    serde_json::from_slice(&found.stdout).map_err(invalid)
}

/// The packages that are linked into an artifact, without those of this workspace, sorted.
fn linked(metadata: &Value, artifact: &str) -> Vec<Package> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|package| (text_of(&package["id"]), package)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|node| (text_of(&node["id"]), node)).collect();
    let start = packages.iter().find(|(_, package)| package["name"] == artifact).map(|(id, _)| id.clone());
    let (mut seen, mut open) = (BTreeSet::new(), Vec::from_iter(start));
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        for dependency in nodes.get(&id).map(|node| list(&node["deps"])).unwrap_or_default() {
            // A dependency of the build or of tests is not linked.
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                open.push(text_of(&dependency["pkg"]));
            }
        }
    }
    let mut found: Vec<Package> = seen
        .iter()
        .filter_map(|id| packages.get(id))
        .filter(|package| !package["source"].is_null())
        .map(|package| Package {
            name: text_of(&package["name"]),
            version: text_of(&package["version"]),
            license: text_of(&package["license"]),
            directory: Path::new(&text_of(&package["manifest_path"])).parent().map(Path::to_owned).unwrap_or_default(),
        })
        .collect();
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    found
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The lines that name the packages and their licenses.
fn listing(packages: &[Package]) -> String {
    packages.iter().fold(String::new(), |mut text, package| {
        let license = if package.license.is_empty() { "see below" } else { &package.license };
        let _ = writeln!(text, "{} {}: {license}", package.name, package.version);
        text
    })
}

/// The whole file.
fn text(packages: &[Package]) -> Result<String, Error> {
    let mut texts: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for package in packages {
        for text in license_texts(&package.directory)? {
            let key: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let (_, names) = texts.entry(key).or_insert_with(|| (text, Vec::new()));
            let name = format!("{} {}", package.name, package.version);
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
    }
    let mut out = String::from(
        "eigenspace contains the following packages. It is itself available under the MIT license.\n\
         Written by `cargo xtask licenses`; do not edit.\n\n",
    );
    out.push_str(&listing(packages));
    for (text, names) in texts.into_values() {
        let _ = write!(out, "\n{LINE}\n{}\n{LINE}\n\n{}\n", names.join(", "), text.trim());
    }
    Ok(out)
}

/// The license files of a package, also those of its fonts.
fn license_texts(directory: &Path) -> Result<Vec<String>, Error> {
    let mut texts = Vec::new();
    for place in [directory.to_owned(), directory.join("fonts"), directory.join("LICENSES")] {
        if !place.is_dir() {
            continue;
        }
        let mut paths: Vec<PathBuf> = fs::read_dir(&place)
            .map_err(Error::io("list", place.as_path()))?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.is_file())
            .collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
            let all = place.ends_with("LICENSES");
            if all || NAMES.iter().any(|beginning| name.starts_with(beginning)) {
                let bytes = fs::read(&path).map_err(Error::io("read", path.as_path()))?;
                texts.push(String::from_utf8_lossy(&bytes).replace('\r', ""));
            }
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_name_every_linked_package_and_no_other() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let metadata = metadata(root).expect("cargo runs");
        for (artifact, file) in ARTIFACTS {
            let packages = linked(&metadata, artifact);
            assert!(packages.len() > 20, "{artifact}");
            let stored = fs::read_to_string(root.join(file)).unwrap_or_default();
            let listed = stored.split("\n\n").nth(1).unwrap_or_default();
            assert_eq!(listed.trim(), listing(&packages).trim(), "{file}: run `cargo xtask licenses`");
        }
    }

    #[test]
    fn every_package_has_a_copy_of_the_license() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let license = fs::read_to_string(root.join("LICENSE")).expect("the license");
        for package in PUBLISHED {
            let copy = fs::read_to_string(root.join(package).join("LICENSE")).unwrap_or_default();
            assert_eq!(copy, license, "{package}/LICENSE: run `cargo xtask licenses`");
        }
    }

    #[test]
    fn the_license_of_the_typeface_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let text = fs::read_to_string(root.join(ARTIFACTS[0].1)).unwrap_or_default();
        assert!(text.contains("SIL OPEN FONT LICENSE") || text.contains("SIL Open Font License"), "Noto Sans");
    }
}
