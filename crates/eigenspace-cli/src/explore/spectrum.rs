//! Variances with their bounds, and angles between two models.

use eigenspace::principal_angles;
use ndarray::{Axis, Slice};
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
    pub(super) variance: [f64; 3],
    pub(super) ratio: f64,
    /// Lower bound, value and upper bound.
    pub(super) cumulative: [f64; 3],
    /// Bound on the sine of the largest angle between the components up to this one and the exact
    /// ones.
    pub(super) angle: f64,
}

/// The kept directions of a model, at most `most`.
pub(super) fn components(entry: &Entry, most: usize) -> anyhow::Result<Vec<Component>> {
    let all = entry.at(Some(entry.opened.model().rank().min(most)))?;
    let (model, certificate) = (all.model(), all.model().certificate());
    // The scatter of a unit of variance: bounds are on the scatter.
    let scatter = model.feature_scatter().sum();
    let total = all.view().model().total_variance(1.0).unwrap_or(f64::NAN);
    let unit = if total > 0.0 { scatter / total } else { f64::NAN };
    let variances = all.view().explained_variance()?;
    let ratios = all.view().explained_variance_ratio();
    let mut held = 0.0;
    Ok((0..variances.len())
        .map(|i| {
            let (low, high) = certificate.eigenvalue_bound(i);
            held += ratios[i];
            let (least, greatest) = certificate.captured_bounds(i + 1);
            Component {
                variance: [low / unit, variances[i], high / unit],
                ratio: ratios[i],
                cumulative: [least.min(held), held.min(1.0), greatest.max(held.min(1.0))],
                angle: certificate.angle_bound(i + 1),
            }
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
        .map(|c| json!({ "variance": c.variance, "ratio": c.ratio, "cumulative": c.cumulative, "angle": c.angle }))
        .collect();
    let held = at.view().explained_variance_ratio().iter().sum::<f64>().min(1.0);
    Ok(Reply::Json(json!({
        "revision": entry.revision,
        "k": k,
        "total_variance": at.model().total_variance(1.0).ok(),
        "noise": at.view().noise_variance().ok(),
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
    let first = Slice::from(..k);
    let angles = principal_angles(left.basis().slice_axis(Axis(0), first), right.basis().slice_axis(Axis(0), first))?;
    let largest = angles.iter().copied().fold(0.0, f64::max);
    Ok(Reply::Json(json!({
        "revision": a.revision,
        "k": k,
        "angles": angles.to_vec(),
        "common": largest,
        "whole_space": k == left.features(),
    })))
}
