//! Policies for missing cells: `refuse`, `skip` or `impute`.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// What a stream does with missing cells (NaN).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Missing {
    /// Reject the block with an error that names the cell.
    #[default]
    Refuse,
    /// Leave out every row that has a missing cell.
    Skip,
    /// Fill the cell with the model's conditional estimate. A row without any value is left out.
    Impute,
}

/// `refuse`, `skip` or `impute`.
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refuse => "refuse",
            Self::Skip => "skip",
            Self::Impute => "impute",
        })
    }
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "refuse" => Ok(Self::Refuse),
            "skip" => Ok(Self::Skip),
            "impute" => Ok(Self::Impute),
            _ => Err(Error::unknown_word("policy for missing cells", text, "`refuse`, `skip` or `impute`")),
        }
    }
}
