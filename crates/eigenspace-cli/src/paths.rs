//! What the paths on the command line stand for.

use std::path::{Path, PathBuf};

use eigenspace::internal::begins_like_a_model;
use eigenspace::io::source::Format;

use crate::table;

/// Whether a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether a path leads to this file.
pub(crate) fn leads_to(file: &Path) -> impl Fn(&Path) -> bool {
    let there = file.canonicalize().ok();
    move |path| there.is_some() && path.canonicalize().ok() == there
}

/// Whether a file holds NumPy arrays.
pub(crate) fn is_array(path: &Path) -> bool {
    matches!(Format::of(path), Some(Format::Npy | Format::Npz))
}

/// Whether a file is empty, cannot be read, or begins like a model.
pub(crate) fn may_be_model(path: &Path) -> bool {
    begins_like_a_model(path).unwrap_or(true)
}

/// The first path that is a model instead of rows.
pub(crate) fn find_model(data: &[PathBuf]) -> Option<&PathBuf> {
    data.iter().find(|path| Format::of(path).is_none() && begins_like_a_model(path) == Some(true))
}

/// The inputs of a command, for a message.
pub(crate) fn names(data: &[PathBuf]) -> String {
    let name = |path: &PathBuf| match is_standard_input(path) {
        true => "standard input".to_owned(),
        false => format!("`{}`", path.display()),
    };
    table::list(&data.iter().map(name).collect::<Vec<_>>())
}
