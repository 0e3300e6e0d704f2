//! Measures that several parts of the demo report.

use eigenspace::{EigenspaceModel, principal_angles};
use ndarray::{ArrayView2, Axis, Slice};

pub(super) fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", 1e3 * seconds)
}

/// The sine of the largest angle between the first k directions.
pub(super) fn distance(a: &EigenspaceModel, b: &EigenspaceModel, k: usize) -> anyhow::Result<f64> {
    fn first(model: &EigenspaceModel, k: usize) -> ArrayView2<'_, f64> {
        model.basis().slice_axis_move(Axis(0), Slice::from(..k))
    }
    Ok(principal_angles(first(a, k), first(b, k))?.iter().copied().fold(0.0, f64::max).sin())
}
