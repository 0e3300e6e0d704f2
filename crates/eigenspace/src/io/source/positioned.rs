//! Reads from any position of a file.
//!
//! A range is read in parts that stay in the cache of a core until they are converted. Mapping the
//! file instead would not be faster, and if another program shortened the file in the meantime, a
//! signal would kill this one.

use std::fs::File;
use std::io;

/// Bytes that are read at a time: a multiple of the size of every number.
const PART_BYTES: usize = 1 << 18;

/// Passes `length` bytes of a file to `convert`, a part at a time.
pub(super) fn read_parts(
    file: &File,
    mut offset: u64,
    length: usize,
    mut convert: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut part = vec![0; length.min(PART_BYTES)];
    let mut left = length;
    while left > 0 {
        let some = &mut part[..left.min(PART_BYTES)];
        read_exact_at(file, some, offset)?;
        convert(some);
        offset += some.len() as u64;
        left -= some.len();
    }
    Ok(())
}

/// Fills a buffer from a place in a file. The position of the file afterward is not specified.
#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// Fills a buffer from a place in a file. The position of the file afterward is not specified.
#[cfg(not(unix))]
pub(super) fn read_exact_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}
