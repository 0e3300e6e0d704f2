//! Reading a stream: decomposes the current buffer without changing it.
//!
//! ```text
//! A = [ F ; X − 1tᵀ ],   M = Aᵀ A   ─►  model()   all directions
//!                                    ─►  preview() the k reported ones, and a few more
//! ```
//!
//! Reading drops nothing, and `model()` is cached until the next row. (There is one exception:
//! sparse rows that would not fit in memory when made dense are compressed in a copy, and the
//! certificate of that model includes the effect.)
//!
//! Callers that need only the leading components can skip the rest. A Gram matrix determines the
//! leading directions up to ε λ₁ / (λ_k − λ_j), where j is the first one left out. Everything is
//! computed if this is too large, if two reported directions are too close to be determined
//! separately, or if the unreported variance is too small to be computed as a difference. (The
//! first of these does not concern a scatter: its directions are eigenvectors, which are as exact
//! alone as together with all others.)

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::error::Error;
use crate::linalg::{self, Real};
use crate::model::decompose::{Route, SVD_FEATURES, Stacked, reduce};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::imputer::Imputer;
use crate::model::projectable::{Operation, Rows, TypedRows};
use crate::model::scatter::is_decomposed_by_feature;
use crate::model::scores::fitting;
use crate::model::truncation::{Components, Truncation};
use crate::rows::block::Block;
use crate::rows::missing::Missing;
use crate::stream::dual::{Dual, WeightedRows};
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::narrow_rows::NarrowRows;
use crate::stream::on_card::OnCard;
use crate::stream::options::FitOptions;
use crate::stream::preview::Preview;
use crate::stream::row_products::Reference;
use crate::stream::state::{EngineState, StreamState};

/// Pending sparse rows are read without a compression if they and the factor have at most this many
/// cells when dense.
pub(crate) const MAX_DENSE_READ_CELLS: usize = 1 << 25;
/// Number of rows that are projected without the components. Then computing the components is
/// faster.
const MAX_DUAL_ROWS: usize = 8;
/// Directions computed in addition to the reported ones, so that the last reported one is far from
/// what is left out.
const EXTRA_DIRECTIONS: usize = 16;
/// Largest accepted angle between the reported directions and the exact ones, caused by leaving out
/// the others.
const DIRECTION_TOLERANCE: f64 = 1e-11;
/// Largest accepted angle between the same direction in two reads.
const AGREEMENT_TOLERANCE: f64 = 1e-7;
/// The unreported share of variance must be at least this, so that it can be computed as a
/// difference to ten digits.
const MIN_UNREPORTED_SHARE: f64 = 1e-5;

