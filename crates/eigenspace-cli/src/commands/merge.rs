//! `eigenspace merge`: combines models of different rows.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use eigenspace::{EigenspaceModel, Error, Metadata, Rank, Truncation};

use crate::commands::inspect;
use crate::destination::Destination;
use crate::opened::Opened;
use crate::{destination, inputs, memory, numbers, output, table, warn};

/// Merge models of different rows into one model of all rows.
#[derive(Args)]
#[command(after_help = "Example:
  eigenspace merge site-a.safetensors site-b.safetensors site-c.safetensors -o all.safetensors")]
pub(crate) struct Merge {
    /// Models with the same columns.
    #[arg(required = true, num_args = 2.., value_name = "MODEL", value_hint = ValueHint::FilePath)]
    models: Vec<PathBuf>,

    /// Model file to write.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Number of components: a number, a share of variance such as 0.95, or `all`; by default that
    /// of the first model.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Number of directions to keep, or `all`; all by default.
    #[arg(long, value_name = "N")]
    max_rank: Option<String>,

    /// Rule for dropping directions: none, rank:N, energy:SHARE, tolerance:T or fd:N (Frequent
    /// Directions).
    #[arg(long, value_name = "RULE", default_value = "none", conflicts_with = "max_rank")]
    truncation: String,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Merge {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        destination::try_model(&self.output)?;
        let truncation = match numbers::rank(self.max_rank.as_deref())? {
            None => self.truncation.parse()?,
            Some(Rank::AtMost(rank)) => Truncation::Rank(rank),
            Some(_) => Truncation::None,
        };
        let inputs: Vec<&Path> = self.models.iter().map(PathBuf::as_path).collect();
        let destination = Destination::new(&self.output, &inputs)?;
        inputs::notify_of_repetition(&self.models);
        let models = self.models.iter().map(|path| Opened::load(path)).collect::<Result<Vec<_>, _>>()?;
        let first = &models[0];
        for other in &models[1..] {
            let context = || format!("cannot merge `{}` with `{}`", first.path.display(), other.path.display());
            let (left, right) = (first.raw().features(), other.raw().features());
            if left != right {
                return anyhow::Context::with_context(Err(Error::FeatureMismatch { left, right }), context);
            }
        }
        models[1..].iter().try_for_each(|other| first.same_columns(other))?;
        let shared =
            models[1..].iter().fold(first.metadata().clone(), |shared, other| shared.shared_with(other.metadata()));
        notify_of_differences(&shared, &models);
        memory::for_merge(models.iter().map(Opened::raw))?;
        let merged = EigenspaceModel::merge_all(models.iter().map(|model| model.raw()), truncation);
        let mut merged = anyhow::Context::with_context(merged, || {
            let names = models.iter().map(|model| format!("`{}`", model.path.display())).collect::<Vec<_>>();
            format!("cannot merge {}", table::list(&names))
        })?;
        let components = match &self.components {
            Some(text) => numbers::components(text)?,
            None => first.raw().n_components_setting(),
        };
        merged = merged.with_components(components)?;
        destination.write(&merged.to_bytes())?;
        let opened = Opened::new(&self.output, merged)?;
        warn::of_fewer_components(opened.model());
        warn::of_undefined_variances(opened.model());
        inspect::print(&opened, self.json, false)
    }
}

/// Says what the models do not share, and is therefore not part of the result.
fn notify_of_differences(shared: &Metadata, models: &[Opened]) {
    type Differ = fn(&Metadata, &Metadata) -> bool;
    let differs = |differ: Differ| models.iter().any(|model| differ(shared, model.metadata()));
    let unnamed = models.iter().find(|model| model.metadata().feature_names().is_none());
    if let Some(unnamed) = unnamed.filter(|_| differs(|a, b| a.feature_names() != b.feature_names())) {
        output::message(&format!(
            "`{}` has no column names, so the columns were matched by position and the result has no names",
            unnamed.path.display()
        ));
    }
    let parts: [(&str, Differ); 3] = [
        ("image size", |a, b| a.image() != b.image()),
        ("labels of components", |a, b| a.component_labels() != b.component_labels()),
        ("metadata values", |a, b| a.values() != b.values()),
    ];
    let names: Vec<String> =
        parts.iter().filter(|(_, differ)| differs(*differ)).map(|(name, _)| (*name).to_owned()).collect();
    if !names.is_empty() {
        output::message(&format!(
            "the models differ in {}; the result keeps only what they share",
            table::list(&names)
        ));
    }
    if differs(|a, b| a.standardize() != b.standardize()) {
        output::message("only some of the models are standardized, so the result is not");
    }
}
