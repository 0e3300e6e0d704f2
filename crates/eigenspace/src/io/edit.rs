//! A file that is read, changed and written back, without losing changes that others make at the
//! same time.
//!
//! ```text
//! open     lock the file ─► check that it still has that name ─► compute its checksum
//! replace  write a new, locked file ─► check that the checksum is still the same ─► rename
//! ```
//!
//! Edits of the same file wait for each other. Renaming replaces the locked file by another one; an
//! edit that waited for the old file notices this and locks the new one. Changes by programs that
//! do not use the lock are detected by the checksum, and then nothing is written. If files cannot
//! be locked, the checksum alone is used: one of two simultaneous edits is rejected.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::io::atomic::{AtomicFile, is_special, open_to_lock};
use crate::io::error::Error;

/// A SHA-256.
type Sum = [u8; 32];

/// A file that is locked against other edits until this is dropped.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("eigenspace-edit-{}", std::process::id()));
/// # std::fs::write(&path, "41")?;
/// let mut edit = eigenspace::internal::FileEdit::open(&path)?;
/// let number: u32 = std::fs::read_to_string(&path)?.parse()?;
/// edit.replace((number + 1).to_string().as_bytes())?;
/// assert_eq!(std::fs::read(&path)?, b"42");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileEdit {
    path: PathBuf,
    /// Locked as long as it is open. `None` if the file does not exist yet.
    held: Option<File>,
    /// The checksum of the file when it was read or last written.
    sum: Option<Sum>,
}

impl FileEdit {
    /// Opens and locks a file. Waits as long as somebody else edits it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        loop {
            if let Some(edit) = Self::begin(path, true)? {
                return Ok(edit);
            }
        }
    }

    /// The same without waiting; `None` if somebody else edits the file.
    pub fn try_open(path: impl AsRef<Path>) -> Result<Option<Self>, Error> {
        Self::begin(path.as_ref(), false)
    }

    /// The same for a file that may not exist yet.
    pub fn try_open_or_new(path: impl AsRef<Path>) -> Result<Option<Self>, Error> {
        let path = path.as_ref();
        match Self::try_open(path) {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                Ok(Some(Self { path: path.to_owned(), held: None, sum: None }))
            }
            opened => opened,
        }
    }

    /// The name of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file atomically ([`AtomicFile`]). Fails if somebody else has changed it since
    /// it was opened or last replaced.
    pub fn replace(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut file = AtomicFile::create(&self.path)?;
        file.write_all(bytes).map_err(|source| file.failed(source))?;
        let replaced = file.commit_if(|| Ok(sum_of(&self.path)? == self.sum))?;
        // The new file was locked before it was renamed.
        self.held = Some(replaced.ok_or_else(|| Error::Changed { path: self.path.clone() })?);
        self.sum = Some(Sha256::digest(bytes).into());
        Ok(())
    }

    /// Removes the file, unless somebody else has changed it.
    pub fn remove(self) -> Result<(), Error> {
        let remove =
            || if self.sum.is_some() && sum_of(&self.path)? == self.sum { fs::remove_file(&self.path) } else { Ok(()) };
        remove().map_err(|source| Error::Io { action: "remove", path: self.path.clone(), source })
    }

    fn begin(path: &Path, wait: bool) -> Result<Option<Self>, Error> {
        if is_special(path) {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        let begin = || {
            let Some(held) = lock(path, wait)? else { return Ok(None) };
            Ok(Some(Self { path: path.to_owned(), held: Some(held), sum: sum_of(path)? }))
        };
        begin().map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })
    }
}

/// Opens and locks the file with this name. `None` if somebody else has locked it and `wait` is
/// false.
fn lock(path: &Path, wait: bool) -> io::Result<Option<File>> {
    loop {
        if !fs::metadata(path)?.is_file() {
            return Err(ErrorKind::IsADirectory.into());
        }
        let file = open_to_lock(path)?;
        // On other systems, a locked file cannot be read, not even by its owner.
        if !cfg!(unix) {
            return Ok(Some(file));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if wait => file.lock()?,
            Err(TryLockError::WouldBlock) => return Ok(None),
            // This file system does not support locks.
            Err(TryLockError::Error(_)) => return Ok(Some(file)),
        }
        if is_at(&file, path) {
            return Ok(Some(file));
        }
    }
}

/// Whether an open file is still the one with this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    file.metadata().map(identity).ok() == fs::metadata(path).map(identity).ok()
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// The checksum of a file; `None` if it does not exist.
fn sum_of(path: &Path) -> io::Result<Option<Sum>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut sum = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(Some(sum.finalize().into())),
            Ok(read) => sum.update(&piece[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
