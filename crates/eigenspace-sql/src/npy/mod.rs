//! NPY and NPZ files as tables with one column, `features`: the rows of the array as lists of a
//! fixed size, in f64.
//!
//! ```text
//! partition p of P    rows ⌊p n / P⌋ … ⌊(p + 1) n / P⌋
//! ```

mod read;
mod scan;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use eigenspace::io::source::{ReadOptions, RowSource, open};

use crate::error::Error;

pub(crate) use scan::NpyScan;

/// Below this number of rows, another partition does not pay off.
const FEWEST_ROWS: u64 = 8192;

fn opened(name: &str) -> Result<Box<dyn RowSource>, Error> {
    open(&[name], &ReadOptions::new()).map_err(failed)
}

fn failed(error: eigenspace::io::Error) -> Error {
    Error::of_file(&error)
}

/// The number in a list.
fn element() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Float64, false))
}

/// The schema of a table with this many features.
fn schema(width: i32) -> SchemaRef {
    let list = DataType::FixedSizeList(element(), width);
    Arc::new(Schema::new(vec![Field::new("features", list, false)]))
}

/// Some rows of a file.
#[derive(Debug, Clone)]
struct Part {
    name: String,
    first: u64,
    rows: u64,
}

/// The table of a file, or of all files that match a pattern. Its name and the number of partitions
/// are enough to open it on another machine.
#[derive(Debug)]
#[cfg_attr(not(feature = "cluster"), allow(dead_code, reason = "only clusters send tables"))]
pub(crate) struct NpyTable {
    name: String,
    /// At most this many.
    partitions: usize,
    width: i32,
    parts: Vec<Part>,
}

impl NpyTable {
    pub(crate) fn new(name: &str, partitions: usize) -> Result<Self, Error> {
        let source = opened(name)?;
        let too_wide = |_| Error::new(format!("`{name}` has too many columns for a list"));
        let width = i32::try_from(source.columns().count).map_err(too_wide)?;
        // Without a number of rows, one partition reads all.
        let rows = source.rows();
        let count = rows.map_or(1, |rows| (rows / FEWEST_ROWS).clamp(1, partitions.max(1) as u64));
        let cut = |part: u64| match rows {
            Some(rows) => (u128::from(rows) * u128::from(part) / u128::from(count)) as u64,
            None if part == 0 => 0,
            None => u64::MAX,
        };
        let part = |part| Part { name: name.to_owned(), first: cut(part), rows: cut(part + 1) - cut(part) };
        let parts = (0..count).map(part).collect();
        Ok(Self { name: name.to_owned(), partitions, width, parts })
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn partitions(&self) -> usize {
        self.partitions
    }
}

#[async_trait]
impl TableProvider for NpyTable {
    fn schema(&self) -> SchemaRef {
        schema(self.width)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let most = limit.map_or(u64::MAX, |limit| limit as u64);
        let parts = self.parts.iter().map(|part| Part { rows: part.rows.min(most), ..part.clone() });
        Ok(Arc::new(NpyScan::of(parts, self.width, projection.cloned())?))
    }
}
