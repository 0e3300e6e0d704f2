//! `eigenspace reconstruct`: from scores back to rows.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use eigenspace::Missing;
use eigenspace::internal::CsvSink;
use eigenspace::io::Error;
use eigenspace::io::sink::{self, RowSink};
use eigenspace::io::source::{Columns, SourceError};

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::opened::Opened;
use crate::options::{Compute, Input};
use crate::{destination, numbers, output, rows, table};

/// Prefixes of the names of scores: plain and whitened.
const SCORES: [&str; 2] = ["PC", "W"];
/// The columns that `project --distances` adds.
const DISTANCES: [&str; 2] = ["T2", "Q"];

/// Reconstruct rows from their scores.
#[derive(Args)]
#[command(mut_arg("weights", |argument| argument.hide(true)))]
pub(crate) struct Reconstruct {
    /// Model file.
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Scores, as written by `eigenspace project`.
    #[arg(required = true, value_name = "SCORES", value_hint = ValueHint::FilePath)]
    scores: Vec<PathBuf>,

    /// File to write: .npy, .csv, .tsv or .parquet. By default, text goes to standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Number of scores of each row; by default, the number of columns of scores in the file.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Reconstruct from whitened scores, as written by `project --whiten`. This is the default if
    /// their columns are named W1, W2, …
    #[arg(long)]
    whiten: bool,

    #[command(flatten)]
    compute: Compute,

    #[command(flatten)]
    input: Input,
}

impl Reconstruct {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let components = self.components.as_deref().map(numbers::components).transpose()?;
        let opened = Opened::load_before(&self.model, components, &self.scores)?;
        let names = opened.metadata().names_or_numbers(opened.raw().features());
        self.input.refuse_weights("the reconstructed rows")?;
        let inputs = Inputs::find(&self.scores, &self.input)?;
        if let Some(output) = &self.output {
            destination::check_rows(output, &inputs, &self.model, &self.input)?;
        }
        // Of the columns that `project` writes, only the scores, in order.
        let source = inputs.open_numbered(&SCORES)?;
        let components = opened.model().n_components();
        let rank = opened.raw().rank();
        let named = check(source.columns(), components, rank, &self.scores[0])?;
        let columns = source.columns().count;
        if self.components.is_some() && columns != components && columns <= rank {
            return Err(Failure::ScoreCount { path: self.scores[0].clone(), wanted: components, columns }.into());
        }
        let columns = opened.metadata().feature_names();
        if named.is_none() && columns.is_some() && columns == source.columns().names.as_deref() {
            return Err(Failure::RowsForScores { path: self.scores[0].clone() }.into());
        }
        if self.whiten && named == Some(SCORES[0]) {
            return Err(Failure::NotWhitened { path: self.scores[0].clone() }.into());
        }
        if named.is_none()
            && self.input.columns.is_empty()
            && source.columns().names.is_some()
            && !source.columns().numbered
        {
            output::message(&format!(
                "no column of `{}` is named as a score (PC1, PC2, …); its columns are read as scores, in the order of the file",
                self.scores[0].display()
            ));
        }
        let opened = opened.viewed(self.whiten || named == Some("W"), Missing::Refuse).on(self.compute.device)?;
        let labels = self.input.label.is_some();
        let mut sink: Box<dyn RowSink> = match &self.output {
            Some(path) => sink::create(path, &names, labels)?,
            None => Box::new(CsvSink::to_writer(output::rows(), Path::new("-"), &names, labels)),
        };
        let count = rows::for_each("reconstruct", source, 0, |block| {
            Ok(sink.write(&opened.reconstruct(&block.values)?, block.labels.as_deref())?)
        })
        .map_err(|error| {
            let missing =
                matches!(error.downcast_ref(), Some(Error::Source { source: SourceError::Missing { .. }, .. }));
            Failure::advised(error, missing.then(|| "fill in the missing scores, or remove their rows".into()))
        })?;
        sink.finish()?;
        if let Some(path) = &self.output {
            let (rows, columns) = (table::counted(count, "row"), table::counted(names.len() as u64, "column"));
            output::message(&format!("wrote {rows} of {columns} to `{}`", path.display()));
        }
        Ok(())
    }
}

/// The prefix of the names of scores, if they have names. Fails if the columns are or may be
/// something else.
fn check(columns: &Columns, components: usize, rank: usize, path: &Path) -> Result<Option<&'static str>, Failure> {
    let path = path.to_owned();
    let names = columns.names.as_deref().unwrap_or_default();
    let number = |name: &str, prefix: &str| name.strip_prefix(prefix)?.parse::<u64>().ok();
    let is_score = |name: &String| SCORES.iter().any(|prefix| number(name, prefix).is_some());
    if !names.iter().any(|name| is_score(name) || DISTANCES.contains(&name.as_str())) {
        if columns.count > rank {
            return Err(Failure::ManyScores { path, columns: columns.count, rank });
        }
        return match columns.count == components + DISTANCES.len() {
            true => Err(Failure::MaybeDistances { path, columns: columns.count, components }),
            false => Ok(None),
        };
    }
    let prefix = if names[0].starts_with(SCORES[1]) { SCORES[1] } else { SCORES[0] };
    let expected = (1..).map(|number| format!("{prefix}{number}"));
    match names.iter().zip(expected).enumerate().find(|(_, (found, expected))| *found != expected) {
        Some((place, (found, expected))) => Err(Failure::NotScores { path, place, expected, found: found.clone() }),
        None => Ok(Some(prefix)),
    }
}
