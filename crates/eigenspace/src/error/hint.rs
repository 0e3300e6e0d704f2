//! What the user can do about an error.

use super::{Error, counted};
use crate::error::LARGEST_MAGNITUDE;

/// Which rows can be split off.
const SPLIT: &str = "split off only rows that were added before, with the same preprocessing and weights";

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::FeatureMismatch { .. } => "merge, split and compare only models, accumulators or subspaces of the same columns".into(),
            Self::WidthMismatch { expected, .. } => match expected {
                1 => "pass rows with exactly 1 column".into(),
                _ => format!("pass rows with exactly {expected} columns, in the order used for fitting"),
            },
            Self::TooManyScores { available, .. } => format!("pass at most {} per row", counted(*available, "score")),
            Self::SplitTooLarge { whole, part, whole_weight, .. } if part <= whole && *whole_weight < *whole as f64 => {
                format!("{SPLIT}; with forgetting, old rows have less weight and cannot be split off")
            }
            Self::SplitTooLarge { .. } => "remove only rows that were added before; in a split, the whole comes first and the part second".into(),
            Self::NotAPart { truncated: true, .. } => format!("{SPLIT}; if they were, fit both models again and keep more directions"),
            Self::NotAPart { .. } => SPLIT.into(),
            Self::Divisor { count, weight, .. } if *weight < *count as f64 => {
                "use more rows, or ddof = 0; if the weights do not count repeated rows, fit with the weight kind reliability"
                    .into()
            }
            Self::Divisor { .. } => "use more rows, or ddof = 0".into(),
            Self::TooLittleWeight { .. } => "use more rows, forget more slowly, or report fewer components".into(),
            Self::RefineOther { .. } => {
                "pass the rows that the model was fitted to, with the same weights and without forgetting, in any order".into()
            }
            Self::RefineImputed { .. } => "fill the missing cells before fitting, or leave out their rows".into(),
            Self::NeverObserved { .. } => "leave out the column, or add rows that have a value in it before you read the model".into(),
            Self::ScatterTooLarge { .. } => "use the factor engine, or let the library choose".into(),
            Self::InvalidScale { .. } => "use a scale of 1 to leave a column unchanged".into(),
            Self::InvalidConfidence { .. } => "try 0.99: if the rows are normally distributed, one in a hundred exceeds each limit".into(),
            Self::SparseSlices { .. } => "pass one index for each value, and offsets that start with 0, never decrease, and end with the number of values".into(),
            Self::SparseColumn { features: 0, .. } => "pass rows with at least one column".into(),
            Self::SparseColumn { features: 1, .. } => "use only the column index 0".into(),
            Self::SparseColumn { features, .. } => format!("use column indices from 0 to {}", features - 1),
            Self::SparseMissing { .. } => "pass dense rows, whose missing cells can be skipped or filled".into(),
            Self::WeightCount { .. } => "pass exactly one weight for each row".into(),
            Self::InvalidWeight { .. } => "use a weight of 0 to leave the row out".into(),
            Self::TotalWeightTooLarge { .. } => "divide all weights by the same constant, for example the largest weight; forgetting scales the weight of a model".into(),
            Self::TotalWeightTooSmall { .. } => "use a larger factor, or start with an empty model, which has forgotten everything".into(),
            Self::InvalidForgetting { .. } => "try 0.99, which remembers roughly the last 100 rows if it is applied at each row; 1 forgets nothing".into(),
            Self::InvalidHalfLife { .. } => "try 100, which halves the weight of a row after 100 later rows".into(),
            Self::FeatureNamesDiffer { .. } => "reorder or select the columns so that both are the same".into(),
            Self::NameCount { features, .. } => format!("pass {}, or none", counted(*features, "name")),
            Self::LabelCount { .. } => "pass at most one label for each component".into(),
            Self::ImageShape { features, .. } => format!("choose a shape with width x height x channels = {features}"),
            Self::ImageDepth { .. } => "use 8 for values up to 255, and 16 for values up to 65535".into(),
            Self::MetadataTooLarge { .. } => "shorten or leave out feature names, component labels or values".into(),
            Self::CenteringDiffers => "fit both models with centering, or both without".into(),
            Self::OptionsDiffer { .. } => "make all accumulators with the same options".into(),
            Self::OrderMatters { .. } => "leave the option out, or use a stream, which absorbs the rows in one order".into(),
            Self::NothingAbsorbed => "absorb at least one row, or merge an accumulator that has rows".into(),
            Self::Partition { source, .. } => match **source {
                Self::NonFinite { row, column, value } if value.is_nan() => {
                    format!("drop row {row}, leave out column {column}, replace the value, or skip rows with missing cells")
                }
                ref source => return source.hint(),
            },
            Self::Partitions { source, .. } => return source.hint(),
            Self::NoModels => "pass at least one model".into(),
            Self::NoFeatures => "pass rows with at least one column".into(),
            Self::InvalidShare { value, rule: true } => {
                let rank = if value.fract() == 0.0 && *value >= 1.0 && *value < 1e9 { *value } else { 100.0 };
                format!("use a share between 0 and 1, for example 0.99; to keep a number of directions, use the rule rank:{rank}")
            }
            Self::InvalidShare { .. } => "use a share between 0 and 1, for example 0.95; for a number of components, use a whole number".into(),
            Self::InvalidTolerance { .. } => "try 1e-6, which drops directions whose singular value is below a millionth of the largest".into(),
            Self::Singular { rank: 0 | 1, .. } => "use more rows that vary in more directions".into(),
            Self::Singular { rank, .. } => format!("report fewer than {rank} components, so that some noise variance remains, or use more rows"),
            Self::NonFinite { row, column, value } if value.is_nan() => format!("drop row {row}, leave out column {column}, or replace the value; a fit can also skip rows with missing cells, or impute them"),
            Self::NonFinite { row, column, .. } => format!("drop row {row}, leave out column {column}, or replace the value"),
            Self::TooLarge { column, limit, .. } if *limit < LARGEST_MAGNITUDE => {
                format!("divide all weights by the same constant, or divide column {column} by a constant")
            }
            Self::TooLarge { column, .. } => format!("divide column {column} by a constant, for example its largest absolute value"),
            Self::BeyondF32 { .. } => "pass the rows as 64-bit floats".into(),
            Self::Zero { .. } => "use 1 or more, or leave out the setting to use its default".into(),
            Self::UnknownWord { what: "truncation rule", .. } => "use, for example, rank:100, energy:0.99, tolerance:1e-6 or fd:100".into(),
            Self::UnknownWord { what: "forgetting rule", .. } => "use, for example, half-life:500".into(),
            Self::UnknownWord { .. } => "check the spelling".into(),
            Self::MemoryBudget { .. } => "allow more memory, pass fewer rows at a time, or keep fewer directions".into(),
            Self::Device(error) => error.hint(),
            Self::ZeroDirection => "pass a direction with an entry that is not 0".into(),
            Self::CountOverflow => return None,
        };
        Some(text)
    }
}
