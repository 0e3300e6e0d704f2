//! Reading a stream: the buffer as it stands is decomposed, and nothing changes.
//!
//! ```text
//! A = [ F ; X − 1tᵀ ],   M = Aᵀ A   ─►  model()   every direction
//!                                    ─►  shown()   the k that are shown, and a few more
//! ```
//!
//! Reading drops nothing; `model()` is cached until the next row. (Sparse rows that would not fit when made
//! dense are the exception: reading them compresses a copy, and the certificate of that reading says
//! what it cost.)
//!
//! Whoever only looks at the components need not pay for the directions behind them. A Gram matrix
//! knows the leading directions up to ε λ₁ / (λ_k − λ_j), where j is the first that was left out; when that is
//! too much, or two of the directions shown are too close for two readings to agree on each, or what is hidden
//! is too little to be known by a difference, everything is read.

use std::sync::Arc;

use ndarray::{ArrayView1, Axis};

use crate::error::Error;
use crate::fit::FitOptions;
use crate::linalg::{self, Real};
use crate::missing::{Guess, Missing, impute};
use crate::model::EigenspaceModel;
use crate::reduce::{Route, Stacked, reduce};
use crate::stream::{Buffer, EigenspaceStream, either};
use crate::truncation::{Components, Truncation};

/// Waiting sparse rows are read as they are while they and the factor have fewer dense cells than this.
const READ_CELLS: usize = 1 << 25;
/// Directions read beside those that are shown, so that the last of these is far from what is left out.
const BESIDE: usize = 16;
/// The angle by which the directions shown may be off for want of the others.
const OFF: f64 = 1e-11;
/// The angle by which two readings may disagree on one of the directions.
const APART: f64 = 1e-7;
/// Numbers, beside those of the matrices, that were once seen to be asked for at a time.
const PRODUCT_CELLS: usize = 1 << 23;
/// The share of variance that must be hidden for its amount to have ten digits.
const HIDDEN: f64 = 1e-5;

