//! Reads images of people from files and directories, with a progress bar and messages.

use std::path::PathBuf;

use eigenspace::faces::FaceOptions;
use eigenspace::internal::{FaceImages, FaceReader, People};

use crate::failure::Failure;
use crate::{advice, numbers, output, rows};

/// Reads images, which must have the size and depth of the known ones. They are resized if a size
/// is given, or if the known images were resized. Color images become gray, with a message.
pub(crate) fn images(
    data: &[PathBuf],
    resize: Option<&str>,
    known: Option<&FaceOptions>,
) -> anyhow::Result<FaceImages> {
    let resize = resize.map(numbers::size).transpose()?;
    let read = || {
        let (source, mut reader) = FaceReader::open(data, resize, known)?;
        rows::for_each("read", source, 0, |block| Ok(reader.add(block)?))?;
        Ok(reader.finish()?)
    };
    let read: FaceImages = read().map_err(|error: anyhow::Error| {
        let hint = advice::on_people(&error, known.is_some());
        Failure::advised(error, hint)
    })?;
    if read.colored > 0 {
        let (colored, all) = (read.colored, read.paths.len());
        output::message(&format!("converted {colored} of {all} images from color to gray"));
    }
    Ok(read)
}

/// Reads directories that have a subdirectory for each person.
pub(crate) fn people(data: &[PathBuf], resize: Option<&str>) -> anyhow::Result<People> {
    Ok(images(data, resize, None)?.of_people(data)?)
}

/// Reads more images, either of one given person or of the people whose directories they are in.
pub(crate) fn more(
    data: &[PathBuf],
    person: Option<&str>,
    resize: Option<&str>,
    known: &FaceOptions,
) -> anyhow::Result<People> {
    Ok(images(data, resize, Some(known))?.of_more(person)?)
}
