//! The file that a command writes: checks before the work starts, and a lock if the file is also one
//! of the inputs.
//!
//! A file that is read and written back is locked from before it is read until it is written. Two
//! commands that change the same file at the same time therefore take turns, and the file has both
//! changes afterward.

use std::path::{Path, PathBuf};

use eigenspace::internal::{self, AtomicFile, FileEdit, InputFiles};
use eigenspace::io::Error;
use eigenspace::io::source::{Format, ReadOptions};

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::options::Input;
use crate::paths::{is_standard_input, leads_to, may_be_model};
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

/// Checks that a file can be written, before the work starts.
pub(crate) fn try_output(path: &Path) -> anyhow::Result<()> {
    if is_standard_input(path) {
        return Err(Failure::NoFile.into());
    }
    AtomicFile::sweep(path);
    AtomicFile::create(path)?;
    Ok(())
}

/// The same for a model or a recognizer, which must not replace a file of another kind, such as a
/// table.
pub(crate) fn try_model_or_recognizer(path: &Path) -> anyhow::Result<()> {
    if path.is_file() && !may_be_model(path) {
        return Err(Failure::NotAModel { path: path.to_owned() }.into());
    }
    try_output(path)?;
    if Format::of(path).is_some() {
        output::message(&format!(
            "`{}` becomes a model, but its name ends like that of a data file; use a name that ends in .safetensors",
            path.display()
        ));
    }
    Ok(())
}

/// The same for a model, which must not replace a recognizer either: its people would be lost.
pub(crate) fn try_model(path: &Path) -> anyhow::Result<()> {
    if path.is_file() && internal::is_recognizer(path) {
        return Err(Failure::IsRecognizer { path: path.to_owned() }.into());
    }
    try_model_or_recognizer(path)
}

/// Fails if the output would overwrite an image or another file that the command reads.
pub(crate) fn spare_images(data: &[PathBuf], output: &Path) -> anyhow::Result<()> {
    if !output.exists() {
        return Ok(());
    }
    let same = leads_to(output);
    for path in InputFiles::find(data, &ReadOptions::new().format(Format::Images))?.paths() {
        let inside = if path.is_dir() { internal::image_files(path)? } else { Vec::new() };
        if same(path) || inside.iter().any(|file| same(&path.join(file))) {
            return Err(Failure::OverInput { path: output.to_owned() }.into());
        }
    }
    Ok(())
}
