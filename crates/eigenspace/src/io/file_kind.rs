//! What a file is that was named in place of a model, as far as its first bytes tell.

use std::fmt;

/// The first bytes of every checkpoint.
pub(crate) const CHECKPOINT: &[u8] = b"eigenspace checkpoint ";
/// The key in the metadata of the safetensors header of every accumulator.
pub(crate) const ACCUMULATOR: &str = "eigenspace.accumulator";
/// Number of bytes that are enough to tell.
pub(crate) const START: usize = 64;

/// The kind of a file that is not a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A NumPy array.
    Array,
    /// A zip file, for example NumPy arrays.
    Zip,
    /// A Parquet file.
    Parquet,
    /// An Arrow file.
    Arrow,
    /// A PNG image.
    Png,
    /// A JPEG image.
    Jpeg,
    /// A PGM, PPM or PBM image.
    Pgm,
    /// A file compressed with gzip, for example text.
    Gzip,
    /// Text, for example CSV.
    Text,
    /// The checkpoint of a fit that has not ended.
    Checkpoint,
    /// A model or another safetensors file, in place of text.
    Safetensors,
    /// The state of an accumulator.
    Accumulator,
}

impl FileKind {
    /// The kind of a file with these first bytes; `None` if it may be a model.
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        let beginnings: [(&[u8], Self); 8] = [
            (b"\x93NUMPY", Self::Array),
            (b"PK\x03\x04", Self::Zip),
            (b"PAR1", Self::Parquet),
            (b"ARROW1", Self::Arrow),
            (b"\x89PNG", Self::Png),
            (b"\xff\xd8\xff", Self::Jpeg),
            (b"\x1f\x8b", Self::Gzip),
            (CHECKPOINT, Self::Checkpoint),
        ];
        if let Some((_, kind)) = beginnings.iter().find(|(beginning, _)| start.starts_with(beginning)) {
            return Some(*kind);
        }
        if matches!(start, [b'P', b'1'..=b'6', space, ..] if space.is_ascii_whitespace()) {
            return Some(Self::Pgm);
        }
        // The length of a safetensors header has bytes that are zero.
        (!start.is_empty() && start.iter().all(is_text)).then_some(Self::Text)
    }

    /// The kind of a file with these first bytes in place of text; `None` if it may be text.
    #[cfg(any(feature = "csv", test))]
    pub(crate) fn in_place_of_text(start: &[u8]) -> Option<Self> {
        // Text has no control characters, but its first word may be `PAR1` or `P5`.
        if start.iter().all(is_text) {
            return None;
        }
        let is_model = start.len() > 8 && start[8] == b'{' && start[6..8] == [0, 0];
        let of_model = is_model.then_some(Self::Safetensors);
        of_model.or_else(|| Self::of(start)).filter(|kind| !matches!(kind, Self::Pgm | Self::Gzip | Self::Text))
    }

    /// Whether it is a single image.
    pub fn is_image(self) -> bool {
        matches!(self, Self::Png | Self::Jpeg | Self::Pgm)
    }
}

/// Whether a byte can be part of text, also in other encodings than UTF-8.
fn is_text(byte: &u8) -> bool {
    *byte >= b' ' || byte.is_ascii_whitespace()
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Array => "a NumPy array",
            Self::Zip => "a zip file",
            Self::Parquet => "a Parquet file",
            Self::Arrow => "an Arrow file",
            Self::Png => "a PNG image",
            Self::Jpeg => "a JPEG image",
            Self::Pgm => "a PGM, PPM or PBM image",
            Self::Gzip => "a gzip file",
            Self::Text => "a text file",
            Self::Checkpoint => "the checkpoint of a fit that has not ended",
            Self::Safetensors => "a model or another safetensors file",
            Self::Accumulator => "an accumulator",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::FileKind;

    #[test]
    fn files_are_told_by_their_first_bytes() {
        for (start, kind) in [
            (&b"\x93NUMPY\x01\x00"[..], Some(FileKind::Array)),
            (b"P5 92 112 255\n", Some(FileKind::Pgm)),
            (b"P5,a\n", Some(FileKind::Text)),
            (b"a,b\r\n1,2", Some(FileKind::Text)),
            (b"gr\xf6sse", Some(FileKind::Text)),
            (b"", None),
            (b"\x10\x00\x00\x00\x00\x00\x00\x00{", None),
        ] {
            assert_eq!(FileKind::of(start), kind, "{start:?}");
        }
    }

    #[test]
    fn a_header_of_text_is_not_taken_for_another_file() {
        for (start, kind) in [
            (&b"\x93NUMPY\x01\x00v\x00{'descr'"[..], Some(FileKind::Array)),
            (b"PAR1\x15\x04\x15", Some(FileKind::Parquet)),
            (b"\x10\x00\x00\x00\x00\x00\x00\x00{\"a\"", Some(FileKind::Safetensors)),
            (b"PAR1,PAR2\n1,2\n", None),
            (b"P1 left,P1 right\n1,2\n", None),
            (b"a,b\n\x01,2\n", None),
            (b"", None),
        ] {
            assert_eq!(FileKind::in_place_of_text(start), kind, "{start:?}");
        }
    }
}
