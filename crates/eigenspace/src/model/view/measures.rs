//! How far rows are from the view's model, and how likely they are.
//!
//! ```text
//! log p(x) = −½ ( D log 2π + Σ_{i≤k} log λ_i + (D − k) log σ² + T² + Q / σ² )
//! C = V_kᵀ diag(λ − σ²) V_k + σ² I
//! ```
//!
//! The likelihood is that of probabilistic PCA (Tipping & Bishop 1999). In a standardized view all
//! of this is about the standardized rows.

use ndarray::{Array1, Array2};

use crate::error::Error;
use crate::model::monitor::{Limits, Readings};
use crate::model::variance::projection_and_identity;
use crate::model::view::View;
use crate::rows::block::Block;
use crate::rows::missing::Missing;

/// Limits that no row is beyond.
const NO_LIMITS: Limits = Limits { hotelling: f64::INFINITY, squared_distance: f64::INFINITY };

impl View {
    /// Hotelling's T² of each row: how unusual it is inside the subspace of the components. NaN for
    /// rows that are skipped.
    pub fn hotelling<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array1<f64>, Error> {
        Ok(self.readings(rows)?.hotelling)
    }

    /// Q of each row: its squared distance to the subspace of the components. NaN for rows that are
    /// skipped.
    pub fn squared_distance<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array1<f64>, Error> {
        Ok(self.readings(rows)?.squared_distance)
    }

    /// T² and Q of each row, without limits: no row is an outlier. NaN for rows that are skipped.
    pub fn readings<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Readings, Error> {
        self.monitor(rows, NO_LIMITS)
    }

    /// T² and Q of rows, compared with limits.
    pub fn monitor<'a>(&self, rows: impl Into<Block<'a>>, limits: Limits) -> Result<Readings, Error> {
        let (squared_distance, hotelling) = self.measured(rows.into())?;
        Ok(Readings::new(hotelling, squared_distance, limits))
    }

    /// The limits of T² and Q that this share of good rows stays below.
    pub fn limits(&self, confidence: f64) -> Result<Limits, Error> {
        self.model().limits(confidence)
    }

    /// The log-likelihood of each row, for rows that are normal with the covariance of the view.
    /// NaN for rows that are skipped.
    pub fn log_likelihood<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array1<f64>, Error> {
        let (model, features) = (self.model(), self.features());
        let hidden = features - model.n_components();
        let noise = self.noise_variance()?;
        if hidden > 0 && noise <= 0.0 {
            model.noise_variance()?; // a model without variances says so first
            return Err(Error::Singular { rank: model.n_components(), features });
        }
        let Readings { squared_distance: q, hotelling: mut ranges, .. } = self.readings(rows)?;
        let mut logarithms: f64 = model.explained_variance(1.0)?.iter().map(|variance| variance.ln()).sum();
        if hidden > 0 {
            ranges.zip_mut_with(&q, |range, q| *range += q / noise);
            logarithms += hidden as f64 * noise.ln();
        }
        let constant = features as f64 * (2.0 * std::f64::consts::PI).ln() + logarithms;
        Ok(ranges.mapv(|range| -0.5 * (constant + range)))
    }

    /// C, the covariance of the features: that of the components, and noise along all other
    /// directions.
    pub fn covariance(&self) -> Result<Array2<f64>, Error> {
        let noise = self.noise_variance()?;
        let scale = self.explained_variance()?.mapv(|variance| variance - noise);
        let identity = Array2::eye(self.features());
        Ok(projection_and_identity(identity.view(), self.components().view(), &scale, noise))
    }

    /// C⁻¹, the inverse of the covariance.
    pub fn precision(&self) -> Result<Array2<f64>, Error> {
        self.model().precision()
    }

    /// Loadings, one row per feature: √λ_i V_ij, the covariance of feature j with the scores along
    /// component i scaled to unit variance (ddof = 0).
    pub fn loadings(&self) -> Result<Array2<f64>, Error> {
        let deviations = self.with_zeros(self.model().explained_variance(0.0)?).mapv(f64::sqrt);
        Ok(self.components().reversed_axes() * &deviations)
    }

    /// Loadings divided by the standard deviation of their feature: correlations of features with
    /// components. A constant feature has no correlation; its entries are 0.
    pub fn correlations(&self) -> Result<Array2<f64>, Error> {
        let deviations = self.model().feature_variance(0.0)?.mapv(f64::sqrt);
        let mut loadings = self.loadings()?;
        for (mut row, deviation) in loadings.rows_mut().into_iter().zip(deviations) {
            row.mapv_inplace(|loading| if deviation > 0.0 { loading / deviation } else { 0.0 });
        }
        Ok(loadings)
    }

    /// Q and T² of each row.
    fn measured(&self, rows: Block<'_>) -> Result<(Array1<f64>, Array1<f64>), Error> {
        let scales = self.scales();
        let Some(incomplete) = self.incomplete(&rows)? else {
            return self.model().distances_and_hotelling(rows, self.raw.center(), scales);
        };
        let kept: Vec<usize> = match self.missing {
            Missing::Impute => (0..rows.nrows()).collect(),
            _ => (0..rows.nrows()).filter(|row| !incomplete.contains(row)).collect(),
        };
        let filled = self.filled(rows.select(&kept))?;
        let (q, hotelling) = self.model().distances_and_hotelling((&filled).into(), self.raw.center(), scales)?;
        let rows_in_place = |values: Array1<f64>| {
            let mut all = Array1::from_elem(rows.nrows(), f64::NAN);
            kept.iter().zip(values).for_each(|(&row, value)| all[row] = value);
            all
        };
        Ok((rows_in_place(q), rows_in_place(hotelling)))
    }
}
