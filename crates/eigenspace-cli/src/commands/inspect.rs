//! `eigenspace inspect`: the contents of a model and its certificate.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use eigenspace::internal::Random;
use eigenspace::io::source::Values;
use eigenspace::{DistancesKept, Missing};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, stack};
use serde_json::json;

use crate::opened::Opened;
use crate::options::Input;
use crate::table::{count, counted, facts, number, percent, share, table};
use crate::{applicable, inputs, numbers, output, rows, shell, warn};

/// Number of components listed by default.
const LISTED: usize = 10;
/// Number of rows whose distances are compared: half a million pairs.
const SAMPLED_ROWS: usize = 1000;
/// Smaller angles are printed with an exponent.
const SMALL_ANGLE: f64 = 1e-3;

/// Largest number of components in the table of loadings.
const LOADING_COLUMNS: usize = 8;

/// Print a summary of a model: rows, rank, variances and certificate.
#[derive(Args)]
#[command(mut_arg("weights", |argument| argument.hide(true)))]
pub(crate) struct Inspect {
    /// Model file.
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Rows for measuring how well the components preserve distances, over all pairs of up to 1,000
    /// random rows. Rows with missing cells are left out.
    #[arg(value_name = "DATA", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    /// List all components instead of the first ten.
    #[arg(long)]
    all: bool,

    /// Number of components: a number, a share of variance such as 0.95, or `all`; by default that
    /// of the model.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Also print the mean of each column and its loading on each component: the entry of the
    /// component times the standard deviation along it. With --json, also print the components.
    #[arg(long)]
    loadings: bool,

    #[command(flatten)]
    input: Input,
}

impl Inspect {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        if self.data.is_empty() {
            applicable::check_no_rows(&self.input)?;
        }
        let components = self.components.as_deref().map(numbers::components).transpose()?;
        let opened = Opened::load_before(&self.model, components, &self.data)?;
        let opened = opened.viewed(false, Missing::Skip);
        let kept = if self.data.is_empty() { None } else { Some(self.distances_kept(&opened)?) };
        if self.json {
            let mut described = description(&opened)?;
            if let Some((rows, kept)) = kept {
                described["distances_kept"] = json!({
                    "rows": rows,
                    "pairs": kept.pairs,
                    "share": kept.share,
                    "mean": kept.mean,
                    "least": kept.least,
                    "correlation": kept.correlation,
                });
            }
            if self.loadings {
                let rows =
                    |rows: ArrayView2<'_, f64>| rows.rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>();
                described["mean"] = json!(opened.raw().mean().to_vec());
                described["components"] = json!(rows(opened.model().components()));
                described["loadings"] = json!(rows(opened.view().loadings()?.view()));
            }
            return output::data(&serde_json::to_string_pretty(&described)?);
        }
        print(&opened, false, self.all)?;
        if self.loadings {
            output::data(&loadings(&opened)?)?;
        }
        if let Some((rows, kept)) = kept {
            let ratio = |value: f64| format!("{value:.4}");
            let rows = counted(rows as u64, "row");
            if kept.pairs == 0 {
                return output::data(&format!(
                    "\ndistances    none: the data has {rows}, and at least two different rows are needed\n"
                ));
            }
            let pairs = counted(kept.pairs, "pair");
            output::data(&format!(
                "\n{}",
                facts(&[
                    ("distances", format!("between {rows}, {pairs}, before and after the projection")),
                    ("kept", format!("{} of the total squared distance", percent(kept.share))),
                    (
                        "ratio",
                        format!(
                            "{} after / before on average, {} for the worst pair",
                            ratio(kept.mean),
                            ratio(kept.least)
                        )
                    ),
                    ("correlation", ratio(kept.correlation)),
                ])
            ))?;
        }
        Ok(())
    }

    /// How far distances are kept, and the number of rows that this was measured on.
    fn distances_kept(&self, opened: &Opened) -> anyhow::Result<(usize, DistancesKept)> {
        self.input.refuse_weights("the distances between rows")?;
        let source = inputs::open_for(&self.data, &self.input, opened.metadata(), opened.raw().features())?;
        let mut sample: Vec<Array1<f64>> = Vec::new();
        let (mut random, mut seen) = (Random::new(0), 0_u64);
        rows::for_each("read", source, 0, |block| {
            // Every row has the same chance to stay in the sample (Vitter's algorithm R).
            for row in opened.without_skipped(block).values.to_f64().rows() {
                seen += 1;
                if sample.len() < SAMPLED_ROWS {
                    sample.push(row.to_owned());
                } else if let Some(place) = sample.get_mut((random.uniform() * seen as f64) as usize) {
                    *place = row.to_owned();
                }
            }
            Ok(())
        })?;
        let views: Vec<ArrayView1<'_, f64>> = sample.iter().map(|row| row.view()).collect();
        let rows = if views.is_empty() { Array2::zeros((0, opened.raw().features())) } else { stack(Axis(0), &views)? };
        let count = rows.nrows();
        Ok((count, opened.distances_kept(&Values::from(rows))?))
    }
}

