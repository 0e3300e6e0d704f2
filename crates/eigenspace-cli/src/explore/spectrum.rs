//! Variances with their bounds, and angles between two models.

use serde_json::{Value, json};

use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply};
use crate::explore::shelf::Entry;
use crate::table::{counted, percent};

/// Largest number of components in an answer.
const MOST: usize = 1000;

/// One component: its variance, the share of it and of those before, and the angle bound.
pub(super) struct Component {
    /// Lower bound, value and upper bound.
    pub(super) explained_variance: [f64; 3],
    pub(super) explained_variance_ratio: f64,
    /// Lower bound, value and upper bound.
    pub(super) cumulative: [f64; 3],
    /// Bound on the sine of the largest angle between the components up to this one and the exact
    /// ones.
    pub(super) angle_bound: f64,
}

/// The kept directions of a model, at most `most`.
pub(super) fn components(entry: &Entry, most: usize) -> anyhow::Result<Vec<Component>> {
    let all = entry.at(Some(entry.opened.model().rank().min(most)))?;
    let (view, certificate) = (all.view(), all.model().certificate());
    let (variances, bounds) = (view.explained_variance()?, view.explained_variance_bounds()?);
    let ratios = view.explained_variance_ratio();
    let (held, held_bounds) = (view.cumulative_variance_ratio(), view.cumulative_variance_ratio_bounds());
    let between = |(low, high): (f64, f64), value: f64| [low, value, high];
    Ok((0..variances.len())
        .map(|i| Component {
            explained_variance: between(bounds[i], variances[i]),
            explained_variance_ratio: ratios[i],
            cumulative: between(held_bounds[i], held[i]),
            angle_bound: certificate.angle_bound(i + 1),
        })
        .collect())
}

/// The Variance screen.
pub(super) fn spectrum(entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let at = entry.at(query.number("k")?)?;
    let k = at.model().n_components();
    let found = components(entry, MOST)?;
    let listed: Vec<Value> = found
        .iter()
        .map(|c| {
            json!({
                "explained_variance": c.explained_variance,
                "explained_variance_ratio": c.explained_variance_ratio,
                "cumulative": c.cumulative,
                "angle_bound": c.angle_bound,
            })
        })
        .collect();
    let held = at.view().cumulative_variance_ratio().last().copied().unwrap_or(0.0);
    Ok(Reply::Json(json!({
        "revision": entry.revision,
        "n_components": k,
        "total_variance": at.model().total_variance(1.0).ok(),
        "noise_variance": at.view().noise_variance().ok(),
        "components": listed,
        "certificate": entry.certificate(),
        "summary": format!(
            "{} of {} kept explain {} of the variance of {}.",
            counted(k as u64, "component"),
            counted(at.model().rank() as u64, "direction"),
            percent(held),
            counted(at.model().count(), "row"),
        ),
    })))
}

/// The principal angles between the first k components of two models.
pub(super) fn angles(a: &Entry, b: &Entry, query: &Query) -> anyhow::Result<Reply> {
    a.opened.same_columns(&b.opened)?;
    let (mut left, mut right) = (a.opened.model(), b.opened.model());
    if a.opened.metadata().standardize() != b.opened.metadata().standardize() {
        (left, right) = (a.opened.raw(), b.opened.raw());
    }
    let k = query.number("k")?.unwrap_or_else(|| left.n_components().min(right.n_components()));
    let most = left.rank().min(right.rank());
    if k == 0 || k > most {
        let error = format!("cannot compare {k} components: the models have {most} in common");
        return Err(Refusal::bad(error, "use a smaller number").into());
    }
    let angles = left.angles_of_first(right, k)?;
    Ok(Reply::Json(json!({
        "revision": a.revision,
        "n_components": k,
        "principal_angles": angles.to_vec(),
        "largest_angle": angles.last(),
        "whole_space": k == left.features(),
    })))
}
