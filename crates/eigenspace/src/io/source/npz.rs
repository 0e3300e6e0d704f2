//! Several NumPy arrays in a zip file.
//!
//! ```text
//! stored (numpy.savez)                  read in place, after one pass over its bytes to verify the checksum
//! compressed (numpy.savez_compressed)   decompressed into a temporary file, which also verifies the checksum
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::{Columns, ReadOptions, RowBlock, RowSource, SourceError, npy};

/// Opens the array that `options.key` names, or the only one.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mut archive = ZipArchive::new(file.try_clone().map_err(failed)?).map_err(broken(path, None))?;
    let names = archive.file_names().collect::<Result<Vec<_>, _>>().map_err(broken(path, None))?;
    let available: Vec<String> = names.iter().filter_map(|name| name.strip_suffix(".npy")).map(str::to_owned).collect();
    let key = match (&options.key, &available[..]) {
        (_, []) => {
            let problem = "it has no arrays".into();
            return Err(at(path)(SourceError::Malformed { format: "npz file", problem }));
        }
        (Some(key), _) => key.clone(),
        (None, [only]) => only.clone(),
        (None, _) => return Err(at(path)(SourceError::ManyArrays { available })),
    };
    if !available.contains(&key) {
        return Err(at(path)(SourceError::NoArray { key, available }));
    }
    let mut member = archive.by_name(&member_name(&key)).map_err(broken(path, Some(&key)))?;
    if member.compression() == zip::CompressionMethod::Stored
        && let Some(start) = member.data_start()
    {
        let length = member.size();
        drop(member);
        let rows = npy::in_file(file, start, length, path, options).map_err(of_array(&key))?;
        return Ok(Box::new(Stored { rows, unchecked: Some(archive), key, path: path.to_owned() }));
    }
    let mut unpacked = tempfile::tempfile().map_err(failed)?;
    let length = copy(&mut member, &mut unpacked, &key, path)?;
    npy::in_file(unpacked, 0, length, path, options).map_err(of_array(&key))
}

/// Adds the name of the array to an error about its shape.
fn of_array(key: &str) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::Source { path, source: SourceError::Shape { shape, .. } } => {
            Error::Source { path, source: SourceError::Shape { shape, key: Some(key.to_owned()) } }
        }
        other => other,
    }
}

/// An uncompressed array. Its checksum is verified before the first row is returned, not when it is
/// opened: a source may be opened only for its number of rows.
struct Stored {
    rows: Box<dyn RowSource>,
    /// The archive, until the checksum has been verified.
    unchecked: Option<ZipArchive<File>>,
    key: String,
    path: PathBuf,
}

impl Stored {
    fn check(&mut self) -> Result<(), Error> {
        if let Some(mut archive) = self.unchecked.take() {
            let member = archive.by_name(&member_name(&self.key));
            let mut member = member.map_err(broken(&self.path, Some(&self.key)))?;
            copy(&mut member, &mut std::io::sink(), &self.key, &self.path)?;
        }
        Ok(())
    }
}

impl RowSource for Stored {
    fn columns(&self) -> &Columns {
        self.rows.columns()
    }

    fn rows(&self) -> Option<u64> {
        self.rows.rows()
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        self.check()?;
        self.rows.next_block(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        self.check()?;
        self.rows.skip(rows)
    }
}

/// Copies a member. Its reader verifies the checksum at the end.
fn copy(member: &mut impl std::io::Read, into: &mut impl std::io::Write, key: &str, path: &Path) -> Result<u64, Error> {
    std::io::copy(member, into).map_err(|error| broken(path, Some(key))(ZipError::Io(error)))
}

fn member_name(key: &str) -> String {
    format!("{key}.npy")
}

/// The error for a broken file, or for a broken array in it.
fn broken(path: &Path, key: Option<&str>) -> impl FnOnce(ZipError) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    move |error| match error {
        // Errors of decompression have these kinds; errors of the disk have others.
        ZipError::Io(source) if !matches!(source.kind(), InvalidData | InvalidInput | Other | UnexpectedEof) => {
            Error::Io { action: "read", path: path.to_owned(), source }
        }
        error => {
            let problem = match error {
                ZipError::Io(error) => error.to_string(),
                // The end of a ZIP archive lists its files.
                error if error.to_string().contains("EOCD") => "it was cut short, or is not a ZIP archive".into(),
                error => error.to_string(),
            };
            let problem = key.map_or(problem.clone(), |key| format!("the array `{key}`: {problem}"));
            at(path)(SourceError::Malformed { format: "npz file", problem })
        }
    }
}
