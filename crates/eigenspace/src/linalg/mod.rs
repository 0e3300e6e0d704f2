//! The one room that knows faer: products in parallel panels, decompositions in a fixed number of parts.
//!
//! Everything is f64 but the products of rows that are projected in f32. No answer of a decomposition is believed: each
//! is checked by what defines it, and found again by a slower and surer method where the check fails.

mod cholesky;
mod eigen;
pub(crate) mod jacobi;
mod products;
mod real;
mod slices;
mod svd;
mod tridiagonal;

pub(crate) use cholesky::{cholesky, solve_lower_on_the_right};
pub(crate) use eigen::{Eigen, eigh};
pub(crate) use products::*;
pub(crate) use real::Real;
pub(crate) use slices::*;
pub(crate) use svd::{no_more_rows_than_columns, thin_svd};

#[cfg(test)]
mod tests;
