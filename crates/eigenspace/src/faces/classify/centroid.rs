//! The nearest mean, the simplest classifier.
//!
//! ```text
//! score_p = − ‖x − m_p‖          m_p: the mean of p's images
//! score_p = xᵀm_p − 1            for cosine metrics, with m_p normalized
//! ```

use ndarray::{Array2, ArrayView1, Axis};

use crate::faces::classify::Gallery;
use crate::faces::settings::Metric;

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
        // The features of cosine metrics have length 1, but their means do not.
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
