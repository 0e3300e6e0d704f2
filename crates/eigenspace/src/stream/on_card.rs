//! Fits on a card: what a stream keeps there, and the compression.
//!
//! ```text
//! host   buffer: [ F ; X ]    next: [    ; X' ] ──copies──►  card   F, X, X'
//!                                                            G = [ F ; X ] [ F ; X ]ᵀ,  F' = U_r [ F ; X ]
//!        next:   [ F' ; X' ] ◄────────────────────────────── F'
//! ```
//!
//! While the card compresses the full buffer, the rows after it are checked and copied to the
//! memory of the next buffer and to the card. The compressed factor comes back to the host as well.
//! Rows that are compressed later in the same update are only on the card. So after an update, the
//! host has the complete state: a stream can be read, saved and cloned as without a card, and if
//! the card fails, the stream is as it was before the update.
//!
//! What a card cannot do is computed on the CPU: sparse rows, standardized rows, rows with missing
//! cells to be filled, more rows than features in a factor, and eigenproblems whose result fails
//! its check.

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::device_error::DeviceError;
use crate::error::Error;
use crate::linalg::{self, Card, Matrix, RowsOnCard};
use crate::model::bound::{Bound, UNIT};
use crate::model::decompose;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::scatter::{Copies, Scatter};
use crate::model::truncation::{Components, Truncation};
use crate::stream::buffer::RowBuffer;
use crate::stream::factor::Rule;
use crate::stream::options::FitOptions;
use crate::stream::pending::{Pending, downloaded};
use crate::stream::plan::{Engine, Plan};
use crate::stream::state::{EngineState, StreamState};

/// Fewer new rows than this number of cells are sent together with later ones.
const MIN_SENT_CELLS: usize = 1 << 18;

/// What a stream keeps on a card.
#[derive(Debug)]
pub(crate) struct OnCard {
    card: Arc<dyn Card>,
    /// F after this number of compressions.
    factor: Option<(Matrix, u64)>,
    /// Memory for the next F.
    spare: Option<Matrix>,
    /// Memory for the rows after the next compression.
    spare_rows: Option<Matrix>,
    pending: Pending,
    /// M and its rounding errors for this number of rows.
    scatter: Option<(Matrix, Matrix, u64)>,
    /// Memory for the next buffer, and for the next M.
    memory: Option<Array2<f64>>,
    home: Option<(Array2<f64>, Array2<f64>)>,
}

/// A copy of a stream starts with nothing on the card; what it needs is sent from the host.
impl Clone for OnCard {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.card))
    }
}

/// The engine after the pending rows were added to it, and the number of rows of its factor.
pub(crate) struct Flushed {
    pub(crate) engine: EngineState,
    pub(crate) kept: usize,
}

/// The error if rows that were sent are not there.
fn lost() -> DeviceError {
    DeviceError::Failed { reason: "the rows that were sent are not there".into() }
}

/// A matrix of the host on the card.
fn sent(card: &dyn Card, rows: ArrayView2<'_, f64>) -> Result<Matrix, DeviceError> {
    let mut matrix = card.zeros(rows.nrows(), rows.ncols())?;
    card.upload(rows, &mut matrix, 0)?;
    Ok(matrix)
}

impl OnCard {
    pub(crate) fn new(card: Arc<dyn Card>) -> Self {
        let (factor, spare, spare_rows, scatter, memory, home) = (None, None, None, None, None, None);
        Self { card, factor, spare, spare_rows, pending: Pending::default(), scatter, memory, home }
    }

    pub(crate) fn card(&self) -> &dyn Card {
        &*self.card
    }

    /// Checks that rows of another library are on the card.
    pub(crate) fn check(&self, rows: RowsOnCard) -> Result<(), Error> {
        Ok(self.card.check(rows)?)
    }

    /// A copy of such rows.
    pub(crate) fn downloaded(&self, rows: RowsOnCard) -> Result<Array2<f64>, Error> {
        downloaded(&*self.card, rows)
    }

    /// Forgets what is on the card: the host has changed it, or the card has failed.
    pub(crate) fn clear(&mut self) {
        *self = Self { memory: self.memory.take(), ..Self::new(Arc::clone(&self.card)) };
    }

    /// Sends pending rows ahead of the compression, if there are enough of them. If that fails, the
    /// compression tries again and reports it.
    pub(crate) fn send_ahead(&mut self, buffer: &RowBuffer, capacity: usize) {
        let rows = buffer.raw();
        if rows.nrows().saturating_sub(self.pending.rows) * rows.ncols() >= MIN_SENT_CELLS {
            self.send(buffer, capacity).unwrap_or_default();
        }
    }

    /// Sends the pending rows that are not on the card yet.
    fn send(&mut self, buffer: &RowBuffer, capacity: usize) -> Result<(), DeviceError> {
        let rows = buffer.raw();
        if rows.nrows() > self.pending.rows {
            self.pending.make_room(&*self.card, capacity.max(rows.nrows()), rows.ncols())?;
            self.pending.add(&*self.card, linalg::rows_of(rows, self.pending.rows..rows.nrows()))?;
        }
        Ok(())
    }

