//! Directions without variance, which complete the components to a number that was asked for.

use ndarray::{Array2, ArrayView2, ArrayViewMut1, Axis};

/// Orthonormal rows orthogonal to a basis, each as close as possible to the axis of one feature.
pub(super) fn completion(basis: ArrayView2<'_, f64>, number: usize) -> Array2<f64> {
    let features = basis.ncols();
    let mut found = Array2::<f64>::zeros((number, features));
    // The squared length of the part of each axis that lies outside the basis.
    let mut outside = basis.map_axis(Axis(0), |column| 1.0 - column.dot(&column));
    for i in 0..number {
        let farthest = |best: usize, j: usize| if outside[j] > outside[best] { j } else { best };
        let feature = (0..features).fold(0, farthest);
        let (done, mut rest) = found.view_mut().split_at(Axis(0), i);
        let mut row: ArrayViewMut1<f64> = rest.row_mut(0);
        row[feature] = 1.0;
        // The second pass removes the rounding error of the first.
        for _ in 0..2 {
            for directions in [basis, done.view()] {
                let inside = directions.dot(&row);
                row -= &directions.t().dot(&inside);
            }
        }
        let length = row.dot(&row).sqrt();
        row /= length;
        outside.zip_mut_with(&row, |outside, x| *outside -= x * x);
    }
    found
}
