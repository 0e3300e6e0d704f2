//! Tables of text, and numbers formatted for people.

use comfy_table::{CellAlignment, Table, presets};
use eigenspace::internal::printable;

/// A plain table: a line of headings, all cells aligned to the right.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headings.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell).into_owned()));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((0, 2));
    }
    trimmed(&table.to_string())
}

/// Lines of names on the left and values on the right.
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    facts.iter().map(|(name, value)| format!("{name:width$}  {}\n", printable(value))).collect()
}

fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A number with about six significant digits.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&size) {
        let digits = (5 - size.log10().floor() as i32).clamp(0, 8) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.4e}")
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// A share that may be very small.
pub(crate) fn share(value: f64) -> String {
    if value >= 0.1 { format!("{:.0} %", 100.0 * value) } else { format!("{value:.1e}") }
}

/// `a, b and c`.
pub(crate) fn list(words: &[String]) -> String {
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// A whole number with commas between groups of three digits.
pub(crate) fn count(value: u64) -> String {
    indicatif::HumanCount(value).to_string()
}

/// A whole number with its noun, which is in the singular for 1.
pub(crate) fn counted(value: u64, noun: &str) -> String {
    if value == 1 { format!("1 {noun}") } else { format!("{} {noun}s", count(value)) }
}
