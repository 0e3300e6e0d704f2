//! The documentation site: guides, method, reference of the Python package, and a link to the
//! reference of the library.
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
const OUTSIDE: [(&str, &str); 8] = [
    ("README.md", "index.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("CONTRIBUTING.md", "CONTRIBUTING.md"),
    ("SECURITY.md", "SECURITY.md"),
    ("CODE_OF_CONDUCT.md", "CODE_OF_CONDUCT.md"),
    ("bench/EXPLORER.md", "bench/EXPLORER.md"),
    ("bench/RESULTS.md", "bench/RESULTS.md"),
    ("bench/TARGETS.md", "bench/TARGETS.md"),
];

/// Builds the site.
pub(crate) fn build(runner: &mut Runner) -> Result<(), Error> {
    let python = python::environment(runner, "venv-site", &format!("{DIRECTORY}/requirements.txt"))?;
    let source = runner.target().join("site-source");
    gather(&runner.root, &source)?;
    let settings = format!("{DIRECTORY}/mkdocs.yml");
    // Not with `--quiet`, which hides the warnings that `--strict` counts.
    let build = Step::new("site", &python).with(["-m", "mkdocs", "build", "--strict", "--config-file"]);
    let build = build.with([settings]).variable("NO_MKDOCS_2_WARNING", "1");
    runner.run(build.advice("a link or a page is missing, or a page is not in the navigation"))
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

/// Rewrites links: README is the first page, and links to files that are not on the site become
/// plain text.
fn moved(text: &str, from: &str) -> String {
    let up = if from.starts_with("docs") || from.starts_with("bench") { "../" } else { "" };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find("](") {
        let (before, after) = (&rest[..place], &rest[place + 2..]);
        let (target, others) = after.split_once(')').unwrap_or((after, ""));
        match (link(target, up), before.rfind('[')) {
            (Some(link), _) => out.extend([before, "](", &link, ")"]),
            (None, Some(start)) => out.extend([&before[..start], &before[start + 1..]]),
            (None, None) => out.extend([before, "](", target, ")"]),
        }
        rest = others;
    }
    out.push_str(rest);
    fences(&definitions(&out, up))
}

/// Rewrites the words after the language of a block: the name of a file becomes its title, and
/// words for the tests are left out. The site would not recognize the block otherwise.
fn fences(text: &str) -> String {
    let fence = |line: &str| match line.strip_prefix("```").and_then(|words| words.split_once(' ')) {
        Some((language, file)) if file.contains('.') => format!("```{language} title=\"{file}\""),
        Some((language, _)) => format!("```{language}"),
        None => line.to_owned(),
    };
    text.split('\n').map(fence).collect::<Vec<_>>().join("\n")
}

/// Rewrites links that are defined at the end of a page, as in `[name]: target`.
fn definitions(text: &str, up: &str) -> String {
    let definition = |line: &str| {
        let (name, target) = line.strip_prefix('[')?.split_once("]: ")?;
        Some((name.to_owned(), link(target, up)))
    };
    let mut lines = Vec::new();
    let mut plain = Vec::new();
    for line in text.split('\n') {
        match definition(line) {
            Some((name, Some(link))) => lines.push(format!("[{name}]: {link}")),
            Some((name, None)) => plain.push(name),
            None => lines.push(line.to_owned()),
        }
    }
    plain.iter().fold(lines.join("\n"), |text, name| text.replace(&format!("[{name}]"), name))
}

/// Where a link leads on the site; `None` for a file of the repository that is not there.
fn link(target: &str, up: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').map_or((target, ""), |(path, anchor)| (path, anchor));
    let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
    let is_elsewhere = path.contains("://") || path.is_empty();
    let is_page = [".md", ".svg", ".png"].iter().any(|ending| path.ends_with(ending));
    if path == format!("{up}README.md") {
        return Some(format!("{up}index.md{anchor}"));
    }
    (is_elsewhere || is_page).then(|| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn links_lead_to_pages_of_the_site() {
        assert_eq!(moved("[a](../README.md#install)", "docs/x.md"), "[a](../index.md#install)");
        assert_eq!(moved("[a](METHOD.md) [b](https://x.org/y)", "docs/x.md"), "[a](METHOD.md) [b](https://x.org/y)");
        assert_eq!(moved("![f](docs/images/f.svg)", "README.md"), "![f](docs/images/f.svg)");
        assert_eq!(moved("[y]: METHOD.md\n", "docs/x.md"), "[y]: METHOD.md\n");
    }

    #[test]
    fn blocks_have_a_language_and_at_most_a_title() {
        assert_eq!(moved("```csv iris.csv\n1\n```", "README.md"), "```csv title=\"iris.csv\"\n1\n```");
        assert_eq!(moved("```python ray\n1\n```\n```text", "docs/x.md"), "```python\n1\n```\n```text");
    }

    #[test]
    fn links_to_files_that_are_not_on_the_site_become_text() {
        assert_eq!(moved("see [n](../examples/notebooks).", "docs/x.md"), "see n.");
        assert_eq!(moved("[a](METHOD.md), [l](LICENSE)", "README.md"), "[a](METHOD.md), l");
        assert_eq!(moved("[`x`] and more\n\n[`x`]: crates/x.rs\n", "README.md"), "`x` and more\n\n");
    }
}
