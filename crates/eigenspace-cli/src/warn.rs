//! What a user should know of a result before relying on it.

use eigenspace::{Components, EigenspaceModel};

use crate::output;
use crate::table::count;

/// Beyond this share of the largest eigenvalue an error bound says nothing useful.
pub(crate) const LARGE_ERROR: f64 = 0.1;
/// Up to this many features the scatter engine is worth its memory: 8 D² bytes, half a gigabyte here.
const SCATTER_FEATURES: usize = 8192;

/// Says that a model reports fewer components than were asked for, and why.
pub(crate) fn of_fewer_components(model: &EigenspaceModel) {
    let Components::Number(asked) = model.components_setting() else { return };
    let (found, features, rows) = (model.n_components(), model.features(), model.count());
    if found >= asked || model.is_empty() {
        return;
    }
    let reason = if !model.certificate().is_exact() {
        format!("only {found} directions were kept; keep more with --max-rank or another --truncation")
    } else if features == found {
        format!("the rows have only {features} features")
    } else if rows <= found as u64 + 1 {
        format!("{} rows span no more directions", count(rows))
    } else {
        let directions = if found == 1 { "direction" } else { "directions" };
        format!("the data has only {found} {directions} above rounding")
    };
    output::talk(&format!("warning: {asked} components were requested, but the model has {found}: {reason}"));
}

/// What makes the certificate of a model useful again.
pub(crate) fn remedy(model: &EigenspaceModel) -> String {
    let (features, rank) = (model.features(), model.rank());
    if features <= SCATTER_FEATURES {
        let mebibytes = (8 * features * features).div_ceil(1 << 20);
        return format!(
            "fit again with --engine scatter: exact, in {mebibytes} MiB for {} features",
            count(features as u64)
        );
    }
    format!("fit again with a larger --max-rank: {rank} directions were kept")
}
