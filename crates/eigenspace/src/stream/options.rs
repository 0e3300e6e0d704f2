//! Settings of a fit, and the fit itself.
//!
//! ```text
//! k shown  ≤  r kept        r = 2k + 32 unless said otherwise
//! ```
//!
//! `components` is what the user looks at; `max_rank` is what the engine carries from one
//! compression to the next. Keeping no more than is shown is cheapest, and wrong by as much as the
//! certificate then says.

use crate::error::Error;
use crate::model::moments::{Moments, WeightKind};
use crate::model::truncation::{Components, Rank, Truncation};
use crate::rows::missing::Missing;
use crate::stream::forgetting::Forgetting;
use crate::stream::plan::{self, Engine, Plan};

/// How to fit a model. The defaults show every direction and drop none, which takes the memory of all
/// rows, up to D × D: set a number of components where there are many features.
///
/// ```
/// use eigenspace::FitOptions;
/// use ndarray::Array2;
///
/// let rows = Array2::from_shape_fn((60, 2000), |(i, j)| ((i * 7 + j * i) % 11) as f32);
/// let model = FitOptions::new().components(0.9).fit(rows.view())?;
/// assert!(model.explained_variance_ratio().sum() >= 0.9);
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FitOptions {
    pub(crate) components: Components,
    pub(crate) max_rank: Option<Rank>,
    pub(crate) truncation: Truncation,
    pub(crate) engine: Engine,
    pub(crate) block_rows: Option<usize>,
    pub(crate) forgetting: Forgetting,
    pub(crate) missing: Missing,
    pub(crate) about_origin: bool,
    pub(crate) standardize: bool,
    pub(crate) weights: WeightKind,
}

impl FitOptions {
    /// All components, nothing dropped, the engine chosen by width.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many components the model shows: a number, a share of variance such as 0.95, or
    /// [`Components::All`].
    pub fn components(mut self, components: impl Into<Components>) -> Self {
        self.components = components.into();
        self
    }

    /// How many directions a compression keeps, whatever the truncation rule. By default twice the
    /// number of components and 32 more; [`Rank::All`] keeps all. The scatter engine has no need of it.
    pub fn max_rank(mut self, rank: impl Into<Rank>) -> Self {
        self.max_rank = Some(rank.into());
        self
    }

    /// The rule by which a compression drops directions. The scatter engine, chosen up to 1,024
    /// features, never compresses and drops nothing; [`EigenspaceModel::truncate`](crate::EigenspaceModel::truncate) cuts its models.
    pub fn truncation(mut self, truncation: Truncation) -> Self {
        self.truncation = truncation;
        self
    }

    /// What is kept between blocks.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Rows gathered for each compression: fewer are faster up to a point, more give a tighter
    /// certificate.
    pub fn block_rows(mut self, rows: usize) -> Self {
        self.block_rows = Some(rows);
        self
    }

    /// How quickly old rows lose weight.
    pub fn forgetting(mut self, forgetting: Forgetting) -> Self {
        self.forgetting = forgetting;
        self
    }

    /// Whether the rows are centered on their mean, as PCA does by default. Without centering the
    /// directions are those of Σ x xᵀ, as latent semantic analysis wants them.
    pub fn centered(mut self, centered: bool) -> Self {
        self.about_origin = !centered;
        self
    }

    /// Whether the model will be looked at [standardized](crate::EigenspaceModel::standardize). The model itself stays raw;
    /// but directions are then dropped by what they hold of features that all vary alike, and features of small spread
    /// keep their digits.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// What the weights of rows mean.
    pub fn weights(mut self, weights: WeightKind) -> Self {
        self.weights = weights;
        self
    }

    /// What to do with cells that are not a number.
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// The moments of no rows.
    pub(crate) fn nothing(&self, features: usize) -> Moments {
        Moments::empty(features).about(self.about_origin).weighing(self.weights)
    }

    /// What a stream of rows of this width would do; refuses options that mean nothing.
    pub fn plan(&self, features: usize) -> Result<Plan, Error> {
        self.components.check()?;
        self.truncation.check()?;
        self.forgetting.check()?;
        if features == 0 {
            return Err(Error::NoFeatures);
        }
        if self.max_rank == Some(Rank::AtMost(0)) {
            return Err(Error::Zero { what: "the rank to keep" });
        }
        if self.block_rows == Some(0) {
            return Err(Error::Zero { what: "the number of rows in a block" });
        }
        plan::plan(features, self.components, self.max_rank, self.truncation, self.engine, self.block_rows)
    }
}
