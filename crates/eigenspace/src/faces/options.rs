//! How to train a recognizer.
//!
//! ```text
//! defaults: k = 40 · cosine · linear SVM · raw pixels · thresholds that accept 95 % of new images of known people
//! ```

use crate::faces::error::Error;
use crate::faces::settings::{Classifier, DEFAULT_COST, Metric, Pixels, Threshold, invalid};
use crate::model::truncation::{Components, Rank, Truncation};

/// How to train a recognizer.
///
/// A setting and the method that sets it have the same name; the method that reads it starts with
/// `get_`, as in [`std::process::Command`].
///
/// ```
/// use eigenspace::faces::{Classifier, FaceOptions, Metric};
/// let options = FaceOptions::new().classifier("svm".parse()?).metric(Metric::Cosine);
/// assert!(matches!(options.get_classifier(), Classifier::LinearSvm { .. }));
/// # Ok::<(), eigenspace::faces::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FaceOptions {
    pub(crate) components: Components,
    pub(crate) max_rank: Option<usize>,
    pub(crate) classifier: Classifier,
    pub(crate) metric: Metric,
    pub(crate) pixels: Pixels,
    pub(crate) unknown: Threshold,
    pub(crate) not_a_face: Threshold,
    pub(crate) accept: f64,
    pub(crate) seed: u64,
    pub(crate) size: Option<(usize, usize)>,
    pub(crate) depth: Option<u8>,
    pub(crate) resized: bool,
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

impl FaceOptions {
    /// The settings that are good for most faces.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of components used for recognition: a number (40 by default), a share of variance
    /// such as 0.95, or [`Components::All`]. It can be changed at any time, because directions
    /// beyond it are kept.
    pub fn components(mut self, components: impl Into<Components>) -> Self {
        self.components = components.into();
        self
    }

    /// Largest number of directions to keep, if keeping all takes too much memory. Enrolling is
    /// then only as accurate as the certificate says, and people whose images contributed to a
    /// dropped direction cannot be forgotten.
    pub fn max_rank(mut self, rank: impl Into<Rank>) -> Self {
        self.max_rank = match rank.into() {
            Rank::All => None,
            Rank::AtMost(rank) => Some(rank),
        };
        self
    }

    /// The classifier.
    pub fn classifier(mut self, classifier: Classifier) -> Self {
        self.classifier = classifier;
        self
    }

    /// The distance between images.
    pub fn metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }

    /// How pixels are transformed first.
    pub fn pixels(mut self, pixels: Pixels) -> Self {
        self.pixels = pixels;
        self
    }

    /// The distance to the nearest person above which a face is unknown.
    pub fn unknown(mut self, threshold: Threshold) -> Self {
        self.unknown = threshold;
        self
    }

    /// The distance to the space of faces above which an image is not a face.
    pub fn not_a_face(mut self, threshold: Threshold) -> Self {
        self.not_a_face = threshold;
        self
    }

    /// The share of new images of known people that learned thresholds accept.
    pub fn accept(mut self, share: f64) -> Self {
        self.accept = share;
        self
    }

    /// Seed for the order of the images in the training of the perceptron.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Width and height of the images, for drawing them; the recognizer itself does not need them.
    pub fn size(mut self, size: (usize, usize)) -> Self {
        self.size = Some(size);
        self
    }

    /// Bits per pixel, 8 or 16, for readers of images: pixels of another depth have another scale.
    pub fn depth(mut self, bits: u8) -> Self {
        self.depth = Some(bits);
        self
    }

    /// Whether images were resized to that size, so that readers resize new images too.
    pub fn resized(mut self, resized: bool) -> Self {
        self.resized = resized;
        self
    }

    /// The value of [`components`](Self::components).
    pub fn get_components(&self) -> Components {
        self.components
    }

    /// The value of [`max_rank`](Self::max_rank).
    pub fn get_max_rank(&self) -> Rank {
        self.max_rank.map_or(Rank::All, Rank::AtMost)
    }

    /// The value of [`classifier`](Self::classifier).
    pub fn get_classifier(&self) -> Classifier {
        self.classifier
    }

    /// The value of [`metric`](Self::metric).
    pub fn get_metric(&self) -> Metric {
        self.metric
    }

    /// The value of [`pixels`](Self::pixels).
    pub fn get_pixels(&self) -> Pixels {
        self.pixels
    }

    /// The value of [`unknown`](Self::unknown).
    pub fn get_unknown(&self) -> Threshold {
        self.unknown
    }

    /// The value of [`not_a_face`](Self::not_a_face).
    pub fn get_not_a_face(&self) -> Threshold {
        self.not_a_face
    }

    /// The value of [`accept`](Self::accept).
    pub fn get_accept(&self) -> f64 {
        self.accept
    }

    /// The value of [`seed`](Self::seed).
    pub fn get_seed(&self) -> u64 {
        self.seed
    }

    /// The value of [`size`](Self::size).
    pub fn get_size(&self) -> Option<(usize, usize)> {
        self.size
    }

    /// The value of [`depth`](Self::depth).
    pub fn get_depth(&self) -> Option<u8> {
        self.depth
    }

    /// The value of [`resized`](Self::resized).
    pub fn get_resized(&self) -> bool {
        self.resized
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
