//! The settings of a recognizer one by one, and their text form, which is the same in its file and
//! on the command line.

use std::fmt;
use std::str::FromStr;

use ndarray::Array2;

use crate::faces::error::Error;

/// Decides which person is in an image, from the scores of the enrolled images.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Classifier {
    /// The person with most of the k nearest images; ties are decided by the nearest image.
    Knn {
        /// Number of neighbors.
        k: usize,
    },
    /// The person with the nearest mean.
    Centroid,
    /// A linear support vector machine for every pair of people. The scores are divided by their
    /// root mean square, so the cost C does not depend on their unit.
    LinearSvm {
        /// The cost of an error.
        c: f64,
    },
    /// The same with the kernel exp(−γ d²); the default of γ is 1 / k.
    RbfSvm {
        /// The cost of an error.
        c: f64,
        /// γ: the kernel is narrower for larger values.
        gamma: Option<f64>,
    },
    /// The averaged multi-class perceptron with a margin.
    Perceptron {
        /// Number of passes over the images.
        epochs: usize,
        /// The margin, in units of the mean squared length of an image. 0: training stops when the
        /// images are separated.
        margin: f64,
    },
    /// The person whose span of images is nearest.
    Subspace,
}

/// The distance between two images, from their scores a and b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Metric {
    /// ‖a − b‖.
    Euclidean,
    /// 1 − cos ∠(a, b).
    #[default]
    Cosine,
    /// ‖a − b‖ with each score divided by its standard deviation.
    Mahalanobis,
    /// 1 − cos ∠(a, b) with each score divided by its standard deviation.
    MahalanobisCosine,
}

/// How the pixels of an image are transformed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Pixels {
    /// Not at all.
    #[default]
    Raw,
    /// The pixels of every image are scaled to mean 0 and standard deviation 1, to ignore
    /// brightness and contrast.
    Standardized,
}

/// The distance above which an image is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Threshold {
    /// Learned from the enrolled images, so that the share
    /// [`FaceOptions::accept`](crate::faces::FaceOptions::accept) of new images is accepted.
    #[default]
    Learned,
    /// This distance.
    Fixed(f64),
    /// Nothing is rejected.
    None,
}

impl Pixels {
    /// Transforms images, one per row.
    pub fn apply(self, mut rows: Array2<f64>) -> Array2<f64> {
        if self == Self::Standardized {
            for mut row in rows.rows_mut() {
                let n = row.len().max(1) as f64;
                let mean = row.sum() / n;
                row -= mean;
                let deviation = (row.dot(&row) / n).sqrt();
                // An image with only one gray value becomes zero.
                if deviation > 0.0 {
                    row /= deviation;
                }
            }
        }
        rows
    }
}

pub(super) fn invalid(what: &'static str, text: &str) -> Error {
    Error::Setting { what, text: text.into() }
}

/// Default C of support vector machines. Faces can be separated by planes, so tolerating errors
/// gains nothing.
pub(super) const DEFAULT_COST: f64 = 10.0;
/// Default number of passes of the perceptron.
const DEFAULT_EPOCHS: usize = 50;
/// Default margin of the perceptron. Chosen from 0, 0.3, 1, 3, 10 and 30 on the ORL faces (first-5,
/// random-5 and random-9, seed 0); the results hardly differ between 1 and 10.
const DEFAULT_MARGIN: f64 = 3.0;
/// More passes take time without changing the result.
const MAX_EPOCHS: usize = 10_000;
/// More neighbors would include everybody.
const MAX_NEIGHBORS: usize = 1_000;

