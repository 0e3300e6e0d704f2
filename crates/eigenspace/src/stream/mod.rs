//! Streams: models that absorb rows as they arrive.

pub(crate) mod accumulator;
mod budget;
pub(crate) mod buffer;
pub(crate) mod cache;
mod card_updates;
pub(crate) mod dual;
pub(crate) mod eigenspace_stream;
pub(crate) mod factor;
mod fit;
pub(crate) mod forgetting;
pub(crate) mod impute;
pub mod memory;
mod merge;
pub(crate) mod narrow_rows;
pub(crate) mod on_card;
pub(crate) mod options;
mod pending;
pub(crate) mod plan;
pub(crate) mod preview;
pub(crate) mod read;
pub(crate) mod refinement;
pub(crate) mod row_products;
pub(crate) mod sparse_buffer;
pub(crate) mod state;
