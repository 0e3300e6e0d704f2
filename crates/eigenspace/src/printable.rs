//! Text from outside, made safe to print.
//!
//! Names of columns, arrays, people and files come from whoever wrote the file. On a terminal some
//! of their characters are commands: an escape sequence moves the cursor, sets the title or hides
//! text, a bidirectional override reverses what follows, a newline forges another line of output.
//! [`printable`] shows such characters as escapes:
//!
//! | characters | shown as |
//! |---|---|
//! | newline, tab, carriage return | `\n`, `\t`, `\r` |
//! | other control characters, C1 and DEL included | `\u001b` |
//! | bidirectional marks, overrides and isolates, line separators | `\u202e` |
//! | invisible format characters, such as a byte order mark inside of a name | `\ufeff` |
//!
//! These are the escapes of JSON, so a JSON text that went through [`printable`] line by line is
//! still the same JSON. A backslash stays as it is; that keeps paths readable, and text that was
//! escaped before does not change again. Joiners (U+200C, U+200D) stay too: several scripts and
//! most emoji need them.
//!
//! Every error of this library shows names this way. Fields of errors hold them as they are.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Whether a terminal shows this character instead of acting on it, or hiding it.
pub fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{61c}' // Arabic letter mark
            | '\u{180e}' // Mongolian vowel separator
            | '\u{200b}' // zero-width space
            | '\u{200e}' | '\u{200f}' // left-to-right and right-to-left marks
            | '\u{2028}'..='\u{202e}' // line and paragraph separators, bidirectional embeddings and overrides
            | '\u{2060}'..='\u{206f}' // invisible operators, bidirectional isolates
            | '\u{feff}' // byte order mark
            | '\u{fff9}'..='\u{fffb}' // interlinear annotations
            | '\u{e0000}'..='\u{e007f}' // tags
        )
}

/// The same text on one line, with everything that is not [printable](is_printable) as an escape.
///
/// ```
/// assert_eq!(eigenspace::internal::printable("weight"), "weight");
/// assert_eq!(eigenspace::internal::printable("a\u{1b}[2Jb\nc"), r"a\u001b[2Jb\nc");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            character if is_printable(character) => out.push(character),
            character => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    // Writing to a string never fails.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(out)
}

/// A path, [printable].
pub(crate) fn printable_path(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// A whole number with commas between groups of three digits.
pub(crate) fn grouped(number: impl ToString) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b","[..])).into_owned()
}

/// The first names of a list that may be long, made safe to print.
pub(crate) fn first_names(names: &[String]) -> String {
    let shown = names.iter().take(20).map(|name| format!("`{}`", printable(name))).collect::<Vec<_>>().join(", ");
    if names.len() > 20 { format!("{shown} and {} more", names.len() - 20) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_escaped() {
        assert_eq!(printable("\u{1b}]0;title\u{7}\u{7f}"), r"\u001b]0;title\u0007\u007f");
        assert_eq!(printable("c1 \u{9b}31m"), r"c1 \u009b31m");
        assert_eq!(printable("a\r\nb\tc"), r"a\r\nb\tc");
        assert_eq!(printable("\u{202e}gpj\u{2066}\u{200f}"), r"\u202egpj\u2066\u200f");
        assert_eq!(printable("\u{feff}id\u{e0041}"), r"\ufeffid\udb40\udc41");
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!([0_u64, 999, 1000, 10304, 134_217_728].map(grouped), ["0", "999", "1,000", "10,304", "134,217,728"]);
    }

    #[test]
    fn every_script_stays_as_it_is() {
        for text in ["", "größe", "数字", "שם", "اسم", "नाम", "👩\u{200d}👧", r"C:\data\n", "it's `a` \"b\""]
        {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn escaping_twice_changes_nothing() {
        let once = printable("a\\\u{1b}\n\u{202e}").into_owned();
        assert_eq!(printable(&once), once);
    }
}
