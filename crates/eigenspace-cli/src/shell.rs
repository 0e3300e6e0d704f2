//! Quotes names for a shell, so that suggested commands can be pasted.

use std::path::Path;

use eigenspace::internal::is_printable;

/// Quotes one word for a shell. A word with unprintable characters is written as `$'…'`, which
/// bash, zsh and ksh read.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    if text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let escaped = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if is_printable(c) => c.to_string(),
        c => c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
    };
    format!("$'{}'", text.chars().map(escaped).collect::<String>())
}

/// Quotes a file name so that it cannot be mistaken for an option.
pub(crate) fn file(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.starts_with('-') { word(&format!("./{text}")) } else { word(&text) }
}

/// An option and its value.
pub(crate) fn option(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { '=' } else { ' ' };
    format!("{name}{between}{}", word(value))
}

/// An option that takes a list, with one value that may contain commas.
pub(crate) fn list_option(name: &str, value: &str) -> String {
    lists_option(name, std::iter::once(value))
}

/// An option that takes a list, with several values that may contain commas.
pub(crate) fn lists_option<'a>(name: &str, values: impl Iterator<Item = &'a str>) -> String {
    let quoted = |value: &str| match value.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value.to_owned(),
    };
    option(name, &values.map(quoted).collect::<Vec<_>>().join(","))
}

/// The values of such a list: separated by commas, in double quotes if they contain commas, as in
/// CSV.
pub(crate) fn list(text: &str) -> Vec<String> {
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let values = reader.into_records().flatten();
    let values: Vec<String> = values.flat_map(|record| record.iter().map(str::to_owned).collect::<Vec<_>>()).collect();
    if values.is_empty() { vec![text.to_owned()] } else { values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_read_it_otherwise() {
        for plain in ["species", "x[0]", "größe", "a.b/c-d"] {
            assert_eq!(word(plain).trim_matches('\''), plain);
        }
        assert_eq!(word("a|b"), "'a|b'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
        assert_eq!(word("a\u{1b}[31m'\\\n\u{202e}"), r"$'a\x1b[31m\'\\\x0a\xe2\x80\xae'");
        assert_eq!(option("--label", "-x"), "--label=-x");
        assert_eq!(file(Path::new("-rf")), "./-rf");
    }

    #[test]
    fn a_list_takes_back_what_it_was_given() {
        assert_eq!(list("a,b,2-5"), ["a", "b", "2-5"]);
        assert_eq!(list("\"a,b\",5\" pipe"), ["a,b", "5\" pipe"]);
        assert_eq!(list(""), [""]);
        for name in ["a,b", "say \"yes\"", "a\nb", " x ", "\"", ","] {
            let given = format!("\"{}\"", name.replace('"', "\"\""));
            assert_eq!(list(&given), [name]);
        }
    }
}
