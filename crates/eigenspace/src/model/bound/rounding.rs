//! The rounding of a decomposition, before it is added to a bound.

/// The rounding of a decomposition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rounding {
    /// η: the error of each column of a factor, relative to its length.
    columns: f64,
    /// Number of rows that were rotated.
    rows: usize,
    /// μ: the error of a factor as a whole, relative to s₁, as an error of the directions has it.
    mixed: f64,
    /// The part of μ in a column, relative to μ and to the length of the column, is at most this.
    spread: f64,
    /// An error of the scatter relative to the features: at most this share of diag(q).
    features: f64,
    /// ε: an error of the scatter as a whole.
    whole: f64,
}

impl Rounding {
    /// Rounding of the scatter as a whole.
    pub(crate) fn whole(whole: f64) -> Self {
        Self { columns: 0.0, rows: 0, mixed: 0.0, spread: 0.0, features: 0.0, whole }
    }

    /// Rounding of each column of a factor by a rotation of this number of rows.
    pub(crate) fn of_columns(columns: f64, rows: usize) -> Self {
        Self { columns, rows, ..Self::whole(0.0) }
    }

    /// The same with this error of the scatter as a whole instead.
    pub(crate) fn with_whole_error(self, whole: f64) -> Self {
        Self { whole, ..self }
    }

    /// The same with this error of the scatter relative to the features instead.
    pub(crate) fn with_feature_error(self, features: f64) -> Self {
        Self { features, ..self }
    }

    /// The same with a larger error of the scatter as a whole.
    pub(crate) fn plus_whole_error(self, whole: f64) -> Self {
        Self { whole: self.whole + whole, ..self }
    }

    /// The same with a larger error of each column.
    pub(crate) fn plus_column_error(self, columns: f64) -> Self {
        Self { columns: self.columns + columns, ..self }
    }

    /// The same with a relative error μ of the factor as a whole, of which columns get up to this
    /// much relative to their lengths.
    pub(crate) fn with_mixed_rows(self, mixed: f64, spread: f64) -> Self {
        Self { mixed, spread, ..self }
    }

    /// The same for columns that are longer by this factor.
    pub(crate) fn for_longer_columns(self, factor: f64) -> Self {
        Self { columns: self.columns * factor, ..self }
    }

    /// η: the error of each column of a factor, relative to its length.
    pub(crate) fn column_error(self) -> f64 {
        self.columns
    }

    /// μ: the error of a factor as a whole, relative to s₁.
    pub(crate) fn mixing_error(self) -> f64 {
        self.mixed
    }

    /// The largest part of μ in a column, relative to the length of the column.
    pub(crate) fn mixing_error_of_columns(self) -> f64 {
        self.mixed * self.spread
    }

    /// Number of rows that were rotated.
    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    /// The error of the scatter relative to the features.
    pub(crate) fn feature_error(self) -> f64 {
        self.features
    }

    /// ε: the error of the scatter as a whole.
    pub(crate) fn whole_error(self) -> f64 {
        self.whole
    }
}
