//! Rules for dropping directions, and the number of components to report.
//!
//! ```text
//! λ₁ ≥ … ≥ λ_r | λ_{r+1} ≥ …       lost = λ_{r+1}, the largest dropped squared singular value
//! ```
//!
//! Frequent Directions (Ghashami, Liberty, Phillips & Woodruff, *Frequent Directions: simple and
//! deterministic matrix sketching*, SIAM J. Comput. 45(5), 2016) also subtracts λ_{r+1} from every
//! kept λ. Each cut then decreases the trace by at least (r + 1) λ_{r+1}, so all cuts together lose
//! at most ‖A − A_k‖²_F / (r + 1 − k) along any direction, for any rows.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// Which directions an operation keeps.
///
/// Dropped directions are counted in the model's [certificate](crate::Certificate).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Truncation {
    /// Keep everything above rounding.
    #[default]
    None,
    /// Keep at most this many directions.
    Rank(usize),
    /// Keep the fewest directions with at least this share of the total variance, for example 0.99.
    Energy(f64),
    /// Drop directions whose singular value is below this share of the largest.
    Tolerance(f64),
    /// Keep at most this many directions and shrink them (Frequent Directions), which bounds the
    /// error for any rows.
    FrequentDirections(usize),
}

/// `none`, `rank:100`, `energy:0.99`, `tolerance:1e-6` or `fd:100`.
impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Rank(rank) => write!(f, "rank:{rank}"),
            Self::Energy(share) => write!(f, "energy:{share:?}"),
            Self::Tolerance(tolerance) => write!(f, "tolerance:{tolerance:?}"),
            Self::FrequentDirections(rank) => write!(f, "fd:{rank}"),
        }
    }
}

impl FromStr for Truncation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let words = "none, rank:N, energy:SHARE, tolerance:T or fd:N";
        let unknown = || Error::unknown_word("truncation rule", text, words);
        let whole = |number: &str| number.parse().map_err(|_| unknown());
        let real = |number: &str| number.parse().map_err(|_| unknown());
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            Some(("rank", rank)) => Ok(Self::Rank(whole(rank)?)),
            Some(("energy", share)) => Ok(Self::Energy(real(share)?)),
            Some(("tolerance", value)) => Ok(Self::Tolerance(real(value)?)),
            Some(("fd", rank)) => Ok(Self::FrequentDirections(whole(rank)?)),
            _ => Err(unknown()),
        }
    }
}

/// The result of a rule for a given spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cut {
    /// Number of directions to keep.
    pub(crate) keep: usize,
    /// The largest dropped squared singular value, or 0.
    pub(crate) lost: f64,
    /// The amount to subtract from every kept squared singular value.
    pub(crate) shrink: f64,
}

impl Cut {
    /// The factor for a row whose squared length is `value`.
    pub(crate) fn shrinkage(self, value: f64) -> f64 {
        if self.shrink > 0.0 { ((value - self.shrink).max(0.0) / value.max(f64::MIN_POSITIVE)).sqrt() } else { 1.0 }
    }
}

impl Truncation {
    /// Rejects invalid rules.
    pub(crate) fn check(self) -> Result<Self, Error> {
        match self {
            Self::Rank(0) | Self::FrequentDirections(0) => Err(Error::Zero { what: "rank" }),
            Self::Energy(value) => check_share(value, true).map(|()| self),
            Self::Tolerance(value) if !(0.0..1.0).contains(&value) => Err(Error::InvalidTolerance { value }),
            _ => Ok(self),
        }
    }

    /// Largest number of directions that the rule can keep.
    pub(crate) fn rank_limit(self) -> Rank {
        match self {
            Self::Rank(rank) | Self::FrequentDirections(rank) => rank.into(),
            _ => Rank::All,
        }
    }

    /// Applies the rule to non-increasing squared singular values. `total` is their sum, including
    /// everything dropped before. Keeps at most `limit` directions.
    pub(crate) fn cut(self, squared: &[f64], total: f64, limit: usize) -> Cut {
        let rule = match self {
            Self::None => squared.len(),
            Self::Rank(rank) | Self::FrequentDirections(rank) => rank,
            Self::Energy(share) => components_for(share, squared, total),
            Self::Tolerance(tolerance) => {
                let floor = squared.first().map_or(0.0, |first| tolerance * tolerance * first);
                squared.iter().take_while(|&&value| value >= floor).count()
            }
        };
        let keep = rule.min(limit).min(squared.len());
        let lost = squared.get(keep).map_or(0.0, |value| value.max(0.0));
        let shrink = if matches!(self, Self::FrequentDirections(_)) { lost } else { 0.0 };
        Cut { keep, lost, shrink }
    }
}

