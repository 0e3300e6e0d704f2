//! Pictures of people, out of files and folders.

use std::path::{Path, PathBuf};

use eigenspace::faces::{FaceOptions, Faces};
use eigenspace::io::Error;
use eigenspace::io::source::{self, Format, ReadOptions, SourceError};
use image::{ImageDecoder, ImageReader};
use ndarray::{Array2, Axis, concatenate};

use crate::failure::Failure;
use crate::{args, output, rows};

/// Pictures, and what is known of each.
pub(crate) struct Pictures {
    pub(crate) rows: Array2<f64>,
    pub(crate) people: Vec<Whose>,
    /// The name of each file, without its folders.
    pub(crate) names: Vec<String>,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) size: (usize, usize),
    /// Bits per pixel.
    pub(crate) depth: Option<u8>,
}

/// Whose a picture is, by the folder that it lies in.
pub(crate) enum Whose {
    /// That of the first folder below the one that was named, or of that one.
    Person(String),
    /// More than one folder lies between it and this one.
    Nested(PathBuf),
    /// It was named alone.
    Nobody,
}

/// Pictures that all have a person.
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
        Faces { rows: self.rows.view(), people: &self.people, pictures: &self.names }
    }
}

/// Reads pictures, which must have the size and depth of those that are known, if there are any; they are brought to a size where one is told, or
/// where those before were. Colors become gray, and that is said.
pub(crate) fn pictures(
    data: &[PathBuf],
    resize: Option<&str>,
    known: Option<&FaceOptions>,
) -> anyhow::Result<Pictures> {
    let resize = resize.map(args::size).transpose()?;
    let wanted = known.and_then(|known| known.size);
    let resize = resize.or(wanted.filter(|_| known.is_some_and(|known| known.resized)));
    let options = ReadOptions { format: Some(Format::Images), resize, ..ReadOptions::default() };
    let source = source::open(data, &options)?;
    let picture = source.columns().picture.ok_or(Failure::NoPictures)?;
    let size = (picture.width, picture.height);
    if let Some(expected) = wanted.filter(|wanted| *wanted != size) {
        let path = data.first().cloned().unwrap_or_default();
        return Err(Error::Source { path, source: SourceError::PictureSize { expected, found: size } }.into());
    }
    let features = source.columns().count;
    let (mut blocks, mut people, mut names, mut paths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    rows::for_each("read", source, 0, |block| {
        blocks.push(block.values.to_f64());
        let files = block.origin.names.clone().unwrap_or_default();
        for file in &files {
            let root = block.origin.path.as_path();
            let path = if root.is_dir() { root.join(file) } else { root.to_owned() };
            let parts: Vec<&str> = file.split('/').collect();
            // Names come as text, with this in the place of what is none.
            if file.contains(char::REPLACEMENT_CHARACTER) {
                return Err(Failure::NotText { path }.into());
            }
            people.push(match parts[..] {
                [_] => name_of_folder(root)?.map_or(Whose::Nobody, Whose::Person),
                [person, _] => Whose::Person(person.to_owned()),
                _ => Whose::Nested(root.to_owned()),
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
        let (all, verb) = (paths.len(), if colored == 1 { "is" } else { "are" });
        output::talk(&format!("{colored} of {all} pictures {verb} in color, and taken as gray"));
    }
    let first = kinds.iter().find_map(|kind| kind.1);
    let depth = known.and_then(|known| known.depth).or(first);
    for (path, (_, found)) in paths.iter().zip(kinds) {
        if let (Some(found), Some(expected)) = (found, depth)
            && found != expected
        {
            let source = SourceError::PictureDepth { expected, found };
            return Err(Error::Source { path: path.clone(), source }.into());
        }
    }
    Ok(Pictures { rows, people, names, paths, size, depth })
}

/// Reads a folder with a folder for each person in it.
pub(crate) fn people(data: &[PathBuf], resize: Option<&str>) -> anyhow::Result<People> {
    let read = pictures(data, resize, None)?;
    let nobody = || Failure::NoPeople { folder: data.first().cloned().unwrap_or_default() };
    // A picture beside the folders of people is nobody's.
    let own = |path: &Path| data.iter().any(|folder| path.parent() == Some(folder.as_path()));
    if let Some(path) = read.paths.iter().find(|path| own(path)) {
        let below = read.paths.iter().any(|path| !own(path));
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        return Err(if below { Failure::NoPerson { path: path.clone() } } else { Failure::NoPeople { folder } }.into());
    }
    let person = |(whose, path): (Whose, &PathBuf)| match whose {
        Whose::Person(person) => Ok(person),
        Whose::Nested(folder) => Err(Failure::Nested { path: path.clone(), folder }),
        Whose::Nobody => Err(nobody()),
    };
    let people = read.people.into_iter().zip(&read.paths).map(person).collect::<Result<Vec<_>, _>>()?;
    Ok(People { rows: read.rows, people, names: read.names, size: read.size, depth: read.depth })
}

/// Reads more pictures: of one person, or of those whose folders they lie in.
pub(crate) fn more(
    data: &[PathBuf],
    person: Option<&str>,
    resize: Option<&str>,
    known: &FaceOptions,
) -> anyhow::Result<People> {
    let read = pictures(data, resize, Some(known))?;
    let whose = |(own, path): (Whose, &PathBuf)| match (person, own) {
        (Some(person), _) => Ok(person.to_owned()),
        (None, Whose::Person(person)) => Ok(person),
        (None, Whose::Nested(folder)) => Err(Failure::Nested { path: path.clone(), folder }),
        (None, Whose::Nobody) => Err(Failure::NoPerson { path: path.clone() }),
    };
    let people = read.people.into_iter().zip(&read.paths).map(whose).collect::<Result<Vec<_>, _>>()?;
    Ok(People { rows: read.rows, people, names: read.names, size: read.size, depth: read.depth })
}

/// The name of a folder that holds the pictures of one person; files that were named alone have none.
fn name_of_folder(path: &Path) -> anyhow::Result<Option<String>> {
    let Some(place) = path.is_dir().then(|| path.canonicalize().ok()).flatten() else { return Ok(None) };
    let not_text = || Failure::NotText { path: path.to_owned() };
    Ok(place.file_name().map(|name| name.to_str().map(str::to_owned).ok_or_else(not_text)).transpose()?)
}

/// Whether a picture is in color, and the bits of its pixels, as far as its file tells.
fn kind(path: &Path) -> (bool, Option<u8>) {
    let reader = ImageReader::open(path).ok().and_then(|reader| reader.with_guessed_format().ok());
    let Some(color) = reader.and_then(|reader| reader.into_decoder().ok()).map(|decoder| decoder.color_type()) else {
        return (false, None);
    };
    let bits = color.bits_per_pixel() / u16::from(color.channel_count()).max(1);
    (color.has_color(), Some(if bits > 8 { 16 } else { 8 }))
}
