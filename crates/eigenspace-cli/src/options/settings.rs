//! The options that say how to fit a model, and where to compute.

use clap::Args;
use eigenspace::{Components, Device, Engine, FitOptions, Forgetting, Missing};

use crate::numbers;

/// How to fit the model.
#[derive(Args, Clone)]
#[command(next_help_heading = "Model")]
pub(crate) struct Settings {
    /// Number of directions to keep after each block, or `all`. The default is 2k+32 for k
    /// components. It is `all` with -k all, and also if -k is an integer and --truncation is set. The
    /// scatter engine ignores this option.
    #[arg(long, value_name = "N")]
    pub(crate) max_rank: Option<String>,

    /// Rule for dropping directions: none, rank:N, energy:SHARE, tolerance:T or fd:N (Frequent
    /// Directions).
    #[arg(long, value_name = "RULE", default_value = "none")]
    pub(crate) truncation: String,

    /// Engine: `scatter` keeps the scatter matrix, `factor` keeps directions; `auto` chooses by the
    /// number of columns.
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = numbers::one_of::<Engine, 3>(["auto", "factor", "scatter"]))]
    pub(crate) engine: Engine,

    /// Number of rows to collect before each update of the model. Changes the result if directions
    /// are dropped.
    #[arg(long, value_name = "N", value_parser = numbers::whole_number::<usize>)]
    pub(crate) block_rows: Option<usize>,

    #[command(flatten)]
    pub(crate) compute: Compute,

    /// Multiply the weight of all earlier rows by this factor with each new row.
    #[arg(long, value_name = "FACTOR", conflicts_with = "half_life", value_parser = numbers::number)]
    pub(crate) forgetting: Option<f64>,

    /// Halve the weight of a row after this many later rows.
    #[arg(long, value_name = "ROWS", value_parser = numbers::number)]
    pub(crate) half_life: Option<f64>,

    /// Policy for missing cells: refuse them, skip their rows, or impute them from the model.
    #[arg(long, value_name = "POLICY", default_value = "refuse", value_parser = numbers::one_of::<Missing, 3>(["refuse", "skip", "impute"]))]
    pub(crate) missing: Missing,
}

impl Settings {
    pub(crate) fn truncates(&self) -> bool {
        self.truncation != "none"
    }

    pub(crate) fn limits_rank(&self) -> bool {
        self.max_rank.as_deref().is_some_and(|rank| rank != "all")
    }

    pub(crate) fn options(&self, components: Components) -> anyhow::Result<FitOptions> {
        let mut options = FitOptions::new()
            .components(components)
            .truncation(self.truncation.parse()?)
            .engine(self.engine)
            .missing(self.missing)
            .device(self.compute.device);
        if let Some(rank) = numbers::rank(self.max_rank.as_deref())? {
            options = options.max_rank(rank);
        }
        if let Some(rows) = self.block_rows {
            options = options.block_rows(rows);
        }
        if let Some(factor) = self.forgetting {
            options = options.forgetting(Forgetting::PerRow(factor));
        }
        if let Some(rows) = self.half_life {
            options = options.forgetting(Forgetting::HalfLife(rows));
        }
        Ok(options)
    }
}

/// How to treat missing cells of rows that are compared with a model.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub(crate) struct MissingCells {
    /// Policy for missing cells: refuse them, skip their rows, or impute them from the model.
    #[arg(long, value_name = "POLICY", default_value = "refuse", value_parser = numbers::one_of::<Missing, 3>(["refuse", "skip", "impute"]))]
    pub(crate) missing: Missing,
}

/// Where to compute.
#[derive(Args, Clone)]
pub(crate) struct Compute {
    /// Where to compute: `cpu`, `cuda` or `cuda:N` (an NVIDIA GPU), or `auto`, which uses the first
    /// GPU if there is one and the rows have at least 1,024 features, and otherwise the CPU.
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = numbers::setting::<Device>)]
    pub(crate) device: Device,
}
