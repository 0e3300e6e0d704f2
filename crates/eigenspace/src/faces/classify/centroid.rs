//! The nearest mean: the floor that the others must beat.
//!
//! ```text
//! score_p = − ‖x − m_p‖          m_p the mean of p's pictures; for cosine, of length 1 again, and 1 − xᵀm_p
//! ```

use ndarray::{Array2, ArrayView1, Axis};

use crate::faces::classify::Gallery;
use crate::faces::options::Metric;

pub(crate) struct Centroid {
    means: Array2<f64>,
    metric: Metric,
}

impl Centroid {
    pub(crate) fn new(gallery: &Gallery<'_>) -> Self {
        let mut means = Array2::zeros((gallery.people, gallery.features.ncols()));
        for (person, mut mean) in means.axis_iter_mut(Axis(0)).enumerate() {
            mean.iter_mut().zip(gallery.mean_of(person)).for_each(|(to, from)| *to = from);
        }
        // Features of a cosine have length 1, and their means have not.
        let metric = gallery.metric;
        if metric.is_cosine() {
            means = Metric::Cosine.features(means, &[]);
        }
        Self { means, metric }
    }

    pub(crate) fn scores(&self, x: ArrayView1<'_, f64>) -> Vec<f64> {
        self.means.rows().into_iter().map(|mean| -self.metric.distance(x, mean)).collect()
    }
}
