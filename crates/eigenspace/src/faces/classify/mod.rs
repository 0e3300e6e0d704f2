//! Classifiers: compute one score per person from the features of an image.
//!
//! ```text
//! x ∈ ℝᵏ  ─►  score_1 … score_P          the person with the largest score is the result
//! ```
//!
//! | file | score of a person |
//! |---|---|
//! | `knn.rs` | votes of the nearest images; ties are decided by the distance to the nearest |
//! | `centroid.rs` | − distance to the person's mean |
//! | `../span.rs` | − distance to the span of the person's images |
//! | `svm.rs`, `smo.rs` | number of pairwise decisions won; ties are decided by the margins |
//! | `perceptron.rs` | wᵀx + b |
//!
//! All of them use only inner products and differences of features, so rotating the scores, or
//! changing the sign of a direction, changes no decision.

mod centroid;
mod knn;
mod perceptron;
mod smo;
mod svm;

use ndarray::{Array2, ArrayView1};

use crate::faces::options::FaceOptions;
use crate::faces::settings::{Classifier, Metric};

pub(crate) use smo::{Kernel, Machine, machine};

/// Training images: their features, and the index of the person in each. Every person has at least
/// one image.
pub(crate) struct Gallery<'a> {
    pub(crate) features: &'a Array2<f64>,
    pub(crate) person: &'a [usize],
    pub(crate) people: usize,
    pub(crate) metric: Metric,
}

impl Gallery<'_> {
    /// The features of one person's images.
    fn of(&self, person: usize) -> impl Iterator<Item = ArrayView1<'_, f64>> {
        self.features.rows().into_iter().zip(self.person).filter(move |(_, who)| **who == person).map(|(row, _)| row)
    }

    /// The mean features of one person's images.
    fn mean_of(&self, person: usize) -> Vec<f64> {
        let mut sum = vec![0.0; self.features.ncols()];
        let mut count = 0.0;
        for row in self.of(person) {
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            count += 1.0;
        }
        sum.iter_mut().for_each(|sum| *sum /= f64::max(count, 1.0));
        sum
    }

    /// The root mean square of all features, by which some classifiers divide them.
    fn unit(&self) -> f64 {
        let mean = self.features.iter().map(|x| x * x).sum::<f64>() / (self.features.len() as f64).max(1.0);
        if mean > 0.0 { mean.sqrt() } else { 1.0 }
    }
}

/// A trained classifier.
pub(crate) enum Trained {
    Knn(knn::Knn),
    Centroid(centroid::Centroid),
    Subspace,
    Svm(svm::Svm),
    Perceptron(perceptron::Perceptron),
}

impl Trained {
    pub(crate) fn new(options: &FaceOptions, gallery: &Gallery<'_>) -> Self {
        let unit = gallery.unit();
        match options.classifier {
            Classifier::Knn { k } => Self::Knn(knn::Knn { k }),
            Classifier::Centroid => Self::Centroid(centroid::Centroid::new(gallery)),
            Classifier::Subspace => Self::Subspace,
            Classifier::LinearSvm { c } => Self::Svm(svm::Svm::new(gallery, Kernel::Linear, c, unit)),
            Classifier::RbfSvm { c, gamma } => {
                let gamma = gamma.unwrap_or(1.0 / gallery.features.ncols().max(1) as f64);
                Self::Svm(svm::Svm::new(gallery, Kernel::Rbf { gamma }, c, unit))
            }
            Classifier::Perceptron { epochs, margin } => {
                Self::Perceptron(perceptron::Perceptron::new(gallery, epochs, margin, options.seed, unit))
            }
        }
    }

    /// The score of every person. `near` are the distances to every image of the gallery, and
    /// `spans` those to the span of every person's images.
    pub(crate) fn scores(
        &self,
        x: ArrayView1<'_, f64>,
        near: &[f64],
        spans: ArrayView1<'_, f64>,
        gallery: &Gallery<'_>,
    ) -> Vec<f64> {
        match self {
            Self::Knn(knn) => knn.scores(near, gallery),
            Self::Centroid(centroid) => centroid.scores(x),
            Self::Subspace => spans.iter().map(|distance| -distance).collect(),
            Self::Svm(svm) => svm.scores(x),
            Self::Perceptron(perceptron) => perceptron.scores(x),
        }
    }
}
