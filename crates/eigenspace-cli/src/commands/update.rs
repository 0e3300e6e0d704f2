//! `eigenspace update`: adds rows to a model.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use eigenspace::EigenspaceModel;

use crate::commands::inspect;
use crate::destination::Destination;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::opened::Opened;
use crate::options::{Input, Settings};
use crate::{destination, memory, numbers, output, paths, rows, table, warn};

/// Add rows to a model, without the rows it was fitted on.
#[derive(Args)]
pub(crate) struct Update {
    /// Model file.
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Rows to add; named columns may come in any order.
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// File to write; by default the model file is replaced.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Number of components: a number, a share of variance such as 0.95, or `all`; by default that
    /// of the model.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    input: Input,
}

impl Update {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let path = self.output.unwrap_or_else(|| self.model.clone());
        let destination = Destination::new(&path, &[&self.model])?;
        let before = Opened::load_before(&self.model, None, &self.data)?;
        let components = match &self.components {
            Some(text) => numbers::components(text)?,
            None => before.raw().n_components_setting(),
        };
        let options = self.settings.options(components)?.centered(before.raw().is_centered());
        let options = options.standardize(before.metadata().standardize());
        if let Some(path) = paths::find_model(&self.data) {
            return Err(Failure::ModelForRows { path: path.clone() }.into());
        }
        let inputs = Inputs::find(&self.data, &self.input)?;
        inputs.spare(&path)?;
        destination::try_model(&path)?;
        inputs.notify_of_repetition();
        let rows = inputs.open_for(before.metadata(), before.raw().features())?;
        let plan = options.plan(before.raw().features())?;
        memory::for_stream(&plan, before.raw().features(), before.raw().rank(), rows.rows())?;
        let mut stream = options.resume(before.raw())?;
        let columns = rows.columns().clone();
        output::message(&format!("{}", stream.plan()));
        if let Some(note) = stream.card_note() {
            output::message(&note);
        }
        warn::of_useless_settings(stream.plan().engine, &self.settings);
        rows::for_each("update", rows, 0, |block| Ok(stream.update(block.as_block())?))
            .map_err(|error| inputs.explained(error))?;
        let model = stream.model().map_err(|error| rows::unreadable(error, &self.data, &columns))?;
        let model = EigenspaceModel::clone(&*model);
        let added = model.count() - before.raw().count();
        destination.write(&model.to_bytes())?;
        output::message(&format!("added {}", table::counted(added, "row")));
        let opened = Opened::new(&path, model)?;
        warn::of_fewer_components(opened.model());
        warn::of_undefined_variances(opened.model());
        inspect::print(&opened, self.json, false)
    }
}