    /// Whether the card can compute with these rows.
    pub(crate) fn suits(engine: Engine, buffer: &RowBuffer, standardized: bool) -> bool {
        let fits = engine == Engine::Scatter || (!standardized && buffer.len() <= buffer.features());
        !buffer.is_sparse() && buffer.pending() > 0 && fits
    }

    /// Number of rows that the factor has at most after a compression.
    pub(crate) fn reserved_rows(plan: Plan, buffer: &RowBuffer) -> usize {
        if plan.engine == Engine::Scatter { 0 } else { plan.rank_limit().of(buffer.len()) }
    }

    /// Memory for the next buffer. Memory that was used before is faster than new memory.
    pub(crate) fn memory_of(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        let memory = self.memory.take().filter(|memory| memory.dim() == (rows, columns));
        memory.unwrap_or_else(|| Array2::zeros((rows, columns)))
    }

    /// Reuses the memory of a state that is no longer needed.
    pub(crate) fn reuse(&mut self, state: StreamState) {
        if let EngineState::Scatter(scatter) = state.engine
            && !scatter.matrix().is_empty()
        {
            self.home = Some(scatter.into_parts());
        }
        self.memory = Some(state.buffer.into_memory());
    }

    /// Adds the pending rows to the scatter. If not `complete`, its matrix stays on the card and
    /// that of the host is empty: more rows of the same update follow, and if one of the steps
    /// fails, the stream returns to the state before the update.
    pub(crate) fn add_to_scatter(
        &mut self,
        engine: &EngineState,
        options: &FitOptions,
        buffer: &RowBuffer,
        weights: Option<&[f64]>,
        complete: bool,
    ) -> Result<Flushed, Error> {
        let features = buffer.features();
        let nothing = Array2::zeros((0, 0));
        let (moments, bound) = (options.nothing(features), Bound::exact(features));
        let empty = Scatter::new(moments, bound, nothing.clone(), nothing);
        let scatter = if let EngineState::Scatter(scatter) = engine { scatter } else { &empty };
        self.send(buffer, buffer.pending())?;
        let Pending { x: Some(mut x), rows } = std::mem::take(&mut self.pending) else { return Err(lost().into()) };
        let (mut m, mut low) = match self.scatter.take() {
            Some((m, low, count)) if count == scatter.moments().count() => (m, low),
            _ => {
                let card = &*self.card;
                if scatter.moments().count() > 0 {
                    if scatter.matrix().is_empty() {
                        return Err(lost().into());
                    }
                    (sent(card, scatter.matrix().view())?, sent(card, scatter.low().view())?)
                } else {
                    (card.zeros(features, features)?, card.zeros(features, features)?)
                }
            }
        };
        let row = |i: usize| buffer.raw().index_axis_move(Axis(0), i);
        let absorbed = scatter.moments().absorb_on_card(&*self.card, &mut x, rows, weights, row)?;
        self.card.add_scatter(&mut m, &mut low, &x, rows)?;
        // The card computes the products meanwhile.
        let bound = scatter.bound().absorbed(scatter.moments(), &absorbed);
        let size = if complete { features } else { 0 };
        let home = if complete { self.home.take() } else { None };
        let (mut matrix, mut matrix_low) =
            home.unwrap_or_else(|| (Array2::zeros((size, size)), Array2::zeros((size, size))));
        if complete {
            self.card.download(&m, matrix.view_mut())?;
            self.card.download(&low, matrix_low.view_mut())?;
        }
        self.spare_rows = Some(x);
        self.scatter = Some((m, low, absorbed.moments().count()));
        let scatter = Scatter::new(absorbed.into_moments(), bound, matrix, matrix_low);
        Ok(Flushed { engine: EngineState::Scatter(scatter), kept: 0 })
    }

    /// Reads the scatter together with the pending rows, without changing what is on the card.
    /// `None` if the CPU is faster, or if the card has failed: a read needs no card.
    pub(crate) fn read_scatter(
        &self,
        scatter: &Scatter,
        buffer: &RowBuffer,
        weights: Option<&[f64]>,
        how: (Truncation, Components, bool),
    ) -> Option<EigenspaceModel> {
        if buffer.is_sparse() || buffer.features() < linalg::MIN_CARD_ROWS {
            return None;
        }
        let copies = self.copies_of(scatter, buffer).ok()?;
        let row = |i: usize| buffer.raw().index_axis_move(Axis(0), i);
        scatter.read_on_card(&*self.card, copies, weights, row, how).ok()
    }

