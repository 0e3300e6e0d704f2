//! Reads images of people from files and directories.
//!
//! ```text
//! people/ada/1.pgm      below the named directory: the person is `ada`
//! ada/1.pgm             in the named directory: the person is its name
//! 1.pgm                 a single file: nobody, unless the caller names a person
//! ```
//!
//! The command and the Python package read images here, so both give a person the same name.

use std::path::{Path, PathBuf};

use image::{ImageDecoder, ImageReader};
use ndarray::{Array2, Axis, Slice};

use crate::faces::error::Error;
use crate::faces::options::FaceOptions;
use crate::faces::recognizer::Faces;
use crate::io::source::{self, Format, ReadOptions, RowBlock, RowSource, SourceError};

/// Rows in a block, when images are read without a progress bar.
const BLOCK_ROWS: usize = 256;

/// The owner of an image, according to the directory it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The first directory below the named one, or the named one itself.
    Person(String),
    /// The image is more than one directory below this one.
    Nested(PathBuf),
    /// The image was named as a single file.
    Nobody,
}

/// Images, with the owner and the name of each.
#[derive(Debug)]
pub struct FaceImages {
    /// The pixels, one image per row.
    pub rows: Array2<f64>,
    /// The owner of each image.
    pub owners: Vec<Owner>,
    /// The name of each file, without its directories.
    pub names: Vec<String>,
    /// The path of each file.
    pub paths: Vec<PathBuf>,
    /// Width and height.
    pub size: (usize, usize),
    /// Bits per pixel.
    pub depth: Option<u8>,
    /// Number of images that were in color and became gray.
    pub colored: usize,
}

/// Images that all belong to a person.
#[derive(Debug)]
pub struct People {
    /// The pixels, one image per row.
    pub rows: Array2<f64>,
    /// The person in each image.
    pub people: Vec<String>,
    /// The name of each file, without its directories.
    pub names: Vec<String>,
    /// Width and height.
    pub size: (usize, usize),
    /// Bits per pixel.
    pub depth: Option<u8>,
}

impl People {
    /// The largest value that a pixel can have.
    pub fn largest(&self) -> f64 {
        if self.depth == Some(16) { 65535.0 } else { 255.0 }
    }

    /// The images as the recognizer takes them.
    pub fn faces(&self) -> Faces<'_> {
        Faces::new(&self.rows, &self.people, &self.names)
    }

    /// Settings with the size and the depth of these images.
    pub fn described(&self, options: FaceOptions, resized: bool) -> FaceOptions {
        let options = options.size(self.size).resized(resized);
        match self.depth {
            Some(depth) => options.depth(depth),
            None => options,
        }
    }
}

/// Collects the blocks of a source of images.
#[derive(Debug)]
pub struct FaceReader {
    size: (usize, usize),
    features: usize,
    /// The depth of the images that are known already.
    depth: Option<u8>,
    blocks: Vec<Array2<f64>>,
    owners: Vec<Owner>,
    names: Vec<String>,
    paths: Vec<PathBuf>,
}

impl FaceReader {
    /// Opens images, which must have the size and the depth of the known ones. They are resized if
    /// a size is given, or if the known images were resized.
    pub fn open(
        data: &[PathBuf],
        resize: Option<(usize, usize)>,
        known: Option<&FaceOptions>,
    ) -> Result<(Box<dyn RowSource>, Self), Error> {
        let wanted = known.and_then(FaceOptions::get_size);
        let resize = resize.or(wanted.filter(|_| known.is_some_and(FaceOptions::get_resized)));
        let mut options = ReadOptions::new().format(Format::Images);
        if let Some(size) = resize {
            options = options.resize(size);
        }
        let source = source::open(data, &options)?;
        let image = source.columns().image.ok_or(Error::NoImages)?;
        let size = (image.width(), image.height());
        if let Some(expected) = wanted.filter(|wanted| *wanted != size) {
            let path = source.columns().image_file.clone().expect("the size was read from an image file");
            return Err(at(path, SourceError::ImageSize { expected, found: size }));
        }
        let reader = Self {
            size,
            features: source.columns().count,
            depth: known.and_then(FaceOptions::get_depth),
            blocks: Vec::new(),
            owners: Vec::new(),
            names: Vec::new(),
            paths: Vec::new(),
        };
        Ok((source, reader))
    }

