//! `eigenspace reconstruct`: coordinates back to rows.

use std::io::{BufWriter, stdout};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use eigenspace::sink::{self, CsvSink, RowSink};

use crate::args::Input;
use crate::opened::Opened;
use crate::{output, rows, table};

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

    #[command(flatten)]
    input: Input,
}

impl Reconstruct {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let opened = Opened::load(&self.model)?;
        let names = opened.note.column_names(opened.raw.features());
        let source = rows::open(&self.coordinates, &self.input)?;
        let labels = self.input.label.is_some();
        let mut sink: Box<dyn RowSink> = match &self.output {
            Some(path) => sink::create(path, &names, labels)?,
            None => Box::new(CsvSink::to_writer(BufWriter::new(stdout()), Path::new("-"), &names, labels)),
        };
        let count = rows::for_each("reconstruct", source, 0, |block| {
            Ok(sink.write(&opened.reconstruct(&block.values)?, block.labels.as_deref())?)
        })?;
        sink.finish()?;
        if let Some(path) = &self.output {
            let (rows, columns) = (table::count(count), table::count(names.len() as u64));
            output::talk(&format!("{rows} rows of {columns} columns in `{}`", path.display()));
        }
        Ok(())
    }
}
