//! The only module that prints: results go to stdout, messages to stderr. Control characters are
//! escaped, so that text from a file cannot control the terminal.

use std::io::{self, Write};
use std::process::ExitCode;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::util::display::FormatOptions;
use datafusion::arrow::util::pretty::pretty_format_batches_with_options;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use eigenspace::internal::printable;
use eigenspace_sql::with_causes;

/// Lists and structs are cut off after this many characters.
const LONGEST: usize = 100;

/// Why the command failed, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    /// The error of DataFusion, which a cluster can explain.
    #[cfg_attr(not(feature = "cluster"), allow(dead_code, reason = "only clusters explain it"))]
    cause: Option<Box<DataFusionError>>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, cause: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn io(action: &str, error: &io::Error) -> Self {
        Self::new(format!("cannot {action}: {error}"))
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn is_lost_executor(&self, cluster: &eigenspace_sql::cluster::Cluster) -> bool {
        self.cause.as_ref().is_some_and(|cause| cluster.lost_executor(cause))
    }

    /// The same failure, if it comes from a cluster as the cluster explains it.
    #[cfg(feature = "cluster")]
    pub(crate) async fn explained_by(mut self, cluster: &eigenspace_sql::cluster::Cluster) -> Self {
        match self.cause.take() {
            Some(cause) => cluster.cause(*cause).await.into(),
            None => self,
        }
    }

    pub(crate) fn library(error: &eigenspace::io::Error) -> Self {
        Self { message: with_causes(error), hint: error.hint(), cause: None }
    }
}

impl From<eigenspace_sql::Error> for Failure {
    fn from(error: eigenspace_sql::Error) -> Self {
        Self { message: error.message().to_owned(), hint: error.advice().map(str::to_owned), cause: None }
    }
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Self {
        let failure = match eigenspace_sql::Error::inside(&error) {
            Some(own) => Self { message: own.message().to_owned(), hint: own.advice().map(str::to_owned), cause: None },
            None => match error.find_root() {
                DataFusionError::SQL(parser, _) => Self::new(format!("invalid query: {}", words_of(parser))),
                DataFusionError::Plan(text) if text.starts_with("table '") => {
                    Self::new(text).hint("put the name of a file in quotes: FROM 'data.parquet'")
                }
                DataFusionError::Plan(text) => Self::new(text),
                DataFusionError::ArrowError(error, _) if error.to_string().contains("declared as non-nullable") => {
                    Self::new(error.to_string()).hint(
                        "all files of a pattern or a directory must have the columns of the query; name those that do",
                    )
                }
                other => Self::new(other.strip_backtrace()),
            },
        };
        Self { cause: Some(Box::new(error)), ..failure }
    }
}

/// What the parser expected.
fn words_of(error: &ParserError) -> String {
    match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.clone(),
        ParserError::RecursionLimitExceeded => "it is nested too deeply".into(),
    }
}

/// Escapes control characters other than newlines.
fn printable_lines(text: &str) -> String {
    text.replace('\t', "  ").split('\n').map(|line| printable(line)).collect::<Vec<_>>().join("\n")
}

/// Prints a result on stdout.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let text = printable_lines(text);
    match writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()) {
        // The reader has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::io("write to stdout", &error)),
    }
}

/// Prints a message on stderr.
pub(crate) fn message(text: &str) {
    // There is no place to report a failure to print.
    let _ = writeln!(io::stderr().lock(), "{}", printable_lines(text));
}

pub(crate) fn report(failure: &Failure) {
    message(&format!("error: {}", failure.message));
    if let Some(hint) = &failure.hint {
        message(&format!("hint: {hint}"));
    }
}

pub(crate) fn finish(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report(&failure);
            ExitCode::FAILURE
        }
    }
}

/// Prints a table.
pub(crate) fn table(schema: SchemaRef, batches: &[RecordBatch]) -> Result<(), Failure> {
    let empty = [RecordBatch::new_empty(schema)];
    let batches = if batches.is_empty() { &empty } else { batches };
    let shown: Vec<_> =
        batches.iter().map(|batch| eigenspace_sql::readable(batch, Some(LONGEST))).collect::<Result<_, _>>()?;
    let options = FormatOptions::default().with_null("NULL");
    let text = pretty_format_batches_with_options(&shown, &options).map_err(DataFusionError::from)?;
    data(&text.to_string())
}
