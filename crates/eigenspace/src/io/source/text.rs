//! The text of a file: decompresses gzip, removes a byte order mark, finds the ends of lines, and
//! limits their length.

use std::io::{BufReader, Cursor, Error, ErrorKind, Read, Result};

use flate2::bufread::MultiGzDecoder;
use memchr::{memchr, memchr_iter};

use crate::io::file_kind::{FileKind, START};

/// Largest number of bytes of a line. Only an unclosed quotation mark makes a line so long.
const MAX_LINE_BYTES: u64 = 1 << 28;
/// Number of bytes that are read at a time, for each thread.
const BYTES_PER_THREAD: usize = 1 << 19;
/// Largest number of threads for which text is read in advance.
const MAX_THREADS: usize = 32;
/// A line longer than this is not kept in memory as a whole.
const MAX_BUFFER_BYTES: usize = 1 << 24;

/// The text is UTF-16.
#[derive(Debug, thiserror::Error)]
#[error("it is UTF-16, expected UTF-8")]
pub(super) struct Utf16;

/// The file is of another kind.
#[derive(Debug, thiserror::Error)]
#[error("it is {0}")]
pub(super) struct OtherFile(pub(super) FileKind);

/// Text to be split into lines. There are two ways to read it: as [`Read`], which never returns
/// bytes of two lines at once, or through [`find_lines`](Self::find_lines),
/// [`waiting`](Self::waiting) and [`pass`](Self::pass).
pub(super) struct Input {
    bytes: Box<dyn Read + Send>,
    packed: bool,
    /// Number of bytes that may still be read for this line.
    left: u64,
    /// Text that was read in advance is at `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Whether there is nothing more to read, and the error that was the reason.
    ended: bool,
    failure: Option<Error>,
    /// Number of bytes returned through [`Read`].
    returned: u64,
}

/// The first bytes, as many as arrive together, but at least three unless there are fewer: the
/// input may still grow.
fn first_bytes(mut bytes: impl Read) -> Result<Vec<u8>> {
    let (mut start, mut read) = (vec![0; START], 0);
    while read < 3 {
        match bytes.read(&mut start[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    start.truncate(read);
    Ok(start)
}

impl Input {
    /// Inspects the first bytes: gzip is decompressed, whatever the file name, and a byte order
    /// mark is removed.
    pub(super) fn new(mut bytes: Box<dyn Read + Send>) -> Result<Self> {
        let mut start = Vec::new();
        (&mut bytes).take(2).read_to_end(&mut start)?;
        let packed = start == [0x1f, 0x8b];
        let bytes: Box<dyn Read + Send> = Box::new(Cursor::new(start).chain(bytes));
        let mut bytes: Box<dyn Read + Send> = match packed {
            true => Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, bytes))),
            false => bytes,
        };
        let mut start = first_bytes(&mut bytes).map_err(|error| read_error(packed, error))?;
        if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
            return Err(Error::new(ErrorKind::InvalidData, Utf16));
        }
        if let Some(kind) = FileKind::in_place_of_text(&start) {
            return Err(Error::new(ErrorKind::InvalidData, OtherFile(kind)));
        }
        if start.starts_with(&[0xef, 0xbb, 0xbf]) {
            start.drain(..3);
        }
        let mut buffer = vec![0; BYTES_PER_THREAD * rayon::current_num_threads().clamp(1, MAX_THREADS)];
        buffer[..start.len()].copy_from_slice(&start);
        let end = start.len();
        let left = MAX_LINE_BYTES;
        Ok(Self { bytes, packed, left, buffer, start: 0, end, ended: false, failure: None, returned: 0 })
    }

    /// Starts a new line.
    pub(super) fn next_line(&mut self) {
        self.left = MAX_LINE_BYTES;
    }

    /// Number of bytes returned through [`Read`].
    pub(super) fn returned(&self) -> u64 {
        self.returned
    }

    /// The text that was read in advance.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Finds the ends of the next lines, at most `most`, as positions in [`waiting`](Self::waiting)
    /// after their LF. Reads until there are so many, but not more than fits into memory. The last
    /// line of a text without LF is not found.
    pub(super) fn find_lines(&mut self, most: usize, ends: &mut Vec<usize>) {
        ends.clear();
        let mut searched = 0;
        while ends.len() < most {
            let found = memchr_iter(b'\n', &self.waiting()[searched..]).map(|place| searched + place + 1);
            ends.extend(found.take(most - ends.len()));
            searched = self.end - self.start;
            if ends.is_empty() && searched == self.buffer.len() && searched < MAX_BUFFER_BYTES {
                self.buffer.resize(2 * searched, 0);
            }
            if ends.len() < most && !self.read_more() {
                break;
            }
        }
    }

    /// Removes this many of the waiting bytes.
    pub(super) fn pass(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    /// Reads text after the waiting one. False if there is no more, or no space for it.
    fn read_more(&mut self) -> bool {
        if self.ended {
            return false;
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let space = &mut self.buffer[self.end..];
        if space.is_empty() {
            return false;
        }
        loop {
            match self.bytes.read(space) {
                Ok(count) => {
                    self.end += count;
                    self.ended = count == 0;
                    return !self.ended;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    // The lines before it are read first.
                    self.failure = Some(read_error(self.packed, error));
                    self.ended = true;
                    return false;
                }
            }
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.start == self.end && !self.read_more() {
            return self.failure.take().map_or(Ok(0), Err);
        }
        let waiting = self.waiting();
        let most = waiting.len().min(buffer.len());
        let count = memchr(b'\n', &waiting[..most]).map_or(most, |end| end + 1);
        buffer[..count].copy_from_slice(&waiting[..count]);
        self.pass(count);
        self.returned += count as u64;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            Error::new(ErrorKind::InvalidData, "a line does not end; a quotation mark may be unclosed")
        })?;
        Ok(count)
    }
}

