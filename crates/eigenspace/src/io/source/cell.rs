//! Parses one cell of a text file.
//!
//! ```text
//! 1.5 · -2e3 · inf        numbers; spaces around them are ignored
//! true · false            1 and 0, as in NumPy arrays and in Parquet
//! (empty) · NA · #N/A     missing: NaN
//! ```

use crate::io::source::{ReadOptions, SourceError};

/// Words that stand for a missing value in text, besides an empty cell; case does not matter.
pub(super) const MISSING_WORDS: [&str; 9] = ["NA", "N/A", "#N/A", "#NA", "<NA>", "NaN", "null", "None", "?"];

/// Number of characters of a cell shown in an error message.
const SHOWN_CHARACTERS: usize = 40;

/// Why a cell is not a number.
#[derive(Debug, PartialEq)]
pub(super) enum NoNumber {
    /// It is text.
    Text(String),
    /// It is a number that is too large for a 64-bit float.
    TooLarge(String),
    /// It is not valid UTF-8.
    Encoding,
}

/// How numbers are written in a text file.
#[derive(Debug, Clone)]
pub(super) struct Notation {
    /// The decimal mark, if it is not the point.
    mark: Option<u8>,
    /// Additional words for a missing value. They may be numbers, such as -999.
    missing: Vec<String>,
}

impl Notation {
    /// Takes the notation from the options. The decimal mark must differ from the delimiter.
    pub(super) fn new(options: &ReadOptions, delimiter: u8) -> Result<Self, SourceError> {
        let mark = options.decimal.filter(|&mark| mark != b'.');
        if mark == Some(delimiter) {
            return Err(SourceError::DecimalMark { mark: char::from(delimiter) });
        }
        Ok(Self { mark, missing: options.missing_words.clone() })
    }

    /// The number in a cell; NaN if it is missing. Spaces around it are ignored.
    pub(super) fn number(&self, cell: &[u8]) -> Result<f64, NoNumber> {
        let cell = cell.trim_ascii();
        if cell.is_empty() || self.missing.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes())) {
            return Ok(f64::NAN);
        }
        let text = std::str::from_utf8(cell).map_err(|_| NoNumber::Encoding)?;
        match self.parse(text) {
            // The word for infinity has no digits.
            Some(number) if number.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) => {
                Err(NoNumber::TooLarge(shown(text)))
            }
            Some(number) => Ok(number),
            None if MISSING_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) => Ok(f64::NAN),
            None if text.eq_ignore_ascii_case("true") => Ok(1.0),
            None if text.eq_ignore_ascii_case("false") => Ok(0.0),
            None => Err(NoNumber::Text(shown(text))),
        }
    }

    /// Whether a cell is a number or missing, even if the number is too large.
    pub(super) fn is_number(&self, cell: &[u8]) -> bool {
        matches!(self.number(cell), Ok(_) | Err(NoNumber::TooLarge(_)))
    }

    /// The number at the start of a text and its length, if it is one that [`number`](Self::number)
    /// would find in a cell that consists of these bytes. `None` does not mean that there is no
    /// number.
    #[inline]
    pub(super) fn leading_number(&self, text: &[u8]) -> Option<(f64, usize)> {
        if self.mark.is_some() {
            return None;
        }
        let (value, length) = fast_float2::parse_partial(text).ok()?;
        let missing = |word: &String| word.as_bytes().eq_ignore_ascii_case(&text[..length]);
        // Words for infinity and NaN are left to `number`.
        (f64::is_finite(value) && !self.missing.iter().any(missing)).then_some((value, length))
    }

    /// If the decimal mark is a comma, a point is rejected: 1.234 could mean one thousand two
    /// hundred and thirty-four.
    fn parse(&self, text: &str) -> Option<f64> {
        match self.mark {
            Some(_) if text.contains('.') => None,
            Some(mark) if text.as_bytes().contains(&mark) => text.replace(char::from(mark), ".").parse().ok(),
            _ => text.parse().ok(),
        }
    }
}

/// The beginning of a text, for an error message.
fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_CHARACTERS).collect();
    if text.chars().nth(SHOWN_CHARACTERS).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{NoNumber, Notation};
    use crate::io::source::ReadOptions;

    fn number(cell: &[u8]) -> Result<f64, NoNumber> {
        Notation::new(&ReadOptions::default(), b',').expect("a point").number(cell)
    }

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
        for text in ["", "  ", "NA", "n/a", "NaN", "nan", "NULL", "None", "?", " ? ", "#N/A", "#NA", "<NA>"] {
            assert!(number(text.as_bytes()).is_ok_and(f64::is_nan), "{text}");
        }
    }

    #[test]
    fn words_of_the_users_stand_for_missing_values_even_if_they_are_numbers() {
        let options = ReadOptions { missing_words: vec!["-999".into(), "n.d.".into()], ..ReadOptions::default() };
        let notation = Notation::new(&options, b',').expect("a point");
        for text in ["-999", " N.D. ", "NA", ""] {
            assert!(notation.number(text.as_bytes()).is_ok_and(f64::is_nan), "{text}");
        }
        assert_eq!(notation.number(b"-999.5"), Ok(-999.5));
    }

    #[test]
    fn true_and_false_are_one_and_zero() {
        for (text, value) in [("True", 1.0), ("FALSE", 0.0), ("true", 1.0), (" false ", 0.0)] {
            assert_eq!(number(text.as_bytes()), Ok(value), "{text}");
        }
    }

    #[test]
    fn with_a_decimal_comma_a_point_is_not_guessed_at() {
        let options = ReadOptions { decimal: Some(b','), ..ReadOptions::default() };
        let notation = Notation::new(&options, b';').expect("comma and semicolon");
        for (text, value) in [("1,5", 1.5), ("-,25e1", -2.5), ("7", 7.0)] {
            assert_eq!(notation.number(text.as_bytes()), Ok(value), "{text}");
        }
        for text in ["1.5", "1.234,5", "1,2,3"] {
            assert_eq!(notation.number(text.as_bytes()), Err(NoNumber::Text(text.into())));
        }
        assert!(Notation::new(&options, b',').is_err(), "one byte cannot be both");
    }

    #[test]
    fn a_number_beyond_64_bits_is_too_large_and_infinity_is_not() {
        for text in ["1e999", "-2.5E400"] {
            assert_eq!(number(text.as_bytes()), Err(NoNumber::TooLarge(text.into())));
        }
        for (text, value) in [("inf", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY), ("1e-999", 0.0)] {
            assert_eq!(number(text.as_bytes()), Ok(value), "{text}");
        }
        let notation = Notation::new(&ReadOptions::default(), b',').expect("a point");
        assert!(notation.is_number(b"1e999") && notation.is_number(b"") && !notation.is_number(b"a"));
    }

    #[test]
    fn text_is_refused_and_shown_in_short() {
        assert_eq!(number(b" 1,5 "), Err(NoNumber::Text("1,5".into())));
        assert_eq!(number(b"a\nb"), Err(NoNumber::Text("a\nb".into())));
        assert_eq!(number(&[b'x'; 100]), Err(NoNumber::Text(format!("{}…", "x".repeat(40)))));
        assert_eq!(number(b"\xff"), Err(NoNumber::Encoding));
    }
}
