//! A range of a file, mapped into memory while one block is read.
//!
//! If a whole file were mapped, its pages would accumulate in the process. A window per block
//! limits them to one block, and avoids the copy that `read` makes. Where files cannot be mapped,
//! the range is read.

use std::fs::File;
use std::io;

#[cfg(any(unix, windows))]
use memmap2::{Mmap, MmapOptions};

/// Maps `length` bytes of a file that has at least `offset + length`.
#[cfg(any(unix, windows))]
#[allow(unsafe_code)]
pub(super) fn window(file: &File, offset: u64, length: usize) -> io::Result<Mmap> {
    let end = offset.checked_add(length as u64).ok_or(io::ErrorKind::InvalidInput)?;
    if file.metadata()?.len() < end {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // SAFETY: the mapping is read-only and private to one call of `next_block`, which copies the
    // bytes out as numbers (any bytes are valid numbers) and drops it, so no reference outlives the
    // call. What remains is that another process changes the file in those milliseconds. Changed
    // bytes are other numbers. If the file is truncated after its length was checked, a signal
    // kills the process. There is no safe way to map a file, and reading it instead would copy
    // every byte once more.
    unsafe { MmapOptions::new().offset(offset).len(length).map(file) }
}

/// Reads `length` bytes of a file.
#[cfg(not(any(unix, windows)))]
pub(super) fn window(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    read_exact_at(file, &mut bytes, offset)?;
    Ok(bytes)
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
