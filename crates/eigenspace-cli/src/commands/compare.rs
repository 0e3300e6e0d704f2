//! `eigenspace compare`: the differences between two models.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};
use eigenspace::EigenspaceModel;
use serde_json::json;

use crate::answer::Answer;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::table::{count, facts, number};
use crate::{numbers, output};

/// From here on, numbers are written without an exponent.
const PLAIN: f64 = 1e-3;

/// Compare two models: angles between their subspaces, variances and means.
#[derive(Args)]
pub(crate) struct Compare {
    /// First model.
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    a: PathBuf,

    /// Second model.
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    b: PathBuf,

    /// Number of components to compare; by default the smaller number of the two models.
    #[arg(short = 'k', long, value_name = "K", value_parser = numbers::whole_number::<usize>)]
    components: Option<usize>,

    /// Exit with code 1 if the models differ by more than this: in the sine of the largest angle
    /// between the subspaces, or in the standard deviation of any component, divided by the largest
    /// standard deviation.
    #[arg(long, value_name = "SINE", value_parser = distance)]
    within: Option<f64>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let (a, b) = (Opened::load(&self.a)?, Opened::load(&self.b)?);
        a.same_columns(&b)?;
        let (mut left, mut right) = (a.model(), b.model());
        if a.metadata().standardize() != b.metadata().standardize() {
            output::message("only one of the models is standardized, so both are compared without standardizing");
            (left, right) = (a.raw(), b.raw());
        }
        if left.is_centered() != right.is_centered() {
            output::message("only one of the models is centered; the other describes the rows relative to the origin");
        }
        let k = self.components.unwrap_or_else(|| left.n_components().min(right.n_components()));
        for opened in [&a, &b] {
            if opened.model().rank() == 0 {
                return Err(Failure::NoVariance { path: opened.path.clone() }.into());
            }
        }
        let (path, rank) = match right.rank() < left.rank() {
            true => (&b.path, right.rank()),
            false => (&a.path, left.rank()),
        };
        if k > rank || k == 0 {
            return Err(Failure::FewDirections { path: path.clone(), wanted: k, rank }.into());
        }
        let context = || format!("cannot compare `{}` with `{}`", self.a.display(), self.b.display());
        let angles = left.angles_of_first(right, k).with_context(context)?;
        let largest = angles.last().copied().unwrap_or(0.0);
        let spread = deviation_difference(left, right, k)?;
        let within = self.within.is_none_or(|limit| largest.sin() <= limit && spread <= limit);
        if k == left.features() {
            output::message("the components span the whole space, so the angles are always 0; compare fewer with -k");
        }
        // A model that is not centered does not keep the mean of its rows.
        let centers = if left.is_centered() && right.is_centered() { "means" } else { "centers" };
        let apart = (&left.mean() - &right.mean()).mapv(|x| x * x).sum().sqrt();
        let total = (left.total_variance(1.0).ok(), right.total_variance(1.0).ok());
        if self.json {
            output::data(&serde_json::to_string_pretty(&json!({
                "a": self.a.to_string_lossy(),
                "b": self.b.to_string_lossy(),
                "n_components": k,
                "subspace_distance": largest.sin(),
                "principal_angles": angles.to_vec(),
                "largest_angle": largest,
                "mean_distance": (centers == "means").then_some(apart),
                "deviation_difference": spread,
                "counts": [left.count(), right.count()],
                "total_variances": [total.0, total.1],
                "within": self.within.map(|_| within),
            }))?)?;
        } else {
            let variance = |total: Option<f64>| total.map_or_else(|| "-".into(), number);
            let mut lines = vec![
                ("components", k.to_string()),
                ("subspace distance", format!("{} (sine of the largest angle)", small(largest.sin()))),
                ("largest angle", format!("{} rad ({:.3} degrees)", small(largest), largest.to_degrees())),
                ("deviations", format!("standard deviations differ by at most {} times the largest", small(spread))),
                (centers, format!("{} apart", number(apart))),
                ("rows", format!("{} and {}", count(left.count()), count(right.count()))),
                ("total variance", format!("{} and {}", variance(total.0), variance(total.1))),
            ];
            if let Some(limit) = self.within {
                lines.push(("within", format!("{} (limit {})", if within { "yes" } else { "no" }, short(limit))));
            }
            output::data(&facts(&lines))?;
        }
        Ok(if within { Answer::Yes } else { Answer::No })
    }
}

/// A difference, usually very small.
fn small(value: f64) -> String {
    if value == 0.0 || value >= PLAIN { number(value) } else { format!("{value:.3e}") }
}

/// A limit, as it was probably written.
fn short(limit: f64) -> String {
    if limit == 0.0 || limit >= PLAIN { limit.to_string() } else { format!("{limit:e}") }
}

/// Parses a bound for a sine or a relative difference.
fn distance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("expected a number that is 0 or more, such as 1e-6".into()),
    }
}

/// The largest difference of the standard deviations along the first k directions, relative to the
/// largest deviation.
fn deviation_difference(left: &EigenspaceModel, right: &EigenspaceModel, k: usize) -> anyhow::Result<f64> {
    let deviations = |model: &EigenspaceModel| -> anyhow::Result<Vec<f64>> {
        Ok(model.with_components(k)?.explained_variance(0.0)?.iter().map(|variance| variance.sqrt()).collect())
    };
    let (left, right) = (deviations(left)?, deviations(right)?);
    let largest = left[0].max(right[0]);
    Ok(left.iter().zip(&right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest)
}
