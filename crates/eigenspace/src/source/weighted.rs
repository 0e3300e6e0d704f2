//! Rows of one source with the weights of another.

use crate::error::Error;
use crate::source::error::at;
use crate::source::{Columns, RowBlock, RowSource, SourceError};

/// Gives each row the weight that stands in the same place of the other source, which has one column.
pub struct Weighted {
    rows: Box<dyn RowSource>,
    weights: Box<dyn RowSource>,
    /// Weights that were read and not used yet.
    waiting: Vec<f64>,
}

impl Weighted {
    /// Refuses weights of more columns than one.
    pub fn new(rows: Box<dyn RowSource>, weights: Box<dyn RowSource>) -> Result<Self, Error> {
        let found = weights.columns().count;
        if found != 1 {
            return Err(at("weights")(SourceError::Width { row: 0, expected: 1, found }));
        }
        Ok(Self { rows, weights, waiting: Vec::new() })
    }

    fn refill(&mut self, wanted: usize) -> Result<(), Error> {
        while self.waiting.len() < wanted {
            match self.weights.next_block(wanted - self.waiting.len())? {
                Some(block) => self.waiting.extend(block.values.to_f64()),
                None => break,
            }
        }
        Ok(())
    }
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
            return match self.waiting.len() {
                0 => Ok(None),
                weights => Err(Error::WeightCount { rows: 0, weights }),
            };
        };
        self.refill(block.rows())?;
        if self.waiting.len() < block.rows() {
            return Err(Error::WeightCount { rows: block.rows(), weights: self.waiting.len() });
        }
        block.weights = Some(self.waiting.drain(..block.rows()).collect());
        Ok(Some(block))
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        self.weights.skip(rows)?;
        self.rows.skip(rows)
    }
}
