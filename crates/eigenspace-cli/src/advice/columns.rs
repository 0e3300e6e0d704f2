//! Columns in hints: which delimiter a header has, and how to leave a column out.

use std::path::Path;

use eigenspace::io::source::Format;

/// The hint for a header that was read as one column, because the cells have another delimiter.
/// With that delimiter, the header has the wanted column.
pub(crate) fn single_column(names: &[String], wanted: &str) -> Option<String> {
    let mark = unread_delimiter(names, wanted)?;
    Some(format!("use --delimiter {}: the header was read as a single column", quoted(mark)))
}

/// The delimiter of a header that was read as one column, if with it the header has the wanted
/// column.
pub(super) fn unread_delimiter(names: &[String], wanted: &str) -> Option<char> {
    let [name] = names else { return None };
    let has_wanted = |mark: char| {
        let cells = || name.split(mark).map(|cell| cell.trim().trim_matches('"'));
        cells().any(|cell| cell == wanted) || wanted.parse::<usize>().is_ok_and(|number| number < cells().count())
    };
    [';', '\t', '|', ','].into_iter().find(|&mark| name.contains(mark) && has_wanted(mark))
}

/// What leaves a column of a file out: its name, its number, or the name of the list that it is in.
pub(crate) fn excludable<'a>(column: &'a str, file: &Path) -> &'a str {
    let name = name_of(column);
    let has_lists = matches!(Format::of(file), Some(Format::Parquet | Format::Arrow));
    let list = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    match list {
        Some((list, place)) if has_lists && place.parse::<usize>().is_ok() => list,
        _ => name,
    }
}

/// The name or the number of a column, without the backticks around a name.
pub(super) fn name_of(column: &str) -> &str {
    column.strip_prefix('`').and_then(|name| name.strip_suffix('`')).unwrap_or(column)
}

/// A delimiter as a value of its option.
pub(super) fn quoted(mark: char) -> String {
    if mark == '\t' { "tab".into() } else { format!("'{mark}'") }
}
