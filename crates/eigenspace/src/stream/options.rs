//! Settings of a fit.
//!
//! ```text
//! k reported  ≤  r kept        r = 2k + 32 by default
//! ```
//!
//! `components` is the number of directions to report; `max_rank` is the number of directions kept
//! from one compression to the next. Keeping only the reported ones is fastest, but inaccurate; the
//! certificate says by how much.

use crate::error::Error;
use crate::linalg::Device;
use crate::model::moments::Moments;
use crate::model::truncation::{Components, Rank, Truncation};
use crate::model::weight::WeightKind;
use crate::rows::missing::Missing;
use crate::stream::forgetting::Forgetting;
use crate::stream::plan::{self, Engine, Plan};

/// How to fit a model. The defaults report every direction and drop none. This takes as much memory
/// as all rows, up to D × D numbers, so set a number of components if there are many features.
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
    pub(crate) weight_kind: WeightKind,
    pub(crate) device: Device,
}

impl FitOptions {
    /// Reports all components, drops nothing, and chooses the engine by the number of features.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of components to report: a number, a share of variance such as 0.95, or
    /// [`Components::All`].
    pub fn components(mut self, components: impl Into<Components>) -> Self {
        self.components = components.into();
        self
    }

    /// Largest number of directions that a compression keeps, whatever the truncation rule. The
    /// default is twice the number of components plus 32. For a share of variance, that number is
    /// the one that reaches the share. All directions are kept if all components are reported, or
    /// if there are both a number of components and a truncation rule. [`Rank::All`] keeps all. The
    /// scatter engine ignores it.
    pub fn max_rank(mut self, rank: impl Into<Rank>) -> Self {
        self.max_rank = Some(rank.into());
        self
    }

    /// The rule by which a compression drops directions. The scatter engine, the default for few
    /// features (see [`Engine::Auto`]), never drops anything; use
    /// [`EigenspaceModel::truncate`](crate::EigenspaceModel::truncate) to truncate its models.
    pub fn truncation(mut self, truncation: Truncation) -> Self {
        self.truncation = truncation;
        self
    }

    /// How the stream absorbs rows.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Number of rows per compression. Fewer rows are faster up to a point; more rows give a
    /// tighter certificate.
    pub fn block_rows(mut self, rows: usize) -> Self {
        self.block_rows = Some(rows);
        self
    }

    /// How quickly the weight of old rows decreases.
    pub fn forgetting(mut self, forgetting: Forgetting) -> Self {
        self.forgetting = forgetting;
        self
    }

    /// Whether to subtract the mean of the rows, as in PCA. Without centering, the directions are
    /// those of Σ x xᵀ, as in latent semantic analysis.
    pub fn centered(mut self, centered: bool) -> Self {
        self.about_origin = !centered;
        self
    }

    /// Whether the model will be [standardized](crate::EigenspaceModel::standardize). The model
    /// itself keeps the units of the rows, but directions are then dropped by their variance in
    /// standardized units, so that features with a small spread keep their digits.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// What the weights of rows mean.
    pub fn weight_kind(mut self, weight_kind: WeightKind) -> Self {
        self.weight_kind = weight_kind;
        self
    }

    /// What to do with missing cells (NaN).
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// Where to compute. On a GPU, results equal those of the CPU up to rounding, for the same
    /// engine and the same number of rows per block ([`block_rows`](Self::block_rows), which is
    /// larger on a GPU by default).
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Fails if an option differs from that of other accumulators. These compute on one device.
    pub(crate) fn check_same(&self, other: &Self) -> Result<(), Error> {
        let default = || "the default".to_owned();
        let values = |options: &Self| {
            let Self { components, max_rank, truncation, engine, block_rows, forgetting, .. } = options;
            let Self { missing, about_origin, standardize, weight_kind, device: _, .. } = options;
            [
                ("n_components", components.to_string()),
                ("max_rank", max_rank.map_or_else(default, |rank| rank.to_string())),
                ("truncation", truncation.to_string()),
                ("engine", engine.to_string()),
                ("block_rows", block_rows.map_or_else(default, |rows| rows.to_string())),
                ("forgetting", forgetting.to_string()),
                ("missing", missing.to_string()),
                ("centered", (!about_origin).to_string()),
                ("standardize", standardize.to_string()),
                ("weight_kind", weight_kind.to_string()),
            ]
        };
        let differing = values(self).into_iter().zip(values(other)).find(|(left, right)| left != right);
        differing.map_or(Ok(()), |((option, left), (_, right))| Err(Error::OptionsDiffer { option, left, right }))
    }

    /// The moments of zero rows.
    pub(crate) fn nothing(&self, features: usize) -> Moments {
        Moments::empty(features).about(self.about_origin).weighing(self.weight_kind)
    }

    /// The plan of a stream with this number of features. Rejects invalid options.
    pub fn plan(&self, features: usize) -> Result<Plan, Error> {
        self.components.check()?;
        self.truncation.check()?;
        self.forgetting.check()?;
        if features == 0 {
            return Err(Error::NoFeatures);
        }
        if self.max_rank == Some(Rank::AtMost(0)) {
            return Err(Error::Zero { what: "rank" });
        }
        if self.block_rows == Some(0) {
            return Err(Error::Zero { what: "number of rows per block" });
        }
        let plan = |engine, block_rows| {
            plan::plan(features, self.components, self.max_rank, self.truncation, engine, block_rows)
        };
        match self.device.open(features)? {
            None => plan(self.engine, self.block_rows),
            Some(_) => {
                let engine = plan::engine_on_card(self.engine, features);
                let block_rows = self.block_rows.unwrap_or_else(|| plan::block_rows_on_card(engine, features));
                Ok(plan(engine, Some(block_rows))?.on_card(self.block_rows))
            }
        }
    }
}
