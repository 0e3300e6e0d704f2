//! Files that appear whole or not at all.
//!
//! ```text
//! write  a temporary file beside it ─► fsync ─► rename to name ─► fsync of the folder
//! ```

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// Temporary files of this process that are not complete.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Characters of a file's name in that of its temporary file.
const SHORT: usize = 40;

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

    /// Removes every file that was begun and is not complete, for a process that is told to end.
    pub fn abandon_all() {
        if let Ok(begun) = BEGUN.lock() {
            begun.iter().for_each(|temporary| drop(fs::remove_file(temporary)));
        }
    }

    /// Removes what processes that were killed while they wrote this file have left beside it.
    pub fn sweep(path: impl AsRef<Path>) {
        let path = path.as_ref();
        let (Some(name), Ok(entries)) = (path.file_name(), fs::read_dir(folder_of(path))) else { return };
        let short: String = name.to_string_lossy().chars().take(SHORT).collect();
        let prefix = format!(".{short}.eigenspace-");
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let rest = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(".tmp"));
            let process =
                rest.and_then(|rest| rest.split_once('-')).and_then(|(process, _)| process.parse::<u32>().ok());
            // Where the system does not list its processes, nothing is known to be left over.
            if process.is_some_and(|id| Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{id}")).exists())
            {
                let _ = fs::remove_file(entry.path());
            }
        }
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
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A name may be as long as the system allows; ours must not be longer.
        let short: String = name.chars().take(SHORT).collect();
        let temporary = folder_of(&path).join(format!(".{short}.eigenspace-{}-{number}.tmp", std::process::id()));
        // Listed before it is there, so that a signal between the two finds it.
        if let Ok(mut begun) = BEGUN.lock() {
            begun.push(temporary.clone());
        }
        let opened = File::options().write(true).create_new(true).open(&temporary);
        if opened.is_err() {
            unlist(&temporary);
        }
        let begun = Self { file: opened?, named: named.to_owned(), path, temporary: Some(temporary) };
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
        self.forget();
        // The file is in its place now; a folder that cannot be flushed does not undo that.
        #[cfg(unix)]
        let _ = File::open(folder_of(&self.path)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl AtomicFile {
    /// The temporary file is there no longer.
    fn forget(&mut self) {
        if let Some(gone) = self.temporary.take() {
            unlist(&gone);
        }
    }
}

fn unlist(gone: &Path) {
    if let Ok(mut begun) = BEGUN.lock() {
        begun.retain(|temporary| temporary != gone);
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
        self.forget();
    }
}
