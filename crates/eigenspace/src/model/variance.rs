//! Variances and covariances, computed from the scatter with an explicit divisor.
//!
//! ```text
//! λ_i = s_i² / (w − ddof)        total = Σq / (w − ddof)        ratio_i = s_i² / Σq
//! σ² = (Σq − Σ_{i≤k} s_i²) / ((w − 1)(D − k))
//! C = V_kᵀ diag(λ − σ²) V_k + σ² I        C⁻¹ = ( I − V_kᵀ diag(1 − σ²/λ) V_k ) / σ²
//! ```
//!
//! Σq is exact whatever was truncated, so ratios and the noise variance always refer to all rows,
//! not only to the kept directions. C is the covariance of probabilistic PCA (Tipping & Bishop
//! 1999), which implementations of batch PCA report; with k = D it is the sample covariance.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::error::Error;
use crate::linalg;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::truncation::Components;
use crate::model::weight::WeightKind;
use crate::rows::block::{self, Block};
use crate::rows::element::LARGEST_MAGNITUDE;

/// A divisor below this share of the weight is only rounding, for example for weights that sum to
/// one.
const SMALLEST_DIVISOR: f64 = 1e-9;
/// Directions that are left out as rounding hold less than this share of the variance.
const SHARE_ROUNDING: f64 = 1e-9;

impl EigenspaceModel {
    /// The variance of each component; `ddof` is 1 for the sample variance, 0 for the population
    /// variance.
    pub fn explained_variance(&self, ddof: f64) -> Result<Array1<f64>, Error> {
        let divisor = self.divisor(ddof)?;
        let k = self.n_components();
        Ok(self.all_singular_values().iter().take(k).map(|s| s * s / divisor).collect())
    }

    /// The sample variance of each component; 0 if there is only one row.
    pub(crate) fn sample_variance(&self) -> Result<Array1<f64>, Error> {
        if self.count() > 1 { self.explained_variance(1.0) } else { Ok(Array1::zeros(self.n_components())) }
    }

    /// The standard deviation of the scores along each component (ddof = 1); 0 if there is only one
    /// row.
    pub(crate) fn score_deviations(&self) -> Result<Array1<f64>, Error> {
        Ok(self.sample_variance()?.mapv(f64::sqrt))
    }

    /// The share of the total variance along each component.
    pub fn explained_variance_ratio(&self) -> Array1<f64> {
        let total = self.moments.total();
        let share = |s: &f64| if total > 0.0 { s * s / total } else { 0.0 };
        self.all_singular_values().iter().take(self.n_components()).map(share).collect()
    }

    /// The share of the variance that all kept directions hold, where it is below the share that
    /// was asked for ([`Components::Share`]) because directions were dropped; `None` where the
    /// request is met.
    ///
    /// ```
    /// use eigenspace::{Components, EigenspaceModel, Truncation};
    /// use ndarray::array;
    ///
    /// let rows = array![[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
    /// let model = EigenspaceModel::fit(rows.view())?.with_components(Components::Share(0.95))?;
    /// assert_eq!(model.share_below_request(), None);
    /// let share = model.truncate(Truncation::Rank(1))?.share_below_request();
    /// assert!(share.is_some_and(|share| (share - 0.9).abs() < 1e-15));
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn share_below_request(&self) -> Option<f64> {
        let Components::Share(requested) = self.components else { return None };
        let reached = self.explained_variance_ratio().sum();
        (self.moments.total() > 0.0 && reached < requested * (1.0 - SHARE_ROUNDING)).then_some(reached)
    }

    /// The variance of all features together, exact whatever was truncated.
    pub fn total_variance(&self, ddof: f64) -> Result<f64, Error> {
        Ok(self.moments.total() / self.divisor(ddof)?)
    }

    /// The variance of each feature, exact whatever was truncated.
    pub fn feature_variance(&self, ddof: f64) -> Result<Array1<f64>, Error> {
        Ok(&self.feature_scatter() / self.divisor(ddof)?)
    }

    /// σ²: the average variance (ddof = 1) along the directions that are not reported; 0 if all
    /// are.
    pub fn noise_variance(&self) -> Result<f64, Error> {
        let divisor = self.divisor(1.0)?;
        let k = self.n_components();
        // n rows vary in at most n − 1 directions, but the noise is averaged over all D − k.
        let hidden = self.features() - k;
        if hidden == 0 || self.is_all_shown(k) {
            return Ok(0.0);
        }
        // Kept directions are summed; only for dropped ones the difference is used.
        let squared = self.all_singular_values().mapv(|s| s * s);
        let kept: f64 = squared.iter().skip(k).sum();
        let dropped = if self.certificate().is_exact() { 0.0 } else { (self.moments.total() - squared.sum()).max(0.0) };
        Ok((kept + dropped) / divisor / hidden as f64)
    }

