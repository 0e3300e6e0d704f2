//! Errors: what is wrong, and what to do about it. They reach the caller inside of a
//! `DataFusionError::External`.

use std::fmt;

use datafusion::error::DataFusionError;

/// How errors of this crate are told apart from others.
pub(crate) const NAME: &str = "EigenspaceSqlError";

/// Why a function cannot compute its result.
pub struct Error {
    message: String,
    hint: Option<String>,
    /// What is wrong with a row, and the function that found it; its partition is not known yet.
    of_row: Option<(&'static str, String)>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, of_row: None }
    }

    /// An error about a row of a partition.
    pub(crate) fn of_row(function: &'static str, problem: &str) -> Self {
        let message = format!("{function}: {problem} (rows are counted from 0 within their group and partition)");
        Self { of_row: Some((function, problem.to_owned())), ..Self::new(message) }
    }

    /// The same error with the number of the partition; `None` if it is not about a row.
    pub(crate) fn in_partition(&self, partition: usize) -> Option<Self> {
        let (function, problem) = self.of_row.as_ref()?;
        let counted = "partitions are counted from 0, and rows within their group and partition";
        let message = format!("{function}: in partition {partition}, {problem} ({counted})");
        Some(Self { hint: self.hint.clone(), ..Self::new(message) })
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// An error of the library, with the name of the function.
    pub(crate) fn of(function: &str, error: &eigenspace::Error) -> Self {
        Self { hint: hint_of(error), ..Self::new(format!("{function}: {error}")) }
    }

    /// An error of the library about files or bytes, with the name of the function.
    pub(crate) fn of_bytes(function: &str, error: &eigenspace::io::Error) -> Self {
        Self { hint: error.hint(), ..Self::new(format!("{function}: {}", with_causes(error))) }
    }

    /// An error of the library about files.
    pub(crate) fn of_file(error: &eigenspace::io::Error) -> Self {
        Self { hint: error.hint(), ..Self::new(with_causes(error)) }
    }

    /// What is wrong, without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the user can do about it.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// This crate's error inside of an error of DataFusion.
    pub fn inside(error: &DataFusionError) -> Option<&Self> {
        let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(error) = next {
            if let Some(own) = error.downcast_ref() {
                return Some(own);
            }
            next = match error.downcast_ref() {
                Some(DataFusionError::External(inner)) => Some(&**inner as &(dyn std::error::Error + 'static)),
                _ => error.source(),
            };
        }
        None
    }
}

/// What to do about an error of the library in SQL, where fits have no option for missing cells.
pub(crate) fn hint_of(error: &eigenspace::Error) -> Option<String> {
    match error {
        eigenspace::Error::NonFinite { value, .. } if value.is_nan() => {
            Some("leave out such rows with WHERE or FILTER (WHERE NOT isnan(…)), or replace the NaN with nanvl".into())
        }
        eigenspace::Error::NonFinite { .. } => Some("leave out such rows with WHERE or FILTER".into()),
        other => other.hint(),
    }
}

/// An error and its causes, in one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| match cause.to_string() {
        // Some messages contain their cause.
        known if text.contains(&known) => text,
        cause => format!("{text}: {cause}"),
    })
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

/// Clusters send errors in this form; the name of the type tells them apart from others.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(NAME).field("message", &self.message).field("hint", &self.hint).finish()
    }
}

impl std::error::Error for Error {}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        Self::External(Box::new(error))
    }
}
