//! Checks whether a JPEG file is complete, and has enough bytes for its pixels.
//!
//! The decoder silently fills missing pixels with gray, which suits a viewer, but not a model. A
//! file is a list of segments and ends with the marker `FF D9`:
//!
//! ```text
//! FF kind  length (two bytes, includes itself)  content          after the header of a scan (kind DA): pixels,
//!                                                                in which FF is followed by 00 or D0 … D7
//! ```
//!
//! Searching for `FF D9` alone would find the end of a preview image inside a segment.

/// The marker at the end.
const END: u8 = 0xD9;
/// The header of a scan, which is followed by pixels.
const SCAN: u8 = 0xDA;

/// Whether the segments lead to the end marker after at least one scan. Anything after the marker
/// is ignored.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    let mut scanned = false;
    // After FF D8.
    let mut rest = bytes.get(2..).unwrap_or_default();
    while let Some(kind) = next_marker(&mut rest) {
        match kind {
            END => return scanned,
            // Markers without content: a stuffed byte or a restart in pixels, a start of image or
            // padding elsewhere.
            0x00 | 0x01 | 0xD0..=0xD8 => {}
            _ => {
                scanned |= kind == SCAN;
                let length = rest.first_chunk::<2>().map(|pair| usize::from(u16::from_be_bytes(*pair)));
                let Some(after) = length.and_then(|length| rest.get(length..)) else { return false };
                rest = after;
            }
        }
    }
    false
}

/// The largest number of pixels that a file of this many bytes can have: a block of 8 x 8 pixels
/// takes at least one bit. The decoder would need gigabytes of memory before it notices that the
/// others are missing.
pub(super) fn most_pixels(bytes: usize) -> usize {
    bytes.saturating_mul(8 * 64)
}

/// Skips to after the next marker and returns the marker.
fn next_marker(rest: &mut &[u8]) -> Option<u8> {
    let start = rest.iter().position(|&byte| byte == 0xFF)?;
    // A marker may be preceded by any number of FF.
    let kind = rest[start..].iter().position(|&byte| byte != 0xFF)? + start;
    let marker = rest[kind];
    *rest = &rest[kind + 1..];
    Some(marker)
}

#[cfg(test)]
mod tests {
    use super::{is_whole, most_pixels};

    /// A segment that contains an end marker, a scan with a stuffed byte and a restart, and the end
    /// marker.
    const FILE: &[u8] = b"\xFF\xD8\xFF\xE1\0\x04\xFF\xD9\xFF\xFF\xDA\0\x03x12\xFF\0\xFF\xD034\xFF\xD9";

    #[test]
    fn only_the_end_of_the_image_itself_counts() {
        assert!(is_whole(FILE));
        for length in 0..FILE.len() {
            assert!(!is_whole(&FILE[..length]), "{length}");
        }
    }

    #[test]
    fn what_follows_the_end_does_not_matter() {
        assert!(is_whole(&[FILE, b"appended by a camera"].concat()));
    }

    #[test]
    fn an_image_of_one_gray_has_enough_bytes() {
        let mut bytes = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 1);
        image::GrayImage::new(1024, 1024).write_with_encoder(encoder).expect("an image is encoded");
        assert!(is_whole(&bytes) && most_pixels(bytes.len()) >= 1024 * 1024, "{} bytes", bytes.len());
    }
}
