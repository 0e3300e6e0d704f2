//! From what the user typed to one stream of rows.
//!
//! Paths, patterns (`shards/*.npy`) and directories become a list of files, in natural order within
//! a pattern or directory and in the order given otherwise; the files, one after the other, are one
//! source.

use std::path::{Path, PathBuf};

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::directory::image_files;
use crate::io::source::natural;
use crate::io::source::sequence::Sequence;
use crate::io::source::single::STANDARD_INPUT;
use crate::io::source::{Format, Notice, ReadOptions, RowSource, SourceError};

/// Opens files, patterns, directories and `-` (standard input) as one stream of rows.
pub fn open<P: AsRef<Path>>(inputs: &[P], options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    InputFiles::find(inputs, options)?.open(options)
}

/// The files to read, in order, and those that are left out.
#[derive(Debug, Default)]
pub struct InputFiles {
    paths: Vec<PathBuf>,
    /// Names of `.txt` files next to tables or arrays.
    notes: Vec<String>,
    /// Directories with tables or arrays, in which images are left out.
    tables: Vec<PathBuf>,
}

impl InputFiles {
    /// Expands patterns and directories.
    pub fn find<P: AsRef<Path>>(inputs: &[P], options: &ReadOptions) -> Result<Self, Error> {
        let mut found = Self::default();
        for input in inputs {
            let input = input.as_ref();
            // Told that it is one, a directory is a directory of images whatever else lies in it.
            let images = options.format == Some(Format::Images) && input.is_dir();
            found.add(if images { Self::from(input.to_owned()) } else { expand(input)? });
        }
        Ok(found)
    }

    /// The files, in the order in which they are read; a directory of images is one of them.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Opens the files as one stream of rows.
    pub fn open(&self, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
        let mut rows = Sequence::open(self.paths.clone(), options.clone())?;
        if !self.notes.is_empty() {
            rows.notify(Notice::TextFiles { names: self.notes.clone() });
        }
        // A subdirectory that cannot be read is no reason to reject the tables.
        let images = |directory: &PathBuf| image_files(directory).map_or(0, |images| images.len());
        let count: usize = self.tables.iter().map(images).sum();
        if count > 0 {
            rows.notify(Notice::ImagesBesideTables { count });
        }
        Ok(Box::new(rows))
    }

    fn add(&mut self, more: Self) {
        self.paths.extend(more.paths);
        self.notes.extend(more.notes);
        self.tables.extend(more.tables);
    }
}

impl From<PathBuf> for InputFiles {
    fn from(path: PathBuf) -> Self {
        Self { paths: vec![path], ..Self::default() }
    }
}

/// The files behind one argument; a directory of images stays one source.
fn expand(input: &Path) -> Result<InputFiles, Error> {
    if input == Path::new(STANDARD_INPUT) || input.exists() {
        return if input.is_dir() { directory(input) } else { Ok(input.to_owned().into()) };
    }
    let text = input.to_string_lossy();
    if !text.contains(['*', '?', '[']) {
        let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let source = std::fs::metadata(input).err().unwrap_or_else(gone);
        return Err(Error::Io { action: "read", path: input.to_owned(), source });
    }
    let malformed = |problem: String| at(input)(SourceError::Malformed { format: "pattern", problem });
    let found =
        glob::glob(&text).map_err(|error| malformed(format!("{} at character {}", error.msg, error.pos + 1)))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in found {
        paths.push(path.map_err(|error| malformed(error.to_string()))?);
    }
    if paths.is_empty() {
        return Err(at(input)(SourceError::NoMatch));
    }
    paths.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    let mut found = InputFiles::default();
    for path in paths {
        found.add(if path.is_dir() { directory(&path)? } else { path.into() });
    }
    Ok(found)
}

/// A directory with tables or arrays in it is those files, without images; any other is a directory
/// of images. Data often come with notes in a `.txt` file: such files are read only if the
/// directory has no others.
fn directory(path: &Path) -> Result<InputFiles, Error> {
    let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && file.is_file() && Format::of(&file).is_some_and(|format| format != Format::Images) {
            files.push(file);
        }
    }
    files.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    let is_text = |file: &PathBuf| file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("txt"));
    let (text, others): (Vec<_>, Vec<_>) = files.into_iter().partition(is_text);
    if !others.is_empty() {
        let name = |file: PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
        let notes = text.into_iter().filter_map(name).collect();
        return Ok(InputFiles { paths: others, notes, tables: vec![path.to_owned()] });
    }
    if text.is_empty() || !image_files(path)?.is_empty() {
        return Ok(path.to_owned().into());
    }
    Ok(InputFiles { paths: text, ..InputFiles::default() })
}
