//! The subcommands, one file each.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod demo;
#[cfg(feature = "explore")]
pub(crate) mod explore;
pub(crate) mod faces;
pub(crate) mod fit;
pub(crate) mod inspect;
pub(crate) mod merge;
pub(crate) mod plot;
pub(crate) mod project;
pub(crate) mod reconstruct;
pub(crate) mod split;
pub(crate) mod update;
