//! Files that are written completely or not at all.
//!
//! ```text
//! write a temporary file in the same directory ─► fsync ─► rename ─► fsync of the directory
//! ```
//!
//! The temporary file has a random name and is locked while it is written. The lock ends with its
//! process, however that ends, and it is visible to every process that shares the directory, also
//! from other containers. So a temporary file that is not locked was left behind by a killed
//! process and can be removed.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::io::error::Error;

/// Temporary files of this process that are not complete.
static INCOMPLETE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Number of characters of the file name used in the name of the temporary file, whose length the
/// system limits.
const NAME_CHARACTERS: usize = 40;
/// The suffix of temporary files.
const SUFFIX: &str = ".tmp";

/// A file that gets its name only when it is complete. If it is dropped before, it leaves nothing
/// behind, and an existing file with that name is unchanged.
///
/// ```
/// use std::io::Write;
/// let path = std::env::temp_dir().join(format!("eigenspace-atomic-{}", std::process::id()));
/// let mut file = eigenspace::internal::AtomicFile::create(&path)?;
/// file.write_all(b"whole")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    /// The name as it was given, for messages.
    named: PathBuf,
    path: PathBuf,
    temporary: Option<PathBuf>,
}

impl AtomicFile {
    /// Starts a file that will have this name.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let named = path.as_ref().to_owned();
        if is_special(&named) {
            return Err(Error::NotAFile { path: named });
        }
        Self::begin(&named).map_err(|source| Error::Io { action: "write", path: named, source })
    }

    /// Writes a complete file.
    pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
        let mut file = Self::create(path)?;
        file.write_all(bytes).map_err(|source| file.failed(source))?;
        file.commit()
    }

    /// Syncs the file to the disk and gives it its name.
    pub fn commit(self) -> Result<(), Error> {
        self.commit_if(|| Ok(true)).map(drop)
    }

    /// The same if `may`, which is called just before the file is renamed, returns true. Returns
    /// the file, which is locked until it is closed, or `None` if `may` returned false and nothing
    /// was changed.
    pub(crate) fn commit_if(mut self, may: impl FnOnce() -> io::Result<bool>) -> Result<Option<File>, Error> {
        let finish = || {
            self.file.sync_all()?;
            let file = self.file.try_clone()?;
            Ok(if may()? { self.rename().map(|()| Some(file))? } else { None })
        };
        finish().map_err(|source| self.failed(source))
    }

    /// Removes all incomplete files of this process. Call this before an early exit.
    pub fn abandon_all() {
        if let Ok(begun) = INCOMPLETE.lock() {
            begun.iter().for_each(|temporary| drop(fs::remove_file(temporary)));
        }
    }

    /// Removes temporary files that killed processes left behind while writing this file. Files
    /// that are being written are kept. If files cannot be locked, nothing is removed.
    pub fn sweep(path: impl AsRef<Path>) {
        let Ok(path) = resolve(path.as_ref()) else { return };
        let Ok(entries) = fs::read_dir(directory_of(&path)) else { return };
        let prefix = prefix_of(&path);
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with(&prefix) || !name.ends_with(SUFFIX) {
                continue;
            }
            let temporary = entry.path();
            // The lock is held until the file is removed, so that a writer that has just created it
            // notices.
            if let Ok(left) = open_to_lock(&temporary)
                && left.try_lock().is_ok()
            {
                let _ = fs::remove_file(&temporary);
            }
        }
    }

    pub(crate) fn failed(&self, source: io::Error) -> Error {
        Error::Io { action: "write", path: self.named.clone(), source }
    }

    fn begin(named: &Path) -> io::Result<Self> {
        let path = resolve(named)?;
        if path.is_dir() || path.file_name().is_none() {
            return Err(ErrorKind::IsADirectory.into());
        }
        let (file, temporary) = create_temporary(&path)?;
        let begun = Self { file, named: named.to_owned(), path, temporary: Some(temporary) };
        if let Ok(existing) = fs::metadata(&begun.path) {
            begun.file.set_permissions(existing.permissions())?;
        }
        Ok(begun)
    }

    fn rename(&mut self) -> io::Result<()> {
        let temporary = self.temporary.as_ref().expect("a file is renamed once, when it is committed");
        fs::rename(temporary, &self.path)?;
        self.forget();
        // The file has been renamed; a failure to sync the directory does not change that.
        #[cfg(unix)]
        let _ = File::open(directory_of(&self.path)).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// Records that the temporary file no longer exists.
    fn forget(&mut self) {
        if let Some(gone) = self.temporary.take() {
            unlist(&gone);
        }
    }
}

/// Whether a path leads to a device, a pipe or a socket, which cannot be replaced by a file.
pub(crate) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The file to replace. A link stays a link, and its target must exist.
fn resolve(named: &Path) -> io::Result<PathBuf> {
    let is_link = fs::symlink_metadata(named).is_ok_and(|found| found.file_type().is_symlink());
    if is_link { fs::canonicalize(named) } else { Ok(named.to_owned()) }
}

/// A new temporary file, locked if the file system supports it.
fn create_temporary(path: &Path) -> io::Result<(File, PathBuf)> {
    loop {
        let temporary = directory_of(path).join(format!("{}{:016x}{SUFFIX}", prefix_of(path), random()));
        // Listed before it is created, so that `abandon_all` always finds it.
        if let Ok(mut begun) = INCOMPLETE.lock() {
            begun.push(temporary.clone());
        }
        match File::options().write(true).create_new(true).open(&temporary) {
            Ok(file) => {
                let _ = file.lock();
                // A sweep may have removed it before it was locked.
                if temporary.exists() {
                    return Ok((file, temporary));
                }
                unlist(&temporary);
            }
            Err(error) => {
                unlist(&temporary);
                if error.kind() != ErrorKind::AlreadyExists {
                    return Err(error);
                }
            }
        }
    }
}

/// A random number that differs between processes, including forked ones and those in containers.
fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// The prefix of the names of temporary files for a file.
fn prefix_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.eigenspace-", name.chars().take(NAME_CHARACTERS).collect::<String>())
}

fn unlist(gone: &Path) {
    if let Ok(mut begun) = INCOMPLETE.lock() {
        begun.retain(|temporary| temporary != gone);
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a file to lock it. Network file systems can lock only files that are opened for writing.
pub(crate) fn open_to_lock(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(path).or_else(|_| File::open(path))
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
        self.forget();
    }
}
