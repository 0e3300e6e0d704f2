//! Distances between pictures, by their coordinates.
//!
//! ```text
//! euclidean ‖a − b‖      cosine 1 − aᵀb / ‖a‖‖b‖      mahalanobis: the same of z_i / σ_i
//! ```
//!
//! A metric first turns coordinates into *features*: divided by their deviations σ, brought to length 1, both, or
//! neither. Machines that need no distance (`svm`, `perceptron`, `subspace`, `centroid`) work on the same features.

use ndarray::{Array2, ArrayView1};

use crate::faces::options::Metric;

impl Metric {
    fn is_whitened(self) -> bool {
        matches!(self, Self::Mahalanobis | Self::MahalanobisCosine)
    }

    pub(crate) fn is_cosine(self) -> bool {
        matches!(self, Self::Cosine | Self::MahalanobisCosine)
    }

    /// Features of coordinates, one row per picture.
    pub(crate) fn features(self, mut coordinates: Array2<f64>, deviations: &[f64]) -> Array2<f64> {
        if self.is_whitened() {
            for (mut column, deviation) in coordinates.columns_mut().into_iter().zip(deviations) {
                column /= *deviation;
            }
        }
        if self.is_cosine() {
            for mut row in coordinates.rows_mut() {
                let length = row.dot(&row).sqrt();
                // A picture that is the mean has no direction, and is as far from all others as can be.
                if length > 0.0 {
                    row /= length;
                }
            }
        }
        coordinates
    }

    /// The distance between two pictures by their features.
    pub(crate) fn distance(self, a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
        if self.is_cosine() {
            return (1.0 - a.dot(&b)).max(0.0);
        }
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }
}
