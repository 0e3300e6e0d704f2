//! A stretch of a file, mapped into memory for as long as one block needs it.
//!
//! Mapping a whole file would let its pages pile up in the process; a window per block keeps them to one
//! block, and reads without the copy that `read` makes.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// Maps `length` bytes of a file that has at least `offset + length`.
#[allow(unsafe_code)]
pub(super) fn window(file: &File, offset: u64, length: usize) -> io::Result<Mmap> {
    let end = offset.checked_add(length as u64).ok_or(io::ErrorKind::InvalidInput)?;
    if file.metadata()?.len() < end {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // SAFETY: the mapping is read-only and private to one call of `next_block`, which copies the bytes out as
    // numbers (any bytes are valid numbers) and drops it, so no reference outlives the call. What remains is
    // that another process changes the file in those milliseconds: changed bytes are other numbers; a file cut
    // short, whose length was checked a moment ago, ends the program by a signal. There is no safe way
    // to map a file, and reading instead costs a copy of every byte.
    unsafe { MmapOptions::new().offset(offset).len(length).map(file) }
}
