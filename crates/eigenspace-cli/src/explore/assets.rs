//! The files of the page, which are part of the program.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::explore::compact::{Syntax, compact};

/// A file and its bytes.
macro_rules! assets {
    ($($name:literal)*) => { &[$(($name, include_bytes!(concat!("page/", $name)).as_slice())),*] };
}

const ASSETS: &[(&str, &[u8])] = assets! {
    "index.html" "style.css" "views.css" "icon.svg" "main.js"
    "api.js" "canvas2d.js" "chart.js" "cloud.js" "dialogs.js" "dom.js" "faces.js" "features.js" "inspector.js" "legend.js"
    "live.js" "map.js" "maptools.js" "monitor.js" "palette.js" "points.js" "row.js" "state.js" "variance.js" "walk.js" "workbench.js"
};

/// The file at an address below the token: the page itself, or `assets/NAME`.
pub(super) fn find(below: &str) -> Option<(&'static str, Cow<'static, [u8]>)> {
    let name = if below.is_empty() { "index.html" } else { below.strip_prefix("assets/")? };
    let place = ASSETS.iter().position(|(known, _)| *known == name)?;
    Some((kind(name), from_disk(name).map_or_else(|| Cow::Borrowed(&*served()[place]), Cow::Owned)))
}

/// The files as they are sent, in the order of the table.
fn served() -> &'static [Vec<u8>] {
    static SERVED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SERVED.get_or_init(|| ASSETS.iter().map(|(name, bytes)| shortened(name, bytes)).collect())
}

fn shortened(name: &str, bytes: &[u8]) -> Vec<u8> {
    let syntax = match name.rsplit_once('.') {
        Some((_, "js")) => Syntax::Script,
        Some((_, "css")) => Syntax::Style,
        _ => return bytes.to_vec(),
    };
    std::str::from_utf8(bytes).map_or_else(|_| bytes.to_vec(), |text| compact(text, syntax))
}

/// The same file as it is now, for work on the page without compiling; only in debug builds.
fn from_disk(name: &str) -> Option<Vec<u8>> {
    let directory = cfg!(debug_assertions).then(|| std::env::var_os("EIGENSPACE_PAGE")).flatten()?;
    std::fs::read(std::path::Path::new(&directory).join(name)).ok()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn text(name: &str) -> String {
        let found = ASSETS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.to_vec());
        String::from_utf8(found.expect("a file")).expect("text")
    }

    #[test]
    fn every_file_of_the_page_is_embedded_and_every_embedded_file_is_used() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/src/explore/page");
        let files = std::fs::read_dir(directory).expect("the page").map(|entry| entry.expect("a file").file_name());
        let files: BTreeSet<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
        let embedded: BTreeSet<String> = ASSETS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files, embedded, "files of the page, and the table above");
        // From the index, through every script that imports another.
        let mut used = BTreeSet::from(["index.html".to_owned()]);
        loop {
            let more: Vec<String> = used
                .iter()
                .flat_map(|name| {
                    let text = text(name);
                    let named = |other: &&String| {
                        text.contains(&format!("assets/{other}")) || text.contains(&format!("./{other}"))
                    };
                    embedded.iter().filter(named).cloned().collect::<Vec<_>>()
                })
                .collect();
            let before = used.len();
            used.extend(more);
            if used.len() == before {
                break;
            }
        }
        assert_eq!(used, embedded, "files that the index leads to, and all files");
    }

    /// So that `cargo install` needs neither Node nor a network.
    #[test]
    fn the_page_is_embedded_as_it_is_without_a_build_script() {
        let manifest = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let building = ["build = ", "[build-dependencies]", "exclude = ", "include = "];
        assert!(building.iter().all(|key| !manifest.lines().any(|line| line.starts_with(key))));
        assert!(!std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs")).exists());
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for (name, _) in ASSETS {
            let text = text(name).replace("http://www.w3.org/", "");
            assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("\"//"), "{name}");
        }
    }

    #[test]
    fn what_is_sent_has_no_comments_and_is_shorter() {
        for ((name, bytes), sent) in ASSETS.iter().zip(served()) {
            let sent = std::str::from_utf8(sent).expect("text");
            if name.ends_with(".js") || name.ends_with(".css") {
                assert!(sent.len() < bytes.len(), "{name}");
                assert!(!sent.contains("/**") && !sent.contains("@param") && !sent.contains("\n//"), "{name}");
                assert_eq!(shortened(name, sent.as_bytes()), sent.as_bytes(), "{name}: nothing is left to remove");
            } else {
                assert_eq!(sent.as_bytes(), *bytes, "{name}");
            }
        }
    }

    #[test]
    fn only_known_names_are_found() {
        assert!(find("").is_some() && find("assets/main.js").is_some());
        for below in [
            "index.html",
            "assets",
            "assets/",
            "assets/../main.js",
            "assets/../../Cargo.toml",
            "assets//etc/passwd",
            "assets/%2e%2e/main.js",
            "main.js",
            "/",
        ] {
            assert!(find(below).is_none(), "{below}");
        }
    }
}
