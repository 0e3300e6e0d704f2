//! Metadata: what is known about the rows of a model besides their values.
//!
//! | part | meaning |
//! |---|---|
//! | feature names | the name of each column |
//! | standardize | whether views are standardized by default; the model itself is always in the units of its rows |
//! | image | the shape of the image that each row holds |
//! | component labels | what the first components mean to the user |
//! | values | further texts by key, for programs and people |
//!
//! Metadata is part of a model and of its file. Operations on one model keep it. Merging keeps what
//! both models share, and rejects feature names that contradict each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Largest size of metadata as JSON, in bytes, so that the header of every model file can be read
/// again.
pub(crate) const METADATA_LIMIT: usize = 1 << 24;

/// The shape of the image that a row holds: rows of pixels from the top, the channels of a pixel
/// side by side.
///
/// ```
/// use eigenspace::ImageShape;
///
/// let face = ImageShape::new(92, 112, 1).with_depth(8);
/// assert_eq!((face.width(), face.height(), face.features()), (92, 112, Some(10304)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageShape {
    width: usize,
    height: usize,
    channels: usize,
    depth: Option<u8>,
}

impl ImageShape {
    /// An image with this many pixels across and down, and 1 channel (gray) or 3 (red, green,
    /// blue).
    pub fn new(width: usize, height: usize, channels: usize) -> Self {
        Self { width, height, channels, depth: None }
    }

    /// The same shape with this many bits for each value: 8 for values up to 255, 16 for values up
    /// to 65535.
    pub fn with_depth(self, bits: impl Into<Option<u8>>) -> Self {
        Self { depth: bits.into(), ..self }
    }

    /// Pixels across.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    pub fn height(&self) -> usize {
        self.height
    }

    /// 1 for gray, 3 for red, green and blue.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Bits of each value, if known.
    pub fn depth(&self) -> Option<u8> {
        self.depth
    }

    /// Number of features of a row that holds such an image; `None` if it overflows.
    pub fn features(&self) -> Option<usize> {
        self.width.checked_mul(self.height)?.checked_mul(self.channels)
    }

    fn shared_with(self, other: Self) -> Option<Self> {
        let depth = self.depth.filter(|_| self.depth == other.depth);
        self.has_size_of(&other).then_some(self.with_depth(depth))
    }

    /// Whether the sizes and channels agree; the depth may differ.
    pub fn has_size_of(&self, other: &Self) -> bool {
        self.with_depth(None) == other.with_depth(None)
    }
}

/// What is known about the rows of a model besides their values.
///
/// ```
/// use eigenspace::{EigenspaceModel, Metadata};
/// use ndarray::array;
///
/// let names = ["length", "width"].map(String::from).to_vec();
/// let metadata = Metadata::new().with_feature_names(names).with_value("unit", "cm");
/// let model = EigenspaceModel::fit(array![[4.0, 2.0], [6.0, 2.5], [9.0, 4.5]].view())?.with_metadata(metadata)?;
/// assert_eq!(model.metadata().feature_names().unwrap()[1], "width");
/// assert_eq!(model.metadata().value("unit"), Some("cm"));
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    feature_names: Option<Vec<String>>,
    standardize: bool,
    image: Option<ImageShape>,
    component_labels: Vec<String>,
    values: BTreeMap<String, String>,
}

impl Metadata {
    /// Nothing known: no names, raw views, no image, no labels, no values.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with these names of the features, or without names.
    pub fn with_feature_names(self, names: impl Into<Option<Vec<String>>>) -> Self {
        Self { feature_names: names.into(), ..self }
    }

    /// The same with views that are standardized by default, or not.
    pub fn with_standardize(self, standardize: bool) -> Self {
        Self { standardize, ..self }
    }

    /// The same for rows that hold images of this shape, or no images.
    pub fn with_image(self, image: impl Into<Option<ImageShape>>) -> Self {
        Self { image: image.into(), ..self }
    }

    /// The same with labels for the first components.
    pub fn with_component_labels(self, labels: Vec<String>) -> Self {
        Self { component_labels: labels, ..self }
    }

    /// The same with a text under a key.
    pub fn with_value(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.insert(key.into(), value.into());
        self
    }

    /// The same with these texts by key instead of the present ones.
    pub fn with_values(self, values: BTreeMap<String, String>) -> Self {
        Self { values, ..self }
    }

    /// The names of the features, if they have names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Whether views are standardized by default.
    pub fn standardize(&self) -> bool {
        self.standardize
    }

    /// The shape of the image that each row holds, if it is one.
    pub fn image(&self) -> Option<ImageShape> {
        self.image
    }

    /// Labels of the first components.
    pub fn component_labels(&self) -> &[String] {
        &self.component_labels
    }

    /// The text under a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// All texts by key.
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// The names of the features, or `c0`, `c1`, … for a model of this many features without names.
    pub fn names_or_numbers(&self, features: usize) -> Vec<String> {
        self.feature_names.clone().unwrap_or_else(|| (0..features).map(|j| format!("c{j}")).collect())
    }

    /// What two models share; a value is kept if both have it under the same key.
    pub fn shared_with(&self, other: &Self) -> Self {
        let same_labels = self.component_labels == other.component_labels;
        let values = self.values.iter().filter(|&(key, value)| other.values.get(key) == Some(value));
        Self {
            feature_names: self.feature_names.clone().filter(|_| self.feature_names == other.feature_names),
            standardize: self.standardize && other.standardize,
            image: self.image.zip(other.image).and_then(|(one, two)| one.shared_with(two)),
            component_labels: if same_labels { self.component_labels.clone() } else { Vec::new() },
            values: values.map(|(key, value)| (key.clone(), value.clone())).collect(),
        }
    }

    /// Refuses features that have other names, or the same names in another order. Without names
    /// there is nothing to compare.
    pub fn check_feature_names(&self, names: &[String]) -> Result<(), Error> {
        let Some(known) = &self.feature_names else { return Ok(()) };
        match known.iter().zip(names).position(|(known, name)| known != name) {
            Some(column) => {
                let (left, right) = (known[column].clone(), names[column].clone());
                Err(Error::FeatureNamesDiffer { column, left, right })
            }
            None => Ok(()),
        }
    }

    /// Whether the metadata fits a model of this many features.
    pub(crate) fn check(&self, features: usize) -> Result<(), Error> {
        if let Some(names) = &self.feature_names
            && names.len() != features
        {
            return Err(Error::NameCount { names: names.len(), features });
        }
        if let Some(image) = self.image {
            let ImageShape { width, height, channels, depth } = image;
            if image.features() != Some(features) {
                return Err(Error::ImageShape { width, height, channels, features });
            }
            if let Some(depth) = depth.filter(|depth| ![8, 16].contains(depth)) {
                return Err(Error::ImageDepth { depth });
            }
        }
        if self.component_labels.len() > features {
            return Err(Error::LabelCount { labels: self.component_labels.len(), features });
        }
        let bytes = serde_json::to_string(self).map_or(usize::MAX, |text| text.len());
        if bytes > METADATA_LIMIT {
            return Err(Error::MetadataTooLarge { bytes, limit: METADATA_LIMIT });
        }
        Ok(())
    }
}
