//! The bytes of a text file: decompresses gzip, removes a byte order mark, and limits the length of a line.

use std::io::{BufReader, Cursor, Error, ErrorKind, Read, Result};

use flate2::bufread::MultiGzDecoder;

/// Largest number of bytes of a line. Only an unclosed quotation mark makes a line so long.
const MAX_LINE_BYTES: u64 = 1 << 28;

/// Text to be split into lines.
pub(super) struct Input {
    bytes: Box<dyn Read + Send>,
    packed: bool,
    /// Number of bytes that may still be read for this line.
    left: u64,
}

impl Input {
    /// Inspects the first bytes: gzip is decompressed, whatever the file name, and a byte order mark is removed.
    pub(super) fn new(bytes: Box<dyn Read + Send>) -> Result<Self> {
        let (start, bytes) = peek(bytes, 2)?;
        let packed = start == [0x1f, 0x8b];
        let bytes: Box<dyn Read + Send> = match packed {
            true => Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, bytes))),
            false => bytes,
        };
        let mut input = Self { bytes, packed, left: MAX_LINE_BYTES };
        let mut start = Vec::new();
        (&mut input).take(3).read_to_end(&mut start)?;
        if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
            return Err(Error::new(ErrorKind::InvalidData, "it is UTF-16, expected UTF-8"));
        }
        if start != [0xef, 0xbb, 0xbf] {
            input.bytes = Box::new(Cursor::new(start).chain(input.bytes));
        }
        Ok(input)
    }

    /// Starts a new line.
    pub(super) fn next_line(&mut self) {
        self.left = MAX_LINE_BYTES;
    }

    /// Reports an error of decompression as invalid data, to distinguish it from errors of the disk.
    fn unpacking(&self, error: Error) -> Error {
        let problem = match error.kind() {
            ErrorKind::UnexpectedEof => "its gzip is cut short".to_owned(),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => format!("its gzip is damaged: {error}"),
            _ => return error,
        };
        Error::new(ErrorKind::InvalidData, problem)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.bytes.read(buffer).map_err(|error| if self.packed { self.unpacking(error) } else { error })?;
        let read = read as u64;
        self.left = self.left.checked_sub(read).ok_or_else(|| {
            Error::new(ErrorKind::InvalidData, "a line has no end; a quotation mark may lack its partner")
        })?;
        Ok(read as usize)
    }
}

/// The first bytes, and a reader of all bytes including them.
fn peek(mut bytes: Box<dyn Read + Send>, count: u64) -> Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut start = Vec::new();
    (&mut bytes).take(count).read_to_end(&mut start)?;
    Ok((start.clone(), Box::new(Cursor::new(start).chain(bytes))))
}

#[cfg(test)]
mod tests {
    use super::Input;
    use std::io::{ErrorKind, Read};

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let mut input = Input::new(Box::new(std::io::repeat(b'1'))).expect("bytes are there");
        let mut buffer = vec![0; 1 << 20];
        let refused = (0..300).find_map(|_| input.read(&mut buffer).err());
        assert_eq!(refused.map(|error| error.kind()), Some(ErrorKind::InvalidData));
        input.next_line();
        assert!(input.read(&mut buffer).is_ok(), "a new line may be read");
    }
}
