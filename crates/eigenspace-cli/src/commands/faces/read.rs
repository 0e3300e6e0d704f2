//! Pictures of people, out of files and folders.

use std::path::{Path, PathBuf};

use eigenspace::Error;
use eigenspace::faces::Faces;
use eigenspace::source::{self, Format, ReadOptions, SourceError};
use image::{ImageDecoder, ImageReader};
use ndarray::{Array2, Axis, concatenate};

use crate::failure::Failure;
use crate::{args, output, rows};

/// Pictures, and what is known of each.
pub(crate) struct Pictures {
    pub(crate) rows: Array2<f64>,
    /// The folder that each lies in, if it lies in one below those that were named.
    pub(crate) people: Vec<Option<String>>,
    /// The name of each file, without its folders.
    pub(crate) names: Vec<String>,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) size: (usize, usize),
}

/// Pictures that all have a person.
pub(crate) struct People {
    pub(crate) rows: Array2<f64>,
    pub(crate) people: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) size: (usize, usize),
}

impl People {
    pub(crate) fn faces(&self) -> Faces<'_> {
        Faces { rows: self.rows.view(), people: &self.people, pictures: &self.names }
    }
}

/// Reads pictures, which must have the size that is wanted unless they are brought to it; colours become grey, and that is said.
pub(crate) fn pictures(
    data: &[PathBuf],
    resize: Option<&str>,
    wanted: Option<(usize, usize)>,
) -> anyhow::Result<Pictures> {
    let resize = resize.map(args::size).transpose()?;
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
        for (i, file) in files.iter().enumerate() {
            let root = block.origin.path.as_path();
            people.push(block.labels.as_ref().map(|labels| labels[i].clone()).or_else(|| name_of_folder(root)));
            names.push(file.rsplit('/').next().unwrap_or(file).to_owned());
            paths.push(if root.is_dir() { root.join(file) } else { root.to_owned() });
        }
        Ok(())
    })?;
    let views: Vec<_> = blocks.iter().map(|block| block.view()).collect();
    let rows = if views.is_empty() { Array2::zeros((0, features)) } else { concatenate(Axis(0), &views)? };
    let coloured = paths.iter().filter(|path| is_coloured(path)).count();
    if coloured > 0 {
        let (all, verb) = (paths.len(), if coloured == 1 { "is" } else { "are" });
        output::talk(&format!("{coloured} of {all} pictures {verb} in colour, and taken as grey"));
    }
    Ok(Pictures { rows, people, names, paths, size })
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
    let people = read.people.into_iter().collect::<Option<Vec<_>>>().ok_or_else(nobody)?;
    Ok(People { rows: read.rows, people, names: read.names, size: read.size })
}

/// Reads more pictures: of one person, or of those whose folders they lie in.
pub(crate) fn more(
    data: &[PathBuf],
    person: Option<&str>,
    resize: Option<&str>,
    wanted: Option<(usize, usize)>,
) -> anyhow::Result<People> {
    let read = pictures(data, resize, wanted)?;
    let whose = |(own, path): (Option<String>, &PathBuf)| {
        person.map(str::to_owned).or(own).ok_or_else(|| Failure::NoPerson { path: path.clone() })
    };
    let people = read.people.into_iter().zip(&read.paths).map(whose).collect::<Result<Vec<_>, _>>()?;
    Ok(People { rows: read.rows, people, names: read.names, size: read.size })
}

/// The name of a folder that holds the pictures of one person; files that were named alone have none.
fn name_of_folder(path: &Path) -> Option<String> {
    let name = path.is_dir().then(|| path.canonicalize().ok()).flatten()?;
    name.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn is_coloured(path: &Path) -> bool {
    let reader = ImageReader::open(path).ok().and_then(|reader| reader.with_guessed_format().ok());
    reader.and_then(|reader| reader.into_decoder().ok()).is_some_and(|decoder| decoder.color_type().has_color())
}
