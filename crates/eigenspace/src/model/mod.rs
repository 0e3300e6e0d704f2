//! The model: what is remembered of rows, and the operations on it.

pub(crate) mod angles;
pub(crate) mod basis;
pub(crate) mod batch;
pub(crate) mod bound;
pub(crate) mod certificate;
pub(crate) mod decompose;
pub(crate) mod distance;
pub(crate) mod eigenspace_model;
pub(crate) mod imputer;
pub(crate) mod iterative;
pub(crate) mod merge;
pub(crate) mod metadata;
pub(crate) mod moments;
pub(crate) mod monitor;
pub(crate) mod project;
pub(crate) mod scaled;
pub(crate) mod scatter;
pub(crate) mod sparse_columns;
pub(crate) mod spectrum;
pub(crate) mod split;
pub(crate) mod truncation;
pub(crate) mod update;
pub(crate) mod variance;
pub(crate) mod view;
pub(crate) mod weight;
