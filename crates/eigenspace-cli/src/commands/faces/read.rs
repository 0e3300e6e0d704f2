//! Reads images of people from files and directories.

use std::path::{Path, PathBuf};

use eigenspace::faces::{FaceOptions, Faces};
use eigenspace::io::Error;
use eigenspace::io::source::{self, Format, ReadOptions, SourceError};
use image::{ImageDecoder, ImageReader};
use ndarray::{Array2, Axis, concatenate};

use crate::failure::Failure;
use crate::{args, output, rows};

/// Images, with the person and the name of each.
pub(crate) struct Images {
    pub(crate) rows: Array2<f64>,
    pub(crate) people: Vec<Owner>,
    /// The name of each file, without its directories.
    pub(crate) names: Vec<String>,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) size: (usize, usize),
    /// Bits per pixel.
    pub(crate) depth: Option<u8>,
}

/// The owner of an image, according to the directory it is in.
pub(crate) enum Owner {
    /// The first directory below the one named on the command line, or that one itself.
    Person(String),
    /// The image is more than one directory below this one.
    Nested(PathBuf),
    /// The image was named as a single file.
    Nobody,
}

/// Images that all belong to a person.
pub(crate) struct People {
    pub(crate) rows: Array2<f64>,
    pub(crate) people: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) size: (usize, usize),
    /// Bits per pixel.
    pub(crate) depth: Option<u8>,
}

impl People {
    /// The largest value that a pixel can have.
    pub(crate) fn largest(&self) -> f64 {
        if self.depth == Some(16) { 65535.0 } else { 255.0 }
    }

    pub(crate) fn faces(&self) -> Faces<'_> {
        Faces::new(&self.rows, &self.people, &self.names)
    }
}

