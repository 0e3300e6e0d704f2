//! Numbers on the command line, with errors that say what is expected.

#[cfg(feature = "explore")]
use std::net::IpAddr;
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

/// Parses a setting of the library. Its error names the setting and the value, as clap does; only
/// the rest is used.
pub(crate) fn setting<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| {
        let words = error.to_string();
        words.rfind("expected").map_or_else(|| words.clone(), |start| words[start..].to_owned())
    })
}

/// Parses a port; 0 stands for a free one.
#[cfg(feature = "explore")]
pub(crate) fn port(text: &str) -> Result<u16, String> {
    whole_number_in(text, 0..=u16::MAX)
}

#[cfg(feature = "explore")]
pub(crate) fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "expected the IP address of this machine, for example 192.168.1.5 or ::1".into())
}

pub(crate) fn decimal_mark(text: &str) -> Result<String, String> {
    if [",", "."].contains(&text) { Ok(text.into()) } else { Err("expected a comma or a point".into()) }
}