/// Largest number of directions to keep.
///
/// ```
/// use eigenspace::Rank;
///
/// assert_eq!("all".parse::<Rank>()?, Rank::All);
/// assert_eq!("100".parse::<Rank>()?, Rank::from(100));
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rank {
    /// Every direction above rounding.
    All,
    /// At most this many.
    AtMost(usize),
}

impl From<usize> for Rank {
    fn from(rank: usize) -> Self {
        Self::AtMost(rank)
    }
}

/// `all` or `100`.
impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::AtMost(rank) => write!(f, "{rank}"),
        }
    }
}

impl FromStr for Rank {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = |_| Error::unknown_word("rank", text, "`all` or a number such as `100`");
        if text == "all" { Ok(Self::All) } else { text.parse::<usize>().map(Self::from).map_err(unknown) }
    }
}

impl Rank {
    /// The number of directions to keep of so many.
    pub(crate) fn of(self, directions: usize) -> usize {
        match self {
            Self::All => directions,
            Self::AtMost(rank) => rank.min(directions),
        }
    }

    /// The stricter of two limits.
    pub(crate) fn min(self, other: Self) -> Self {
        match (self, other) {
            (Self::AtMost(one), Self::AtMost(two)) => Self::AtMost(one.min(two)),
            (Self::All, limit) | (limit, Self::All) => limit,
        }
    }

    /// The number; `None` for all.
    pub(crate) fn number(self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::AtMost(rank) => Some(rank),
        }
    }
}

/// How many components a model reports: a number, a share of the variance, or all directions that
/// it keeps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Components {
    /// Every direction the model keeps.
    #[default]
    All,
    /// This many, or all if there are fewer.
    Number(usize),
    /// The fewest with at least this share of the total variance.
    Share(f64),
}

impl From<usize> for Components {
    fn from(number: usize) -> Self {
        Self::Number(number)
    }
}

impl From<f64> for Components {
    fn from(share: f64) -> Self {
        Self::Share(share)
    }
}

/// `50`, `0.95` or `all`.
impl fmt::Display for Components {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Number(number) => write!(f, "{number}"),
            // With a decimal point, so that 1.0 is not one component.
            Self::Share(share) => write!(f, "{share:?}"),
        }
    }
}

impl FromStr for Components {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = match text {
            "all" => Some(Self::All),
            share if share.contains(['.', 'e']) => share.parse().ok().map(Self::Share),
            number => number.parse().ok().map(Self::Number),
        };
        found.ok_or_else(|| {
            Error::unknown_word("number of components", text, "a number, a share such as `0.95` or `all`")
        })
    }
}

impl Components {
    pub(crate) fn check(self) -> Result<Self, Error> {
        match self {
            Self::Number(0) => Err(Error::Zero { what: "number of components" }),
            Self::Share(value) => check_share(value, false).map(|()| self),
            _ => Ok(self),
        }
    }

    /// The number of components to report.
    pub(crate) fn resolve(self, squared: &[f64], total: f64) -> usize {
        match self {
            Self::All => squared.len(),
            Self::Number(number) => number.min(squared.len()),
            Self::Share(share) => components_for(share, squared, total),
        }
    }
}

/// Rejects a share outside (0, 1], of a truncation rule or of the components to report.
fn check_share(value: f64, rule: bool) -> Result<(), Error> {
    if value > 0.0 && value <= 1.0 { Ok(()) } else { Err(Error::InvalidShare { value, rule }) }
}

/// The smallest number of leading values whose sum is at least this share of the total, up to
/// rounding.
fn components_for(share: f64, squared: &[f64], total: f64) -> usize {
    let goal = share * total * (1.0 - 4.0 * f64::EPSILON);
    let mut sum = 0.0;
    for (index, value) in squared.iter().enumerate() {
        sum += value;
        if sum >= goal {
            return index + 1;
        }
    }
    squared.len()
}
