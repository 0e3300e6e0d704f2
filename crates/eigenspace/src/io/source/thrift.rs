//! Checks that the footer of a Parquet file contains what it announces, before parquet decodes it.
//!
//! ```text
//! struct = (field header, value)* 0        list = size, kind, value*        binary = length, bytes
//! ```
//!
//! The footer is in the compact protocol of Apache Thrift. parquet 59.3 skips fields that it does
//! not need element by element, and some kinds of elements without noticing the end of the file, so
//! that a few bytes could keep it busy for a very long time (`docs/UPSTREAM.md`). Here, each element takes at
//! least one byte of the file, so that the time is limited by the size of the file. A file that
//! deliberately confuses the kinds of fields can still get past this check.

use std::io::{self, ErrorKind, Read};

/// Footers of Parquet files have structures inside of structures, but not more than this.
const MAX_DEPTH: u32 = 32;

/// Reads one structure of at most `left` bytes to its end.
pub(super) fn check(bytes: impl Read, left: u64) -> io::Result<()> {
    Walk { bytes, left }.structure(MAX_DEPTH)
}

struct Walk<R> {
    bytes: R,
    /// Number of bytes up to the end.
    left: u64,
}

impl<R: Read> Walk<R> {
    fn structure(&mut self, depth: u32) -> io::Result<()> {
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Ok(());
            }
            if header >> 4 == 0 {
                self.number()?; // of the field, if it is not the next
            }
            match header & 15 {
                1 | 2 => {} // a boolean is in the header
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| wrong("its structures are too deep"))?;
        match kind {
            3 => self.byte().map(drop),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => {
                let header = self.byte()?;
                let size = if header >> 4 == 15 { self.number()? } else { u64::from(header >> 4) };
                (0..size).try_for_each(|_| self.value(header & 15, depth))
            }
            11 => {
                let size = self.number()?;
                let kinds = if size > 0 { self.byte()? } else { 0 };
                (0..size).try_for_each(|_| self.value(kinds >> 4, depth).and_then(|()| self.value(kinds & 15, depth)))
            }
            12 => self.structure(depth),
            13 => self.skip(16),
            // Lists of booleans too: no footer has one, and parquet does not expect bytes for them.
            _ => Err(wrong("it has a field of an unknown kind")),
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.left = self.left.checked_sub(1).ok_or_else(cut)?;
        self.bytes.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    /// A number of seven bits per byte, the lowest first.
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(wrong("it has a number of too many bytes"))
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        self.left = self.left.checked_sub(length).ok_or_else(cut)?;
        let skipped = io::copy(&mut self.bytes.by_ref().take(length), &mut io::sink())?;
        if skipped == length { Ok(()) } else { Err(cut()) }
    }
}

fn cut() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "its footer goes on behind the end of the file")
}

fn wrong(problem: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_bytes(bytes: &[u8]) -> Result<(), String> {
        check(bytes, bytes.len() as u64).map_err(|error| error.to_string())
    }

    #[test]
    fn a_structure_of_every_kind_is_read_to_its_end() {
        let fields: [&[u8]; 9] = [
            &[0x11],                                                           // true
            &[0x13, 7],                                                        // a byte
            &[0x05, 0x80, 0x01, 0xac, 0x02],                                   // field 128: 300
            &[0x17, 1, 2, 3, 4, 5, 6, 7, 8],                                   // a double
            &[0x18, 3, b'a', b'b', b'c'],                                      // text
            &[0x19, 0x25, 1, 2],                                               // a list of two numbers
            &[0x1b, 1, 0x58, 9, 1, b'x'],                                      // a map of one number to text
            &[0x1c, 0x15, 4, 0],                                               // a structure of one number
            &[0x19, 0xf3, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], // sixteen bytes
        ];
        let mut bytes = fields.concat();
        bytes.push(0);
        assert_eq!(check_bytes(&bytes), Ok(()));
        for end in 0..bytes.len() {
            assert!(check_bytes(&bytes[..end]).is_err(), "the first {end} bytes");
        }
    }

    #[test]
    fn a_list_that_announces_more_than_there_is_ends_at_once() {
        let many = [0xff, 0xff, 0xff, 0xff, 0x07];
        for kind in [3, 5, 7, 8, 9, 12] {
            let bytes = [&[0x19, 0xf0 | kind][..], &many, &[0; 40]].concat();
            assert!(check_bytes(&bytes).is_err(), "kind {kind}");
        }
        // Booleans take no bytes in parquet.
        for kind in [1, 2] {
            assert!(check_bytes(&[&[0x19, 0xf0 | kind][..], &many, &[0; 40]].concat()).is_err());
            assert!(check_bytes(&[0x19, 0x10 | kind, 1, 0]).is_err());
        }
    }

    #[test]
    fn structures_that_are_too_deep_are_refused() {
        assert!(check_bytes(&[0x1c; 1000]).is_err());
        assert!(check_bytes(&[vec![0x19, 0x1c], vec![0x1c; 1000]].concat()).is_err());
    }
}
