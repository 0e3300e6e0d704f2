//! Fills missing cells with the estimate of a model.
//!
//! Cells are filled (`model/imputer.rs`) when their block is compressed, from the rows before it,
//! so the result does not depend on how rows were divided into blocks. The first block has nothing
//! before it: its cells start at the means of their features and are improved in a few rounds from
//! the block itself. The model counts the cells that were filled.
//!
//! A feature without any value so far has no mean. Its cells in earlier rows get the mean of the
//! first block that has values. A model cannot be read while a feature has no value at all.

use ndarray::{Array1, ArrayView2, ArrayViewMut2};

use crate::error::Error;
use crate::model::bound::Bound;
use crate::model::decompose::{Route, reduce};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::imputer::{self, Imputer, missing_cells};
use crate::model::moments::Moments;
use crate::model::truncation::{Components, Truncation};

/// Rounds by which the first block improves its own estimates.
const ROUNDS: usize = 10;

/// Fills every missing cell of a block and returns their number.
pub(crate) fn impute(
    mut rows: ArrayViewMut2<'_, f64>,
    weights: Option<&[f64]>,
    before: Option<Imputer>,
    components: Components,
    about_origin: bool,
) -> Result<u64, Error> {
    let missing = missing_cells(&rows);
    let cells = imputer::count(&missing);
    if cells == 0 {
        return Ok(0);
    }
    if let Some(imputer) = before {
        imputer.fill(rows, &missing);
        return Ok(cells);
    }
    Imputer::of_mean(observed_mean(&rows.view(), weights)).fill(rows.view_mut(), &missing);
    for _ in 0..ROUNDS {
        let mut a = rows.to_owned();
        let moments = Moments::empty(a.ncols()).about(about_origin).absorb(a.view_mut(), weights)?.into_moments();
        let bound = Bound::exact(a.ncols());
        let reduced = reduce(a, Route::Auto, Truncation::None, &moments);
        let model = EigenspaceModel::from_reduced(moments, reduced, bound, components);
        Imputer::of(&model, components).fill(rows.view_mut(), &missing);
    }
    Ok(cells)
}

/// Features that had no value before and have some in these rows, with the mean of these values.
pub(crate) fn newly_observed(rows: ArrayView2<'_, f64>, weights: Option<&[f64]>, unseen: &[bool]) -> Vec<(usize, f64)> {
    let means = unseen.iter().any(|unseen| *unseen).then(|| observed_mean(&rows, weights));
    let there = |j: &usize| unseen[*j] && rows.column(*j).iter().any(|x| !x.is_nan());
    let with_mean = |j: usize| (j, means.as_ref().map_or(0.0, |means| means[j]));
    (0..unseen.len()).filter(there).map(with_mean).collect()
}

/// The mean of the observed cells of each feature; 0 if there are none.
fn observed_mean(rows: &ArrayView2<'_, f64>, weights: Option<&[f64]>) -> Array1<f64> {
    let mut mean = Array1::zeros(rows.ncols());
    for (j, column) in rows.columns().into_iter().enumerate() {
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, x) in column.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            sum += weight * x;
            total += weight;
        }
        mean[j] = if total > 0.0 { sum / total } else { 0.0 };
    }
    mean
}
