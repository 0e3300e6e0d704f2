//! Files that appear whole or not at all.
//!
//! ```text
//! write  a temporary file beside it ─► fsync ─► rename to name ─► fsync of the directory
//! ```
//!
//! The temporary file has a random name and is locked while it is written. The lock ends with the process that
//! holds it, however that ends, and every process that shares the directory can see it, from another container
//! too. So a temporary file that nobody has locked was left behind by a killed process, and may be removed.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::io::error::Error;

/// Temporary files of this process that are not complete.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Characters of a file's name in that of its temporary file, which must not be longer than the system allows.
const SHORT: usize = 40;
/// How the name of a temporary file ends.
const SUFFIX: &str = ".tmp";

/// A file that takes its name only when it is complete. Dropped before that, it leaves nothing behind, and
/// an older file of that name stays as it was.
///
/// ```
/// use std::io::Write;
/// let path = std::env::temp_dir().join(format!("eigenspace-atomic-{}", std::process::id()));
/// let mut file = eigenspace::AtomicFile::create(&path)?;
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
    /// Begins a file that will have this name.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let named = path.as_ref().to_owned();
        Self::begin(&named).map_err(|source| Error::Io { action: "write", path: named, source })
    }

    /// Writes a whole file.
    pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
        let mut file = Self::create(path)?;
        file.write_all(bytes).map_err(|source| file.failed(source))?;
        file.commit()
    }

    /// Gives the file its name, after its bytes have reached the disk.
    pub fn commit(self) -> Result<(), Error> {
        self.commit_if(|| Ok(true)).map(drop)
    }

    /// The same, if the answer to a last question is yes; it is asked when only the renaming is left to do.
    /// Returns the file, locked until it is closed, or `None` if the answer was no and nothing was changed.
    pub(crate) fn commit_if(mut self, may: impl FnOnce() -> io::Result<bool>) -> Result<Option<File>, Error> {
        let finish = || {
            self.file.sync_all()?;
            let file = self.file.try_clone()?;
            Ok(if may()? { self.rename().map(|()| Some(file))? } else { None })
        };
        finish().map_err(|source| self.failed(source))
    }

    /// Removes every file that was begun and is not complete, for a process that is told to end.
    pub fn abandon_all() {
        if let Ok(begun) = BEGUN.lock() {
            begun.iter().for_each(|temporary| drop(fs::remove_file(temporary)));
        }
    }

    /// Removes what killed processes have left beside this file when they were writing it. What others are
    /// writing now stays, and so does everything where files cannot be locked.
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
            // Locked until it is removed: a writer that has just created it then sees that it is gone.
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
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "not an ordinary file"));
        }
        let (file, temporary) = create_temporary(&path)?;
        let begun = Self { file, named: named.to_owned(), path, temporary: Some(temporary) };
        if let Ok(existing) = fs::metadata(&begun.path) {
            begun.file.set_permissions(existing.permissions())?;
        }
        Ok(begun)
    }

    fn rename(&mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
        }
        self.forget();
        // The file is in its place now; a directory that cannot be flushed does not undo that.
        #[cfg(unix)]
        let _ = File::open(directory_of(&self.path)).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// The temporary file is there no longer.
    fn forget(&mut self) {
        if let Some(gone) = self.temporary.take() {
            unlist(&gone);
        }
    }
}

/// The file to replace: a link stays a link, and what it points to must be there.
fn resolve(named: &Path) -> io::Result<PathBuf> {
    let is_link = fs::symlink_metadata(named).is_ok_and(|found| found.file_type().is_symlink());
    if is_link { fs::canonicalize(named) } else { Ok(named.to_owned()) }
}

/// A new temporary file, locked where files can be locked.
fn create_temporary(path: &Path) -> io::Result<(File, PathBuf)> {
    loop {
        let temporary = directory_of(path).join(format!("{}{:016x}{SUFFIX}", prefix_of(path), random()));
        // Listed before it is there, so that a signal between the two finds it.
        if let Ok(mut begun) = BEGUN.lock() {
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

/// A number that differs from process to process, in forked ones and in containers too.
fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// How the names of a file's temporary files begin.
fn prefix_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.eigenspace-", name.chars().take(SHORT).collect::<String>())
}

fn unlist(gone: &Path) {
    if let Ok(mut begun) = BEGUN.lock() {
        begun.retain(|temporary| temporary != gone);
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a file to lock it. Network file systems lock only what may be written.
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