impl EigenspaceStream {
    /// The model of all rows so far. Cached until the next row.
    pub fn model(&self) -> Result<Arc<EigenspaceModel>, Error> {
        if let Some(model) = self.cache.get() {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(linalg::inside(|| self.read(Truncation::None))?);
        Ok(Arc::clone(self.cache.get_or_init(|| model)))
    }

    /// A model that is good for looking at its components, and cheaper than [`model`](Self::model): of the
    /// directions behind them only a few are there, which its certificate says.
    ///
    /// ```
    /// use eigenspace::FitOptions;
    /// use ndarray::Array2;
    ///
    /// let rows = Array2::from_shape_fn((300, 2000), |(i, j)| ((i * (j + 3)) % 17) as f64 + (i % (j + 1)) as f64);
    /// let mut stream = FitOptions::new().components(5).stream(2000)?;
    /// stream.update(rows.view())?;
    /// let (shown, model) = (stream.shown()?, stream.model()?);
    /// assert_eq!((shown.n_components(), shown.count()), (5, 300));
    /// assert!(shown.rank() < model.rank());
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn shown(&self) -> Result<Arc<EigenspaceModel>, Error> {
        let Components::Number(shown) = self.options.components else { return self.model() };
        let limit = shown.saturating_add(BESIDE);
        let rows = either!(&self.buffer, factor => factor.kept + factor.pending());
        let size = if self.scatter.is_some() { self.features() } else { rows };
        if self.cache.get().is_some() || limit > size / 4 * 3 {
            return self.model();
        }
        let model = linalg::inside(|| self.read(Truncation::Rank(limit)))?;
        let captured: f64 = model.singular_values().iter().take(shown).map(|s| s * s).sum();
        let hidden = model.moments.total() - captured >= HIDDEN * captured;
        let enough = model.rank() == limit && hidden && told_apart(model.singular_values(), shown, size);
        if enough { Ok(Arc::new(model)) } else { self.model() }
    }

    /// Numbers, at most, that reading asks memory for.
    pub fn cells_to_read(&self) -> usize {
        let rows = either!(&self.buffer, factor => {
            let rows = factor.kept + factor.pending();
            // Sparse rows that are compressed first are never dense.
            let compressed = factor.waits_sparse() && rows * self.features() > READ_CELLS;
            if compressed { rows.min(2 * factor.kept.max(self.plan().max_rank.unwrap_or(rows))) } else { rows }
        });
        let scatter = if self.scatter.is_some() { self.features().saturating_mul(4) } else { 0 };
        (2 * rows + 16).saturating_add(scatter).saturating_mul(self.features()).saturating_add(PRODUCT_CELLS)
    }

    /// What the rows before the raw ones say, if there are enough of them.
    pub(crate) fn guess(&self) -> Result<Option<Guess>, Error> {
        let components = self.options.components;
        let model = match &self.scatter {
            Some(scatter) => scatter.model(Truncation::None, components)?,
            None => either!(&self.buffer, factor => {
                let kept = linalg::rows_of(factor.view(), 0..factor.kept).mapv(Real::widen);
                let reduced = reduce(kept, Route::Auto, Truncation::None, &factor.moments, factor.epsilon())?;
                EigenspaceModel::from_reduced(factor.moments.clone(), reduced, factor.bound, components)
            }),
        };
        Ok((model.count() > 0).then(|| Guess::of(&model, components)))
    }

    fn read(&self, truncation: Truncation) -> Result<EigenspaceModel, Error> {
        let FitOptions { components, forgetting, .. } = self.options;
        let fade = forgetting.weight(self.clock - self.settled);
        either!(&self.buffer, factor => {
            let weights = factor.weights(forgetting, self.clock);
            let cells = (factor.kept + factor.pending()) * self.features();
            if factor.waits_sparse() && cells > READ_CELLS {
                // Too many to be made dense: this reading pays for a compression, the stream does not.
                let mut settled = self.clone();
                settled.flush()?;
                return settled.read(truncation);
            }
            let mut a = factor.widened();
            let (mut kept, mut added) = a.view_mut().split_at(Axis(0), factor.kept);
            let mut imputed = 0;
            if self.options.missing == Missing::Impute {
                imputed = impute(added.view_mut(), weights.as_deref(), self.guess()?, components, self.options.about_origin)?;
            }
            if let Some(scatter) = &self.scatter {
                let mut scatter = scatter.clone();
                scatter.forget(fade);
                scatter.moments.imputed += imputed;
                scatter.absorb(added, weights.as_deref())?;
                return scatter.model(truncation, components);
            }
            kept *= fade.sqrt();
            let mut moments = factor.moments.scaled(fade).absorb(added, weights.as_deref())?;
            moments.imputed += imputed;
            // Rows of F are orthogonal to the rounding of their precision, and what is read is f64.
            let orthogonal = if factor.epsilon() > f64::EPSILON { 0 } else { factor.kept };
            let a = Stacked { rows: a, groups: &[orthogonal] };
            let reduced = reduce(a, Route::Auto, truncation, &moments, factor.epsilon())?;
            let largest = reduced.spectrum.largest().powi(2);
            let bound = factor.bound.scaled(fade).noisier(factor.noise() * largest);
            Ok(EigenspaceModel::from_reduced(moments, reduced, bound, components))
        })
    }
}

/// Whether the first directions are known without those behind the last value, and each by itself, from
/// a Gram matrix of this size.
fn told_apart(values: ArrayView1<'_, f64>, shown: usize, size: usize) -> bool {
    let squared = |i: usize| values[i] * values[i];
    let rounding = f64::EPSILON * (size as f64).sqrt() * squared(0);
    let last = values.len() - 1;
    (0..shown).all(|i| APART * (squared(i) - squared(i + 1)) > rounding)
        && OFF * (squared(shown.saturating_sub(1)) - squared(last)) > rounding
}
