//! PCA models that you can update with new rows, merge, split and trust, without keeping the old
//! data.
//!
//! ```text
//! M = Σ (x − μ)(x − μ)ᵀ = Vᵀ diag(s²) V + E        −surplus ≤ E ≤ lost, both known
//! ```
//!
//! An [`EigenspaceModel`] is what is remembered of a set of rows: their count and mean, orthonormal
//! directions V with singular values s, the exact scatter of each feature, and bounds on the error.
//! Models can absorb rows ([`update`](EigenspaceModel::update)), be merged
//! ([`merge`](EigenspaceModel::merge)) and split ([`split`](EigenspaceModel::split)). As long as
//! nothing was dropped, they equal batch PCA up to rounding; after that, the [`Certificate`] bounds
//! the difference.
//!
//! | to | use |
//! |---|---|
//! | fit rows in memory | [`EigenspaceModel::fit`] |
//! | fit a stream of rows | [`FitOptions::stream`] and [`EigenspaceStream::update`] |
//! | fit rows that are in many places | [`FitOptions::accumulator`], [`Accumulator::merge`] and [`Accumulator::finish`] |
//! | read the same rows again for more accurate directions | [`refine`](EigenspaceModel::refine), [`Refinement::update`] and [`Refinement::finish`] |
//! | choose what to keep | [`Components`], [`Truncation`], [`Engine`], [`Forgetting`], [`Missing`] |
//! | use weights, or other units | [`Block::weighted`], [`standardize`](EigenspaceModel::standardize), [`scale_by`](EigenspaceModel::scale_by) |
//! | merge, split, remove or replace rows | [`merge`](EigenspaceModel::merge), [`split`](EigenspaceModel::split), [`remove`](EigenspaceModel::remove), [`replace`](EigenspaceModel::replace) |
//! | compute scores and reconstruct rows | [`project`](EigenspaceModel::project), [`whiten`](EigenspaceModel::whiten), [`reconstruct`](EigenspaceModel::reconstruct) |
//! | compute variances and distances | [`explained_variance_ratio`](EigenspaceModel::explained_variance_ratio), [`covariance_times`](EigenspaceModel::covariance_times), [`hotelling`](EigenspaceModel::hotelling), [`squared_distance`](EigenspaceModel::squared_distance) |
//! | monitor rows, and see which features make a row unusual | [`limits`](EigenspaceModel::limits), [`monitor`](EigenspaceModel::monitor), [`View::contributions`] |
//! | compare | [`principal_angles`], [`subspace_distance`] |
//! | recognize faces | `faces::Recognizer`, with the feature `faces` |
//! | save and load | [`save`](EigenspaceModel::save), [`load`](EigenspaceModel::load), [`to_bytes`](EigenspaceModel::to_bytes) |
//!
//! # Conventions
//! * A block has one observation per row: n × D. Rows are `f64`, `f32`, `u8`, `u16` or `i32` in any
//!   memory layout, or sparse. Each row may have a weight ([`Block`], [`SparseRows`]).
//! * A model stores the *scatter*, a sum, so merging is an addition and no divisor is involved.
//!   Functions that return variances use ddof = 1 or take `ddof`; the divisor is `weight − ddof`
//!   (see [`WeightKind`]).
//! * Singular values are those of the centered rows, non-increasing; directions are rows.
//! * In each direction the entry of largest magnitude is positive: the first one, if several agree
//!   up to 1e-6.
//! * `n_components` (k, reported) and rank (r, kept) are different numbers: k ≤ r.
//! * The explained variance ratio of a direction is s² divided by the *exact* total scatter.
//!
//! # Threads
//! Products run in parallel in rayon's current pool, and large eigenproblems in a fixed number of
//! parts. The same rows in the same order give the same bytes with any number of threads. To choose
//! the number of threads, call the functions inside `rayon::ThreadPool::install`.
#![cfg_attr(not(feature = "cuda"), forbid(unsafe_code))]
#![deny(unsafe_code)] // allowed in `linalg/cuda` alone, where it is argued

mod device_error;
mod error;
mod printable;

#[cfg(feature = "orl")]
mod data;
#[cfg(feature = "faces")]
pub mod faces;
pub mod io;
mod linalg;
mod model;
mod rows;
mod stream;

pub use device_error::DeviceError;
pub use error::Error;
pub use linalg::{Device, Real};
pub use model::angles::{principal_angles, subspace_distance};
pub use model::batch::Method;
pub use model::certificate::Certificate;
pub use model::distance::ReconstructionError;
pub use model::eigenspace_model::EigenspaceModel;
pub use model::metadata::{ImageShape, Metadata};
pub use model::monitor::{Limits, Readings};
pub use model::projectable::Rows;
pub use model::truncation::{Components, Rank, Truncation};
pub use model::view::{Contributions, DistancesKept, FeatureSummary, LargestContributions, View};
pub use model::weight::WeightKind;
pub use rows::block::Block;
pub use rows::element::Element;
pub use rows::missing::Missing;
pub use rows::sparse::SparseRows;
pub use stream::accumulator::Accumulator;
pub use stream::eigenspace_stream::EigenspaceStream;
pub use stream::forgetting::Forgetting;
pub use stream::options::FitOptions;
pub use stream::plan::{Engine, Plan};
pub use stream::preview::Preview;
pub use stream::refinement::Refinement;

/// What the command and the Python package of this repository share with the library. It is not
/// part of the public API, and it changes without notice.
#[doc(hidden)]
pub mod internal {
    #[cfg(feature = "orl")]
    pub use crate::data::{DataError, PYTHONS, check_orl, orl};
    #[cfg(feature = "faces")]
    pub use crate::faces::file::load_model;
    #[cfg(feature = "faces")]
    pub use crate::faces::quality::add_noise;
    #[cfg(all(feature = "faces", feature = "images"))]
    pub use crate::faces::read::{FaceImages, FaceReader, Owner, People};
    pub use crate::io::atomic::AtomicFile;
    pub use crate::io::edit::FileEdit;
    pub use crate::io::error::system_hint;
    pub use crate::io::file::{begins_like_a_model, is_recognizer};
    #[cfg(feature = "csv")]
    pub use crate::io::sink::csv::CsvSink;
    #[cfg(feature = "files")]
    pub use crate::io::source::directory::image_files;
    #[cfg(feature = "csv")]
    pub use crate::io::source::follow::follow;
    #[cfg(feature = "images")]
    pub use crate::io::source::image_file::image_row;
    pub use crate::io::source::natural::natural;
    #[cfg(feature = "files")]
    pub use crate::io::source::open::InputFiles;
    pub use crate::io::source::prefetch::Prefetch;
    pub use crate::io::source::raw::{column_to_raw, floats_from_raw, from_raw, to_raw};
    #[cfg(feature = "npy")]
    pub use crate::io::source::single::open_array;
    pub use crate::linalg::RowsOnCard;
    pub use crate::linalg::random::Random;
    pub use crate::model::angles::signs_like;
    pub use crate::model::batch::{is_held, is_in_pieces, is_iterative};
    pub use crate::model::evidence::{likeliest_components, log_evidence};
    pub use crate::model::nearest::{add_squared_differences, nearest};
    pub use crate::printable::{is_printable, printable};
    pub use crate::stream::memory;
}

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;

#[cfg(all(doctest, feature = "faces"))]
#[doc = include_str!("../../../docs/RUST.md")]
struct RustGuide;