impl EigenspaceStream {
    /// The model of all rows so far. It is cached until the next row.
    pub fn model(&self) -> Result<Arc<EigenspaceModel>, Error> {
        if let Some(model) = self.cache.model.get() {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(linalg::inside(|| self.read(Truncation::None))?);
        Ok(Arc::clone(self.cache.model.get_or_init(|| model)))
    }

    /// The reported components and their variances, without most of the other directions. It is
    /// cheaper than [`model`](Self::model); its certificate counts the directions that are left
    /// out.
    ///
    /// ```
    /// use eigenspace::FitOptions;
    /// use ndarray::Array2;
    ///
    /// let rows = Array2::from_shape_fn((300, 2000), |(i, j)| ((i * (j + 3)) % 17) as f64 + (i % (j + 1)) as f64);
    /// let mut stream = FitOptions::new().components(5).stream(2000)?;
    /// stream.update(rows.view())?;
    /// let preview = stream.preview()?;
    /// assert_eq!((preview.n_components(), preview.count()), (5, 300));
    /// assert_eq!(preview.components().dim(), (5, 2000));
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn preview(&self) -> Result<Preview, Error> {
        if self.cache.model.get().is_some() {
            return self.model().map(Preview::new);
        }
        if let Some(preview) = self.cache.preview.get() {
            return Ok(preview.clone());
        }
        let preview = linalg::inside(|| self.partial_read())?;
        Ok(self.cache.preview.get_or_init(|| preview).clone())
    }

    /// The same, up to rounding, if the stream is read only once. It uses products of matrices,
    /// which are faster but cannot be reused by the next read.
    #[doc(hidden)]
    pub fn preview_once(&self) -> Result<Preview, Error> {
        if self.cache.model.get().is_some() || self.cache.preview.get().is_some() {
            return self.preview();
        }
        let preview = linalg::inside(|| match self.leading_part() {
            Some(part) => self.read_leading(part),
            None => self.model().map(Preview::new),
        })?;
        Ok(self.cache.preview.get_or_init(|| preview).clone())
    }

    /// The scores of rows along the reported components of all rows so far: those of
    /// [`preview`](Self::preview), up to rounding. The first few rows that are projected after an
    /// update do not need the components, which takes much less time than computing them.
    ///
    /// ```
    /// use eigenspace::FitOptions;
    /// use ndarray::{Array2, Axis};
    ///
    /// let rows = Array2::from_shape_fn((300, 2000), |(i, j)| ((i * (j + 3)) % 17) as f64 + (i % (j + 1)) as f64);
    /// let mut stream = FitOptions::new().components(5).stream(2000)?;
    /// for row in rows.axis_chunks_iter(Axis(0), 1) {
    ///     stream.update(row)?;
    /// }
    /// let scores = stream.project(rows.slice_axis(Axis(0), (..2).into()))?;
    /// let by_components = stream.preview()?.project(rows.slice_axis(Axis(0), (..2).into()))?;
    /// assert!((&scores - &by_components).iter().all(|difference| difference.abs() < 1e-9));
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn project<'a, R: Rows<'a>>(&self, rows: R) -> Result<R::Scores, Error> {
        rows.apply(&Project(self))
    }

    /// The scores of a few rows, if they are known sooner than the components.
    #[doc(hidden)]
    pub fn project_few<'a, R: TypedRows<'a>>(&self, rows: R) -> Result<Option<Array2<R::Score>>, Error> {
        let block: Block<'_> = rows.into().unweighted();
        let formed = self.cache.model.get().is_some() || self.cache.preview.get().is_some();
        if formed || block.nrows() > MAX_DUAL_ROWS || self.leading_part().is_none() {
            return Ok(None);
        }
        block.check(self.features())?;
        if self.cache.count_projected(block.nrows()) > MAX_DUAL_ROWS {
            return Ok(None);
        }
        let rows = block.all_widened();
        let scores = linalg::inside(|| {
            self.with_dual(rows.view(), |dual, weighted, reference, products| {
                let narrow = |work: &dyn Fn(&mut NarrowRows)| self.cache.with_narrow(work);
                Ok(dual.and_then(|dual| dual.scores(weighted, reference, products, narrow)))
            })
        })?;
        scores.map(|scores| fitting(scores.mapv(R::Score::narrow))).transpose()
    }

    /// The number of reported components, and of directions that determine whether they can be read
    /// alone. `None` if everything is read.
    fn leading_part(&self) -> Option<(usize, usize)> {
        let Components::Number(shown) = self.options.components else { return None };
        let limit = shown.saturating_add(EXTRA_DIRECTIONS);
        let size = match self.state.engine {
            EngineState::Scatter(_) => self.features(),
            EngineState::Factor(_) => self.state.buffer.len(),
        };
        (!self.options.standardize && limit <= size / 4 * 3).then_some((shown, limit))
    }

    /// Whether the pending rows are dense and complete, and their products smaller than the rows.
    fn has_dual(&self) -> bool {
        let (buffer, features) = (&self.state.buffer, self.features());
        let complete = self.options.missing != Missing::Impute && !buffer.is_sparse() && buffer.pending() > 0;
        complete && features > SVD_FEATURES && buffer.len() <= features
    }

    fn partial_read(&self) -> Result<Preview, Error> {
        let Some(part) = self.leading_part() else { return self.model().map(Preview::new) };
        if self.has_dual()
            && let EngineState::Factor(_) = self.state.engine
        {
            let none = Array2::zeros((0, self.features()));
            let preview = self.with_dual(none.view(), |dual, weighted, _, _| match dual {
                Some(dual) => dual.preview(weighted, self.options.components),
                None => Ok(None),
            })?;
            return match preview {
                Some(preview) => Ok(preview.carrying(&self.state.metadata)),
                None => self.model().map(Preview::new),
            };
        }
        self.read_leading(part)
    }

    /// The reported components by products of matrices; all directions if they do not determine the
    /// components.
    fn read_leading(&self, (shown, limit): (usize, usize)) -> Result<Preview, Error> {
        let model = self.read(Truncation::Rank(limit))?;
        let size =
            if let EngineState::Scatter(_) = self.state.engine { self.features() } else { self.state.buffer.len() };
        let values = model.all_singular_values();
        let separate = match self.state.engine {
            EngineState::Scatter(_) => !is_decomposed_by_feature(&model.moments, values.first().map_or(0.0, |s| s * s)),
            EngineState::Factor(_) => false,
        };
        let enough = model.rank() == limit
            && are_determined(values, shown, model.moments.total(), size, 1.0)
            && (separate || are_far_from_others(values, shown, size, 1.0));
        if enough { Ok(Preview::new(Arc::new(model))) } else { self.model().map(Preview::new) }
    }

    /// Runs `work` with the dual of all rows so far, and the products of other rows with them.
    fn with_dual<T>(
        &self,
        others: ArrayView2<'_, f64>,
        work: impl FnOnce(Option<&Dual>, &WeightedRows<'_>, &Reference, ArrayView2<'_, f64>) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let StreamState { engine, buffer, clock, engine_clock, .. } = &self.state;
        let (EngineState::Factor(factor), Some((shown, limit)), true) = (engine, self.leading_part(), self.has_dual())
        else {
            return Ok(None);
        };
        let fade = self.options.forgetting.weight(clock - engine_clock);
        let weights = buffer.weights(self.options.forgetting, *clock);
        let plain = weights.is_none() && fade == 1.0;
        let mut weighted = WeightedRows { buffer, factor, weights: weights.as_deref(), fade, sums: None };
        let reference = Reference::of(buffer, factor.moments());
        if let Some(dual) = self.cache.dual.get() {
            let kept = self.cache.take_products();
            weighted.sums = kept.sums(buffer.pending()).filter(|_| plain);
            self.cache.keep_products(kept);
            let products = reference.products(buffer, others);
            return work(dual.as_deref(), &weighted, &reference, products.view());
        }
        let mut kept = self.cache.take_products();
        let products = kept.extend(buffer, &reference, others);
        weighted.sums = kept.sums(buffer.pending()).filter(|_| plain);
        let ones = vec![1.0; if weights.is_some() { 0 } else { buffer.pending() }];
        let before = factor.moments().weight().times(fade).value();
        let origin = factor.moments().is_about_origin();
        let centered = kept.centered(weights.as_deref().unwrap_or(&ones), fade, before, origin);
        self.cache.keep_products(kept);
        let total = centered.gram.diag().sum();
        let determined = |values: &Array1<f64>, loss: f64| {
            are_determined(values.view(), shown, total, buffer.len(), loss)
                && are_far_from_others(values.view(), shown, buffer.len(), loss)
        };
        let dual = Dual::of(&centered, &weighted, (shown, limit), determined).map(Arc::new);
        let dual = self.cache.dual.get_or_init(|| dual);
        work(dual.as_deref(), &weighted, &reference, products.view())
    }

    /// Fills missing cells from the rows before the pending ones, if there are any.
    pub(crate) fn imputer(&self) -> Result<Option<Imputer>, Error> {
        let components = self.options.components;
        let model = match &self.state.engine {
            EngineState::Scatter(scatter) => scatter.model(Truncation::None, components, false),
            EngineState::Factor(factor) => {
                let kept = self.state.buffer.factor().to_owned();
                let reduced = reduce(kept, Route::Auto, Truncation::None, factor.moments());
                EigenspaceModel::from_reduced(factor.moments().clone(), reduced, factor.bound().clone(), components)
            }
        };
        Ok((model.count() > 0).then(|| Imputer::of(&model, components)))
    }

    fn read(&self, truncation: Truncation) -> Result<EigenspaceModel, Error> {
        let FitOptions { components, forgetting, standardize, .. } = self.options;
        let StreamState { engine, buffer, metadata, clock, engine_clock, .. } = &self.state;
        let fade = forgetting.weight(clock - engine_clock);
        let weights = buffer.weights(forgetting, *clock);
        if buffer.is_sparse() && buffer.len() * self.features() > MAX_DENSE_READ_CELLS {
            // Too many cells to be made dense: compress a copy of the stream instead.
            let mut flushed = self.clone();
            flushed.flush()?;
            return flushed.read(truncation);
        }
        if self.options.missing == Missing::Impute {
            return self.read_filled(truncation);
        }
        if let (EngineState::Scatter(scatter), Some(on_card), true) = (engine, &self.on_card, fade == 1.0) {
            let how = (truncation, components, standardize);
            if let Some(model) = on_card.read_scatter(scatter, buffer, weights.as_deref(), how) {
                return Ok(model.carrying(metadata));
            }
        }
        let mut a = buffer.to_dense();
        let (mut kept, added) = a.view_mut().split_at(Axis(0), buffer.kept());
        match engine {
            EngineState::Scatter(scatter) => {
                let mut scatter = scatter.clone();
                if fade < 1.0 {
                    scatter.forget(fade);
                }
                scatter.absorb(added, weights.as_deref())?;
                let card = self.on_card.as_ref().map(OnCard::card);
                Ok(scatter.model_on(card, truncation, components, standardize).carrying(metadata))
            }
            EngineState::Factor(factor) => {
                kept *= fade.sqrt();
                let before = factor.moments().scaled(fade);
                let absorbed = before.absorb(added, weights.as_deref())?;
                let bound = factor.bound().clone().scaled(fade).absorbed(&before, &absorbed);
                let a = Stacked { rows: a, groups: &[buffer.kept()] };
                let reduced = reduce(a, Route::Auto, truncation, absorbed.moments());
                Ok(EigenspaceModel::from_reduced(absorbed.into_moments(), reduced, bound, components)
                    .carrying(metadata))
            }
        }
    }

    /// Reads a copy of the stream in which missing cells are filled.
    fn read_filled(&self, truncation: Truncation) -> Result<EigenspaceModel, Error> {
        let mut filled = self.clone();
        let weights = filled.state.buffer.weights(self.options.forgetting, self.state.clock);
        filled.fill_missing(weights.as_deref())?;
        if let Some(column) = filled.state.unseen.iter().position(|unseen| *unseen).filter(|_| self.count() > 0) {
            return Err(Error::NeverObserved { column, rows: self.count() });
        }
        filled.options.missing = Missing::Refuse;
        filled.read(truncation)
    }
}

/// Whether a Gram matrix of this size, with this loss of digits compared with centered rows,
/// determines each of the first `shown` directions, and what they leave of the total.
fn are_determined(values: ArrayView1<'_, f64>, shown: usize, total: f64, size: usize, loss: f64) -> bool {
    let squared = |i: usize| values[i] * values[i];
    let captured: f64 = (0..shown).map(squared).sum();
    let rounding = rounding_of(values, size, loss);
    total - captured >= MIN_UNREPORTED_SHARE * captured
        && (0..shown).all(|i| AGREEMENT_TOLERANCE * (squared(i) - squared(i + 1)) > rounding)
}

/// Whether it determines the first `shown` directions of a factor, although those after the last
/// value were left out. The directions of a scatter are its eigenvectors, which do not depend on
/// how many of them are computed.
fn are_far_from_others(values: ArrayView1<'_, f64>, shown: usize, size: usize, loss: f64) -> bool {
    let squared = |i: usize| values[i] * values[i];
    let gap = squared(shown.saturating_sub(1)) - squared(values.len() - 1);
    DIRECTION_TOLERANCE * gap > rounding_of(values, size, loss)
}

/// The error of an eigenvalue of a Gram matrix of this size.
fn rounding_of(values: ArrayView1<'_, f64>, size: usize, loss: f64) -> f64 {
    loss.max(1.0) * f64::EPSILON * (size as f64).sqrt() * values[0] * values[0]
}

/// Scores along the reported components of a stream.
struct Project<'s>(&'s EigenspaceStream);

impl Operation for Project<'_> {
    fn of<'a, R: TypedRows<'a>>(&self, rows: R) -> Result<Array2<R::Score>, Error> {
        match self.0.project_few(rows)? {
            Some(scores) => Ok(scores),
            None => self.0.preview()?.project(rows),
        }
    }
}
