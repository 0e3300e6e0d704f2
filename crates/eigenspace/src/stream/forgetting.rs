//! Forgetting: the weight of a row decreases with its age.
//!
//! ```text
//! weight of a row = f^age        age in rows, or in blocks
//! ```
//!
//! Before newer rows are added, s ← √f s, w ← f w and q ← f q, and the bounds are scaled by f.
//! Scatter and weight are scaled by the same factor, so variances do not change. The model equals
//! batch PCA of all rows with weights f^age.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// How quickly a stream forgets old rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Forgetting {
    /// All rows keep their weight.
    #[default]
    Never,
    /// Each new row multiplies the weight of all earlier rows by this factor.
    PerRow(f64),
    /// Each new block multiplies the weight of all earlier rows by this factor. Only with this rule
    /// does the result depend on how the rows are divided into blocks. A block without any usable
    /// row does not count.
    PerBlock(f64),
    /// The weight of a row is halved after this many rows.
    HalfLife(f64),
}

/// `never`, `0.99` (for each row), `block:0.9` or `half-life:500`.
impl fmt::Display for Forgetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::PerRow(factor) => write!(f, "{factor:?}"),
            Self::PerBlock(factor) => write!(f, "block:{factor:?}"),
            Self::HalfLife(rows) => write!(f, "half-life:{rows:?}"),
        }
    }
}

impl FromStr for Forgetting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let words = "`never`, `0.99` (for each row), `block:0.9` or `half-life:500`";
        let unknown = || Error::unknown_word("forgetting rule", text, words);
        let number = |number: &str| number.parse().map_err(|_| unknown());
        match text.split_once(':') {
            None if text == "never" => Ok(Self::Never),
            None => Ok(Self::PerRow(number(text)?)),
            Some(("block", factor)) => Ok(Self::PerBlock(number(factor)?)),
            Some(("half-life", rows)) => Ok(Self::HalfLife(number(rows)?)),
            _ => Err(unknown()),
        }
    }
}

impl Forgetting {
    pub(crate) fn check(self) -> Result<Self, Error> {
        match self {
            Self::PerRow(value) | Self::PerBlock(value) if !(value > 0.0 && value <= 1.0) => {
                Err(Error::InvalidForgetting { value })
            }
            Self::HalfLife(value) if !(value > 0.0 && value.is_finite()) => Err(Error::InvalidHalfLife { value }),
            _ => Ok(self),
        }
    }

    /// f^age.
    pub(crate) fn weight(self, age: u64) -> f64 {
        match self {
            Self::Never => 1.0,
            Self::PerRow(factor) | Self::PerBlock(factor) => factor.powf(age as f64),
            Self::HalfLife(rows) => (-(age as f64) / rows).exp2(),
        }
    }

    /// Whether age is counted in rows, not in blocks.
    fn by_row(self) -> bool {
        matches!(self, Self::PerRow(_) | Self::HalfLife(_))
    }

    /// The clock when an update begins that comes after this time.
    pub(crate) fn at_update(self, clock: u64) -> u64 {
        if self.by_row() { clock } else { clock + 1 }
    }

    /// The clock after so many rows of an update.
    pub(crate) fn after_rows(self, clock: u64, rows: usize) -> u64 {
        if self.by_row() { clock + rows as u64 } else { clock }
    }

    /// The arrival times of the next rows of an update.
    pub(crate) fn times(self, clock: u64) -> impl Fn(usize) -> u64 {
        move |row| self.after_rows(clock, row + 1)
    }
}
