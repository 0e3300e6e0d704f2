//! `eigenspace reconstruct`: coordinates back to rows.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use eigenspace::AtomicFile;
use eigenspace::io::sink::{self, CsvSink, RowSink};
use eigenspace::io::source::Columns;

use crate::args::{self, Input};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::{output, rows, table};

/// What the names of scores begin with: plain ones and whitened ones.
const SCORES: [&str; 2] = ["PC", "W"];
/// The columns that `project --distances` adds.
const DISTANCES: [&str; 2] = ["T2", "Q"];

/// Rows that have given coordinates.
#[derive(Args)]
pub(crate) struct Reconstruct {
    /// The model.
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Coordinates, as `eigenspace project` writes them.
    #[arg(required = true, value_name = "COORDINATES", value_hint = ValueHint::FilePath)]
    coordinates: Vec<PathBuf>,

    /// The file to write: .npy, .csv, .tsv or .parquet. Without it, text goes to standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Components that the coordinates are of, instead of those that the model shows.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// The coordinates are whitened; told by their names, W1, W2, …, where they have names.
    #[arg(long)]
    whitened: bool,

    #[command(flatten)]
    input: Input,
}

impl Reconstruct {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let components = self.components.as_deref().map(args::components).transpose()?;
        let opened = Opened::load_with(&self.model, components)?;
        let names = opened.note.column_names(opened.raw.features());
        self.input.refuse_weights("the rows of coordinates")?;
        if let Some(output) = &self.output {
            self.input.refuse_labels(output)?;
            rows::spare(&self.coordinates, output)?;
            rows::spare(std::slice::from_ref(&self.model), output)?;
            AtomicFile::sweep(output);
        }
        // Of what `project` writes, the coordinates alone, in their order.
        let source = rows::open_numbered(&self.coordinates, &self.input, &SCORES)?;
        let components = opened.model().n_components();
        let named = check(source.columns(), components, &self.coordinates[0])?;
        let whitened = self.whitened || named == Some("W");
        let labels = self.input.label.is_some();
        let mut sink: Box<dyn RowSink> = match &self.output {
            Some(path) => sink::create(path, &names, labels)?,
            None => Box::new(CsvSink::to_writer(output::rows(), Path::new("-"), &names, labels)),
        };
        let count = rows::for_each("reconstruct", source, 0, |block| {
            Ok(sink.write(&opened.reconstruct(&block.values, whitened)?, block.labels.as_deref())?)
        })?;
        sink.finish()?;
        if let Some(path) = &self.output {
            let (rows, columns) = (table::count(count), table::count(names.len() as u64));
            output::talk(&format!("{rows} rows of {columns} columns in `{}`", path.display()));
        }
        Ok(())
    }
}

/// What the names of scores begin with, where they have names. Refuses what is, or may be, something else.
fn check(columns: &Columns, components: usize, path: &Path) -> Result<Option<&'static str>, Failure> {
    let path = path.to_owned();
    let names = columns.names.as_deref().unwrap_or_default();
    let number = |name: &str, prefix: &str| name.strip_prefix(prefix)?.parse::<u64>().ok();
    let is_score = |name: &String| SCORES.iter().any(|prefix| number(name, prefix).is_some());
    if !names.iter().any(|name| is_score(name) || DISTANCES.contains(&name.as_str())) {
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
