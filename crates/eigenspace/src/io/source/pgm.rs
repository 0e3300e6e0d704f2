//! Checks the header of a PGM or PPM file, and that the number of pixels matches it.
//!
//! ```text
//! P5 ␣ width ␣ height ␣ maxval ␣ pixels                            exactly one byte of space before the pixels
//! P7 ⏎ WIDTH 92 ⏎ HEIGHT 112 ⏎ DEPTH 1 ⏎ MAXVAL 255 ⏎ TUPLTYPE GRAYSCALE ⏎ ENDHDR ⏎ pixels
//! ```
//!
//! A decoder reads as many bytes as it needs and ignores the rest. If the newlines of a file were
//! converted, everything after the first changed byte is shifted. Only the number of bytes reveals
//! this: such a file has one more byte for every line feed (and one at the end of the header, where
//! the CR is taken for the one byte of space), or one less for every CR LF.

use crate::io::source::SourceError;

/// The numbers of a header.
#[derive(Default)]
struct Numbers {
    width: u64,
    height: u64,
    channels: u64,
    maxval: u64,
}

/// Rejects a file with more or fewer bytes of pixels than its header announces, and pixels above
/// its largest value. Returns that largest value, which the decoder scales to 255 or 65535.
pub(super) fn check(bytes: &[u8]) -> Result<u16, SourceError> {
    let (kind, mut rest) = match bytes {
        [b'P', kind @ b'1'..=b'7', rest @ ..] => (*kind, rest),
        _ => return Err(malformed("it begins with none of P1 to P7")),
    };
    let Numbers { width, height, channels, maxval } =
        if kind == b'7' { lines(&mut rest)? } else { numbers(&mut rest, kind)? };
    if width == 0 || height == 0 || channels == 0 {
        return Err(malformed("its width, height or depth is 0"));
    }
    if maxval == 0 || maxval > 0xFFFF {
        return Err(malformed("its largest value is not between 1 and 65535"));
    }
    let depth = if maxval > 0xFF { 2 } else { 1 };
    // Saturated products are larger than any file.
    let values = width.saturating_mul(height).saturating_mul(channels);
    let found = rest.len() as u64;
    let expected = match kind {
        b'4' => width.div_ceil(8).saturating_mul(height),
        b'5'..=b'7' => values.saturating_mul(depth),
        // In text, a value has at least one digit and, except for single bits, a space after it.
        b'1' => found.max(values),
        _ => found.max(values.saturating_mul(2) - 1),
    };
    if found != expected {
        return Err(SourceError::ImageBytes { expected, found });
    }
    let beyond = match kind {
        b'2' | b'3' => text_values(rest).any(|value| value > maxval),
        b'5'..=b'7' if depth == 1 => rest.iter().any(|&value| u64::from(value) > maxval),
        b'5'..=b'7' => rest.as_chunks::<2>().0.iter().any(|&value| u64::from(u16::from_be_bytes(value)) > maxval),
        _ => false,
    };
    if beyond {
        return Err(malformed("a pixel is larger than the largest value in its header"));
    }
    Ok(maxval as u16)
}

/// The values of pixels that are written as text.
fn text_values(rest: &[u8]) -> impl Iterator<Item = u64> {
    rest.split(|&byte| is_space(byte)).filter_map(|word| std::str::from_utf8(word).ok()?.parse().ok())
}

/// The header of P1 to P6.
fn numbers(rest: &mut &[u8], kind: u8) -> Result<Numbers, SourceError> {
    let (width, height) = (number(rest)?, number(rest)?);
    let maxval = if matches!(kind, b'1' | b'4') { 1 } else { number(rest)? };
    Ok(Numbers { width, height, maxval, channels: if matches!(kind, b'3' | b'6') { 3 } else { 1 } })
}

/// The header of P7, to the end of the line `ENDHDR`.
fn lines(rest: &mut &[u8]) -> Result<Numbers, SourceError> {
    let (mut numbers, mut named) = (Numbers::default(), false);
    loop {
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| malformed("its header has no end"))?;
        let line = String::from_utf8_lossy(&rest[..end]).into_owned();
        *rest = &rest[end + 1..];
        let (name, value) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let field = match name {
            "ENDHDR" => break,
            "WIDTH" => &mut numbers.width,
            "HEIGHT" => &mut numbers.height,
            "DEPTH" => &mut numbers.channels,
            "MAXVAL" => &mut numbers.maxval,
            // Comments, and the meaning of the values.
            _ => {
                named |= name == "TUPLTYPE";
                continue;
            }
        };
        let value = value.trim().parse::<u32>();
        *field = value.map_err(|_| malformed("its header holds something other than numbers"))?.into();
    }
    // In this case, the decoder would read two bytes as two values.
    if !named && numbers.maxval > 0xFF {
        return Err(malformed("its header does not say what the values stand for"));
    }
    Ok(numbers)
}

