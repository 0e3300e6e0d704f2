//! Numbers on the command line, with errors that say what is expected.

#[cfg(feature = "explore")]
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use eigenspace::{Components, Error, Rank};

use crate::failure::Failure;

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

/// Parses a setting of the library. clap names the setting and the value, so the error says only
/// what is expected.
pub(crate) fn setting<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| match error {
        Error::UnknownWord { expected, .. } => format!("expected {expected}"),
        other => other.to_string(),
    })
}

/// Parses a setting of the library that is one of these words, which help and completions list.
pub(crate) fn one_of<T, const N: usize>(words: [&'static str; N]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| word.parse::<T>())
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

/// Largest number of pixels of an image; the library has the same limit for the images it reads.
const MAX_PIXELS: usize = 1 << 27;

/// `92x112`.
pub(crate) fn size(text: &str) -> anyhow::Result<(usize, usize)> {
    let parts: Option<(usize, usize)> =
        text.split_once(['x', 'X', '×']).and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match parts {
        Some((width, height)) if width.checked_mul(height).is_none_or(|pixels| pixels > MAX_PIXELS) => {
            Err(Failure::SizeLimit { width, height, limit: MAX_PIXELS as u64 }.into())
        }
        Some((width, height)) if width > 0 && height > 0 => Ok((width, height)),
        _ => Err(Failure::Size { text: text.into() }.into()),
    }
}

/// `100` or `all`.
pub(crate) fn rank(text: Option<&str>) -> anyhow::Result<Option<Rank>> {
    let wrong = |text: &str| Failure::Rank { text: text.into() };
    text.map(|text| text.parse().map_err(|_| wrong(text).into())).transpose()
}

/// `50`, `0.95` or `all`.
pub(crate) fn components(text: &str) -> anyhow::Result<Components> {
    text.parse().map_err(|_| Failure::Components { text: text.into() }.into())
}
