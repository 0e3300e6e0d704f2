//! Settings of a recognizer, and their text form, which is the same in its file and on the command line.
//!
//! ```text
//! defaults: k = 40 · cosine · linear SVM · raw pixels · thresholds that accept 95 % of new images of known people
//! ```

use std::fmt;
use std::str::FromStr;

use ndarray::Array2;

use crate::faces::error::Error;
use crate::model::truncation::{Components, Rank, Truncation};

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
    /// A linear support vector machine for every pair of people. The scores are divided by their root mean square, so the
    /// cost C does not depend on their unit.
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
    /// The averaged multi-class perceptron.
    Perceptron {
        /// Number of passes over the images.
        epochs: usize,
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
    /// The pixels of every image are scaled to mean 0 and standard deviation 1, to ignore brightness and contrast.
    Standardized,
}

/// The distance above which an image is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Threshold {
    /// Learned from the enrolled images, so that the share [`FaceOptions::accept`] of new images is accepted.
    #[default]
    Learned,
    /// This distance.
    Fixed(f64),
    /// Nothing is rejected.
    None,
}

/// How to train a recognizer.
///
/// ```
/// use eigenspace::faces::{Classifier, FaceOptions, Metric};
/// let options = FaceOptions::new().classifier("svm".parse()?).metric(Metric::Cosine);
/// assert!(matches!(options.classifier, Classifier::LinearSvm { .. }));
/// # Ok::<(), eigenspace::faces::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FaceOptions {
    /// k: number of components used for recognition. All directions are kept, so it can be changed at any time.
    pub components: Components,
    /// Number of directions to keep, if keeping all takes too much memory. Enrolling is then only as accurate as the
    /// certificate says, and people whose images contributed to a dropped direction cannot be forgotten.
    pub max_rank: Option<usize>,
    /// The classifier.
    pub classifier: Classifier,
    /// The distance between images.
    pub metric: Metric,
    /// The transformation of pixels.
    pub pixels: Pixels,
    /// The distance to the nearest person above which a face is unknown.
    pub unknown: Threshold,
    /// The distance to the space of faces above which an image is not a face.
    pub not_a_face: Threshold,
    /// The share of new images of known people that learned thresholds accept.
    pub accept: f64,
    /// Seed for the order of the images in the perceptron.
    pub seed: u64,
    /// Width and height of the images, for drawing them; the recognizer itself does not need them.
    pub size: Option<(usize, usize)>,
    /// Bits per pixel, 8 or 16, for readers of images: pixels of another depth have another scale.
    pub depth: Option<u8>,
    /// Whether images were resized to that size, so that readers resize new images too.
    pub resized: bool,
}

impl Default for FaceOptions {
    fn default() -> Self {
        Self {
            components: Components::Number(40),
            max_rank: None,
            classifier: Classifier::LinearSvm { c: DEFAULT_COST },
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

impl FaceOptions {
    /// The settings that are good for most faces.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`components`](Self#structfield.components).
    pub fn components(mut self, components: impl Into<Components>) -> Self {
        self.components = components.into();
        self
    }

    /// Sets [`max_rank`](Self#structfield.max_rank).
    pub fn max_rank(mut self, rank: impl Into<Rank>) -> Self {
        self.max_rank = match rank.into() {
            Rank::All => None,
            Rank::AtMost(rank) => Some(rank),
        };
        self
    }

    /// Sets [`classifier`](Self#structfield.classifier).
    pub fn classifier(mut self, classifier: Classifier) -> Self {
        self.classifier = classifier;
        self
    }

    /// Sets [`metric`](Self#structfield.metric).
    pub fn metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }

    /// Sets [`pixels`](Self#structfield.pixels).
    pub fn pixels(mut self, pixels: Pixels) -> Self {
        self.pixels = pixels;
        self
    }

    /// Sets [`unknown`](Self#structfield.unknown).
    pub fn unknown(mut self, threshold: Threshold) -> Self {
        self.unknown = threshold;
        self
    }

    /// Sets [`not_a_face`](Self#structfield.not_a_face).
    pub fn not_a_face(mut self, threshold: Threshold) -> Self {
        self.not_a_face = threshold;
        self
    }

    /// Sets [`accept`](Self#structfield.accept).
    pub fn accept(mut self, share: f64) -> Self {
        self.accept = share;
        self
    }

    /// Sets [`seed`](Self#structfield.seed).
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets [`size`](Self#structfield.size): width and height.
    pub fn size(mut self, size: (usize, usize)) -> Self {
        self.size = Some(size);
        self
    }

    /// Sets [`depth`](Self#structfield.depth).
    pub fn depth(mut self, bits: u8) -> Self {
        self.depth = Some(bits);
        self
    }

    /// Sets [`resized`](Self#structfield.resized).
    pub fn resized(mut self, resized: bool) -> Self {
        self.resized = resized;
        self
    }

    /// Rejects invalid settings.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.components.check()?;
        if self.max_rank == Some(0) {
            return Err(crate::Error::Zero { what: "rank" }.into());
        }
        if !(self.accept > 0.0 && self.accept <= 1.0) {
            return Err(invalid("share of faces to accept", &self.accept.to_string()));
        }
        for threshold in [self.unknown, self.not_a_face] {
            if matches!(threshold, Threshold::Fixed(value) if !(value >= 0.0 && value.is_finite())) {
                return Err(invalid("threshold", &threshold.to_string()));
            }
        }
        let text = self.classifier.to_string();
        // Its text is read with every check there is.
        if text.parse::<Classifier>()? == self.classifier { Ok(()) } else { Err(invalid("classifier", &text)) }
    }

    pub(crate) fn truncation(&self) -> Truncation {
        self.max_rank.map_or(Truncation::None, Truncation::Rank)
    }
}

fn invalid(what: &'static str, text: &str) -> Error {
    Error::Setting { what, text: text.into() }
}

/// Default C of support vector machines. Faces can be separated by planes, so tolerating errors gains nothing.
const DEFAULT_COST: f64 = 10.0;
/// Default number of passes of the perceptron.
const DEFAULT_EPOCHS: usize = 50;
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
            Self::Perceptron { epochs: DEFAULT_EPOCHS } => write!(f, "perceptron"),
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
                "svm" => Some(Self::LinearSvm { c: DEFAULT_COST }),
                "svm-rbf" => Some(Self::RbfSvm { c: DEFAULT_COST, gamma: None }),
                "perceptron" => Some(Self::Perceptron { epochs: DEFAULT_EPOCHS }),
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
            Some(("perceptron", epochs)) => whole(epochs, MAX_EPOCHS).map(|epochs| Self::Perceptron { epochs }),
            _ => None,
        };
        found.ok_or_else(|| invalid("classifier", text))
    }
}

/// Implements the text form of settings that are single words.
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
                    _ => Err(invalid($what, text)),
                }
            }
        }
    };
}

words!(Metric, "metric", "euclidean" => Metric::Euclidean, "cosine" => Metric::Cosine,
    "mahalanobis" => Metric::Mahalanobis, "mahalanobis-cosine" => Metric::MahalanobisCosine);
words!(Pixels, "treatment of pixels", "raw" => Pixels::Raw, "standardized" => Pixels::Standardized);

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
