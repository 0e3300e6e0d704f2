//! Coordinates from one eigenspace into another, without the pictures.
//!
//! | symbol | in the code | shape |
//! |---|---|---|
//! | Z, μ, V | `coordinates`, `from` | n × r, D, r × D |
//! | Z', μ', V' | result, `to` | n × r', D, r' × D |
//! | T | `turn` | r × r', = V V'ᵀ |
//! | t | `shift` | r', = V' (μ − μ') |
//!
//! A picture that lies in the old space is x = μ + Vᵀz, so its new coordinates are
//!
//! ```text
//! z' = V' (x − μ') = V' Vᵀ z + V' (μ − μ')          Z' = Z T + 1 tᵀ
//! ```
//!
//! As long as no direction was dropped every enrolled picture lies in the space *exactly*: r is its rank, not
//! the k that are looked at. That is why all r coordinates are kept, and why enrolling and
//! forgetting in any order give what training from scratch gives. Where directions are dropped, the distance
//! of each picture from what its coordinates say is bounded on the way ([`Carried::lost`]).
//!
//! Cost: O(r r' (D + n)).

use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::linalg;
use crate::model::eigenspace_model::EigenspaceModel;

/// Coordinates in the new space, and how far each picture was moved by that.
pub(crate) struct Carried {
    pub(crate) coordinates: Array2<f64>,
    /// The distance between what the old and the new coordinates of a picture say; 0 where nothing was dropped.
    pub(crate) lost: Array1<f64>,
}

/// Carries coordinates over all r directions of one model to those of another.
pub(crate) fn carry(from: &EigenspaceModel, to: &EigenspaceModel, coordinates: ArrayView2<'_, f64>) -> Carried {
    let turn = linalg::cross(from.basis(), to.basis());
    let between = &from.mean() - &to.mean();
    let shift = linalg::cross(between.view().insert_axis(Axis(0)), to.basis());
    let carried = coordinates.dot(&turn) + &shift;
    let lost = if !to.bound.is_truncated() {
        Array1::zeros(coordinates.nrows())
    } else {
        // ‖μ + Vᵀz − μ'‖² less what the new coordinates hold of it.
        let along = from.basis().dot(&between);
        let whole = between.dot(&between);
        let squares = |row: ndarray::ArrayView1<'_, f64>| row.dot(&row);
        let rows = coordinates.rows().into_iter().zip(carried.rows());
        rows.map(|(z, new)| (whole + 2.0 * z.dot(&along) + squares(z) - squares(new)).max(0.0).sqrt()).collect()
    };
    Carried { coordinates: carried, lost }
}
