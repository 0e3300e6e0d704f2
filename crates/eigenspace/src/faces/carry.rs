//! Converts scores from one eigenspace to another, without the images.
//!
//! | symbol | in the code | shape |
//! |---|---|---|
//! | Z, μ, V | `scores`, `from` | n × r, D, r × D |
//! | Z', μ', V' | result, `to` | n × r', D, r' × D |
//! | T | `rotation` | r × r', = V V'ᵀ |
//! | t | `shift` | r', = V' (μ − μ') |
//!
//! An image in the old space is x = μ + Vᵀz, so its new scores are
//!
//! ```text
//! z' = V' (x − μ') = V' Vᵀ z + V' (μ − μ')          Z' = Z T + 1 tᵀ
//! ```
//!
//! As long as no direction was dropped, every enrolled image lies *exactly* in the space of all r
//! directions, though not in that of the k reported ones. This is why all r scores are kept, and
//! why enrolling and forgetting in any order gives the same result as training from scratch. If
//! directions were dropped, the distance between each image and its reconstruction from the scores
//! is bounded ([`Carried::lost`]).
//!
//! Cost: O(r r' (D + n)).

use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::linalg;
use crate::model::eigenspace_model::EigenspaceModel;

/// Scores in the new space, and the distance by which the conversion moved each image.
pub(crate) struct Carried {
    pub(crate) scores: Array2<f64>,
    /// The distance between the reconstructions from the old and the new scores; 0 if nothing was
    /// dropped.
    pub(crate) lost: Array1<f64>,
}

/// Converts scores in all r directions of one model to those of another.
pub(crate) fn carry(from: &EigenspaceModel, to: &EigenspaceModel, scores: ArrayView2<'_, f64>) -> Carried {
    let rotation = linalg::cross(from.basis(), to.basis());
    let between = &from.mean() - &to.mean();
    let shift = linalg::cross(between.view().insert_axis(Axis(0)), to.basis());
    let carried = scores.dot(&rotation) + &shift;
    let lost = if !to.bound.is_truncated() {
        Array1::zeros(scores.nrows())
    } else {
        // ‖μ + Vᵀz − μ'‖² minus the part in the new space.
        let along = from.basis().dot(&between);
        let whole = between.dot(&between);
        let squares = |row: ndarray::ArrayView1<'_, f64>| row.dot(&row);
        let rows = scores.rows().into_iter().zip(carried.rows());
        rows.map(|(z, new)| (whole + 2.0 * z.dot(&along) + squares(z) - squares(new)).max(0.0).sqrt()).collect()
    };
    Carried { scores: carried, lost }
}
