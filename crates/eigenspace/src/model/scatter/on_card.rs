//! Reads a scatter that is on a card: the pending rows are added there, and only the directions
//! come back.

use ndarray::{Array2, ArrayView1};

use super::{SUM_ROUNDING, Scatter, are_scales_different, decomposed_from, reduce_matrix};
use crate::error::Error;
use crate::linalg::{self, Card, Matrix};
use crate::model::decompose::Reduced;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::moments::Moments;
use crate::model::truncation::{Components, Truncation};

/// Copies on a card, which a read may change: M and its rounding errors, and the pending rows with
/// their number.
pub(crate) struct Copies {
    matrix: Matrix,
    low: Matrix,
    rows: Option<(Matrix, usize)>,
}

impl Copies {
    pub(crate) fn new(matrix: Matrix, low: Matrix, rows: Option<(Matrix, usize)>) -> Self {
        Self { matrix, low, rows }
    }
}

impl Scatter {
    /// Like [`absorb`](Scatter::absorb) for a copy of the scatter, followed by
    /// [`model_on`](Scatter::model_on); `row` returns one of the rows before it is centered.
    pub(crate) fn read_on_card<'a>(
        &self,
        card: &dyn Card,
        copies: Copies,
        weights: Option<&[f64]>,
        row: impl Fn(usize) -> ArrayView1<'a, f64>,
        (truncation, components, standardized): (Truncation, Components, bool),
    ) -> Result<EigenspaceModel, Error> {
        let Copies { mut matrix, mut low, rows } = copies;
        let (mut moments, mut bound) = (self.moments.clone(), self.bound.clone());
        if let Some((mut x, count)) = rows {
            let absorbed = moments.absorb_on_card(card, &mut x, count, weights, row)?;
            card.add_scatter(&mut matrix, &mut low, &x, count)?;
            // The card computes the products meanwhile.
            bound = bound.absorbed(&moments, &absorbed);
            moments = absorbed.into_moments();
        }
        card.add(&mut matrix, &low)?;
        drop(low);
        let reduced = reduce_on_card(card, &matrix, &moments, truncation, standardized)?;
        let bound = bound.summed(SUM_ROUNDING, moments.scatter());
        Ok(EigenspaceModel::from_reduced(moments, reduced, bound, components))
    }
}

/// The leading directions of a scatter on a card. If features have different scales or do not vary,
/// or the eigenproblem fails its check, the matrix comes back to the host and is decomposed as any
/// other.
fn reduce_on_card(
    card: &dyn Card,
    matrix: &Matrix,
    moments: &Moments,
    truncation: Truncation,
    standardized: bool,
) -> Result<Reduced, Error> {
    let (q, size) = (moments.scatter(), matrix.rows);
    let plain = q.iter().all(|q| *q > 0.0) && !are_scales_different(q, 0.0, standardized);
    let mut solver = Some(card);
    if plain {
        match linalg::checked_eigen(card, matrix, truncation.rank_limit().of(size))? {
            Some((values, vectors)) => {
                let decomposed = decomposed_from(values, vectors, size);
                let largest = decomposed.values.first().map_or(0.0, |s| s * s);
                if !are_scales_different(q, largest, standardized) {
                    return Ok(decomposed.cut(truncation, moments));
                }
            }
            None => solver = None,
        }
    }
    let mut home = Array2::zeros((size, size));
    card.download(matrix, home.view_mut())?;
    Ok(reduce_matrix(home, moments, truncation, standardized, solver))
}
