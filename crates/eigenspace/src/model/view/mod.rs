//! A view of a model: in which units, how many components, whitened or not, and what happens to
//! missing cells.
//!
//! ```text
//! z = diag(σ) (x − μ) projected on k components          σ = 1 (raw), 1 / standard deviation (standardized), or given
//! ```
//!
//! A model is stored in the units of its rows. The command, the Python package and programs look at
//! it through a view, which does everything that they show: scores, reconstructed rows, distances,
//! limits, covariance and likelihood. So they agree with each other.
//!
//! Missing cells of rows are an error, make the results of their row NaN (`Missing::Skip`), or are
//! filled with the model's estimates (`Missing::Impute`).

mod bounds;
mod completion;
mod contributions;
mod distances;
mod features;
mod measures;
mod on_card;
mod project;
mod residuals;

pub use contributions::{Contributions, LargestContributions};
pub use distances::DistancesKept;
pub use features::FeatureSummary;

use on_card::ViewOnCard;

use std::sync::{Arc, OnceLock};

use ndarray::{Array1, Array2, ArrayView1, Axis, concatenate};

use crate::error::Error;
use crate::linalg::Device;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::scaled::Scaled;
use crate::model::truncation::Components;
use crate::rows::missing::Missing;

/// A view of a model: raw, standardized or scaled, with a number of components, whitening, and a
/// policy for missing cells.
///
/// ```
/// use eigenspace::{EigenspaceModel, Missing, View};
/// use ndarray::array;
///
/// let rows = array![[4.0, 900.0], [7.0, 1200.0], [10.0, 1500.0], [7.0, 900.0]];
/// let model = EigenspaceModel::fit(rows.view())?;
/// let view = View::new(model)?.standardized(true)?.with_components(1)?.whiten(true).missing(Missing::Skip);
/// let scores = view.project(array![[4.0, 900.0], [7.0, f64::NAN]].view())?;
/// assert!(scores[[0, 0]] < 0.0 && scores[[1, 0]].is_nan());
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct View {
    raw: Arc<EigenspaceModel>,
    /// The model in the units of the view, if they are not those of the rows.
    scaled: Option<Arc<Scaled>>,
    whiten: bool,
    missing: Missing,
    /// Number of components without variance, in addition to the model's.
    extra: usize,
    /// Their directions, computed when they are needed.
    completion: Arc<OnceLock<Array2<f64>>>,
    /// The card that computes scores and reconstructed rows, if they are many.
    on_card: Option<ViewOnCard>,
}

impl EigenspaceModel {
    /// The view of this model in which each feature is divided by its standard deviation (ddof =
    /// 0); constant features are not scaled. The view has a copy of the model; [`View::new`] shares
    /// an [`Arc`] of it.
    ///
    /// ```
    /// use eigenspace::EigenspaceModel;
    /// use ndarray::array;
    ///
    /// let raw = EigenspaceModel::fit(&array![[4.0, 900.0], [7.0, 1200.0], [10.0, 1500.0], [7.0, 900.0]])?;
    /// let total = raw.standardize()?.model().total_variance(0.0)?;
    /// assert!((total - 2.0).abs() < 1e-14);             // two features of variance 1 each
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn standardize(&self) -> Result<View, Error> {
        View::raw(self.clone()).standardized(true)
    }

    /// The view of this model in which each feature is multiplied by a scale, for example a unit
    /// conversion.
    pub fn scale_by(&self, scales: ArrayView1<'_, f64>) -> Result<View, Error> {
        View::raw(self.clone()).scaled_by(scales)
    }
}

impl View {
    /// The view that the [metadata](EigenspaceModel::metadata) of the model asks for: raw or
    /// standardized. It is not whitened, and missing cells are an error.
    pub fn new(model: impl Into<Arc<EigenspaceModel>>) -> Result<Self, Error> {
        let raw = Self::raw(model);
        let standardize = raw.raw.metadata().standardize() && !raw.raw.is_empty();
        raw.standardized(standardize)
    }

    /// The view in the units of the rows, whatever the metadata says.
    pub fn raw(model: impl Into<Arc<EigenspaceModel>>) -> Self {
        let raw: Arc<EigenspaceModel> = model.into();
        let completion = Arc::default();
        Self { raw, scaled: None, whiten: false, missing: Missing::Refuse, extra: 0, completion, on_card: None }
    }

    /// The same view with each feature divided by its standard deviation, or in the units of the
    /// rows.
    pub fn standardized(self, standardize: bool) -> Result<Self, Error> {
        let scaled = if standardize { Some(Arc::new(self.raw.standardized_model()?)) } else { None };
        Ok(self.in_units(scaled))
    }

    /// The same view with each feature multiplied by a scale.
    pub fn scaled_by(self, scales: ArrayView1<'_, f64>) -> Result<Self, Error> {
        let scaled = Some(Arc::new(self.raw.scaled_model(scales)?));
        Ok(self.in_units(scaled))
    }

