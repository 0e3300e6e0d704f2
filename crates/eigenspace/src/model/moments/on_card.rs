//! Centers rows on a card. The card computes the two sums over the rows, in the order of
//! [`Moments::absorb`], so that the results are the same to the bit.

use ndarray::{Array1, ArrayView1};

use super::{Absorbed, Moments, TwoWords, heaviest};
use crate::error::Error;
use crate::linalg::{Card, Matrix, SUMMED_ROWS};
use crate::model::weight::Weight;

impl Moments {
    /// Like [`absorb`](Self::absorb), for the first `rows` rows on a card; `row` returns one of
    /// them before it is centered.
    pub(crate) fn absorb_on_card<'a>(
        &self,
        card: &dyn Card,
        x: &mut Matrix,
        rows: usize,
        weights: Option<&[f64]>,
        row: impl Fn(usize) -> ArrayView1<'a, f64>,
    ) -> Result<Absorbed, Error> {
        let features = self.features();
        let Some((heaviest, most)) = heaviest(rows, weights) else {
            return Ok(Absorbed::nothing(self.clone()));
        };
        let count = self.count.checked_add(rows as u64).ok_or(Error::CountOverflow)?;
        let block_weight = weights.map_or_else(|| Weight::of_rows(rows), Weight::of);
        let squared = weights.map_or(rows as f64, |weights| weights.iter().map(|w| w * w).sum());
        let together = self.weight.checked_plus(block_weight)?;
        let (before, added, weight) = (self.weight.value(), block_weight.value(), together.value());
        let mean_before = TwoWords { high: self.mean.to_vec(), low: self.mean_low.to_vec() };
        let at_a_row = most > before && !self.about_origin;
        let near = if at_a_row {
            TwoWords { high: row(heaviest).to_vec(), low: vec![0.0; features] }
        } else {
            TwoWords { high: self.mean.to_vec(), low: self.mean_low.to_vec() }
        };
        let step = if self.about_origin {
            Array1::zeros(features)
        } else {
            Array1::from(card.differences(x, rows, (&near.high, &near.low), weights)?) / added
        };
        let between = &step + &near.less(&mean_before);
        let on_the_way = |share: f64, rest: f64| match at_a_row {
            false => near.moved(step.view(), share),
            true => near.moved((&step - &(&between * rest)).view(), 1.0),
        };
        let center = on_the_way(1.0 - (before / weight).sqrt(), (before / weight).sqrt());
        let roots: Option<Vec<f64>> = weights.map(|weights| weights.iter().map(|w| w.sqrt()).collect());
        let squares = card.center(x, rows, (&center.high, &center.low), roots.as_deref())?;
        let moved = on_the_way(added / weight, before / weight);
        let shift = if self.count == 0 { 0.0 } else { (before / weight * added).sqrt() };
        let moments = Self {
            count,
            weight: together,
            squared_weight: self.squared_weight + squared,
            mean: moved.high.into(),
            mean_low: moved.low.into(),
            scatter: &self.scatter + &Array1::from(squares),
            ..self.clone_flags()
        };
        let roundings = (SUMMED_ROWS + rows / SUMMED_ROWS + 16) as f64;
        Ok(Absorbed { moments, c: &between * shift, step, roundings })
    }
}
