//! What else is wrong with a line of text that cannot be read, so that one message tells
//! everything. Only lines that cause errors come here.

use csv::{ByteRecord, ReaderBuilder, Terminator};

use crate::io::source::cell::Notation;

/// Delimiters that are tried if a line cannot be read with the chosen one.
const DELIMITERS: [u8; 5] = *b";\t|, ";
/// Number of lines after a line with text that are searched for text too.
const SEARCHED_LINES: usize = 100;

/// For each column, whether it has text in this line or in one of those that follow in `later`.
pub(super) fn text_columns(record: &ByteRecord, later: &[u8], delimiter: u8, notation: &Notation) -> Vec<bool> {
    let mut found: Vec<bool> = record.iter().map(|cell| !notation.is_number(cell)).collect();
    // The last line may be incomplete.
    let complete = later.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let records = split(&later[..complete], delimiter).take(SEARCHED_LINES);
    for record in records.filter(|later| later.len() == record.len()) {
        for (found, cell) in found.iter_mut().zip(record.iter()) {
            *found |= !notation.is_number(cell);
        }
    }
    found
}

/// Another delimiter that divides the first line and this one into the same number of cells, more
/// than now, of which some in this line are numbers. Text may contain spaces, so between spaces all
/// cells must be numbers.
pub(super) fn better_delimiter(
    delimiter: u8,
    names: &[String],
    record: &ByteRecord,
    notation: &Notation,
) -> Option<char> {
    let separator = [delimiter];
    let first = names.iter().map(String::as_bytes).collect::<Vec<_>>().join(&separator[..]);
    let line = record.iter().collect::<Vec<_>>().join(&separator[..]);
    let fits = |other: u8| {
        let (Some(first), Some(cells)) = (split(&first, other).next(), split(&line, other).next()) else {
            return false;
        };
        let is_number = |cell: &[u8]| {
            let comma = || String::from_utf8_lossy(cell).trim().replacen(',', ".", 1).parse::<f64>().is_ok();
            !cell.trim_ascii().is_empty() && (notation.is_number(cell) || (other != b',' && comma()))
        };
        let numbers = cells.iter().filter(|cell| is_number(cell)).count();
        let enough = if other == b' ' { cells.len() } else { 1 };
        first.len() > names.len() && first.len() == cells.len() && numbers >= enough
    };
    DELIMITERS.into_iter().find(|&other| other != delimiter && fits(other)).map(char::from)
}

/// The lines of a text, split into cells.
fn split(text: &[u8], delimiter: u8) -> impl Iterator<Item = ByteRecord> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).terminator(Terminator::Any(b'\n'));
    builder.from_reader(text).into_byte_records().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::source::ReadOptions;

    fn notation() -> Notation {
        Notation::new(&ReadOptions::default(), b'~').expect("a point")
    }

    fn better(delimiter: u8, first: &str, line: &str) -> Option<char> {
        let names: Vec<String> = first.split(char::from(delimiter)).map(str::to_owned).collect();
        let record = ByteRecord::from(line.split(char::from(delimiter)).collect::<Vec<_>>());
        better_delimiter(delimiter, &names, &record, &notation())
    }

    #[test]
    fn a_delimiter_is_suggested_only_if_both_lines_can_be_read_with_it() {
        for (first, line, expected) in [
            ("a;b;kind", "1;2;x", Some(';')),
            ("a;b", "1,5;2,5", Some(';')),
            ("a\tb", "1\t2", Some('\t')),
            ("a|b", "1|2", Some('|')),
            ("1 2 3", "4 5 6", Some(' ')),
            ("name", "red;green", None),
            ("a;b", "red;green", None),
            ("a,b", "1,red;green", None),
            ("first name", "Ada 3", None),
            ("a title; of a table", "1", None),
        ] {
            assert_eq!(better(b',', first, line), expected, "{first} / {line}");
        }
        assert_eq!(better(b';', "a,b", "1,2"), Some(','));
    }

    #[test]
    fn text_is_found_in_this_line_and_in_complete_later_ones() {
        let record = ByteRecord::from(vec!["x", "1", "", "2"]);
        let found = |later: &[u8]| text_columns(&record, later, b',', &notation());
        assert_eq!(found(b""), [true, false, false, false]);
        assert_eq!(found(b"1,2,y,3\nshort\n1,2,3,not comp"), [true, false, true, false]);
    }
}