/// Prints a summary of a model.
pub(crate) fn print(opened: &Opened, as_json: bool, all: bool) -> anyhow::Result<()> {
    if as_json {
        return output::data(&serde_json::to_string_pretty(&description(opened)?)?);
    }
    let model = opened.model();
    let (components, certificate) = (model.n_components(), model.certificate());
    let explained: f64 = model.explained_variance_ratio().sum();
    let weight = if model.weight() == model.count() as f64 {
        String::new()
    } else {
        format!(", weight {}", number(model.weight()))
    };
    let relative = certificate.relative_error_bound();
    let large = !certificate.is_exact() && relative > warn::LARGE_ERROR;
    let exact = if certificate.is_exact() {
        "exact: nothing was dropped".to_owned()
    } else if large {
        format!("large error bound: eigenvalues may be off by up to {} of the largest eigenvalue", share(relative))
    } else {
        format!("eigenvalues are off by at most {} of the largest eigenvalue", share(relative))
    };
    let mut lines = vec![
        ("model", opened.path.display().to_string()),
        ("rows", format!("{}{weight}", count(model.count()))),
        ("features", features(opened)),
        ("components", format!("{components} reported, {} kept", counted(model.rank() as u64, "direction"))),
        ("explained", format!("{} of the variance", percent(explained))),
        ("certificate", exact),
    ];
    if !certificate.is_exact() && components > 0 {
        let angle = certificate.angle_bound(components);
        let between = if components == 1 {
            "between the component and the exact one".to_owned()
        } else {
            format!("between the {components} components and the exact ones")
        };
        lines.push((
            "angle",
            match angle < 1.0 {
                true => format!("at most {} rad {between}", radians(angle.asin())),
                false => format!("no bound on the angle {between}"),
            },
        ));
    }
    if !certificate.is_proven() {
        lines.push((
            "confidence",
            format!("the bounds hold with probability 1 - {:.0e} (iterative fit)", 1.0 - certificate.confidence()),
        ));
    }
    if large {
        lines.push(("remedy", warn::remedy(opened.raw())));
    }
    if opened.metadata().standardize() {
        let constant = opened.raw().feature_scatter().iter().any(|&scatter| scatter == 0.0);
        let except = if constant { "; constant features are not scaled" } else { "" };
        lines.push(("view", format!("standardized: each feature is divided by its standard deviation{except}")));
    }
    if !model.is_centered() {
        lines.push(("center", "the origin instead of the mean".into()));
    }
    if model.imputed() > 0 {
        lines.push(("imputed", format!("{} filled", counted(model.imputed(), "missing cell"))));
    }
    let mut text = facts(&lines);
    let rows = component_rows(opened, if all { components } else { components.min(LISTED) });
    if !rows.is_empty() {
        text += "\n";
        text += &table(&["component", "singular value", "variance", "ratio", "cumulative"], &rows);
        if rows.len() < components {
            let path = shell::file(&opened.path);
            text += &format!("… and {} more: eigenspace inspect {path} --all\n", components - rows.len());
        }
    }
    output::data(&text)
}