/// Reads the next number of a header, and the one byte of space after it.
fn number(rest: &mut &[u8]) -> Result<u64, SourceError> {
    let mut comment = false;
    let start = rest.iter().position(|&byte| {
        let ends_here = !comment && byte != b'#' && !is_space(byte);
        comment = if comment { !matches!(byte, b'\n' | b'\r') } else { byte == b'#' };
        ends_here
    });
    let text = &rest[start.ok_or_else(|| malformed("its header has no end"))?..];
    let end = text.iter().position(|&byte| is_space(byte)).ok_or_else(|| malformed("its header has no end"))?;
    let digits = std::str::from_utf8(&text[..end]).ok().filter(|digits| digits.bytes().all(|d| d.is_ascii_digit()));
    // The decoder reads it as a u32.
    let value = digits.and_then(|digits| digits.parse::<u32>().ok());
    *rest = &text[end + 1..];
    value.map(u64::from).ok_or_else(|| malformed("its header holds something other than numbers"))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0b | 0x0c | b'\r' | b' ')
}

fn malformed(problem: &str) -> SourceError {
    SourceError::Malformed { format: "PNM", problem: problem.into() }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::io::source::SourceError;

    /// The announced and the actual number of bytes, if they differ.
    fn counts(bytes: &[u8]) -> Option<(u64, u64)> {
        match check(bytes) {
            Ok(_) => None,
            Err(SourceError::ImageBytes { expected, found }) => Some((expected, found)),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn every_kind_of_file_with_the_right_number_of_bytes_is_taken() {
        let files: [&[u8]; 10] = [
            b"P1\n2 1\n01",
            b"P2 2 1 255 7 9\n",
            b"P3 1 1 255 1 2 3",
            b"P4\n9 2\n\0\0\0\0",
            b"P5\n2 2\n255\n\n\n\r\n",
            b"P5 # of 16 bits\n2 1\n# and more \r65535\n1234",
            b"P6\t1 1\n255 abc",
            b"P6\n1 1 65535\nabcdef",
            b"P7\nWIDTH 2\n# by hand\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\n\n\n",
            b"P7\nHEIGHT 1\nWIDTH 1\nDEPTH 2\nMAXVAL 65535\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nabcd",
        ];
        for file in files {
            assert_eq!(counts(file), None, "{}", String::from_utf8_lossy(file));
        }
    }

    #[test]
    fn bytes_too_many_or_too_few_are_counted() {
        assert_eq!(counts(b"P5\n2 2\n255\nabcde"), Some((4, 5)));
        assert_eq!(counts(b"P5\n2 2\n255\nabc"), Some((4, 3)));
        assert_eq!(counts(b"P6\n2 2\n256\n"), Some((24, 0)));
        assert_eq!(counts(b"P4\n9 2\n\0\0\0"), Some((4, 3)));
        assert_eq!(counts(b"P2\n2 2\n255\n1 2 3"), Some((7, 5)));
        assert_eq!(counts(b"P1\n2 2\n010"), Some((4, 3)));
    }

    #[test]
    fn converted_newlines_are_seen_in_the_number_of_bytes() {
        assert_eq!(counts(b"P5\r\n2 2\r\n255\r\na\r\nbc"), Some((4, 6)));
        let lines = b"P7\r\nWIDTH 2\r\nHEIGHT 1\r\nDEPTH 1\r\nMAXVAL 255\r\nENDHDR\r\na\r\n";
        assert_eq!(counts(lines), Some((2, 3)));
    }

    #[test]
    fn numbers_beyond_any_image_do_not_overflow() {
        assert_eq!(counts(b"P6\n4294967295 4294967295\n65535\nab"), Some((u64::MAX, 2)));
        assert_eq!(counts(b"P3\n4294967295 4294967295\n65535\nab"), Some((u64::MAX - 1, 2)));
    }

    #[test]
    fn a_header_that_is_none_is_malformed() {
        let headers: [&[u8]; 11] = [
            b"P8 1 1 255 a",
            b"P7\nWIDTH 1\n",
            b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 256\nENDHDR\nab",
            b"P5",
            b"P5 1 1 255",
            b"P5 0 1 255 ",
            b"P5 1 1 0 a",
            b"P5 1 1 65536 a",
            b"P5 -1 1 255 a",
            b"P5 99999999999 1 255 a",
            b"P5 1 1 255# a",
        ];
        for header in headers {
            assert!(matches!(check(header), Err(SourceError::Malformed { .. })), "{}", header.escape_ascii());
        }
    }
}
