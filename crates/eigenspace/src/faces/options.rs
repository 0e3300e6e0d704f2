//! Settings of a recognizer, and their texts: the same in its file and on a command line.
//!
//! ```text
//! k = 40 components · cosine · linear SVM · pixels as they are · thresholds that 95 % of new pictures of known people pass
//! ```

use std::fmt;
use std::str::FromStr;

use ndarray::Array2;

use crate::faces::error::Error;
use crate::model::truncation::{Components, Truncation};

/// Who a picture shows, given the coordinates of those that are enrolled.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Classifier {
    /// The person with most of the k nearest pictures; among equals, the one with the nearest.
    Knn {
        /// How many neighbors.
        k: usize,
    },
    /// The person whose mean is nearest.
    Centroid,
    /// A support vector machine for every pair of people, linear; the cost C is in units of the coordinates' variance.
    LinearSvm {
        /// The cost of an error.
        c: f64,
    },
    /// The same with the kernel exp(−γ d²); γ is 1 / k unless given, in the same units.
    RbfSvm {
        /// The cost of an error.
        c: f64,
        /// The sharpness of the kernel.
        gamma: Option<f64>,
    },
    /// The averaged multi-class perceptron.
    Perceptron {
        /// Passes over the pictures.
        epochs: usize,
    },
    /// The person the span of whose pictures is nearest.
    Subspace,
}

/// How far two pictures are apart, by their coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Metric {
    /// ‖a − b‖.
    Euclidean,
    /// 1 − cos ∠(a, b).
    #[default]
    Cosine,
    /// ‖a − b‖ in standard deviations of each coordinate.
    Mahalanobis,
    /// 1 − cos ∠(a, b) in standard deviations of each coordinate.
    MahalanobisCosine,
}

/// What is done to the pixels of a picture before anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Pixels {
    /// Nothing.
    #[default]
    Raw,
    /// Every picture gets mean 0 and deviation 1 over its own pixels, so that light and contrast do not count.
    Standardized,
}

/// The distance beyond which a picture is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Threshold {
    /// One that the wanted share of the enrolled pictures would pass, were they new.
    #[default]
    Learned,
    /// This one.
    Fixed(f64),
    /// None is rejected.
    None,
}

/// How to train a recognizer.
///
/// ```
/// use eigenspace::faces::{Classifier, FaceOptions, Metric};
/// let options = FaceOptions { classifier: "svm".parse()?, metric: Metric::Cosine, ..FaceOptions::default() };
/// assert!(matches!(options.classifier, Classifier::LinearSvm { .. }));
/// # Ok::<(), eigenspace::faces::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FaceOptions {
    /// k: coordinates that are looked at. All directions are kept, so it can be changed at any time.
    pub components: Components,
    /// Directions to keep, where keeping all takes too much room; then enrolling is as exact as
    /// the certificate says, and who has pictures with a part in what was dropped cannot be forgotten.
    pub max_rank: Option<usize>,
    /// Who a picture shows.
    pub classifier: Classifier,
    /// How far pictures are apart.
    pub metric: Metric,
    /// What is done to pixels first.
    pub pixels: Pixels,
    /// The distance from the nearest person beyond which a face is unknown.
    pub unknown: Threshold,
    /// The distance to face space beyond which a picture is not a face.
    pub not_a_face: Threshold,
    /// The share of new pictures of known people that learned thresholds accept.
    pub accept: f64,
    /// Orders the pictures for the perceptron.
    pub seed: u64,
    /// Width and height of the pictures, for whoever draws them; the recognizer needs only their pixels.
    pub size: Option<(usize, usize)>,
    /// Bits of a pixel of the pictures, 8 or 16, for whoever reads them: values of another depth mean something else.
    pub depth: Option<u8>,
    /// Whether pictures were brought to that size, so that whoever reads others does the same to them.
    pub resized: bool,
}

impl Default for FaceOptions {
    fn default() -> Self {
        Self {
            components: Components::Number(40),
            max_rank: None,
            classifier: Classifier::LinearSvm { c: COST },
            metric: Metric::default(),
            pixels: Pixels::default(),
            unknown: Threshold::default(),
            not_a_face: Threshold::default(),
            accept: 0.95,
            seed: 0,
            size: None,
            depth: None,
            resized: false,
        }
    }
}