/// The mean of each column and its loadings on the first components.
fn loadings(opened: &Opened) -> anyhow::Result<String> {
    let (model, loadings) = (opened.model(), opened.view().loadings()?);
    let columns = model.n_components().min(LOADING_COLUMNS);
    let headings: Vec<String> = (1..=columns).map(|i| format!("PC{i}")).collect();
    let headings: Vec<&str> = ["column", "mean"].into_iter().chain(headings.iter().map(String::as_str)).collect();
    let rows: Vec<Vec<String>> = opened
        .metadata()
        .names_or_numbers(model.features())
        .into_iter()
        .enumerate()
        .map(|(j, name)| {
            let parts = (0..columns).map(|i| number(loadings[[j, i]]));
            [name, number(opened.raw().mean()[j])].into_iter().chain(parts).collect()
        })
        .collect();
    Ok(format!("\n{}", table(&headings, &rows)))
}

fn features(opened: &Opened) -> String {
    let features = count(opened.raw().features() as u64);
    match (opened.metadata().image(), opened.metadata().feature_names()) {
        (Some(i), _) if i.channels() == 3 => format!("{features}, images of {}x{} in color", i.width(), i.height()),
        (Some(i), _) => format!("{features}, images of {}x{}", i.width(), i.height()),
        (None, Some(names)) if names.len() <= 8 => format!("{features}: {}", named(names)),
        (None, Some(names)) => format!("{features}: {}, …", named(&names[..6])),
        (None, None) => features,
    }
}

/// Names of columns, separated by commas.
fn named(names: &[String]) -> String {
    let text = |name: &String| if name.is_empty() { "(unnamed)".into() } else { name.clone() };
    names.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn component_rows(opened: &Opened, components: usize) -> Vec<Vec<String>> {
    let model = opened.model();
    let ratios = model.explained_variance_ratio();
    let cumulative = opened.view().cumulative_variance_ratio();
    let variances = model.explained_variance(1.0).ok();
    (0..components)
        .map(|i| {
            let variance = variances.as_ref().map_or_else(|| "-".into(), |variances| number(variances[i]));
            vec![
                (i + 1).to_string(),
                number(model.singular_values()[i]),
                variance,
                percent(ratios[i]),
                percent(cumulative[i]),
            ]
        })
        .collect()
}

/// The complete summary, as JSON.
fn description(opened: &Opened) -> anyhow::Result<serde_json::Value> {
    let model = opened.model();
    let (components, certificate) = (model.n_components(), model.certificate());
    let bounds = certificate.eigenvalue_bounds();
    let angle = Some(certificate.angle_bound(components)).filter(|angle| components > 0 && angle.is_finite());
    let metadata = opened.metadata();
    let image = metadata
        .image()
        .map(|i| json!({ "width": i.width(), "height": i.height(), "channels": i.channels(), "depth": i.depth() }));
    Ok(json!({
        "file": opened.path.to_string_lossy(),
        "count": model.count(),
        "weight": model.weight(),
        "weight_kind": model.weight_kind().to_string(),
        "features": model.features(),
        "rank": model.rank(),
        "n_components": components,
        "centered": model.is_centered(),
        "standardize": opened.metadata().standardize(),
        "imputed": model.imputed(),
        "feature_names": metadata.feature_names(),
        "image": image,
        "component_labels": metadata.component_labels(),
        "values": metadata.values(),
        "singular_values": model.singular_values().iter().collect::<Vec<_>>(),
        "explained_variance": model.explained_variance(1.0).ok().map(|v| v.to_vec()),
        "explained_variance_ratio": model.explained_variance_ratio().to_vec(),
        "total_variance": model.total_variance(1.0).ok(),
        "noise_variance": model.noise_variance().ok(),
        "certificate": {
            "exact": certificate.is_exact(),
            "proven": certificate.is_proven(),
            "error_bound": certificate.error_bound(),
            "relative_error_bound": certificate.relative_error_bound(),
            "lost": certificate.lost(),
            "surplus": certificate.surplus(),
            "confidence": certificate.confidence(),
            "eigenvalue_bounds": bounds,
            "angle_bound": angle,
        },
    }))
}

/// An angle with two or three digits.
fn radians(angle: f64) -> String {
    if angle < SMALL_ANGLE { format!("{angle:.1e}") } else { format!("{angle:.3}") }
}
