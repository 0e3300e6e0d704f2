//! Distances between images, computed from their scores.
//!
//! ```text
//! euclidean ‖a − b‖      cosine 1 − aᵀb / ‖a‖‖b‖      mahalanobis: the same of z_i / σ_i
//! ```
//!
//! A metric first converts scores to *features*: it divides them by their standard deviations σ,
//! normalizes them to length 1, does both, or does neither. The last directions of n images are the
//! least certain. If two images are nearly equal, some of these directions contain only rounding,
//! which a division by σ would amplify. So at most n / 2 directions are used in that case, and only
//! those whose deviation is above a millionth of the first. Classifiers that need no distance
//! (`svm`, `perceptron`, `subspace`, `centroid`) work on the same features.

use ndarray::{Array2, ArrayView1, Axis, Slice};

use crate::faces::error::Error;
use crate::faces::settings::Metric;
use crate::model::eigenspace_model::EigenspaceModel;

/// An image counts as equal to the mean if its features are shorter than this share of their
/// average length.
const EQUAL_TO_MEAN: f64 = 1e-9;

/// Directions whose deviation is below this share of the first one's are left out by metrics that
/// divide by it.
const MIN_RELATIVE_DEVIATION: f64 = 1e-6;

impl Metric {
    pub(crate) fn is_whitened(self) -> bool {
        matches!(self, Self::Mahalanobis | Self::MahalanobisCosine)
    }

    pub(crate) fn is_cosine(self) -> bool {
        matches!(self, Self::Cosine | Self::MahalanobisCosine)
    }

    /// The features of scores, one row per image.
    pub(crate) fn features(self, mut scores: Array2<f64>, deviations: &[f64]) -> Array2<f64> {
        let mut size = deviations.iter().map(|deviation| deviation.powi(2)).sum::<f64>().sqrt();
        if self.is_whitened() {
            size = (deviations.len() as f64).sqrt();
            scores.slice_axis_inplace(Axis(1), Slice::from(..deviations.len()));
            for (mut column, deviation) in scores.columns_mut().into_iter().zip(deviations) {
                column /= *deviation;
            }
        }
        if self.is_cosine() {
            for mut row in scores.rows_mut() {
                let length = row.dot(&row).sqrt();
                // An image equal to the mean has no direction; its cosine distance to all others is
                // 1.
                if length > EQUAL_TO_MEAN * size {
                    row /= length;
                } else {
                    row.fill(0.0);
                }
            }
        }
        scores
    }

    /// The distance between two images, from their features.
    pub(crate) fn distance(self, a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
        if self.is_cosine() {
            // For equal images the product is 1 up to rounding.
            let distance = 1.0 - a.dot(&b);
            return if distance > 8.0 * f64::EPSILON { distance } else { 0.0 };
        }
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }
}

/// The standard deviations of the k scores, or of the at most `most` scores that the metric uses.
/// Empty for a model without directions.
pub(crate) fn deviations(model: &EigenspaceModel, metric: Metric, most: usize) -> Result<Vec<f64>, Error> {
    if model.rank() == 0 {
        return Ok(Vec::new());
    }
    let mut deviations: Vec<f64> = model.explained_variance(1.0)?.iter().map(|variance| variance.sqrt()).collect();
    if metric.is_whitened() {
        let certain =
            deviations.iter().take_while(|deviation| **deviation > MIN_RELATIVE_DEVIATION * deviations[0]).count();
        deviations.truncate(most.min(certain).max(1));
    }
    Ok(deviations)
}
