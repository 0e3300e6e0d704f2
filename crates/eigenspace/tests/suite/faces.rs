//! The recognizer: its decisions, its state after people were enrolled and forgotten, and its
//! errors.

mod classifiers;
mod evaluation;
mod file;
mod orl;
mod refused;
mod sequences;
mod strangers;
mod thresholds;

use eigenspace::faces::{FaceOptions, Faces, Recognizer, Threshold};
use ndarray::{Array2, Axis};

use crate::support::Random;

/// Images of some people, each around a face of their own.
pub(crate) struct Album {
    pub(crate) rows: Array2<f64>,
    pub(crate) people: Vec<String>,
    pub(crate) images: Vec<String>,
}

impl Album {
    pub(crate) fn new(seed: u64, people: usize, images: usize, pixels: usize) -> Self {
        let mut random = Random::new(seed);
        let own = random.matrix(people, pixels) * 30.0;
        let rows = Array2::from_shape_fn((people * images, pixels), |(i, j)| {
            100.0 + own[[i / images, j]] + 12.0 * random.normal()
        });
        let name = |i: usize| (format!("p{}", i / images), format!("{}.pgm", i % images));
        let (people, images) = (0..people * images).map(name).unzip();
        Self { rows, people, images }
    }

    pub(crate) fn all(&self) -> Faces<'_> {
        Faces::new(self.rows.view(), &self.people, &self.images)
    }

    pub(crate) fn some(&self, which: &[usize]) -> Self {
        let names = |names: &[String]| which.iter().map(|&i| names[i].clone()).collect();
        Self { rows: self.rows.select(Axis(0), which), people: names(&self.people), images: names(&self.images) }
    }

    /// The numbers of one person's images.
    pub(crate) fn of(&self, person: &str) -> Vec<usize> {
        (0..self.people.len()).filter(|&i| self.people[i] == person).collect()
    }
}

/// Nobody is rejected, so that every decision is visible.
pub(crate) fn open(classifier: &str, metric: &str, k: usize) -> FaceOptions {
    FaceOptions::new()
        .components(k)
        .classifier(classifier.parse().unwrap())
        .metric(metric.parse().unwrap())
        .unknown(Threshold::None)
        .not_a_face(Threshold::None)
}

/// The people recognized in images.
pub(crate) fn decisions(recognizer: &Recognizer, rows: &Array2<f64>) -> Vec<String> {
    let found = recognizer.matcher().unwrap().recognize(rows.view()).unwrap();
    found.iter().map(|found| found.person().unwrap_or("-").to_owned()).collect()
}

pub(crate) const CLASSIFIERS: [&str; 7] = ["knn", "knn:3", "centroid", "subspace", "svm", "svm-rbf", "perceptron"];
pub(crate) const METRICS: [&str; 4] = ["euclidean", "cosine", "mahalanobis", "mahalanobis-cosine"];
