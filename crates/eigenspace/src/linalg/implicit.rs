//! Products with M = AᵀA or A Aᵀ, without forming M.
//!
//! ```text
//! Q ← AᵀA Q = Σ_p A_pᵀ (A_p Q)                  rows of A, a few at a time
//! Q ← A Aᵀ Q = Σ_p A_p (A_pᵀ Q)                 columns of A, a few at a time
//! ```

use ndarray::ArrayView2;

use super::lanes::{Lanes, there_and_back};

/// A symmetric, positive semi-definite operator on W vectors at a time.
pub(crate) trait Operator<const W: usize>: Sync {
    /// Length of a vector.
    fn size(&self) -> usize;
    /// M Q.
    fn apply(&self, lanes: &[[f64; W]]) -> Lanes<W>;
}

/// Number of parts that are multiplied in parallel.
const PARTS: usize = 8;

/// M = AᵀA, for a dense A in row order.
pub(crate) struct Implicit<'a>(pub(crate) ArrayView2<'a, f64>);

impl<const W: usize> Operator<W> for Implicit<'_> {
    fn size(&self) -> usize {
        self.0.ncols()
    }

    fn apply(&self, lanes: &[[f64; W]]) -> Lanes<W> {
        there_and_back(self.0, lanes, PARTS).1
    }
}
