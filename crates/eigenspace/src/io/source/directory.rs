//! The images in a directory and its subdirectories, in natural order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::io::error::Error;
use crate::io::source::unsupported::other_image;
use crate::io::source::{Format, natural};

/// The images in `directory` and its subdirectories, as paths relative to `directory`: first those
/// directly in it, then those of each subdirectory. Hidden files and directories, and files of
/// other formats, are skipped.
pub fn image_files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(Images::below(directory)?.files)
}

/// The images in a directory and its subdirectories.
#[derive(Default)]
pub(super) struct Images {
    /// Images in supported formats, in order.
    pub(super) files: Vec<PathBuf>,
    /// The number of images in each unsupported format.
    pub(super) others: BTreeMap<&'static str, usize>,
}

impl Images {
    pub(super) fn below(directory: &Path) -> Result<Self, Error> {
        let mut found = Self::default();
        let visible = |entry: &DirEntry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.');
        for entry in WalkDir::new(directory).follow_links(true).into_iter().filter_entry(visible) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) if leads_nowhere(&error) => continue,
                Err(error) => {
                    let path = error.path().unwrap_or(directory).to_owned();
                    return Err(Error::Io { action: "read", path, source: error.into() });
                }
            };
            let path = entry.path();
            if !entry.file_type().is_file() {
                continue;
            }
            if Format::of(path) == Some(Format::Images) {
                found.files.push(path.strip_prefix(directory).unwrap_or(path).to_owned());
            } else if let Some(format) = other_image(path) {
                *found.others.entry(format).or_default() += 1;
            }
        }
        found.files.sort_by(|a, b| by_directory_then_file(a, b));
        Ok(found)
    }
}

/// Whether a link points to a directory above it, or to a file that does not exist. Such links are
/// ignored.
fn leads_nowhere(error: &walkdir::Error) -> bool {
    let missing = error.io_error().is_some_and(|error| error.kind() == ErrorKind::NotFound);
    error.loop_ancestor().is_some() || (missing && error.depth() > 0)
}

fn by_directory_then_file(a: &Path, b: &Path) -> Ordering {
    let directories = |path: &Path| match path.parent() {
        Some(parent) => parent.iter().map(|name| name.to_string_lossy().into_owned()).collect(),
        None => Vec::new(),
    };
    let (left, right): (Vec<String>, Vec<String>) = (directories(a), directories(b));
    let first = left.iter().zip(&right).map(|(x, y)| natural(x, y)).find(|order| order.is_ne());
    let in_directories = first.unwrap_or_else(|| left.len().cmp(&right.len()));
    in_directories.then_with(|| natural(&a.to_string_lossy(), &b.to_string_lossy()))
}
