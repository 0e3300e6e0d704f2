//! The pictures in a folder and below it, in natural order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::io::error::Error;
use crate::io::source::open::{format_of, other_image};
use crate::io::source::{Format, natural};

/// The pictures in `folder` and in the folders below it, as paths from `folder`: those directly in it first,
/// then folder by folder. Hidden files and folders, and files of other formats, are passed over.
pub fn pictures(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(Images::below(folder)?.files)
}

/// Images in a folder and below it.
#[derive(Default)]
pub(super) struct Images {
    /// Those that are read, in order.
    pub(super) files: Vec<PathBuf>,
    /// The formats of those that are not: how many of each.
    pub(super) others: BTreeMap<&'static str, usize>,
}

impl Images {
    pub(super) fn below(folder: &Path) -> Result<Self, Error> {
        let mut found = Self::default();
        let visible = |entry: &DirEntry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.');
        for entry in WalkDir::new(folder).follow_links(true).into_iter().filter_entry(visible) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) if leads_nowhere(&error) => continue,
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    return Err(Error::Io { action: "read", path, source: error.into() });
                }
            };
            let path = entry.path();
            if !entry.file_type().is_file() {
                continue;
            }
            if format_of(path) == Some(Format::Images) {
                found.files.push(path.strip_prefix(folder).unwrap_or(path).to_owned());
            } else if let Some(format) = other_image(path) {
                *found.others.entry(format).or_default() += 1;
            }
        }
        found.files.sort_by(|a, b| by_folder_then_file(a, b));
        Ok(found)
    }
}

/// Whether a link points to a directory above it, or to a file that does not exist. Such links are ignored.
fn leads_nowhere(error: &walkdir::Error) -> bool {
    let missing = error.io_error().is_some_and(|error| error.kind() == ErrorKind::NotFound);
    error.loop_ancestor().is_some() || (missing && error.depth() > 0)
}

fn by_folder_then_file(a: &Path, b: &Path) -> Ordering {
    let folders = |path: &Path| match path.parent() {
        Some(parent) => parent.iter().map(|name| name.to_string_lossy().into_owned()).collect(),
        None => Vec::new(),
    };
    let (left, right): (Vec<String>, Vec<String>) = (folders(a), folders(b));
    let first = left.iter().zip(&right).map(|(x, y)| natural(x, y)).find(|order| order.is_ne());
    let in_folders = first.unwrap_or_else(|| left.len().cmp(&right.len()));
    in_folders.then_with(|| natural(&a.to_string_lossy(), &b.to_string_lossy()))
}
