//! The documentation site: guides, method, reference of the Python package, and a link to the reference of the library.
//!
//! ```text
//! docs/*.md, README.md … ─► target/site-source ─► mkdocs --strict ─► target/site
//! ```
//!
//! The built site is not committed. Links must lead to pages that exist: a broken one is an error.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::python;
use crate::step::{Runner, Step};

/// The directory of the settings, relative to the workspace root.
const DIRECTORY: &str = "docs/site";
/// Pages outside of `docs`, and their names on the site.
const OUTSIDE: [(&str, &str); 7] = [
    ("README.md", "index.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("CONTRIBUTING.md", "CONTRIBUTING.md"),
    ("SECURITY.md", "SECURITY.md"),
    ("CODE_OF_CONDUCT.md", "CODE_OF_CONDUCT.md"),
    ("bench/RESULTS.md", "bench/RESULTS.md"),
    ("bench/TARGETS.md", "bench/TARGETS.md"),
];

/// Builds the site.
pub(crate) fn build(runner: &mut Runner) -> Result<(), Error> {
    let python = python::environment(runner, "venv-site", &format!("{DIRECTORY}/requirements.txt"))?;
    let source = runner.target().join("site-source");
    gather(&runner.root, &source)?;
    let settings = format!("{DIRECTORY}/mkdocs.yml");
    let build = Step::new("site", &python).with(["-m", "mkdocs", "build", "--strict", "--quiet", "--config-file"]);
    runner.run(build.with([settings]).advice("a link or a page is missing, or a page is not in the navigation"))
}

/// Copies the pages to one directory, with links that fit there.
fn gather(root: &Path, source: &Path) -> Result<(), Error> {
    if source.exists() {
        fs::remove_dir_all(source).map_err(Error::io("remove", source))?;
    }
    for (from, to) in OUTSIDE {
        copy(&root.join(from), &source.join(to), |text| moved(text, from))?;
    }
    let docs = root.join("docs");
    for entry in fs::read_dir(&docs).map_err(Error::io("list", docs.as_path()))? {
        let path = entry.map_err(Error::io("list", docs.as_path()))?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            let name = path.file_name().unwrap_or_default();
            copy(&path, &source.join("docs").join(name), |text| moved(text, "docs/"))?;
        }
    }
    for directory in ["docs/images", "bench/figures"] {
        let from = root.join(directory);
        for entry in fs::read_dir(&from).map_err(Error::io("list", from.as_path()))? {
            let path = entry.map_err(Error::io("list", from.as_path()))?.path();
            let to = source.join(directory).join(path.file_name().unwrap_or_default());
            fs::create_dir_all(source.join(directory)).map_err(Error::io("create", source))?;
            fs::copy(&path, &to).map_err(Error::io("copy", path.as_path()))?;
        }
    }
    let page = root.join(DIRECTORY).join("reference.md");
    copy(&page, &source.join("reference.md"), str::to_owned)
}

fn copy(from: &Path, to: &Path, change: impl Fn(&str) -> String) -> Result<(), Error> {
    let text = fs::read_to_string(from).map_err(Error::io("read", from))?;
    let directory: PathBuf = to.parent().map(Path::to_path_buf).unwrap_or_default();
    fs::create_dir_all(&directory).map_err(Error::io("create", directory))?;
    fs::write(to, change(&text)).map_err(Error::io("write", to))
}

/// Rewrites links: README is the first page, and files that are not pages are left as plain text.
fn moved(text: &str, from: &str) -> String {
    let up = if from.starts_with("docs") || from.starts_with("bench") { "../" } else { "" };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find("](") {
        let (before, after) = rest.split_at(place + 2);
        out.push_str(before);
        let end = after.find(')').unwrap_or(after.len());
        let (target, others) = after.split_at(end);
        out.push_str(&link(target, up));
        rest = others;
    }
    out.push_str(rest);
    let definition = |line: &str| match line.split_once("]: ") {
        Some((name, target)) if name.starts_with('[') => format!("{name}]: {}", link(target, up)),
        _ => line.to_owned(),
    };
    out.split('\n').map(definition).collect::<Vec<_>>().join("\n")
}

/// Where a link leads on the site.
fn link(target: &str, up: &str) -> String {
    let (path, anchor) = target.split_once('#').map_or((target, ""), |(path, anchor)| (path, anchor));
    let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
    let is_elsewhere = path.contains("://") || path.is_empty();
    let is_page = [".md", ".svg", ".png"].iter().any(|ending| path.ends_with(ending));
    if path == format!("{up}README.md") {
        return format!("{up}index.md{anchor}");
    }
    if is_elsewhere || is_page {
        return target.to_owned();
    }
    // A file of the repository that is not on the site.
    format!("{up}index.md")
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn links_lead_to_pages_of_the_site() {
        assert_eq!(moved("[a](../README.md#install)", "docs/x.md"), "[a](../index.md#install)");
        assert_eq!(moved("[a](METHOD.md) [b](https://x.org/y)", "docs/x.md"), "[a](METHOD.md) [b](https://x.org/y)");
        assert_eq!(moved("[n](../examples/notebooks)", "docs/x.md"), "[n](../index.md)");
        assert_eq!(moved("[`x`]: crates/x.rs\n[y]: METHOD.md\n", "docs/x.md"), "[`x`]: ../index.md\n[y]: METHOD.md\n");
        assert_eq!(moved("![f](docs/images/f.svg) [l](LICENSE)", "README.md"), "![f](docs/images/f.svg) [l](index.md)");
    }
}