/// Reports an error of decompression as invalid data, to distinguish it from errors of the disk.
fn read_error(packed: bool, error: Error) -> Error {
    let problem = match error.kind() {
        ErrorKind::UnexpectedEof if packed => "its gzip data is incomplete".to_owned(),
        ErrorKind::InvalidInput | ErrorKind::InvalidData if packed => format!("its gzip data is damaged: {error}"),
        _ => return error,
    };
    Error::new(ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::{Input, MAX_BUFFER_BYTES};
    use std::io::{Cursor, ErrorKind, Read};

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let mut input = Input::new(Box::new(std::io::repeat(b'1'))).expect("bytes are there");
        let mut buffer = vec![0; 1 << 20];
        let refused = (0..1000).find_map(|_| input.read(&mut buffer).err());
        assert_eq!(refused.map(|error| error.kind()), Some(ErrorKind::InvalidData));
        input.next_line();
        assert!(input.read(&mut buffer).is_ok(), "a new line may be read");
    }

    #[test]
    fn a_line_without_end_is_not_kept_in_memory() {
        let mut input = Input::new(Box::new(std::io::repeat(b'1'))).expect("bytes are there");
        let mut ends = Vec::new();
        for _ in 0..3 {
            input.find_lines(10, &mut ends);
            assert_eq!((ends.len(), input.waiting().len()), (0, MAX_BUFFER_BYTES));
        }
    }

    #[test]
    fn lines_are_found_whether_they_fit_into_the_buffer_or_not() {
        let lengths = [1, 5, 1 << 10, 1 << 21, 3, 1 << 23, 7];
        let text: Vec<u8> = lengths.iter().flat_map(|&length| [vec![b'1'; length - 1], vec![b'\n']].concat()).collect();
        for most in [1, 2, 100] {
            let mut input = Input::new(Box::new(Cursor::new([&text[..], b"no end"].concat()))).expect("bytes");
            let (mut ends, mut found) = (Vec::new(), Vec::new());
            loop {
                input.find_lines(most, &mut ends);
                assert!(ends.len() <= most);
                let Some(&last) = ends.last() else { break };
                found.extend(ends.iter().scan(0, |start, &end| Some(end - std::mem::replace(start, end))));
                assert_eq!(input.waiting()[last - 1], b'\n');
                input.pass(last);
            }
            assert_eq!(found, lengths);
            assert_eq!(input.waiting(), b"no end");
        }
    }
}
