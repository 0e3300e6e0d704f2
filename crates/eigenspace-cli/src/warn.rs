//! Warnings about results, for the user to read before relying on them.

use eigenspace::{Components, EigenspaceModel, Engine, WeightKind};

use crate::options::Settings;
use crate::output;
use crate::table::{counted, number, percent};

/// An error bound above this share of the largest eigenvalue is large.
pub(crate) const LARGE_ERROR: f64 = 0.1;
/// Up to this many features the scatter engine is worth its memory: 16 D² bytes, a gigabyte at this
/// limit.
const AFFORDABLE_SCATTER_FEATURES: usize = 8192;
/// Below this, squares of the numbers have lost digits, or are zero.
const SMALL_SCATTER: f64 = 1e-280;

/// Warns that a model reports fewer components than requested, and why.
pub(crate) fn of_fewer_components(model: &EigenspaceModel) {
    if model.n_components() == 0 && !model.is_empty() && !matches!(model.n_components_setting(), Components::Number(_))
    {
        let reason = without_variance(model).unwrap_or("the rows do not vary, apart from rounding");
        return output::message(&format!("warning: the model has no components: {reason}"));
    }
    let requested = match model.n_components_setting() {
        Components::Number(requested) => requested,
        Components::Share(requested) => return of_unmet_share(model, requested),
        _ => return,
    };
    let (found, features, rows) = (model.n_components(), model.features(), model.count());
    let limit = if model.is_centered() { rows.saturating_sub(1) } else { rows };
    if found >= requested || model.is_empty() {
        return;
    }
    let reason = if !model.certificate().is_exact() {
        "the other directions were dropped; keep more with --max-rank or another --truncation".to_owned()
    } else if features == found {
        format!("the rows have only {features} features")
    } else if let Some(reason) = without_variance(model).filter(|_| found == 0) {
        reason.to_owned()
    } else if found as u64 == limit {
        format!("{} at most {}", rows_span(rows), counted(limit, "direction"))
    } else {
        let directions = if found == 1 { "direction" } else { "directions" };
        format!("the rows vary in only {found} {directions}, apart from rounding")
    };
    output::message(&format!("warning: {requested} components were requested, but the model has {found}: {reason}"));
}

/// Warns that the variances of a model are undefined, because of its weights.
pub(crate) fn of_undefined_variances(model: &EigenspaceModel) {
    let is_frequency = model.weight_kind() == WeightKind::Frequency;
    if !is_frequency || model.n_components() == 0 || model.explained_variance(1.0).is_ok() {
        return;
    }
    output::message(&format!(
        "warning: the variances are undefined: the weights sum to {}, expected more than 1; \
         if the weights do not count repeated rows, fit with --weight-kind reliability",
        number(model.weight())
    ));
}

/// Why a model has no variance, if it has none.
fn without_variance(model: &EigenspaceModel) -> Option<&'static str> {
    match model.is_centered() {
        true if model.count() == 1 => Some("a single row has no variance"),
        _ if model.feature_scatter().sum() != 0.0 => None,
        true => Some("all rows are equal, or differ by too little"),
        false => Some("all values are zero"),
    }
}

/// `3 rows span`.
fn rows_span(rows: u64) -> String {
    format!("{} {}", counted(rows, "row"), if rows == 1 { "spans" } else { "span" })
}

/// Says which settings have no effect on this engine.
pub(crate) fn of_useless_settings(engine: Engine, settings: &Settings) {
    let options = match (settings.limits_rank(), settings.truncates()) {
        _ if engine != Engine::Scatter => return,
        (true, true) => "--max-rank and --truncation have",
        (true, false) => "--max-rank has",
        (false, true) => "--truncation has",
        (false, false) => return,
    };
    output::message(&format!(
        "{options} no effect: the scatter engine drops nothing; to drop directions, use --engine factor"
    ));
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

/// How to get a smaller error bound.
pub(crate) fn remedy(model: &EigenspaceModel) -> String {
    let (features, rank) = (model.features(), model.rank());
    // A single row has no variance, however large its numbers are.
    if model.feature_scatter().sum() < SMALL_SCATTER && model.count() > 1 {
        return "multiply all columns by the same large factor: the squares of such small numbers round to zero or \
                lose digits"
            .to_owned();
    }
    if rank == 0 {
        return "the rows that are left vary too little compared with the removed ones; fit the remaining rows again"
            .to_owned();
    }
    if features <= AFFORDABLE_SCATTER_FEATURES {
        let mebibytes = (8 * features * features).div_ceil(1 << 20);
        return format!(
            "fit again with --engine scatter, which is exact and needs {mebibytes} MiB for {}; \
             if `merge` dropped directions, merge again without --max-rank and --truncation",
            counted(features as u64, "feature")
        );
    }
    format!("fit or merge again with a larger --max-rank; this model has {}", counted(rank as u64, "direction"))
}
