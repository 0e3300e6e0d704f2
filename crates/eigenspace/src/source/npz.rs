//! Several NumPy arrays in a zip file.
//!
//! A member that is stored as it is (`numpy.savez`) is read in place; a compressed one
//! (`numpy.savez_compressed`) is unpacked into a temporary file first.

use std::fs::File;
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::Error;
use crate::source::error::at;
use crate::source::{ReadOptions, RowSource, SourceError, npy};

/// Opens the array that `options.key` names, or the only one.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let broken = |error: ZipError| match error {
        ZipError::Io(source) if source.kind() != std::io::ErrorKind::UnexpectedEof => failed(source),
        error => at(path)(SourceError::Malformed { format: "npz file", problem: error.to_string() }),
    };
    let mut archive = ZipArchive::new(file.try_clone().map_err(failed)?).map_err(broken)?;
    let names = archive.file_names().collect::<Result<Vec<_>, _>>().map_err(broken)?;
    let available: Vec<String> = names.iter().filter_map(|name| name.strip_suffix(".npy")).map(str::to_owned).collect();
    let key = match (&options.key, &available[..]) {
        (Some(key), _) => key.clone(),
        (None, [only]) => only.clone(),
        (None, []) => return Err(at(path)(SourceError::NoFiles)),
        (None, _) => return Err(at(path)(SourceError::ManyArrays { available })),
    };
    if !available.contains(&key) {
        return Err(at(path)(SourceError::NoArray { key, available }));
    }
    let mut member = archive.by_name(&format!("{key}.npy")).map_err(broken)?;
    if member.compression() == zip::CompressionMethod::Stored
        && let Some(start) = member.data_start()
    {
        drop(member);
        return npy::in_file(file, start, path, options);
    }
    let mut unpacked = tempfile::tempfile().map_err(failed)?;
    std::io::copy(&mut member, &mut unpacked)
        .map_err(|error| at(path)(SourceError::Malformed { format: "npz file", problem: error.to_string() }))?;
    npy::in_file(unpacked, 0, path, options)
}