    /// Adds a block of the source.
    pub fn add(&mut self, block: &RowBlock) -> Result<(), Error> {
        self.blocks.push(block.values.to_f64());
        for file in block.origin.names.iter().flatten() {
            let root = block.origin.path.as_path();
            let path = if root.is_dir() { root.join(file) } else { root.to_owned() };
            let parts: Vec<&str> = file.split('/').collect();
            // Bytes of a name that are not UTF-8 arrive as this character.
            if file.contains(char::REPLACEMENT_CHARACTER) {
                return Err(Error::NotText { path });
            }
            self.owners.push(match parts[..] {
                [_] => name_of_directory(root)?.map_or(Owner::Nobody, Owner::Person),
                [person, _] => Owner::Person(person.to_owned()),
                _ => Owner::Nested(root.to_owned()),
            });
            self.names.push(parts.last().copied().unwrap_or(file).to_owned());
            self.paths.push(path);
        }
        Ok(())
    }

    /// The images of all blocks, which must have one depth.
    pub fn finish(self) -> Result<FaceImages, Error> {
        let mut rows = Array2::zeros((self.blocks.iter().map(Array2::nrows).sum(), self.features));
        let mut start = 0;
        for block in &self.blocks {
            let end = start + block.nrows();
            rows.slice_axis_mut(Axis(0), Slice::from(start..end)).assign(block);
            start = end;
        }
        let kinds: Vec<(bool, Option<u8>)> = self.paths.iter().map(|path| kind(path)).collect();
        let colored = kinds.iter().filter(|kind| kind.0).count();
        let depth = self.depth.or(kinds.iter().find_map(|kind| kind.1));
        for (path, (_, found)) in self.paths.iter().zip(kinds) {
            if let (Some(found), Some(expected)) = (found, depth)
                && found != expected
            {
                return Err(at(path.clone(), SourceError::ImageDepth { expected, found }));
            }
        }
        let Self { size, owners, names, paths, .. } = self;
        Ok(FaceImages { rows, owners, names, paths, size, depth, colored })
    }
}

impl FaceImages {
    /// Reads images, as [`FaceReader::open`] describes.
    pub fn read(data: &[PathBuf], resize: Option<(usize, usize)>, known: Option<&FaceOptions>) -> Result<Self, Error> {
        let (mut source, mut reader) = FaceReader::open(data, resize, known)?;
        while let Some(block) = source.next_block(BLOCK_ROWS)? {
            reader.add(&block)?;
        }
        reader.finish()
    }

    /// The images of directories that have a subdirectory for each person; `data` are the
    /// directories that were read.
    pub fn of_people(self, data: &[PathBuf]) -> Result<People, Error> {
        // An image next to the directories of people belongs to nobody.
        let around = |path: &Path| data.iter().find(|directory| path.parent() == Some(directory.as_path()));
        if let Some((path, directory)) = self.paths.iter().find_map(|path| Some((path, around(path)?))) {
            let below = self.paths.iter().any(|path| around(path).is_none());
            return Err(if below {
                Error::NoPerson { path: path.clone(), enrolling: false }
            } else {
                Error::NoPeople { directory: directory.clone() }
            });
        }
        self.owned(|owner, path| match owner {
            Owner::Person(person) => Ok(person),
            Owner::Nested(directory) => Err(Error::Nested { path, directory }),
            Owner::Nobody => Err(match data {
                [directory] => Error::NoPeople { directory: directory.clone() },
                _ => Error::SingleFile { path },
            }),
        })
    }

    /// The images of one given person, or of the people whose directories they are in.
    pub fn of_more(self, person: Option<&str>) -> Result<People, Error> {
        self.owned(|owner, path| match (person, owner) {
            (Some(person), _) => Ok(person.to_owned()),
            (None, Owner::Person(person)) => Ok(person),
            (None, Owner::Nested(directory)) => Err(Error::Nested { path, directory }),
            (None, Owner::Nobody) => Err(Error::NoPerson { path, enrolling: true }),
        })
    }

    fn owned(self, person: impl Fn(Owner, PathBuf) -> Result<String, Error>) -> Result<People, Error> {
        let people = self.owners.into_iter().zip(self.paths).map(|(owner, path)| person(owner, path));
        let people = people.collect::<Result<Vec<_>, _>>()?;
        Ok(People { rows: self.rows, people, names: self.names, size: self.size, depth: self.depth })
    }
}

fn at(path: PathBuf, source: SourceError) -> Error {
    Error::File(crate::io::Error::Source { path, source })
}

/// The name of a directory that holds the images of one person; `None` for a single file.
fn name_of_directory(path: &Path) -> Result<Option<String>, Error> {
    let Some(place) = path.is_dir().then(|| path.canonicalize().ok()).flatten() else { return Ok(None) };
    let not_text = || Error::NotText { path: path.to_owned() };
    place.file_name().map(|name| name.to_str().map(str::to_owned).ok_or_else(not_text)).transpose()
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
