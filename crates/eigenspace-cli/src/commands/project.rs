//! `eigenspace project`: from rows to scores.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use eigenspace::internal::CsvSink;
use eigenspace::io::sink::{self, RowSink};
use eigenspace::io::source::Values;
use ndarray::{Axis, concatenate};

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::opened::Opened;
use crate::options::{Compute, Input, MissingCells};
use crate::{destination, numbers, output, rows, table};

/// Compute the scores of rows: their coordinates along the components of a model.
#[derive(Args)]
#[command(mut_arg("weights", |argument| argument.hide(true)))]
pub(crate) struct Project {
    /// Model file.
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Rows to project; named columns may come in any order.
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// File to write: .npy, .csv, .tsv or .parquet. By default, text goes to standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Number of components: a number, a share of variance such as 0.95, or `all`; by default that
    /// of the model.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Divide each score by its standard deviation, and name the columns W1, W2, … instead of PC1,
    /// PC2, …
    #[arg(long)]
    whiten: bool,

    /// Add two columns: Hotelling's T2, and Q, the squared distance to the subspace of the
    /// components.
    #[arg(long)]
    distances: bool,

    #[command(flatten)]
    missing_cells: MissingCells,

    #[command(flatten)]
    compute: Compute,

    #[command(flatten)]
    input: Input,
}

impl Project {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let components = self.components.as_deref().map(numbers::components).transpose()?;
        let opened = Opened::load_before(&self.model, components, &self.data)?
            .viewed(self.whiten, self.missing_cells.missing)
            .on(self.compute.device)?;
        if opened.model().rank() == 0 {
            return Err(Failure::NoVariance { path: self.model }.into());
        }
        let labels = self.input.label.is_some();
        let letters = if self.whiten { "W" } else { "PC" };
        self.input.refuse_weights("the scores of a row")?;
        let inputs = Inputs::find(&self.data, &self.input)?;
        if let Some(output) = &self.output {
            destination::check_rows(output, &inputs, &self.model, &self.input)?;
        }
        let source = inputs.open_for(opened.metadata(), opened.raw().features())?;
        let images = source.columns().image.is_some();
        let mut names: Vec<String> = (1..=opened.model().n_components()).map(|i| format!("{letters}{i}")).collect();
        if self.distances {
            names.extend(["T2".into(), "Q".into()]);
        }
        let mut sink: Box<dyn RowSink> = match &self.output {
            Some(path) => sink::create(path, &names, labels || images)?,
            None => Box::new(CsvSink::to_writer(output::rows(), Path::new("-"), &names, labels || images)),
        };
        let limits = if self.distances { Some(opened.model().limits(0.99)?) } else { None };
        let mut count = 0;
        let read = rows::for_each("project", source, 0, |block| {
            let block = opened.without_skipped(block);
            let mut scores = opened.project(&block.values)?;
            if let Some(limits) = limits {
                let readings = opened.monitor(&block.values, limits)?;
                let columns = [readings.hotelling.insert_axis(Axis(1)), readings.squared_distance.insert_axis(Axis(1))];
                let [t2, q] = columns.each_ref().map(|column| column.view());
                scores = Values::from(concatenate(Axis(1), &[scores.to_f64().view(), t2, q])?);
            }
            count += block.rows() as u64;
            // Images without labels are identified by their names.
            Ok(sink.write(&scores, block.labels.as_deref().or(block.origin.names.as_deref()))?)
        })?;
        sink.finish()?;
        if count < read {
            output::message(&format!("left out {} with missing cells", table::counted(read - count, "row")));
        }
        if let Some(path) = &self.output {
            let columns = opened.model().n_components() as u64;
            let (rows, columns) = (table::counted(count, "row"), table::counted(columns, "score"));
            output::message(&format!("wrote {rows} of {columns} to `{}`", path.display()));
        }
        Ok(())
    }
}
