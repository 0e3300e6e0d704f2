//! Reads from any position of a file.
//!
//! A range is read in parts that stay in the cache of a core until they are converted. Mapping the
//! file instead would not be faster, and if another program shortened the file in the meantime, a
//! signal would kill this one.

use std::borrow::Borrow;
use std::fs::File;
use std::io::{self, Read};

/// Bytes that are read at a time: a multiple of the size of every number.
#[cfg(feature = "npy")]
const PART_BYTES: usize = 1 << 18;

/// A file from a position on. The position is its own: clones of a file share one.
pub(super) struct Rest<F> {
    file: F,
    position: u64,
}

impl<F: Borrow<File>> Rest<F> {
    pub(super) fn new(file: F, position: u64) -> Self {
        Self { file, position }
    }
}

impl<F: Borrow<File>> Read for Rest<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file.borrow(), buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

/// Passes `length` bytes of a file to `convert`, a part at a time.
#[cfg(feature = "npy")]
pub(super) fn read_parts(file: &File, offset: u64, length: usize, mut convert: impl FnMut(&[u8])) -> io::Result<()> {
    let mut rest = Rest::new(file, offset);
    let mut part = vec![0; length.min(PART_BYTES)];
    let mut left = length;
    while left > 0 {
        let some = &mut part[..left.min(PART_BYTES)];
        rest.read_exact(some)?;
        convert(some);
        left -= some.len();
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, position)
}

/// Where a file cannot be read at a position, there is only one reader.
#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    use std::io::{Seek, SeekFrom};
    file.seek(SeekFrom::Start(position))?;
    file.read(buffer)
}
