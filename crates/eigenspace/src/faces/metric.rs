//! Distances between pictures, by their coordinates.
//!
//! ```text
//! euclidean ‖a − b‖      cosine 1 − aᵀb / ‖a‖‖b‖      mahalanobis: the same of z_i / σ_i
//! ```
//!
//! A metric first turns coordinates into *features*: divided by their deviations σ, brought to length 1, both, or
//! neither. The last directions of n pictures are the least certain ones: they hold rounding as soon as two pictures are nearly equal, and divided by their deviations it would decide.
//! So at most n / 2 directions are divided, those whose deviation is above a millionth of the first, and the others are left out. Machines that need no distance (`svm`, `perceptron`, `subspace`, `centroid`) work on the same features.

use ndarray::{Array2, ArrayView1, Axis, Slice};

use crate::faces::error::Error;
use crate::faces::options::Metric;
use crate::model::eigenspace_model::EigenspaceModel;

/// A picture is the mean if its features are shorter than this share of what they are on average.
const ROUNDING: f64 = 1e-9;

/// Directions with less than this share of the first one's deviation are not divided by it.
const CERTAIN: f64 = 1e-6;

impl Metric {
    pub(crate) fn is_whitened(self) -> bool {
        matches!(self, Self::Mahalanobis | Self::MahalanobisCosine)
    }

    pub(crate) fn is_cosine(self) -> bool {
        matches!(self, Self::Cosine | Self::MahalanobisCosine)
    }

    /// Features of coordinates, one row per picture.
    pub(crate) fn features(self, mut coordinates: Array2<f64>, deviations: &[f64]) -> Array2<f64> {
        let mut size = deviations.iter().map(|deviation| deviation.powi(2)).sum::<f64>().sqrt();
        if self.is_whitened() {
            size = (deviations.len() as f64).sqrt();
            coordinates.slice_axis_inplace(Axis(1), Slice::from(..deviations.len()));
            for (mut column, deviation) in coordinates.columns_mut().into_iter().zip(deviations) {
                column /= *deviation;
            }
        }
        if self.is_cosine() {
            for mut row in coordinates.rows_mut() {
                let length = row.dot(&row).sqrt();
                // A picture that is the mean has no direction, and is as far from all others as can be.
                if length > ROUNDING * size {
                    row /= length;
                } else {
                    row.fill(0.0);
                }
            }
        }
        coordinates
    }

    /// The distance between two pictures by their features.
    pub(crate) fn distance(self, a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
        if self.is_cosine() {
            // Of equal pictures the product is 1 up to rounding.
            let distance = 1.0 - a.dot(&b);
            return if distance > 8.0 * f64::EPSILON { distance } else { 0.0 };
        }
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }
}

/// Standard deviations of the k coordinates, or of those that a metric divides by them, `most` of them; none for a
/// model without directions.
pub(crate) fn deviations(model: &EigenspaceModel, metric: Metric, most: usize) -> Result<Vec<f64>, Error> {
    if model.rank() == 0 {
        return Ok(Vec::new());
    }
    let mut deviations: Vec<f64> = model.explained_variance(1.0)?.iter().map(|variance| variance.sqrt()).collect();
    if metric.is_whitened() {
        let certain = deviations.iter().take_while(|deviation| **deviation > CERTAIN * deviations[0]).count();
        deviations.truncate(most.min(certain).max(1));
    }
    Ok(deviations)
}
