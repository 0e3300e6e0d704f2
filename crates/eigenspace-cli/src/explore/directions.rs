//! Components and features: walks along a component, loadings, correlations.

use ndarray::{Array2, Axis};
use serde_json::{Value, json};

use crate::explore::images;
use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply};
use crate::explore::shelf::Entry;
use crate::opened::Opened;

/// Number of loadings listed for a component.
const LOADINGS: usize = 40;
/// Largest number of features in an answer.
const MOST: usize = 2000;
/// Walks stay within this many standard deviations.
const FARTHEST: f64 = 100.0;
/// Rows with more features than this are not listed.
const LISTED: usize = 4096;

/// The model with components up to this one, counted from 1.
fn up_to(entry: &Entry, component: usize) -> anyhow::Result<Opened> {
    let rank = entry.opened.model().rank();
    if component == 0 || component > rank {
        let error = format!("there is no component {component}: the model `{}` keeps {rank} directions", entry.name);
        return Err(Refusal::missing(error, "components count from 1").into());
    }
    entry.at(Some(component))
}

/// The mean plus t standard deviations along a component.
fn step(entry: &Entry, query: &Query) -> anyhow::Result<(Opened, Vec<f64>, f64)> {
    let component: usize = query.number("component")?.unwrap_or(1);
    let t: f64 = query.number("t")?.unwrap_or(0.0);
    if !(-FARTHEST..=FARTHEST).contains(&t) {
        return Err(
            Refusal::bad(format!("invalid step t = {t}: expected a number of deviations"), "use -3 to 3").into()
        );
    }
    let at = up_to(entry, component)?;
    let deviation = at.view().score_deviations()?[component - 1];
    let mut scores = Array2::zeros((1, component));
    scores[[0, component - 1]] = entry.sign(component - 1) * t * deviation;
    let row = at.view().reconstruct(&scores)?.index_axis_move(Axis(0), 0).to_vec();
    Ok((at, row, deviation))
}

/// The Walk screen.
pub(super) fn walk(entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let (at, row, deviation) = step(entry, query)?;
    let listed = at.metadata().image().is_none() && row.len() <= LISTED;
    Ok(Reply::Json(
        json!({ "revision": entry.revision, "values": listed.then_some(row), "score_deviation": deviation }),
    ))
}

/// The same as an image.
pub(super) fn walk_image(entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let shape = images::shape(&entry.opened)?;
    images::photograph(shape, &step(entry, query)?.1, entry.opened.pixels())
}

/// A component and its largest loadings.
pub(super) fn component(entry: &Entry, number: usize) -> anyhow::Result<Reply> {
    let at = up_to(entry, number)?;
    let i = number - 1;
    let sign = entry.sign(i);
    let loadings = sign * &at.view().loadings()?.column(i);
    let correlations = sign * &at.view().correlations()?.column(i);
    let mut order: Vec<usize> = (0..loadings.len()).collect();
    order.sort_by(|&a, &b| loadings[b].abs().total_cmp(&loadings[a].abs()));
    let names = at.metadata().feature_names();
    let top: Vec<Value> = order
        .into_iter()
        .take(LOADINGS)
        .map(|j| {
            json!({
                "feature": j,
                "name": names.map(|names| &names[j]),
                "loading": loadings[j],
                "correlation": correlations[j],
            })
        })
        .collect();
    Ok(Reply::Json(json!({
        "revision": entry.revision,
        "i": number,
        "explained_variance": at.view().explained_variance()?[i],
        "explained_variance_ratio": at.view().explained_variance_ratio()[i],
        "top": top,
    })))
}

/// A component as an image.
pub(super) fn component_image(entry: &Entry, number: usize) -> anyhow::Result<Reply> {
    let shape = images::shape(&entry.opened)?;
    let at = up_to(entry, number)?;
    let row = entry.sign(number - 1) * &at.model().components().row(number - 1);
    images::direction(shape, &row.to_vec())
}

/// The Features screen.
pub(super) fn features(entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let axes = query.numbers("axes")?.unwrap_or_else(|| vec![1, 2]);
    let last = axes.iter().copied().max().unwrap_or(0);
    if axes.contains(&0) || axes.len() > 8 {
        return Err(Refusal::bad("invalid axes: expected up to eight components", "components count from 1").into());
    }
    let at = up_to(entry, last)?;
    let along: Vec<usize> = axes.iter().map(|axis| axis - 1).collect();
    let summary = at.view().feature_summary(&along)?;
    let (loadings, correlations) = (at.view().loadings()?, at.view().correlations()?);
    let names = at.metadata().names_or_numbers(at.raw().features());
    let mut found: Vec<usize> = match query.get("search").map(str::to_lowercase) {
        Some(text) => (0..names.len()).filter(|&j| names[j].to_lowercase().contains(&text)).collect(),
        None => (0..names.len()).collect(),
    };
    match query.get("sort").unwrap_or("contribution") {
        "name" => found.sort_by(|&a, &b| names[a].cmp(&names[b])),
        "cos2" => found.sort_by(|&a, &b| summary.squared_cosine[b].total_cmp(&summary.squared_cosine[a])),
        "contribution" => found.sort_by(|&a, &b| summary.contribution[b].total_cmp(&summary.contribution[a])),
        other => return Err(Refusal::bad(format!("cannot sort by `{other}`"), "use contribution, cos2 or name").into()),
    }
    let total = found.len();
    found.truncate(query.number("top")?.unwrap_or(40).min(MOST));
    let signed = |of: &Array2<f64>, j: usize| along.iter().map(|&i| entry.sign(i) * of[[j, i]]).collect::<Vec<_>>();
    let named = at.metadata().feature_names().is_some();
    let listed: Vec<Value> = found
        .into_iter()
        .map(|j| {
            json!({
                "feature": j,
                "name": named.then(|| &names[j]),
                "mean": summary.mean[j],
                "deviation": summary.deviation[j],
                "loadings": signed(&loadings, j),
                "correlations": signed(&correlations, j),
                "cos2": summary.squared_cosine[j],
                "contribution": summary.contribution[j],
            })
        })
        .collect();
    Ok(Reply::Json(json!({ "revision": entry.revision, "total": total, "features": listed })))
}
