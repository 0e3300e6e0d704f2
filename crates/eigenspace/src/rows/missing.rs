//! What happens to missing cells: `refuse`, `skip` or `impute`.

use std::str::FromStr;

use crate::error::Error;

/// What a stream does with cells that are not a number (NaN).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// Refuse the block, naming the cell.
    #[default]
    Refuse,
    /// Leave out every row that has one.
    Skip,
    /// Fill it with the model's conditional estimate. A row without any cell is left out.
    Impute,
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "refuse" => Ok(Self::Refuse),
            "skip" => Ok(Self::Skip),
            "impute" => Ok(Self::Impute),
            _ => Err(Error::unknown_word("policy for missing cells", text, "`refuse`, `skip`, `impute`")),
        }
    }
}