/// Reads images, which must have the size and depth of the known ones. They are resized if a size is given, or if the known
/// images were resized. Color images become gray, with a message.
pub(crate) fn images(data: &[PathBuf], resize: Option<&str>, known: Option<&FaceOptions>) -> anyhow::Result<Images> {
    let resize = resize.map(args::size).transpose()?;
    let wanted = known.and_then(|known| known.get_size());
    let resize = resize.or(wanted.filter(|_| known.is_some_and(|known| known.get_resized())));
    let mut options = ReadOptions::new().format(Format::Images);
    if let Some(size) = resize {
        options = options.resize(size);
    }
    let source = source::open(data, &options)?;
    let image = source.columns().image.ok_or(Failure::NoImages)?;
    let size = (image.width(), image.height());
    if let Some(expected) = wanted.filter(|wanted| *wanted != size) {
        let path = data.first().cloned().unwrap_or_default();
        return Err(Error::Source { path, source: SourceError::ImageSize { expected, found: size } }.into());
    }
    let features = source.columns().count;
    let (mut blocks, mut people, mut names, mut paths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    rows::for_each("read", source, 0, |block| {
        blocks.push(block.values.to_f64());
        let files = block.origin.names.clone().expect("rows read from images have file names");
        for file in &files {
            let root = block.origin.path.as_path();
            let path = if root.is_dir() { root.join(file) } else { root.to_owned() };
            let parts: Vec<&str> = file.split('/').collect();
            // Bytes of a name that are not UTF-8 arrive as this character.
            if file.contains(char::REPLACEMENT_CHARACTER) {
                return Err(Failure::NotText { path }.into());
            }
            people.push(match parts[..] {
                [_] => name_of_directory(root)?.map_or(Owner::Nobody, Owner::Person),
                [person, _] => Owner::Person(person.to_owned()),
                _ => Owner::Nested(root.to_owned()),
            });
            names.push(parts.last().copied().unwrap_or(file).to_owned());
            paths.push(path);
        }
        Ok(())
    })?;
    let views: Vec<_> = blocks.iter().map(|block| block.view()).collect();
    let rows = if views.is_empty() { Array2::zeros((0, features)) } else { concatenate(Axis(0), &views)? };
    let kinds: Vec<(bool, Option<u8>)> = paths.iter().map(|path| kind(path)).collect();
    let colored = kinds.iter().filter(|kind| kind.0).count();
    if colored > 0 {
        let all = paths.len();
        output::message(&format!("converted {colored} of {all} images from color to gray"));
    }
    let first = kinds.iter().find_map(|kind| kind.1);
    let depth = known.and_then(|known| known.get_depth()).or(first);
    for (path, (_, found)) in paths.iter().zip(kinds) {
        if let (Some(found), Some(expected)) = (found, depth)
            && found != expected
        {
            let source = SourceError::ImageDepth { expected, found };
            return Err(Error::Source { path: path.clone(), source }.into());
        }
    }
    Ok(Images { rows, people, names, paths, size, depth })
}

/// Reads directories that have a subdirectory for each person.
pub(crate) fn people(data: &[PathBuf], resize: Option<&str>) -> anyhow::Result<People> {
    let read = images(data, resize, None)?;
    let nobody = || Failure::NoPeople { directory: data.first().cloned().unwrap_or_default() };
    // An image next to the directories of people belongs to nobody.
    let own = |path: &Path| data.iter().any(|directory| path.parent() == Some(directory.as_path()));
    if let Some(path) = read.paths.iter().find(|path| own(path)) {
        let below = read.paths.iter().any(|path| !own(path));
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        return Err(if below {
            Failure::NoPerson { path: path.clone(), enrolling: false }
        } else {
            Failure::NoPeople { directory }
        }
        .into());
    }
    let person = |(whose, path): (Owner, &PathBuf)| match whose {
        Owner::Person(person) => Ok(person),
        Owner::Nested(directory) => Err(Failure::Nested { path: path.clone(), directory }),
        Owner::Nobody => Err(nobody()),
    };
    let people = read.people.into_iter().zip(&read.paths).map(person).collect::<Result<Vec<_>, _>>()?;
    Ok(People { rows: read.rows, people, names: read.names, size: read.size, depth: read.depth })
}

/// Reads more images, either of one given person or of the people whose directories they are in.
pub(crate) fn more(
    data: &[PathBuf],
    person: Option<&str>,
    resize: Option<&str>,
    known: &FaceOptions,
) -> anyhow::Result<People> {
    let read = images(data, resize, Some(known))?;
    let owner = |(own, path): (Owner, &PathBuf)| match (person, own) {
        (Some(person), _) => Ok(person.to_owned()),
        (None, Owner::Person(person)) => Ok(person),
        (None, Owner::Nested(directory)) => Err(Failure::Nested { path: path.clone(), directory }),
        (None, Owner::Nobody) => Err(Failure::NoPerson { path: path.clone(), enrolling: true }),
    };
    let people = read.people.into_iter().zip(&read.paths).map(owner).collect::<Result<Vec<_>, _>>()?;
    Ok(People { rows: read.rows, people, names: read.names, size: read.size, depth: read.depth })
}

/// The name of a directory that holds the images of one person; `None` for a single file.
fn name_of_directory(path: &Path) -> anyhow::Result<Option<String>> {
    let Some(place) = path.is_dir().then(|| path.canonicalize().ok()).flatten() else { return Ok(None) };
    let not_text = || Failure::NotText { path: path.to_owned() };
    Ok(place.file_name().map(|name| name.to_str().map(str::to_owned).ok_or_else(not_text)).transpose()?)
}

/// Whether an image is in color, and the bits per value, as far as the file header says.
fn kind(path: &Path) -> (bool, Option<u8>) {
    let reader = ImageReader::open(path).ok().and_then(|reader| reader.with_guessed_format().ok());
    let Some(color) = reader.and_then(|reader| reader.into_decoder().ok()).map(|decoder| decoder.color_type()) else {
        return (false, None);
    };
    let bits = color.bits_per_pixel() / u16::from(color.channel_count()).max(1);
    (color.has_color(), Some(if bits > 8 { 16 } else { 8 }))
}
