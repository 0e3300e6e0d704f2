//! `eigenspace project`: rows to coordinates.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use eigenspace::AtomicFile;
use eigenspace::io::sink::{self, CsvSink, RowSink};
use eigenspace::io::source::Values;
use ndarray::{Axis, concatenate};

use crate::args::{self, Holes, Input};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::{output, rows, table};

/// Coordinates of rows on the components of a model.
#[derive(Args)]
pub(crate) struct Project {
    /// The model.
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Rows to project; columns with names are found by them.
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// The file to write: .npy, .csv, .tsv or .parquet. Without it, text goes to standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Components to use, instead of those that the model shows.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Divide each coordinate by its standard deviation; the columns are then called W1, W2, …
    #[arg(long)]
    whiten: bool,

    /// Add two columns: Hotelling's T2, and Q, the squared distance to the subspace.
    #[arg(long)]
    distances: bool,

    #[command(flatten)]
    holes: Holes,

    #[command(flatten)]
    input: Input,
}

impl Project {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let components = self.components.as_deref().map(args::components).transpose()?;
        let opened = Opened::load_with(&self.model, components)?;
        if opened.model().rank() == 0 {
            return Err(Failure::NoVariance { path: self.model }.into());
        }
        let labels = self.input.label.is_some();
        let letters = if self.whiten { "W" } else { "PC" };
        self.input.refuse_weights("the coordinates of a row")?;
        if let Some(output) = &self.output {
            self.input.refuse_labels(output)?;
            rows::spare(&self.data, output)?;
            rows::spare(std::slice::from_ref(&self.model), output)?;
            AtomicFile::sweep(output);
        }
        let source = rows::open_for(&self.data, &self.input, &opened.note, opened.raw.features())?;
        let pictures = source.columns().picture.is_some();
        let mut names: Vec<String> = (1..=opened.model().n_components()).map(|i| format!("{letters}{i}")).collect();
        if self.distances {
            names.extend(["T2".into(), "Q".into()]);
        }
        let mut sink: Box<dyn RowSink> = match &self.output {
            Some(path) => sink::create(path, &names, labels || pictures)?,
            None => Box::new(CsvSink::to_writer(output::rows(), Path::new("-"), &names, labels || pictures)),
        };
        let limits = if self.distances { Some(opened.model().limits(0.99)?) } else { None };
        let mut count = 0;
        let read = rows::for_each("project", source, 0, |block| {
            let block = opened.complete(block, self.holes.missing)?;
            let mut coordinates = opened.project(&block.values, self.whiten)?;
            if let Some(limits) = limits {
                let readings = opened.monitor(&block.values, limits)?;
                let columns = [readings.hotelling.insert_axis(Axis(1)), readings.squared_distance.insert_axis(Axis(1))];
                let [t2, q] = columns.each_ref().map(|column| column.view());
                coordinates = Values::F64(concatenate(Axis(1), &[coordinates.to_f64().view(), t2, q])?);
            }
            count += block.rows() as u64;
            // Pictures without classes go by their names.
            Ok(sink.write(&coordinates, block.labels.as_deref().or(block.origin.names.as_deref()))?)
        })?;
        sink.finish()?;
        if count < read {
            output::talk(&format!("{} rows with missing cells were left out", read - count));
        }
        if let Some(path) = &self.output {
            let (rows, columns) = (table::count(count), opened.model().n_components());
            output::talk(&format!("{rows} rows of {columns} coordinates in `{}`", path.display()));
        }
        Ok(())
    }
}
