//! The file that a command writes, which may also be one of its inputs.
//!
//! A file that is read and written back is locked from before it is read until it is written. Two
//! commands that change the same file at the same time therefore take turns, and the file has both
//! changes afterward.

use std::path::{Path, PathBuf};

use eigenspace::internal::{AtomicFile, FileEdit};
use eigenspace::io::Error;

use crate::args::Input;
use crate::failure::Failure;
use crate::inputs::{Inputs, leads_to};
use crate::{applicable, output};

/// A file to write, locked if it is also read.
pub(crate) struct Destination {
    path: PathBuf,
    locked: Option<FileEdit>,
}

impl Destination {
    /// Must be called before the inputs are read: it waits for other commands that are changing the
    /// file.
    pub(crate) fn new(output: &Path, inputs: &[&Path]) -> Result<Self, Error> {
        let place = |path: &Path| path.canonicalize().ok();
        let there = place(output);
        let locked = match there.is_some() && inputs.iter().any(|input| place(input) == there) {
            true => Some(lock(output)?),
            false => None,
        };
        Ok(Self { path: output.to_owned(), locked })
    }

    /// Writes the file and releases the lock. A file that another program has changed since it was
    /// read is left unchanged.
    pub(crate) fn write(self, bytes: &[u8]) -> Result<(), Error> {
        match self.locked {
            Some(mut locked) => locked.replace(bytes),
            None => AtomicFile::write(&self.path, bytes),
        }
    }
}

/// Checks the file to which rows are written, before the work starts: it must be able to hold
/// labels if there are any, and it must not be one of the files that the command reads. Removes
/// what a killed command has left of it.
pub(crate) fn check_rows(output: &Path, inputs: &Inputs<'_>, model: &Path, input: &Input) -> Result<(), Failure> {
    applicable::check_output(output, input)?;
    inputs.spare(output)?;
    if leads_to(output)(model) {
        return Err(Failure::OverInput { path: output.to_owned() });
    }
    AtomicFile::sweep(output);
    Ok(())
}

fn lock(path: &Path) -> Result<FileEdit, Error> {
    if let Some(edit) = FileEdit::try_open(path)? {
        return Ok(edit);
    }
    output::message(&format!("waiting for another command that is changing `{}`", path.display()));
    FileEdit::open(path)
}
