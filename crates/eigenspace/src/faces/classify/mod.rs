//! Who a picture shows: one score for every person, by their features.
//!
//! ```text
//! x ∈ ℝᵏ  ─►  score_1 … score_P          the largest is the answer
//! ```
//!
//! | file | score of a person |
//! |---|---|
//! | `knn.rs` | votes among the nearest pictures, and how near the nearest is |
//! | `centroid.rs` | − distance to the person's mean |
//! | `../span.rs` | − distance to the span of the person's pictures |
//! | `svm.rs`, `smo.rs` | pairs won, and by how much |
//! | `perceptron.rs` | wᵀx + b |
//!
//! All of them see pictures only through inner products and differences, so a turn of the coordinates, or the sign of
//! a direction, changes no decision.

mod centroid;
mod knn;
mod perceptron;
mod smo;
mod svm;

use ndarray::{Array2, ArrayView1};

use crate::faces::options::{Classifier, FaceOptions, Metric};

pub(crate) use smo::{Kernel, Machine, machine};

/// Pictures to learn from: features, and the number of the person of each. Every person has a picture.
pub(crate) struct Gallery<'a> {
    pub(crate) features: &'a Array2<f64>,
    pub(crate) person: &'a [usize],
    pub(crate) people: usize,
    pub(crate) metric: Metric,
}

impl Gallery<'_> {
    /// The pictures of one person.
    fn of(&self, person: usize) -> impl Iterator<Item = ArrayView1<'_, f64>> {
        self.features.rows().into_iter().zip(self.person).filter(move |(_, who)| **who == person).map(|(row, _)| row)
    }

    /// The mean of one person's pictures.
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

    /// The root of the mean square of a feature, the unit in which machines work.
    fn unit(&self) -> f64 {
        let mean = self.features.iter().map(|x| x * x).sum::<f64>() / (self.features.len() as f64).max(1.0);
        if mean > 0.0 { mean.sqrt() } else { 1.0 }
    }
}

/// A classifier that has learned.
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
            Classifier::Perceptron { epochs } => {
                Self::Perceptron(perceptron::Perceptron::new(gallery, epochs, options.seed, unit))
            }
        }
    }

    /// A score for every person; `near` are the distances to every picture of the gallery, and `spans` those
    /// to the span of every person's pictures.
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
