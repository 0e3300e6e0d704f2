//! Files that appear whole or not at all.
//!
//! ```text
//! write  a temporary file beside it ─► fsync ─► rename to name ─► fsync of the folder
//! ```

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

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
    pub fn commit(mut self) -> Result<(), Error> {
        self.finish().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Io { action: "write", path: self.named.clone(), source }
    }

    fn begin(named: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        // A link stays a link: what it points to is replaced, and must be there.
        let is_link = fs::symlink_metadata(named).is_ok_and(|found| found.file_type().is_symlink());
        let path = if is_link { fs::canonicalize(named)? } else { named.to_owned() };
        if path.is_dir() || path.file_name().is_none() {
            return Err(ErrorKind::IsADirectory.into());
        }
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "not an ordinary file"));
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = folder_of(&path).join(format!(".eigenspace-{}-{number}.tmp", std::process::id()));
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        let begun = Self { file, named: named.to_owned(), path, temporary: Some(temporary) };
        if let Ok(existing) = fs::metadata(&begun.path) {
            begun.file.set_permissions(existing.permissions())?;
        }
        Ok(begun)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
        }
        self.temporary = None;
        // The file is in its place now; a folder that cannot be flushed does not undo that.
        #[cfg(unix)]
        let _ = File::open(folder_of(&self.path)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
    }
}
