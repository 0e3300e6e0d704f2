//! One cell of a text: a number, nothing, or something else.

/// What stands in a cell for "no value", besides nothing at all; case does not matter. NaN is read as a number.
const MISSING: [&str; 6] = ["na", "n/a", "null", "none", "?", "nan"];

/// Characters of a cell that a message shows.
const SHOWN: usize = 40;

/// Why a cell is no number.
#[derive(Debug, PartialEq)]
pub(super) enum NoNumber {
    /// It is text.
    Text(String),
    /// It is not even text.
    Encoding,
}

/// The number in a cell, NaN where there is none. Spaces around it do not count.
pub(super) fn number(cell: &[u8]) -> Result<f64, NoNumber> {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Ok(f64::NAN);
    }
    let text = std::str::from_utf8(cell).map_err(|_| NoNumber::Encoding)?;
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) if MISSING.iter().any(|missing| text.eq_ignore_ascii_case(missing)) => Ok(f64::NAN),
        Err(_) => Err(NoNumber::Text(shown(text))),
    }
}

/// The beginning of a text, fit to stand in a message of one line.
fn shown(text: &str) -> String {
    let clean = |character: char| if character.is_control() { char::REPLACEMENT_CHARACTER } else { character };
    let mut short: String = text.chars().take(SHOWN).map(clean).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{NoNumber, number};

    #[test]
    fn numbers_may_have_spaces_signs_and_exponents() {
        for (text, value) in
            [("1", 1.0), (" -2.5\t", -2.5), ("+3e2\r", 300.0), (".5", 0.5), ("-INF", f64::NEG_INFINITY)]
        {
            assert_eq!(number(text.as_bytes()), Ok(value), "{text}");
        }
    }

    #[test]
    fn every_way_to_write_a_missing_cell_is_nan() {
        for text in ["", "  ", "NA", "n/a", "NaN", "nan", "NULL", "None", "?", " ? "] {
            assert!(number(text.as_bytes()).is_ok_and(f64::is_nan), "{text}");
        }
    }

    #[test]
    fn text_is_refused_and_shown_in_short() {
        assert_eq!(number(b" 1,5 "), Err(NoNumber::Text("1,5".into())));
        assert_eq!(number(b"a\nb"), Err(NoNumber::Text("a\u{fffd}b".into())));
        assert_eq!(number(&[b'x'; 100]), Err(NoNumber::Text(format!("{}…", "x".repeat(40)))));
        assert_eq!(number(b"\xff"), Err(NoNumber::Encoding));
    }
}
