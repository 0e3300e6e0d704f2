//! `eigenspace fit`: fits a model to rows.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueHint};
use eigenspace::{EigenspaceModel, Missing, WeightKind};

use crate::checkpoint::Checkpoint;
use crate::commands::inspect;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::opened::Opened;
use crate::options::{Input, Settings};
use crate::{destination, memory, numbers, output, paths, rows, table, warn};

/// Fit a model to the rows of files, directories, patterns, or standard input (`-`).
#[derive(Args)]
#[command(after_help = "Examples:
  eigenspace fit embeddings.npy -k 64 -o m.safetensors
  eigenspace fit 'shards/*.parquet' --columns vector -k 0.95 -o m.safetensors
  eigenspace fit iris.csv --label species --standardize -o iris.safetensors
  eigenspace fit faces/ -k 50 -o faces.safetensors
  eigenspace fit big.npy -k 50 --passes 2 -o m.safetensors
  eigenspace fit big.npy -k 50 -o m.safetensors --checkpoint big.ckpt --every 100000")]
pub(crate) struct Fit {
    /// Rows to fit: .npy, .npz, .csv, .tsv (also .gz), .parquet, .arrow, images, directories,
    /// patterns, or -.
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// Number of components: a number, a share of variance such as 0.95, or `all`.
    #[arg(short = 'k', long, value_name = "K", default_value = "all")]
    components: String,

    /// Model file to write.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Report the model with each column divided by its standard deviation (correlation PCA).
    #[arg(long)]
    standardize: bool,

    /// Do not center the rows on their mean.
    #[arg(long)]
    uncentered: bool,

    /// Meaning of the weights: `frequency` (how often a row occurs) or `reliability` (how reliable
    /// it is; use this also for weights that sum to one).
    #[arg(long, value_name = "KIND", default_value = "frequency", value_parser = numbers::setting::<WeightKind>)]
    weight_kind: WeightKind,

    /// Number of times to read the rows. If directions were dropped, each pass after the first
    /// makes the others more accurate. This helps most if the variances decrease slowly.
    #[arg(long, value_name = "N", default_value = "1", value_parser = numbers::positive,
          conflicts_with_all = ["checkpoint", "forgetting", "half_life"])]
    passes: NonZeroUsize,

    /// Save progress to this file and resume from it after an interruption.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    checkpoint: Option<PathBuf>,

    /// Number of rows between two checkpoints.
    #[arg(long, value_name = "ROWS", default_value = "100000", requires = "checkpoint", value_parser = numbers::positive)]
    every: NonZeroUsize,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    input: Input,
}

impl Fit {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let options = self.settings.options(numbers::components(&self.components)?)?.centered(!self.uncentered);
        let options = options.standardize(self.standardize).weight_kind(self.weight_kind);
        let inputs = Inputs::find(&self.data, &self.input)?;
        inputs.spare(&self.output)?;
        destination::try_model(&self.output)?;
        if let Some(checkpoint) = &self.checkpoint {
            self.check_checkpoint(checkpoint, &inputs)?;
        }
        self.check_passes(&inputs)?;
        inputs.notify_of_repetition();
        let mut rows = inputs.open()?;
        let metadata = rows.columns().metadata().with_standardize(self.standardize);
        let plan = options.plan(rows.columns().count)?;
        memory::for_stream(&plan, rows.columns().count, 0, rows.rows())?;
        let begin = |path: &PathBuf| Checkpoint::new(path, self.every.get() as u64, &inputs);
        let mut checkpoint = self.checkpoint.as_ref().map(begin).transpose()?;
        let resumed = checkpoint.as_mut().map(|checkpoint| checkpoint.resume(&options)).transpose()?.flatten();
        let (stream, first) = match resumed {
            Some((stream, first)) => {
                output::message(&format!("resuming from the checkpoint at row {first}"));
                rows.skip(first)?;
                (stream, first)
            }
            None => (options.stream(rows.columns().count)?, 0),
        };
        let mut stream = stream.with_metadata(metadata)?;
        let columns = rows.columns().clone();
        output::message(&format!("{plan}"));
        if let Some(note) = stream.card_note() {
            output::message(&note);
        }
        warn::of_useless_settings(plan.engine, &self.settings);
        let mut read = first;
        rows::for_each("fit", rows, first, |block| {
            stream.update(block.as_block())?;
            read += block.rows() as u64;
            Ok(checkpoint.as_mut().map_or(Ok(()), |checkpoint| checkpoint.save_if_due(&stream, read))?)
        })
        .map_err(|error| inputs.explained(error))?;
        if stream.count() == 0 {
            return Err(rows::no_rows(&self.data, &self.input, self.settings.missing, read).into());
        }
        if stream.count() < read {
            let left_out = table::counted(read - stream.count(), "row");
            output::message(&format!("left out {left_out} with missing cells or weight 0"));
        }
        let model = stream.model().map_err(|error| rows::unreadable(error, &self.data, &columns))?;
        // The stream may hold as many numbers as the model, and is not needed to write it.
        drop(stream);
        let model = self.refined(Arc::unwrap_or_clone(model), &inputs)?;
        model.save(&self.output)?;
        if let Some(checkpoint) = checkpoint {
            checkpoint.remove()?;
        }
        let opened = Opened::new(&self.output, model)?;
        warn::of_fewer_components(opened.model());
        warn::of_undefined_variances(opened.model());
        inspect::print(&opened, self.json, false)
    }

    /// Rejects input that cannot be read again.
    fn check_passes(&self, inputs: &Inputs<'_>) -> anyhow::Result<()> {
        let once = |path: &&Path| {
            let pipe = || std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
            paths::is_standard_input(path) || pipe()
        };
        if let Some(path) = inputs.named().find(once).filter(|_| self.passes.get() > 1) {
            return Err(Failure::PassesOfInput { input: paths::names(&[path.to_owned()]) }.into());
        }
        if self.passes.get() > 1 && self.settings.missing == Missing::Impute {
            return Err(Failure::PassesOfFilled.into());
        }
        Ok(())
    }

    /// Reads the rows again for each further pass.
    fn refined(&self, mut model: EigenspaceModel, inputs: &Inputs<'_>) -> anyhow::Result<EigenspaceModel> {
        for pass in 2..=self.passes.get() {
            if model.certificate().is_exact() {
                output::message("nothing was dropped, so the rows are not read again");
                break;
            }
            let mut refinement = model.refine()?.missing(self.settings.missing);
            rows::for_each(&format!("pass {pass}"), inputs.open()?, 0, |block| {
                Ok(refinement.update(block.as_block())?)
            })?;
            model = refinement.finish()?;
        }
        Ok(model)
    }

    /// Rejects a checkpoint that is also read, or that is also the model, before the work starts.
    fn check_checkpoint(&self, checkpoint: &Path, inputs: &Inputs<'_>) -> anyhow::Result<()> {
        let path = checkpoint.to_owned();
        if inputs.contain(checkpoint) {
            return Err(Failure::CheckpointOverInput { path }.into());
        }
        if std::path::absolute(checkpoint)? == std::path::absolute(&self.output)? {
            return Err(Failure::CheckpointIsOutput { path }.into());
        }
        destination::try_output(checkpoint)
    }
}
