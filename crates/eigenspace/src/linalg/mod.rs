//! Matrix products and decompositions. This is the only directory that uses faer.
//!
//! Products are divided into panels, decompositions into a fixed number of parts, so results do not
//! depend on the number of threads. Everything is computed in f64, except that f32 rows are
//! projected in f32. Every decomposition is checked against its definition; if the check fails, a
//! slower and more robust method computes it again.

mod card;
mod cholesky;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod eigen;
mod implicit;
pub(crate) mod jacobi;
pub(crate) mod krylov;
mod lanes;
mod pairs;
mod products;
pub(crate) mod random;
mod real;
mod reduction;
pub(crate) mod remainder;
mod slices;
mod sparse;
#[cfg(test)]
pub(crate) mod stand_in;
mod svd;
mod tridiagonal;

pub use card::RowsOnCard;
pub(crate) use card::{Card, MIN_CARD_ROWS, Make, Matrix, SUMMED_ROWS, checked_eigen, copy_of, eigen_on_card};
pub(crate) use cholesky::{cholesky, solve_lower_on_the_right};
pub use device::Device;
pub(crate) use eigen::{Eigen, eigh};
pub(crate) use implicit::{Implicit, Operator};
pub(crate) use lanes::{Lanes, add, by_columns, by_rows};
pub(crate) use pairs::{Shifted, pair_products, pair_roundings};
pub(crate) use products::*;
pub use real::Real;
pub(crate) use slices::*;
pub(crate) use sparse::{SUMMED, Slices};
pub(crate) use svd::{no_more_rows_than_columns, thin_svd};

#[cfg(test)]
mod tests;
