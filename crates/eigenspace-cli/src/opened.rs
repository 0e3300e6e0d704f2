//! A model loaded from a file, and the view of it that the command reports.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use eigenspace::faces::Pixels;
use eigenspace::internal::load_model;
use eigenspace::io::source::{RowBlock, Values};
use eigenspace::{
    Components, Device, DistancesKept, EigenspaceModel, Error, ImageShape, Limits, Metadata, Missing, Readings, View,
};

use crate::failure::Failure;
use crate::{memory, paths, warn};

/// A model, viewed raw or standardized as its metadata asks.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    view: View,
    /// How a recognizer takes pixels; nothing if the file is not a recognizer. Models derived from
    /// one are not.
    recognizer: Option<Pixels>,
}

impl Opened {
    pub(crate) fn load(path: &Path) -> anyhow::Result<Self> {
        Self::load_with(path, None)
    }

    /// Loads a model and, if `components` is given, overrides the number of components that the
    /// file reports.
    pub(crate) fn load_with(path: &Path, components: Option<Components>) -> anyhow::Result<Self> {
        if paths::is_standard_input(path) {
            return Err(Failure::NoModelFile.into());
        }
        memory::for_model(path)?;
        let (mut model, recognizer) = load_model(path)?;
        if let Some(components) = components {
            model = model.with_components(components)?;
        }
        let opened = Self { recognizer, ..Self::new(path, model)? };
        if components.is_some() {
            warn::of_fewer_components(opened.model());
        }
        Ok(opened)
    }

    /// The same for a command that takes a model and then rows. If they were passed in the other
    /// order, the hint says so.
    pub(crate) fn load_before(path: &Path, components: Option<Components>, data: &[PathBuf]) -> anyhow::Result<Self> {
        Self::load_with(path, components).map_err(|error| {
            let swapped = path.is_file() && !paths::may_be_model(path) && paths::find_model(data).is_some();
            Failure::advised(error, swapped.then(|| "pass the model first, and the rows after it".into()))
        })
    }

    pub(crate) fn new(path: &Path, model: EigenspaceModel) -> anyhow::Result<Self> {
        Ok(Self { path: path.to_owned(), view: View::new(model)?, recognizer: None })
    }

    /// The same model with scores that are whitened or not, and a policy for missing cells.
    pub(crate) fn viewed(self, whiten: bool, missing: Missing) -> Self {
        Self { view: self.view.whiten(whiten).missing(missing), ..self }
    }

    /// The same model, whose scores and reconstructed rows are computed on this device if that is
    /// faster.
    pub(crate) fn on(self, device: Device) -> Result<Self, Error> {
        Ok(Self { view: self.view.device(device)?, ..self })
    }

    /// The same model with another number of components; its directions are shared, not copied.
    pub(crate) fn with_components(&self, components: usize) -> anyhow::Result<Self> {
        let view = self.view.clone().with_components(components)?;
        Ok(Self { path: self.path.clone(), view, recognizer: self.recognizer })
    }

    /// Shows rows as images of this shape, whatever the file says.
    pub(crate) fn showing_images(self, shape: ImageShape) -> anyhow::Result<Self> {
        let metadata = self.metadata().clone().with_image(shape);
        let model = self.raw().clone().with_metadata(metadata)?;
        Ok(Self { recognizer: self.recognizer, ..Self::new(&self.path, model)? })
    }

    /// The model in the units of its rows.
    pub(crate) fn raw(&self) -> &EigenspaceModel {
        self.view.raw_model()
    }

    /// The model to report, in the units of the view.
    pub(crate) fn model(&self) -> &EigenspaceModel {
        self.view.model()
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        self.raw().metadata()
    }

    #[cfg(feature = "explore")]
    pub(crate) fn is_recognizer(&self) -> bool {
        self.recognizer.is_some()
    }

    /// How the model takes the pixels of images.
    #[cfg(feature = "explore")]
    pub(crate) fn pixels(&self) -> Pixels {
        self.recognizer.unwrap_or_default()
    }

    /// The same model for rows whose pixels are taken as those of another model.
    #[cfg(feature = "explore")]
    pub(crate) fn with_pixels_of(self, other: &Self) -> Self {
        Self { recognizer: other.recognizer, ..self }
    }

    /// Rejects another model whose columns have other names or another order, or whose images have
    /// other values.
    pub(crate) fn same_columns(&self, other: &Self) -> anyhow::Result<()> {
        let bits = |model: &Self| model.metadata().image().and_then(|image| image.depth());
        if let (Some(left_bits), Some(right_bits)) = (bits(self), bits(other))
            && left_bits != right_bits
        {
            let (left, right) = (self.path.clone(), other.path.clone());
            return Err(Failure::OtherDepth { left, right, left_bits, right_bits }.into());
        }
        if self.raw().features() != other.raw().features() {
            return Ok(()); // the operation itself rejects the models, and says why
        }
        let names = other.metadata().feature_names().unwrap_or_default();
        self.metadata().check_feature_names(names).map_err(|error| match error {
            Error::FeatureNamesDiffer { column, left, right } => {
                let (left_name, right_name) = (format!("`{left}`"), format!("`{right}`"));
                let (left, right) = (self.path.clone(), other.path.clone());
                let sorted = |names: Option<&[String]>| {
                    let mut names = names.unwrap_or_default().to_vec();
                    names.sort();
                    names
                };
                match sorted(self.metadata().feature_names()) == sorted(Some(names)) {
                    true => Failure::OtherOrder { left, right, column, left_name, right_name }.into(),
                    false => Failure::OtherColumns { left, right, left_name, right_name }.into(),
                }
            }
            other => other.into(),
        })
    }

    /// Rows as the model expects them: a recognizer may transform the pixels of each image first.
    pub(crate) fn preprocessed<'a>(&self, rows: &'a Values) -> Cow<'a, Values> {
        match self.recognizer {
            None | Some(Pixels::Raw) => Cow::Borrowed(rows),
            Some(pixels) => Cow::Owned(pixels.apply(rows.to_f64()).into()),
        }
    }

    /// The scores of rows.
    pub(crate) fn project(&self, rows: &Values) -> Result<Values, Error> {
        self.view.project(&*self.preprocessed(rows))
    }

    /// The rows reconstructed from scores.
    pub(crate) fn reconstruct(&self, scores: &Values) -> Result<Values, Error> {
        self.view.reconstruct(scores)
    }

    /// T² and Q of rows.
    #[cfg(feature = "explore")]
    pub(crate) fn readings(&self, rows: &Values) -> Result<Readings, Error> {
        self.view.readings(&*self.preprocessed(rows))
    }

    /// T² and Q of rows, compared with limits.
    pub(crate) fn monitor(&self, rows: &Values, limits: Limits) -> Result<Readings, Error> {
        self.view.monitor(&*self.preprocessed(rows), limits)
    }

    /// How far distances between rows are kept.
    pub(crate) fn distances_kept(&self, rows: &Values) -> Result<DistancesKept, Error> {
        self.view.distances_kept(&*self.preprocessed(rows))
    }

    /// A block without the rows that the view skips because of missing cells.
    pub(crate) fn without_skipped<'a>(&self, block: &'a RowBlock) -> Cow<'a, RowBlock> {
        let usable = self.view.usable_rows(&block.values);
        if usable.len() == block.rows() {
            return Cow::Borrowed(block);
        }
        Cow::Owned(block.select(&usable))
    }
}
