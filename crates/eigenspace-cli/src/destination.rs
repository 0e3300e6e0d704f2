//! The file that a command writes, which may be one that it reads.
//!
//! A file that is read and written back is held from before it is read until it is written, so that two commands that change
//! one file at the same time take turns, and both changes are in it afterwards.

use std::path::{Path, PathBuf};

use eigenspace::io::Error;
use eigenspace::{AtomicFile, FileEdit};

use crate::output;

/// A file to write, held where it is also read.
pub(crate) struct Destination {
    path: PathBuf,
    held: Option<FileEdit>,
}

impl Destination {
    /// Call this before the inputs are read: it waits for commands that are changing the file.
    pub(crate) fn new(output: &Path, inputs: &[&Path]) -> Result<Self, Error> {
        let place = |path: &Path| path.canonicalize().ok();
        let there = place(output);
        let held = match there.is_some() && inputs.iter().any(|input| place(input) == there) {
            true => Some(hold(output)?),
            false => None,
        };
        Ok(Self { path: output.to_owned(), held })
    }

    /// Writes the file and lets others have it. A file that was read and that another program has changed since stays as it is.
    pub(crate) fn write(self, bytes: &[u8]) -> Result<(), Error> {
        match self.held {
            Some(mut held) => held.replace(bytes),
            None => AtomicFile::write(&self.path, bytes),
        }
    }
}

fn hold(path: &Path) -> Result<FileEdit, Error> {
    if let Some(edit) = FileEdit::try_open(path)? {
        return Ok(edit);
    }
    output::talk(&format!("waiting for another command that is changing `{}`", path.display()));
    FileEdit::open(path)
}