impl fmt::Display for Classifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Knn { k: 1 } => write!(f, "knn"),
            Self::Knn { k } => write!(f, "knn:{k}"),
            Self::Centroid => write!(f, "centroid"),
            Self::LinearSvm { c } if *c == DEFAULT_COST => write!(f, "svm"),
            Self::LinearSvm { c } => write!(f, "svm:{c}"),
            Self::RbfSvm { c, gamma: None } if *c == DEFAULT_COST => write!(f, "svm-rbf"),
            Self::RbfSvm { c, gamma: None } => write!(f, "svm-rbf:{c}"),
            Self::RbfSvm { c, gamma: Some(gamma) } => write!(f, "svm-rbf:{c},{gamma}"),
            Self::Perceptron { epochs: DEFAULT_EPOCHS, margin } if *margin == DEFAULT_MARGIN => write!(f, "perceptron"),
            Self::Perceptron { epochs, margin } if *margin == DEFAULT_MARGIN => write!(f, "perceptron:{epochs}"),
            Self::Perceptron { epochs, margin } => write!(f, "perceptron:{epochs},{margin}"),
            Self::Subspace => write!(f, "subspace"),
        }
    }
}

impl FromStr for Classifier {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let whole = |text: &str, most| text.parse::<usize>().ok().filter(|number| (1..=most).contains(number));
        let positive = |text: &str| text.parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
        let found = match text.split_once(':') {
            None => match text {
                "knn" => Some(Self::Knn { k: 1 }),
                "centroid" => Some(Self::Centroid),
                "svm" => Some(Self::LinearSvm { c: DEFAULT_COST }),
                "svm-rbf" => Some(Self::RbfSvm { c: DEFAULT_COST, gamma: None }),
                "perceptron" => Some(Self::Perceptron { epochs: DEFAULT_EPOCHS, margin: DEFAULT_MARGIN }),
                "subspace" => Some(Self::Subspace),
                _ => None,
            },
            Some(("knn", k)) => whole(k, MAX_NEIGHBORS).map(|k| Self::Knn { k }),
            Some(("svm", c)) => positive(c).map(|c| Self::LinearSvm { c }),
            Some(("svm-rbf", both)) => match both.split_once(',') {
                None => positive(both).map(|c| Self::RbfSvm { c, gamma: None }),
                Some((c, gamma)) => {
                    positive(c).zip(positive(gamma)).map(|(c, gamma)| Self::RbfSvm { c, gamma: Some(gamma) })
                }
            },
            Some(("perceptron", both)) => {
                let (epochs, margin) = both.split_once(',').map_or((both, Some(DEFAULT_MARGIN)), |(epochs, margin)| {
                    (epochs, margin.parse::<f64>().ok().filter(|number| *number >= 0.0 && number.is_finite()))
                });
                whole(epochs, MAX_EPOCHS).zip(margin).map(|(epochs, margin)| Self::Perceptron { epochs, margin })
            }
            _ => None,
        };
        found.ok_or_else(|| invalid("classifier", text))
    }
}

/// `euclidean`, `cosine`, `mahalanobis` or `mahalanobis-cosine`.
impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Euclidean => "euclidean",
            Self::Cosine => "cosine",
            Self::Mahalanobis => "mahalanobis",
            Self::MahalanobisCosine => "mahalanobis-cosine",
        })
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "euclidean" => Ok(Self::Euclidean),
            "cosine" => Ok(Self::Cosine),
            "mahalanobis" => Ok(Self::Mahalanobis),
            "mahalanobis-cosine" => Ok(Self::MahalanobisCosine),
            _ => Err(invalid("metric", text)),
        }
    }
}

/// `raw` or `standardized`.
impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Raw => "raw",
            Self::Standardized => "standardized",
        })
    }
}

impl FromStr for Pixels {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "raw" => Ok(Self::Raw),
            "standardized" => Ok(Self::Standardized),
            _ => Err(invalid("kind of pixels", text)),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Learned => f.write_str("learned"),
            Self::None => f.write_str("none"),
            Self::Fixed(value) => write!(f, "{value}"),
        }
    }
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "learned" => Ok(Self::Learned),
            "none" => Ok(Self::None),
            _ => match text.parse::<f64>() {
                Ok(value) if value >= 0.0 && value.is_finite() => Ok(Self::Fixed(value)),
                _ => Err(invalid("threshold", text)),
            },
        }
    }
}
