//! `eigenspace reconstruct`: coordinates back to rows.

use std::io::{BufWriter, stdout};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use eigenspace::AtomicFile;
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

    /// The coordinates are whitened; told by their names, W1, W2, …, where they have names.
    #[arg(long)]
    whitened: bool,

    #[command(flatten)]
    input: Input,
}

impl Reconstruct {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let opened = Opened::load(&self.model)?;
        let names = opened.note.column_names(opened.raw.features());
        if let Some(output) = &self.output {
            rows::spare(&self.coordinates, output)?;
            rows::spare(std::slice::from_ref(&self.model), output)?;
            AtomicFile::sweep(output);
        }
        // Of what `project` writes, the coordinates alone, in their order.
        let source = rows::open_numbered(&self.coordinates, &self.input, &["PC", "W"])?;
        let first = source.columns().names.as_ref().and_then(|names| names.first());
        let whitened = self.whitened || first.is_some_and(|name| name == "W1");
        let labels = self.input.label.is_some();
        let mut sink: Box<dyn RowSink> = match &self.output {
            Some(path) => sink::create(path, &names, labels)?,
            None => Box::new(CsvSink::to_writer(BufWriter::new(stdout()), Path::new("-"), &names, labels)),
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
