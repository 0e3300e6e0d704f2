//! Row sources: read files and directories as blocks of rows.
//!
//! ```text
//! file · directory of images · standard input  ─►  RowSource::next_block  ─►  EigenspaceStream::update
//! ```
//!
//! File formats are known only here. A source returns blocks of at most the requested number of
//! rows, holds one block at a time, and remembers where each row came from, so that a message can
//! name it. A missing cell (an empty cell, a null) becomes NaN; the stream decides what to do with
//! it ([`Missing`](crate::Missing)).
//!
//! | format | feature | file |
//! |---|---|---|
//! | `.npy`, `.npz` | `npy` | `npy.rs`, `npz.rs` |
//! | `.csv`, `.tsv`, also `.gz` | `csv` | `csv.rs`, on `text.rs` (bytes), `lines.rs` and `plain.rs` (lines), `cell.rs` (numbers), `diagnosis.rs` (for messages) |
//! | `.parquet`, Arrow IPC (`.arrow`, `.feather`) | `parquet` | `parquet.rs`, `arrow.rs`, on `table.rs` (batches) |
//! | images and directories of images: PGM, PPM, PBM, PNG, JPEG | `images` | `images.rs`, `image_file.rs` |

#[cfg(feature = "parquet")]
mod array;
#[cfg(feature = "parquet")]
mod arrow;
mod block;
#[cfg(feature = "csv")]
mod cell;
#[cfg(any(feature = "csv", feature = "parquet"))]
mod choice;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "csv")]
mod diagnosis;
#[cfg(feature = "files")]
pub(crate) mod directory;
#[cfg(feature = "npy")]
mod elements;
#[cfg(feature = "csv")]
pub(crate) mod follow;
#[cfg(feature = "npy")]
mod header;
#[cfg(feature = "images")]
pub(crate) mod image_file;
#[cfg(feature = "images")]
mod images;
#[cfg(feature = "images")]
mod jpeg;
#[cfg(feature = "parquet")]
mod layout;
#[cfg(feature = "csv")]
mod lines;
#[cfg(feature = "parquet")]
mod message;
pub(crate) mod natural;
mod notice;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "npy")]
mod npz;
#[cfg(feature = "files")]
pub(crate) mod open;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "images")]
mod pgm;
#[cfg(feature = "csv")]
mod plain;
#[cfg(any(feature = "npy", feature = "parquet"))]
mod positioned;
pub(crate) mod prefetch;
pub(crate) mod raw;
#[cfg(feature = "images")]
mod resize;
#[cfg(feature = "files")]
mod sequence;
#[cfg(feature = "files")]
pub(crate) mod single;
#[cfg(feature = "parquet")]
mod table;
#[cfg(feature = "csv")]
mod text;
#[cfg(feature = "parquet")]
mod thrift;
#[cfg(feature = "files")]
mod unsupported;
mod weighted;

pub use crate::io::source_error::{Needed, Place, SourceError};
pub use crate::rows::values::Values;
pub use block::{Columns, Origin, RowBlock};
pub use notice::Notice;
#[cfg(feature = "files")]
pub use open::open;
pub use options::{Format, ReadOptions};
pub use weighted::Weighted;

use crate::io::error::Error;
#[cfg(any(feature = "faces", feature = "files"))]
pub(crate) use natural::natural;
pub(crate) use prefetch::Prefetch;

/// A source of rows, which are read in order, one block at a time.
pub trait RowSource: Send {
    /// Information about the columns; their number is D.
    fn columns(&self) -> &Columns;

    /// The total number of rows, if it is known before reading them.
    fn rows(&self) -> Option<u64>;

    /// The next rows: at least one and at most `rows` of them, `None` at the end.
    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error>;

    /// Skips at most this many rows and returns how many there were. Sources that can seek do not
    /// read them.
    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let mut skipped = 0;
        while skipped < rows {
            let step = usize::try_from(rows - skipped).unwrap_or(usize::MAX).min(1024);
            match self.next_block(step)? {
                Some(block) => skipped += block.rows() as u64,
                None => break,
            }
        }
        Ok(skipped)
    }
}
