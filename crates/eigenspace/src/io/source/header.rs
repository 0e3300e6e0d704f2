//! The header of a NumPy array: a magic string, a version, and a Python dictionary of three keys.
//!
//! ```text
//! \x93NUMPY  1 0  length (2 bytes, 4 from version 2 on)  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }
//! ```
//!
//! We parse it ourselves because npyz overflows on a forged shape, and contains a complete parser
//! for Python literals.

use std::io::Read;

use crate::printable::grouped;

/// Largest accepted length. Headers written by numpy have about a hundred bytes; those of
/// structured arrays, which are rejected anyway, are longer.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// The contents of the dictionary.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    /// The element type, as in `<f8`.
    pub(super) descr: String,
    pub(super) by_column: bool,
    pub(super) shape: Vec<u64>,
}

impl Header {
    /// Reads up to the first number of the array. The error describes the problem.
    pub(super) fn read(mut reader: impl Read) -> Result<Self, String> {
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(|_| "it ends within its header".to_owned())?;
        if start[..6] != *b"\x93NUMPY" {
            return Err("it does not start with the signature of NumPy".into());
        }
        let mut length = [0; 4];
        let bytes = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(format!("its format version is {version}, and 1 to 3 are known")),
        };
        let cut = |_| "it ends within its header".to_owned();
        reader.read_exact(&mut length[..bytes]).map_err(cut)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER_BYTES {
            return Err(format!("its header has {} bytes", grouped(length)));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text).map_err(cut)?;
        let text = String::from_utf8_lossy(&text);
        Self::parse(&text)
            .ok_or_else(|| format!("its header is `{}`", text.trim().chars().take(200).collect::<String>()))
    }

    fn parse(text: &str) -> Option<Self> {
        let inside = text.trim().strip_prefix('{')?.strip_suffix('}')?;
        let value = |key: &str| Some(inside.split_once(&format!("'{key}':"))?.1.trim_start());
        let by_column = match value("fortran_order")? {
            text if text.starts_with("True") => true,
            text if text.starts_with("False") => false,
            _ => return None,
        };
        let shape = value("shape")?.strip_prefix('(')?.split_once(')')?.0;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        Some(Self {
            descr: descr(value("descr")?)?,
            by_column,
            shape: sizes.map(|size| size.parse().ok()).collect::<Option<_>>()?,
        })
    }
}

/// An element type in quotes, or the list of a structured type, which is returned unchanged.
fn descr(text: &str) -> Option<String> {
    if text.starts_with('[') {
        return Some(text.split_once(']')?.0.to_owned() + "]");
    }
    Some(text.strip_prefix('\'')?.split_once('\'')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Header;

    fn parse(text: &str) -> Option<Header> {
        Header::parse(text)
    }

    #[test]
    fn the_header_that_numpy_writes_is_read() {
        let header = parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }      \n");
        assert_eq!(header, Some(Header { descr: "<f8".into(), by_column: false, shape: vec![3, 2] }));
        let header = parse("{'shape': (5,), 'fortran_order': True, 'descr': '|b1'}");
        assert_eq!(header, Some(Header { descr: "|b1".into(), by_column: true, shape: vec![5] }));
        let record = parse("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (), }");
        assert_eq!(record.map(|header| (header.descr, header.shape)), Some(("[('a', '<f8')]".into(), vec![])));
    }

    #[test]
    fn other_dictionaries_are_not() {
        for text in [
            "",
            "{}",
            "{'descr': '<f8', 'shape': (3, 2)}",
            "{'descr': <f8, 'fortran_order': False, 'shape': (3, 2)}",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 2)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, -2)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 99999999999999999999)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
