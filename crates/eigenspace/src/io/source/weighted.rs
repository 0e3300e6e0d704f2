//! Combines the rows of one source with the weights of another.

use crate::io::error::Error;
use crate::io::error::{at, of_weights};
use crate::io::source::{Columns, RowBlock, RowSource, SourceError};
use crate::rows::element::LARGEST_MAGNITUDE;

/// A source whose weights come from a second source with one column and the same number of rows.
pub struct Weighted {
    rows: Box<dyn RowSource>,
    weights: Box<dyn RowSource>,
    /// Weights that were read but not used yet.
    waiting: Vec<f64>,
    /// Number of rows that already have their weights.
    done: u64,
}

impl Weighted {
    /// Rejects weights with more than one column.
    pub fn new(rows: Box<dyn RowSource>, weights: Box<dyn RowSource>) -> Result<Self, Error> {
        let found = weights.columns().count;
        if found != 1 {
            return Err(at("weights")(SourceError::WeightColumns { found }));
        }
        Ok(Self { rows, weights, waiting: Vec::new(), done: 0 })
    }

    /// The error if there are more weights than rows. Counts the remaining weights.
    fn too_many(&mut self) -> Error {
        let mut weights = self.done + self.waiting.len() as u64;
        while let Ok(Some(block)) = self.weights.next_block(8192) {
            weights += block.rows() as u64;
        }
        mismatch(self.done, weights)
    }

    fn refill(&mut self, wanted: usize) -> Result<(), Error> {
        while self.waiting.len() < wanted {
            match self.weights.next_block(wanted - self.waiting.len()).map_err(of_weights)? {
                Some(block) => {
                    let weights = block.values.to_f64();
                    if let Some((row, &value)) = weights.iter().enumerate().find(|(_, weight)| !is_weight(**weight)) {
                        let problem = SourceError::Weight { place: block.origin.place(row), column: None, value };
                        return Err(at(block.origin.path.as_ref())(problem));
                    }
                    self.waiting.extend(weights);
                }
                None => break,
            }
        }
        Ok(())
    }
}

/// Whether a stream accepts this weight. Checked here because the error can name the file of the
/// weights.
fn is_weight(value: f64) -> bool {
    (0.0..=LARGEST_MAGNITUDE).contains(&value)
}

fn mismatch(rows: u64, weights: u64) -> Error {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    crate::Error::WeightCount { rows: number(rows), weights: number(weights) }.into()
}

impl RowSource for Weighted {
    fn columns(&self) -> &Columns {
        self.rows.columns()
    }

    fn rows(&self) -> Option<u64> {
        self.rows.rows()
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        let Some(mut block) = self.rows.next_block(rows)? else {
            self.refill(1)?;
            return if self.waiting.is_empty() { Ok(None) } else { Err(self.too_many()) };
        };
        self.refill(block.rows())?;
        if self.waiting.len() < block.rows() {
            let rows = self.rows.rows().unwrap_or(self.done + block.rows() as u64);
            return Err(mismatch(rows, self.done + self.waiting.len() as u64));
        }
        block.weights = Some(self.waiting.drain(..block.rows()).collect());
        self.done += block.rows() as u64;
        Ok(Some(block))
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let (weights, rows) = (self.weights.skip(rows)?, self.rows.skip(rows)?);
        if weights < rows {
            return Err(mismatch(self.rows.rows().unwrap_or(self.done + rows), self.done + weights));
        }
        self.done += rows;
        Ok(rows)
    }
}
