//! The pictures in a folder and below it, in natural order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
        walk(folder, Path::new(""), &mut Vec::new(), &mut found)?;
        found.files.sort_by(|a, b| by_folder_then_file(a, b));
        Ok(found)
    }
}

/// `above` are the real places of the folders on the way here: a link back to one of them is not followed.
fn walk(root: &Path, below: &Path, above: &mut Vec<PathBuf>, found: &mut Images) -> Result<(), Error> {
    let folder = root.join(below);
    let failed = |source| Error::Io { action: "read", path: folder.clone(), source };
    let real = folder.canonicalize().map_err(failed)?;
    if above.contains(&real) {
        return Ok(());
    }
    above.push(real);
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let (path, relative) = (folder.join(&name), below.join(&name));
        if path.is_dir() {
            walk(root, &relative, above, found)?;
        } else if path.is_file() && format_of(&path) == Some(Format::Images) {
            found.files.push(relative);
        } else if let Some(format) = other_image(&path).filter(|_| path.is_file()) {
            *found.others.entry(format).or_default() += 1;
        }
    }
    above.pop();
    Ok(())
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