    /// Whether the components have all of the variance, up to rounding.
    fn is_all_shown(&self, k: usize) -> bool {
        k == self.rank() && self.certificate().is_exact()
    }

    /// The variance of the rows along a direction of any length, according to the model. It is
    /// below the true value by at most [`lost`](crate::Certificate::lost), divided by the divisor
    /// of the variance.
    ///
    /// ```
    /// use eigenspace::EigenspaceModel;
    /// use ndarray::array;
    ///
    /// let model = EigenspaceModel::fit(array![[1.0, 0.0], [-1.0, 0.0], [0.0, 0.5], [0.0, -0.5]].view())?;
    /// let along_x = model.variance_along(array![7.0, 0.0].view(), 0.0)?;
    /// assert!((along_x - 0.5).abs() < 1e-15);
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn variance_along(&self, direction: ArrayView1<'_, f64>, ddof: f64) -> Result<f64, Error> {
        block::check(direction.insert_axis(Axis(0)), self.features())?;
        let divisor = self.divisor(ddof)?;
        let largest = direction.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        if largest == 0.0 {
            return Err(Error::ZeroDirection);
        }
        let direction = &direction / largest;
        let length = direction.dot(&direction).sqrt();
        let inside = self.basis().dot(&direction);
        let along = |(p, s): (&f64, &f64)| (p / length * s).powi(2);
        Ok(inside.iter().zip(self.all_singular_values()).map(along).sum::<f64>() / divisor)
    }

    /// C, D × D (ddof = 1). For its product with rows use
    /// [`covariance_times`](Self::covariance_times).
    pub fn covariance(&self) -> Result<Array2<f64>, Error> {
        self.covariance_times(&Array2::<f64>::eye(self.features()))
    }

    /// C⁻¹, D × D. For its product with rows use [`precision_times`](Self::precision_times).
    pub fn precision(&self) -> Result<Array2<f64>, Error> {
        self.precision_times(&Array2::<f64>::eye(self.features()))
    }

    /// Y C for rows Y, without forming C.
    pub fn covariance_times<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array2<f64>, Error> {
        let noise = self.noise_variance()?;
        let scale = self.explained_variance(1.0)?.mapv(|variance| variance - noise);
        self.scaled_projection(rows.into(), scale, noise)
    }

    /// Y C⁻¹ for rows Y, without forming C or its inverse.
    pub fn precision_times<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array2<f64>, Error> {
        let noise = self.noise_variance()?;
        let variance = self.explained_variance(1.0)?;
        let (rank, features) = (variance.len(), self.features());
        if rank == features {
            return self.scaled_projection(rows.into(), variance.mapv(f64::recip), 0.0);
        }
        if noise <= 0.0 {
            return Err(Error::Singular { rank, features });
        }
        self.scaled_projection(rows.into(), variance.mapv(|v| v.recip() - noise.recip()), noise.recip())
    }

    /// Y (V_kᵀ diag(scale) V_k + identity I).
    fn scaled_projection(&self, rows: Block<'_>, scale: Array1<f64>, identity: f64) -> Result<Array2<f64>, Error> {
        rows.unweighted().check(self.features())?;
        Ok(projection_and_identity(rows.all_widened().view(), self.components(), &scale, identity))
    }

    /// w − ddof, or w − ddof Σw²/w for reliability weights. An error if it is only rounding.
    pub(crate) fn divisor(&self, ddof: f64) -> Result<f64, Error> {
        let weight = self.weight();
        let refused = Error::Divisor { ddof, weight, count: self.count() };
        let taken = match self.moments.weight_kind() {
            WeightKind::Frequency => ddof,
            // The squares of such small weights underflow.
            WeightKind::Reliability if weight < 1.0 / LARGEST_MAGNITUDE && ddof != 0.0 => return Err(refused),
            WeightKind::Reliability if weight > 0.0 => ddof * self.moments.squared_weight() / weight,
            WeightKind::Reliability => ddof,
        };
        let divisor = weight - taken;
        if divisor > SMALLEST_DIVISOR * weight && divisor.is_finite() { Ok(divisor) } else { Err(refused) }
    }

    /// What the weights of the rows mean.
    pub fn weight_kind(&self) -> WeightKind {
        self.moments.weight_kind()
    }

    /// The same model with another kind of weights; only variances with a `ddof` differ.
    pub fn with_weight_kind(&self, weights: WeightKind) -> Self {
        Self { moments: self.moments.clone().weighing(weights), ..self.clone() }
    }
}

/// Y (Vᵀ diag(scale) V + identity I).
pub(crate) fn projection_and_identity(
    rows: ArrayView2<'_, f64>,
    components: ArrayView2<'_, f64>,
    scale: &Array1<f64>,
    identity: f64,
) -> Array2<f64> {
    let inside = linalg::cross(rows, components) * scale;
    &rows * identity + linalg::rotate(inside.view(), components)
}
