//! Reads damaged files in processes of their own, because some of them end the process.

use std::path::Path;
use std::process::{Command, Stdio};

/// The variable that tells a process which file to read.
const FILE: &str = "EIGENSPACE_UPSTREAM_FILE";
/// Bits that are changed in one byte at a time.
const MASKS: [u8; 4] = [0x01, 0x40, 0x80, 0xFF];

/// How often a reader failed in a way that its caller cannot handle.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    pub(crate) panics: usize,
    pub(crate) aborts: usize,
    /// The first change of each kind: offset, mask and kind.
    pub(crate) first: Vec<(usize, u8, &'static str)>,
}

/// The file to read, in a process that was started by [`every_changed_byte`].
pub(crate) fn file_to_read() -> Option<std::path::PathBuf> {
    std::env::var_os(FILE).map(Into::into)
}

/// Changes every byte of a file in several ways, and lets the test `reader` of a new process read the result.
pub(crate) fn every_changed_byte(bytes: &[u8], reader: &str) -> Failures {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged");
    let mut failures = Failures::default();
    for offset in 0..bytes.len() {
        for mask in MASKS {
            let mut changed = bytes.to_vec();
            changed[offset] ^= mask;
            std::fs::write(&path, &changed).unwrap();
            let kind = match read_elsewhere(&path, reader) {
                Some(0) => continue,
                Some(_) => {
                    failures.panics += 1;
                    "panic"
                }
                None => {
                    failures.aborts += 1;
                    "abort"
                }
            };
            if failures.first.iter().all(|(_, _, other)| *other != kind) {
                failures.first.push((offset, mask, kind));
            }
        }
    }
    println!("{} changes of one byte: {failures:?}", bytes.len() * MASKS.len());
    failures
}

/// The exit status of a process that reads the file; `None` if a signal ended it.
fn read_elsewhere(path: &Path, reader: &str) -> Option<i32> {
    Command::new(std::env::current_exe().unwrap())
        .args([reader, "--exact", "--ignored"])
        .env(FILE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .code()
}
