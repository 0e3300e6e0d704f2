//! Reads damaged files in processes of their own, because some of them end the process.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The variable that tells a process which file to read.
const FILE: &str = "EIGENSPACE_UPSTREAM_FILE";

/// What became of a process that read a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// The reader returned rows or an error.
    Returned,
    /// The reader panicked.
    Panicked,
    /// A signal ended the process.
    Aborted,
}

/// The file to read, in a process that was started by [`read_elsewhere`].
pub(crate) fn file_to_read() -> Option<PathBuf> {
    std::env::var_os(FILE).map(Into::into)
}

/// Lets the test `reader` of a new process read these bytes.
pub(crate) fn read_elsewhere(bytes: &[u8], reader: &str) -> End {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args([reader, "--exact", "--ignored"])
        .env(FILE, file.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    match status.code() {
        Some(0) => End::Returned,
        Some(_) => End::Panicked,
        None => End::Aborted,
    }
}