impl Pixels {
    /// Pictures, one per row, as the model takes them.
    pub fn apply(self, mut rows: Array2<f64>) -> Array2<f64> {
        if self == Self::Standardized {
            for mut row in rows.rows_mut() {
                let n = row.len().max(1) as f64;
                let mean = row.sum() / n;
                row -= mean;
                let deviation = (row.dot(&row) / n).sqrt();
                // A picture of one gray stays at zero.
                if deviation > 0.0 {
                    row /= deviation;
                }
            }
        }
        rows
    }
}

impl FaceOptions {
    /// Refuses settings that mean nothing.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.components.check()?;
        if self.max_rank == Some(0) {
            return Err(crate::Error::Zero { what: "the rank to keep" }.into());
        }
        if !(self.accept > 0.0 && self.accept <= 1.0) {
            return Err(wrong("share of faces to accept", &self.accept.to_string()));
        }
        for threshold in [self.unknown, self.not_a_face] {
            if matches!(threshold, Threshold::Fixed(value) if !(value >= 0.0 && value.is_finite())) {
                return Err(wrong("threshold", &threshold.to_string()));
            }
        }
        let text = self.classifier.to_string();
        // Its text is read with every check there is.
        if text.parse::<Classifier>()? == self.classifier { Ok(()) } else { Err(wrong("classifier", &text)) }
    }

    pub(crate) fn truncation(&self) -> Truncation {
        self.max_rank.map_or(Truncation::None, Truncation::Rank)
    }
}

fn wrong(what: &'static str, text: &str) -> Error {
    Error::Setting { what, text: text.into() }
}

/// C of a machine that is told none. Faces can be told apart by a plane, so nothing is gained by tolerating errors.
const COST: f64 = 10.0;
/// Passes of a perceptron that is told none.
const EPOCHS: usize = 50;
/// More passes change nothing but the time they take.
const MOST_EPOCHS: usize = 10_000;
/// More neighbors are everybody.
const MOST_NEIGHBORS: usize = 1_000;

impl fmt::Display for Classifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Knn { k: 1 } => write!(f, "knn"),
            Self::Knn { k } => write!(f, "knn:{k}"),
            Self::Centroid => write!(f, "centroid"),
            Self::LinearSvm { c } if *c == COST => write!(f, "svm"),
            Self::LinearSvm { c } => write!(f, "svm:{c}"),
            Self::RbfSvm { c, gamma: None } if *c == COST => write!(f, "svm-rbf"),
            Self::RbfSvm { c, gamma: None } => write!(f, "svm-rbf:{c}"),
            Self::RbfSvm { c, gamma: Some(gamma) } => write!(f, "svm-rbf:{c},{gamma}"),
            Self::Perceptron { epochs: EPOCHS } => write!(f, "perceptron"),
            Self::Perceptron { epochs } => write!(f, "perceptron:{epochs}"),
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
                "svm" => Some(Self::LinearSvm { c: COST }),
                "svm-rbf" => Some(Self::RbfSvm { c: COST, gamma: None }),
                "perceptron" => Some(Self::Perceptron { epochs: EPOCHS }),
                "subspace" => Some(Self::Subspace),
                _ => None,
            },
            Some(("knn", k)) => whole(k, MOST_NEIGHBORS).map(|k| Self::Knn { k }),
            Some(("svm", c)) => positive(c).map(|c| Self::LinearSvm { c }),
            Some(("svm-rbf", both)) => match both.split_once(',') {
                None => positive(both).map(|c| Self::RbfSvm { c, gamma: None }),
                Some((c, gamma)) => {
                    positive(c).zip(positive(gamma)).map(|(c, gamma)| Self::RbfSvm { c, gamma: Some(gamma) })
                }
            },
            Some(("perceptron", epochs)) => whole(epochs, MOST_EPOCHS).map(|epochs| Self::Perceptron { epochs }),
            _ => None,
        };
        found.ok_or_else(|| wrong("classifier", text))
    }
}

/// Texts of settings that are one word each.
macro_rules! words {
    ($type:ty, $what:literal, $($word:literal => $value:expr),+) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(if *self == $value { return f.write_str($word); })+
                Ok(())
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                match text {
                    $($word => Ok($value),)+
                    _ => Err(wrong($what, text)),
                }
            }
        }
    };
}

words!(Metric, "metric", "euclidean" => Metric::Euclidean, "cosine" => Metric::Cosine,
    "mahalanobis" => Metric::Mahalanobis, "mahalanobis-cosine" => Metric::MahalanobisCosine);
words!(Pixels, "way to take pixels", "raw" => Pixels::Raw, "standardized" => Pixels::Standardized);

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
                _ => Err(wrong("threshold", text)),
            },
        }
    }
}
