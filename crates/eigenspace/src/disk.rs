//! A model on disk: written whole or not at all, read no further than it announces.
//!
//! ```text
//! write  a temporary file beside it ─► fsync ─► rename to name ─► fsync of the folder
//! ```

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, FormatError};
use crate::file::{HEADER_LIMIT, announced_length, parse};
use crate::model::EigenspaceModel;

impl EigenspaceModel {
    /// Writes the file atomically: a temporary file beside it, flushed to the disk, then renamed.
    /// If anything fails, an existing file stays as it was.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        write_atomically(path, &self.to_bytes()).map_err(|source| Error::Io {
            action: "write",
            path: path.into(),
            source,
        })
    }

    /// Reads a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = read_announced(path)
            .map_err(|source| Error::Io { action: "read", path: path.into(), source })?
            .map_err(|source| Error::File { path: path.into(), source })?;
        parse(&bytes).map_err(|source| Error::File { path: path.into(), source })
    }
}

/// Reads no more than the header announces, and refuses a file of another length.
fn read_announced(path: &Path) -> std::io::Result<Result<Vec<u8>, FormatError>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut start = [0_u8; 8];
    if length < 8 {
        return Ok(Err(FormatError::Truncated { expected: 8, found: length }));
    }
    file.read_exact(&mut start)?;
    let header = u64::from_le_bytes(start);
    if header > HEADER_LIMIT {
        return Ok(Err(FormatError::Header("the file does not begin as a safetensors file does".into())));
    }
    if length < 8 + header {
        return Ok(Err(FormatError::Truncated { expected: 8 + header, found: length }));
    }
    let mut bytes = start.to_vec();
    (&file).take(header).read_to_end(&mut bytes)?;
    let announced = match announced_length(&bytes) {
        Ok(announced) => announced,
        Err(error) => return Ok(Err(error)),
    };
    if announced != length {
        return Ok(Err(FormatError::Truncated { expected: announced, found: length }));
    }
    let rest = length - bytes.len() as u64;
    let fits = usize::try_from(rest).is_ok_and(|rest| bytes.try_reserve_exact(rest).is_ok());
    if !fits {
        return Ok(Err(FormatError::TooLarge { bytes: length }));
    }
    file.take(rest).read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}

/// Writes beside the target, flushes, renames, and flushes the folder.
fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // A link stays a link: what it points to is replaced, and must be there.
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink());
    let path = &if is_link { fs::canonicalize(path)? } else { path.to_owned() };
    if path.is_dir() || path.file_name().is_none() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "not an ordinary file"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".eigenspace-{}-{number}.tmp", std::process::id()));
    let written = (|| {
        let mut file = File::options().write(true).create_new(true).open(&temporary)?;
        if let Ok(existing) = fs::metadata(path) {
            file.set_permissions(existing.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        // The file is in its place now; a folder that cannot be flushed does not undo that.
        #[cfg(unix)]
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