    /// The scatter and the pending rows in memory of their own, from the card as far as they are
    /// there.
    fn copies_of(&self, scatter: &Scatter, buffer: &RowBuffer) -> Result<Copies, DeviceError> {
        let card = &*self.card;
        let (matrix, low) = match &self.scatter {
            Some((m, low, count)) if *count == scatter.moments().count() => {
                (linalg::copy_of(card, m)?, linalg::copy_of(card, low)?)
            }
            _ => (sent(card, scatter.matrix().view())?, sent(card, scatter.low().view())?),
        };
        let raw = buffer.raw();
        if raw.nrows() == 0 {
            return Ok(Copies::new(matrix, low, None));
        }
        let mut x = card.zeros(raw.nrows(), raw.ncols())?;
        let there = match &self.pending {
            Pending { x: Some(sent), rows } if *rows > 0 => {
                card.copy(sent, *rows, &mut x)?;
                *rows
            }
            _ => 0,
        };
        if there < raw.nrows() {
            card.upload(linalg::rows_of(raw, there..raw.nrows()), &mut x, there)?;
        }
        Ok(Copies::new(matrix, low, Some((x, raw.nrows()))))
    }

    /// Compresses the rows of the buffer. The factor is written to the last rows of `home`. `None`
    /// if the eigenproblem has failed its check.
    pub(crate) fn compress(
        &mut self,
        engine: &EngineState,
        buffer: &RowBuffer,
        weights: Option<&[f64]>,
        rule: &Rule<'_>,
        mut home: ArrayViewMut2<'_, f64>,
    ) -> Result<Option<Flushed>, Error> {
        let EngineState::Factor(factor) = engine else { return Ok(None) };
        let card = Arc::clone(&self.card);
        let (kept, pending, columns) = (buffer.kept(), buffer.pending(), buffer.features());
        let size = kept + pending;
        self.send(buffer, pending)?;
        let f = match self.factor.take() {
            Some((f, compressions)) if compressions == factor.compressions() => f,
            _ => {
                let mut f = card.zeros(home.nrows().max(kept), columns)?;
                card.upload(buffer.factor(), &mut f, 0)?;
                f
            }
        };
        // The rows are centered on the card, so they are no longer those of the buffer.
        let Pending { x: Some(mut x), .. } = std::mem::take(&mut self.pending) else { return Err(lost().into()) };
        let row = |i: usize| buffer.raw().index_axis_move(Axis(0), i);
        let absorbed = factor.moments().absorb_on_card(&*card, &mut x, pending, weights, row)?;
        let gram = card.gram((&f, kept), (&x, pending), factor.is_trusted())?;
        let wanted = rule.limit.of(gram.rows) + 1;
        let (eigen, bound) =
            rayon::join(|| card.eigen(gram, wanted), || factor.bound().absorbed(factor.moments(), &absorbed));
        let moments = absorbed.into_moments();
        let (values, vectors) = eigen?;
        let values = Array1::from(values);
        if values.iter().any(|value| !value.is_finite()) {
            return Ok(None);
        }
        let (cut, eigenvalue_error) = rule.cut_of(&values, size, &moments, None);
        let scale = |value: &f64| if cut.shrink > 0.0 { cut.shrinkage(*value) } else { 1.0 };
        let scales: Vec<f64> = values.iter().take(cut.keep).map(scale).collect();
        let mut out = match self.spare.take() {
            Some(spare) if spare.rows >= cut.keep => spare,
            _ => card.zeros(home.nrows().max(cut.keep), columns)?,
        };
        card.rotate(&vectors, &scales, (&f, kept), (&x, pending), &mut out)?;
        let limits = decompose::rounding_limits(moments.scatter().view(), cut.keep);
        let (lengths, significant) = card.lengths(&out, cut.keep, &limits)?;
        // The rows of F are as long as the eigenvalues say, if the eigenvectors have length 1 and
        // belong to them.
        let error = 8.0 * (size as f64 + 16.0) * UNIT * values.first().map_or(0.0, |value| value.abs());
        let agrees = |((length, value), scale): ((&f64, &f64), &f64)| (length - scale * scale * value).abs() <= error;
        if !lengths.iter().zip(&values).zip(&scales).all(agrees) {
            return Ok(None);
        }
        let largest = lengths.iter().fold(0.0, |a: f64, b| a.max(*b));
        let rows = significant.iter().rposition(|significant| *significant).map_or(0, |last| last + 1);
        let end = home.nrows();
        let (downloaded, factor) = rayon::join(
            || card.download(&out, home.slice_axis_mut(Axis(0), Slice::from(end - rows..))),
            || factor.compressed((moments, bound), size, largest, (cut.lost, eigenvalue_error)),
        );
        downloaded?;
        (self.spare, self.spare_rows) = (Some(f), Some(x));
        self.factor = Some((out, factor.compressions()));
        Ok(Some(Flushed { engine: EngineState::Factor(factor), kept: rows }))
    }

    /// Uses these pending rows from now on.
    pub(crate) fn commit(&mut self, pending: Pending) {
        self.pending = pending;
    }

    /// The card, and memory for pending rows beside those that are being compressed.
    pub(crate) fn beside(&mut self) -> (Arc<dyn Card>, Pending) {
        (Arc::clone(&self.card), Pending { x: self.spare_rows.take(), rows: 0 })
    }
}

#[cfg(test)]
mod tests;
