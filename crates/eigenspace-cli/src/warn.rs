//! Warnings about results, for the user to read before relying on them.

use eigenspace::{Components, EigenspaceModel};

use crate::output;
use crate::table::{count, percent};

/// An error bound above this share of the largest eigenvalue is not useful.
pub(crate) const LARGE_ERROR: f64 = 0.1;
/// Up to this many features the scatter engine is worth its memory: 8 D² bytes, half a gigabyte at this limit.
const SCATTER_FEATURES: usize = 8192;
/// Below this, squares of the numbers have lost digits, or are zero.
const SMALL_SCATTER: f64 = 1e-280;

/// Warns that a model reports fewer components than requested, and why.
pub(crate) fn of_fewer_components(model: &EigenspaceModel) {
    let requested = match model.n_components_setting() {
        Components::Number(requested) => requested,
        Components::Share(requested) => return of_unmet_share(model, requested),
        _ => return,
    };
    let (found, features, rows) = (model.n_components(), model.features(), model.count());
    if found >= requested || model.is_empty() {
        return;
    }
    let reason = if !model.certificate().is_exact() {
        "the other directions were dropped; keep more with --max-rank or another --truncation".to_owned()
    } else if features == found {
        format!("the rows have only {features} features")
    } else if rows <= found as u64 + 1 {
        format!("{} rows span no more directions", count(rows))
    } else {
        let directions = if found == 1 { "direction" } else { "directions" };
        format!("the data has only {found} {directions} above rounding")
    };
    output::message(&format!("warning: {requested} components were requested, but the model has {found}: {reason}"));
}

/// Warns that the kept directions explain less variance than requested.
fn of_unmet_share(model: &EigenspaceModel, requested: f64) {
    let Some(reached) = model.share_below_request() else { return };
    let (kept, reached) = (model.rank(), percent(reached));
    let directions = if kept == 1 { "kept direction explains" } else { "kept directions explain" };
    output::message(&format!(
        "warning: {} of the variance was requested, but the {kept} {directions} only {reached}; \
         fit again with a larger --max-rank or another --truncation",
        percent(requested)
    ));
}

/// How to get a useful certificate.
pub(crate) fn remedy(model: &EigenspaceModel) -> String {
    let (features, rank) = (model.features(), model.rank());
    if model.feature_scatter().sum() < SMALL_SCATTER {
        return "multiply all columns by the same large factor: the squares of such small numbers vanish".to_owned();
    }
    if features <= SCATTER_FEATURES {
        let mebibytes = (8 * features * features).div_ceil(1 << 20);
        return format!(
            "fit again with --engine scatter, which is exact and needs {mebibytes} MiB for {} features",
            count(features as u64)
        );
    }
    format!("fit again with a larger --max-rank; this model has {rank} directions")
}
