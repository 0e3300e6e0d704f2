//! Errors of the library, grouped by their cause.
//!
//! Every variant contains numbers and names instead of prose, so that callers can use them;
//! [`Error::hint`] returns advice. Rows and columns are counted from 0, within the block that was
//! passed.

mod hint;

use std::fmt;

use crate::device_error::DeviceError;
use crate::printable::{grouped, printable};

/// Why a computation is impossible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // ---- the caller asked for something impossible ----
    /// Two models, accumulators or bases have different numbers of features.
    #[error("the numbers of features differ: {left} and {right}")]
    FeatureMismatch {
        /// Features of the model the method was called on.
        left: usize,
        /// Features of the argument.
        right: usize,
    },
    /// The rows, or a direction, have another number of columns than the model has features.
    #[error("the rows have {}, but the model has {}", counted(*found, "column"), counted(*expected, "feature"))]
    WidthMismatch {
        /// Features of the model.
        expected: usize,
        /// Columns of the rows.
        found: usize,
    },
    /// The scores have more columns than the model has directions.
    #[error("the scores have {}, but the model keeps {}", counted(*found, "column"), counted(*available, "direction"))]
    TooManyScores {
        /// Directions the model keeps.
        available: usize,
        /// Columns of the scores.
        found: usize,
    },
    /// The part has more rows, or more weight, than the whole.
    #[error("cannot split {} (weight {}) off a model of {} (weight {})", rows(*part), short(*part_weight), rows(*whole), short(*whole_weight))]
    SplitTooLarge {
        /// Rows in the whole.
        whole: u64,
        /// Rows in the part.
        part: u64,
        /// Weight of the whole.
        whole_weight: f64,
        /// Weight of the part.
        part_weight: f64,
    },
    /// Removing the part would leave a negative scatter, so its rows were never in the whole.
    #[error(
        "the model does not contain these rows: removing them would leave a negative sum of squares ({scatter:.1e}), which {} cannot explain",
        if *truncated { "rounding and dropped directions" } else { "rounding" }
    )]
    NotAPart {
        /// The most negative scatter found.
        scatter: f64,
        /// The lower limit that rounding and the two error bounds allow.
        allowed: f64,
        /// Whether directions of the whole or of the part were dropped.
        truncated: bool,
    },
    /// The total weight of the rows is too small for the limits of T² and Q.
    #[error("cannot compute the limit of T²: {}", too_little(*needed, *weight))]
    TooLittleWeight {
        /// Weight needed.
        needed: f64,
        /// Weight of the model.
        weight: f64,
    },
    /// The divisor of a variance (see [`WeightKind`](crate::WeightKind)) is not positive, or is only
    /// rounding error.
    #[error("cannot compute variances with ddof = {ddof}: the divisor is too small ({}, total weight {weight})", rows(*count))]
    Divisor {
        /// Degrees of freedom to subtract from the weight.
        ddof: f64,
        /// Weight of the model.
        weight: f64,
        /// Rows of the model.
        count: u64,
    },
    /// A feature has no value in any row, so its missing cells cannot be filled.
    #[error("cannot fill column {column}: it has no value in {}", any_of(*rows))]
    NeverObserved {
        /// The column, from 0.
        column: usize,
        /// Rows seen so far.
        rows: u64,
    },
    /// Too many features for a D x D scatter.
    #[error("cannot keep a scatter matrix of {features} x {features}: the limit is {limit} features")]
    ScatterTooLarge {
        /// Number of features.
        features: usize,
        /// Largest number of features.
        limit: usize,
    },
    /// Two models, or rows and a model, name their features differently.
    #[error(
        "the features differ: column {column} is `{left}` in one and `{right}` in the other",
        left = printable(left), right = printable(right)
    )]
    FeatureNamesDiffer {
        /// Column, from 0.
        column: usize,
        /// Its name in the model the method was called on.
        left: String,
        /// Its name in the argument.
        right: String,
    },
    /// Metadata with another number of names than the model has features.
    #[error("found {}, expected {features}: one for each feature", counted(*names, "feature name"))]
    NameCount {
        /// Names given.
        names: usize,
        /// Features of the model.
        features: usize,
    },
    /// Metadata with more labels than the model can have components.
    #[error(
        "found {}, but a model of {} has at most {}",
        counted(*labels, "component label"), counted(*features, "feature"), counted(*features, "component")
    )]
    LabelCount {
        /// Labels given.
        labels: usize,
        /// Features of the model.
        features: usize,
    },
    /// Metadata with an image that rows of this width cannot hold.
    #[error(
        "an image of {width} x {height} pixels with {} does not match the {} of the model",
        counted(*channels, "channel"), counted(*features, "feature")
    )]
    ImageShape {
        /// Pixels across.
        width: usize,
        /// Pixels down.
        height: usize,
        /// Values of each pixel.
        channels: usize,
        /// Features of the model.
        features: usize,
    },
    /// Metadata with an image whose values have an unknown number of bits.
    #[error("invalid image depth {depth}: expected 8 or 16 bits per value")]
    ImageDepth {
        /// Bits per value.
        depth: u8,
    },
    /// Metadata that is too large for a model file.
    #[error("the metadata has {} bytes; the limit is {}", grouped(bytes), grouped(limit))]
    MetadataTooLarge {
        /// Bytes needed.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// One model is centered and the other is not.
    #[error("one model is centered on the mean, and the other on the origin")]
    CenteringDiffers,
    /// Two accumulators have different options.
    #[error(
        "cannot merge the accumulators: they were made with different options: {option} is {left} in one and {right} in the other"
    )]
    OptionsDiffer {
        /// The first option that differs.
        option: &'static str,
        /// Its value in the accumulator the method was called on.
        left: String,
        /// Its value in the argument.
        right: String,
    },
    /// An option whose result depends on the order of all rows, which an accumulator does not know.
    #[error("cannot accumulate rows with {what}: the result would depend on the order of all rows")]
    OrderMatters {
        /// The option.
        what: &'static str,
    },
    /// An accumulator without rows has no model, because the number of features is unknown.
    #[error("cannot finish the accumulator: it has absorbed no rows")]
    NothingAbsorbed,
    /// The rows of a partition cannot be absorbed.
    #[error("partition `{name}`: {source}", name = printable(name))]
    Partition {
        /// The name of the partition.
        name: String,
        /// What is wrong with its rows, which are counted from 0 within the partition.
        source: Box<Self>,
    },
    /// Two partitions have different features.
    #[error("cannot merge partitions `{left}` and `{right}`: {source}", left = printable(left), right = printable(right))]
    Partitions {
        /// The name of the partition whose accumulator the method was called on.
        left: String,
        /// The name of the other partition.
        right: String,
        /// How their features differ.
        source: Box<Self>,
    },
    /// The rows of another pass are not those of the model.
    #[error("cannot refine the model: {}", other_rows(*expected, *found))]
    RefineOther {
        /// Rows of the model.
        expected: u64,
        /// Rows of the pass, as far as they were read.
        found: u64,
    },
    /// A model of rows whose missing cells were filled, which another pass would fill with other
    /// numbers.
    #[error("cannot refine the model: {}", filled(*cells))]
    RefineImputed {
        /// Cells that were filled.
        cells: u64,
    },
    /// An empty list of models.
    #[error("cannot merge an empty list of models")]
    NoModels,
    /// Zero columns.
    #[error("the rows have no columns")]
    NoFeatures,
    /// A share of variance outside (0, 1].
    #[error("invalid share of variance {value}: expected a number above 0 and at most 1")]
    InvalidShare {
        /// What was given.
        value: f64,
        /// Whether it belongs to a truncation rule; otherwise it is a number of components.
        rule: bool,
    },
    /// A relative tolerance outside [0, 1).
    #[error("invalid tolerance {value}: expected a number of at least 0 and below 1")]
    InvalidTolerance {
        /// What was given.
        value: f64,
    },
    /// A setting that cannot be parsed.
    #[error("invalid {what} `{text}`: expected {expected}", text = printable(text))]
    UnknownWord {
        /// The name of the setting.
        what: &'static str,
        /// The given text.
        text: String,
        /// The valid values.
        expected: &'static str,
    },
    /// A number of components, a rank or a block size of zero.
    #[error("invalid {what} 0: expected at least 1")]
    Zero {
        /// Which setting.
        what: &'static str,
    },
    /// The covariance has no inverse.
    #[error(
        "cannot invert the covariance: only {rank} of {} {} any variance",
        counted(*features, "direction"), if *rank == 1 || *features == 1 { "has" } else { "have" }
    )]
    Singular {
        /// Directions with variance.
        rank: usize,
        /// Features of the model.
        features: usize,
    },
    /// A scale that is not positive, or that makes values too large.
    #[error("column {column}: the scale is {value:e}, expected a positive number that keeps the values below 1e140")]
    InvalidScale {
        /// Column, from 0.
        column: usize,
        /// The scale.
        value: f64,
    },
    /// A confidence outside of [0.001, 0.999999999].
    #[error("invalid confidence {value:?}: expected a share from 0.001 to 0.999999999")]
    InvalidConfidence {
        /// What was given.
        value: f64,
    },
    /// The lengths of the three slices of sparse rows do not match, or the offsets decrease or do not
    /// begin with 0.
    #[error(
        "invalid sparse rows: the {} cannot divide {} and {} into rows",
        counted(*offsets, "offset"), if *indices == 1 { "1 index".into() } else { format!("{indices} indices") },
        counted(*values, "value")
    )]
    SparseSlices {
        /// Offsets given.
        offsets: usize,
        /// Indices given.
        indices: usize,
        /// Values given.
        values: usize,
    },
    /// A column index of sparse rows that is too large.
    #[error("row {row}: column {column} is out of range; the rows have {}", counted(*features, "column"))]
    SparseColumn {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// Columns of the rows.
        features: usize,
    },
    /// A missing cell in sparse rows.
    #[error("row {row}, column {column}: sparse rows cannot have missing cells; a cell that is not stored is zero")]
    SparseMissing {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
    },
    /// The number of weights is not the number of rows.
    #[error("cannot use {} for {}", counted(*weights, "weight"), counted(*rows, "row"))]
    WeightCount {
        /// Rows of the block.
        rows: usize,
        /// Weights given.
        weights: usize,
    },
    /// A weight that is negative or not finite.
    #[error("row {row}: the weight is {value:?}, expected a number from 0 to 1e140")]
    InvalidWeight {
        /// Row within the block, from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// A sum of weights that is too large, though no single weight is.
    #[error("the total weight would be {total:e}; the limit is {limit:e}")]
    TotalWeightTooLarge {
        /// The sum of all weights.
        total: f64,
        /// Largest sum accepted.
        limit: f64,
    },
    /// A model whose rows would be forgotten almost completely.
    #[error("cannot forget so much: the total weight would be {total:e}; the smallest possible is {limit:e}")]
    TotalWeightTooSmall {
        /// The weight that would be left.
        total: f64,
        /// Smallest weight left by forgetting.
        limit: f64,
    },
    /// A forgetting factor outside (0, 1].
    #[error("invalid forgetting factor {value}: expected a number above 0 and at most 1")]
    InvalidForgetting {
        /// What was given.
        value: f64,
    },
    /// A half-life that is not positive, or not finite.
    #[error("invalid half-life {value}: expected a number of rows above 0")]
    InvalidHalfLife {
        /// What was given.
        value: f64,
    },
    /// A direction of length zero.
    #[error("the direction has length 0")]
    ZeroDirection,
    /// More than 2^64 - 1 rows.
    #[error("the row count would exceed 2^64 - 1")]
    CountOverflow,
    /// An operation needs more memory than the caller allows.
    #[error("cannot {action} within {} bytes of memory: up to {} bytes are needed", grouped(allowed), grouped(needed))]
    MemoryBudget {
        /// What was to be done: `update the stream` or `read the stream`.
        action: &'static str,
        /// Upper bound on the bytes that it allocates.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// A GPU cannot be used, or failed. Nothing has changed.
    #[error(transparent)]
    Device(#[from] DeviceError),

    // ---- the data is unusable ----
    /// A value that is not a number, or infinite.
    #[error("row {row}, column {column}: the value is {value}, expected a finite number")]
    NonFinite {
        /// Row within the block, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A finite value whose square, summed over many rows, would not fit in a 64-bit float.
    #[error("row {row}, column {column}: the value {value:e} is too large; the limit is {limit:e}{}", of_weight(*limit))]
    TooLarge {
        /// Row within the block, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f64,
        /// Largest absolute value accepted: 1e140, or less in a row with a weight above 1.
        limit: f64,
    },
    /// A result that is too large for f32, the precision in which such rows are projected.
    #[error("row {row}, column {column} of the result is too large for 32-bit floats")]
    BeyondF32 {
        /// Row of the result, from 0.
        row: usize,
        /// Column of the result, from 0.
        column: usize,
    },
}

impl Error {
    /// The error for a setting that cannot be parsed.
    pub(crate) fn unknown_word(what: &'static str, text: &str, expected: &'static str) -> Self {
        Self::UnknownWord { what, text: text.into(), expected }
    }

    /// The same error for rows that start at row `first`.
    #[doc(hidden)]
    pub fn counted_from(mut self, first: usize) -> Self {
        if let Self::NonFinite { row, .. }
        | Self::TooLarge { row, .. }
        | Self::InvalidWeight { row, .. }
        | Self::SparseColumn { row, .. }
        | Self::SparseMissing { row, .. } = &mut self
        {
            *row = row.saturating_add(first);
        }
        self
    }

    /// The same error with the name of the partition, if it has a name.
    pub(crate) fn in_partition(self, name: Option<&str>) -> Self {
        match (self, name) {
            (error @ Self::MemoryBudget { .. }, _) | (error, None) => error,
            (error, Some(name)) => Self::Partition { name: name.to_owned(), source: Box::new(error) },
        }
    }

    /// The same error with the names of both partitions, if they have names.
    pub(crate) fn between_partitions(self, left: Option<&str>, right: Option<&str>) -> Self {
        match (left, right) {
            (Some(left), Some(right)) => {
                Self::Partitions { left: left.to_owned(), right: right.to_owned(), source: Box::new(self) }
            }
            _ => self,
        }
    }
}

/// Why limits cannot be computed; weights that are whole numbers count rows.
fn too_little(needed: f64, weight: f64) -> String {
    if weight.fract() == 0.0 {
        let needed = if needed == 1.0 { "1 row".into() } else { format!("{needed} rows") };
        format!("it needs more than {needed}, and the model has {weight}")
    } else {
        format!("it needs rows with a total weight above {needed}, and the model has {}", short(weight))
    }
}

/// Largest accepted magnitude of a cell: the sum of its square over 10^27 cells is still a finite
/// f64.
pub(crate) const LARGEST_MAGNITUDE: f64 = 1e140;

/// Why the limit of a value is lower than usual.
fn of_weight(limit: f64) -> &'static str {
    if limit < LARGEST_MAGNITUDE { " for a row of this weight" } else { "" }
}

/// How the rows of another pass differ from those of the model.
fn other_rows(expected: u64, found: u64) -> String {
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => format!("it has {}, but this pass has only {found}", rows(expected)),
        std::cmp::Ordering::Greater => format!("it has {}, but this pass has more", rows(expected)),
        std::cmp::Ordering::Equal => "the rows of this pass, or their weights, are not those of the model".into(),
    }
}

/// A weight, for a message.
fn short(weight: f64) -> String {
    if weight.fract() == 0.0 { weight.to_string() } else { format!("{weight:.3}") }
}

/// Any of this number of rows, after `in`.
fn any_of(rows: u64) -> String {
    if rows == 1 { "the only row".into() } else { format!("any of the {rows} rows") }
}

/// Missing cells that were filled.
fn filled(cells: u64) -> String {
    match cells {
        1 => "1 missing cell of its rows was filled with an estimate".into(),
        _ => format!("{cells} missing cells of its rows were filled with estimates"),
    }
}

/// A number of rows, for a message.
fn rows(count: u64) -> String {
    counted(count, "row")
}

/// A number with its noun, which is in the singular for 1.
pub(crate) fn counted<N: From<u8> + PartialEq + fmt::Display>(count: N, noun: &str) -> String {
    if count == N::from(1) { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
