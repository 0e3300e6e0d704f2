//! PCA in SQL: aggregates that fit and merge models, and functions that use them, for DataFusion.
//!
//! ```text
//! partition 1   x₁ … xₐ  ─► accumulator ─► bytes ┐
//! partition 2   x₁ … x_b ─► accumulator ─► bytes ┴► merge ─► finish ─► model        one for each group
//! ```
//!
//! Rows stay where they are; the accumulators of the library travel between the partial and the
//! final aggregation. A model is a binary value: the bytes of a model file.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let context = SessionContext::new();
//! eigenspace_sql::register(&context);
//! let sql = "SELECT pca_count(pca(a, b, 1)) AS rows FROM (VALUES (1, 2), (3, 5), (5, 6)) AS t(a, b)";
//! let batches = context.sql(sql).await?.collect().await?;
//! assert_eq!(batches[0].num_rows(), 1);
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! # }).unwrap();
//! ```
//!
//! `docs/SQL.md` describes every function. With the feature `cluster`, queries can run on clusters
//! of Ballista.
#![forbid(unsafe_code)]

mod aggregate;
#[cfg(feature = "cluster")]
pub mod cluster;
mod error;
mod files;
mod models;
mod npy;
mod partition;
mod present;
mod rows;
mod scalar;
mod shown;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::prelude::SessionContext;

pub use error::{Error, with_causes};
pub use files::{check_query, context};
pub use models::describe;
pub use partition::NamePartitions;
pub use shown::{hold_models, readable};

/// Adds all functions to a session.
pub fn register(context: &SessionContext) {
    aggregates().into_iter().for_each(|function| context.register_udaf(function));
    scalars().into_iter().for_each(|function| context.register_udf(function));
}

/// The aggregates: `pca`, `pca_weighted` and `pca_merge`.
pub fn aggregates() -> Vec<AggregateUDF> {
    aggregate::all()
}

/// The scalar functions: those of a model, of a model and rows, and of two models.
pub fn scalars() -> Vec<ScalarUDF> {
    scalar::all()
}