    fn in_units(self, scaled: Option<Arc<Scaled>>) -> Self {
        let on_card = self.on_card.map(ViewOnCard::emptied);
        Self { scaled, on_card, ..Self::raw(self.raw) }.whiten(self.whiten).missing(self.missing)
    }

    /// The same view with another number of components: a number, a share of the variance such as
    /// 0.95, or [`Components::All`]. The directions are shared with this view, not copied.
    pub fn with_components(mut self, components: impl Into<Components>) -> Result<Self, Error> {
        let components = components.into().check()?;
        Arc::make_mut(&mut self.raw).set_components(components);
        if let Some(scaled) = &mut self.scaled {
            Arc::make_mut(scaled).set_components(components);
        }
        let on_card = self.on_card.map(ViewOnCard::emptied);
        Ok(Self { extra: 0, completion: Arc::default(), on_card, ..self })
    }

    /// The same view with at least this many components, at most one for each feature. Where the
    /// rows vary in fewer directions, the others are orthogonal to them and have no variance: their
    /// whitened scores are 0.
    pub fn at_least(self, components: usize) -> Self {
        let extra = components.min(self.features()).saturating_sub(self.model().n_components());
        let on_card = self.on_card.map(ViewOnCard::emptied);
        Self { extra, completion: Arc::default(), on_card, ..self }
    }

    /// The same view, which uses this device to project or reconstruct many rows if that is faster.
    /// The results equal those of the CPU up to rounding. If the device fails, the CPU is used.
    pub fn device(self, device: Device) -> Result<Self, Error> {
        let on_card = device.open(self.features())?.map(ViewOnCard::new);
        Ok(Self { on_card, ..self })
    }

    /// Whether the view may use a card.
    #[doc(hidden)]
    pub fn is_on_card(&self) -> bool {
        self.on_card.is_some()
    }

    /// The same view with scores divided by their standard deviation (ddof = 1), or not.
    pub fn whiten(self, whiten: bool) -> Self {
        Self { whiten, ..self }
    }

    /// The same view with another policy for missing cells of rows.
    pub fn missing(self, missing: Missing) -> Self {
        Self { missing, ..self }
    }

    /// The model in the units of its rows.
    pub fn raw_model(&self) -> &EigenspaceModel {
        &self.raw
    }

    /// The model in the units of the view: its variances, components and certificate are those that
    /// the view reports.
    pub fn model(&self) -> &EigenspaceModel {
        self.scaled.as_ref().map_or(&self.raw, |scaled| scaled.model())
    }

    /// What each feature is multiplied by; nothing in a raw view.
    pub fn scales(&self) -> Option<ArrayView1<'_, f64>> {
        self.scaled.as_ref().map(|scaled| scaled.scales())
    }

    /// D: columns of the rows.
    pub fn features(&self) -> usize {
        self.raw.features()
    }

    /// k: the number of components, those without variance included.
    pub fn n_components(&self) -> usize {
        self.model().n_components() + self.extra
    }

    /// The components, one per row.
    pub fn components(&self) -> Array2<f64> {
        let components = self.model().components();
        let extra = self.completion.get_or_init(|| completion::completion(components, self.extra));
        concatenate![Axis(0), components, extra.view()]
    }

    /// The singular values along the components.
    pub fn singular_values(&self) -> Array1<f64> {
        self.with_zeros(self.model().singular_values().to_owned())
    }

    /// The sample variance along each component; 0 if there is only one row.
    pub fn explained_variance(&self) -> Result<Array1<f64>, Error> {
        Ok(self.with_zeros(self.model().sample_variance()?))
    }

    /// The standard deviation of the scores along each component (ddof = 1); 0 if there is only one
    /// row.
    pub fn score_deviations(&self) -> Result<Array1<f64>, Error> {
        Ok(self.with_zeros(self.model().score_deviations()?))
    }

    /// The share of the total variance along each component.
    pub fn explained_variance_ratio(&self) -> Array1<f64> {
        self.with_zeros(self.model().explained_variance_ratio())
    }

    /// The average variance along the directions that are not components; 0 if all are, or if there
    /// is only one row.
    pub fn noise_variance(&self) -> Result<f64, Error> {
        let (model, features) = (self.model(), self.features());
        if self.n_components() == features || model.count() <= 1 {
            return Ok(0.0);
        }
        let beyond = (features - model.n_components()) as f64 / (features - self.n_components()) as f64;
        Ok(model.noise_variance()? * beyond)
    }

    /// One value for each component, zeros for those without variance.
    fn with_zeros(&self, values: Array1<f64>) -> Array1<f64> {
        concatenate![Axis(0), values, Array1::zeros(self.extra)]
    }
}
