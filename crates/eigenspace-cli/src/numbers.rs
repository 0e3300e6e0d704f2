//! Numbers on the command line, with errors that say what is expected.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Parses a whole number.
pub(crate) fn whole_number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a whole number".into())
}

/// Parses one number of a list.
pub(crate) fn listed_number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected whole numbers, for example 1,2".into())
}

/// Parses a whole number of at least 1.
pub(crate) fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number of at least 1".into())
}

/// Parses a whole number in a range.
pub(crate) fn whole_number_in(text: &str, range: RangeInclusive<u16>) -> Result<u16, String> {
    let wrong = || format!("expected a whole number from {} to {}", range.start(), range.end());
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(wrong)
}

/// Parses a number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number".into())
}

pub(crate) fn threads(text: &str) -> Result<u16, String> {
    whole_number_in(text, 1..=1024)
}

pub(crate) fn decimal_mark(text: &str) -> Result<String, String> {
    if [",", "."].contains(&text) { Ok(text.into()) } else { Err("expected a comma or a point".into()) }
}
