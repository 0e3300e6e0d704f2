//! Scores of all rows along the first components, and their T² and Q.
//!
//! ```text
//! score of row i along component j at byte (j · n + i) · 4 of a temporary file
//! ```
//!
//! Column by column, so that two axes of a map are two pieces of the file, and so that distances to
//! all rows are summed one component at a time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Mutex;

use anyhow::Context;
use eigenspace::internal;

use crate::explore::lock::locked;
use crate::explore::reply::Refusal;
use crate::explore::store::{RowStore, temporary};
use crate::opened::Opened;

/// Largest size of the file of scores.
const MAX_BYTES: usize = 1 << 30;
/// Number of components that are kept, if the model has so many, even if it reports fewer or the
/// file is then larger.
const MIN_COMPONENTS: usize = 10;

/// The number of components along which scores of so many rows are kept; they can be axes of the
/// map.
pub(super) fn kept_components(opened: &Opened, rows: usize) -> usize {
    let (k, rank) = (opened.model().n_components(), opened.model().rank());
    let most = (MAX_BYTES / 4 / rows.max(1)).max(MIN_COMPONENTS);
    k.max(MIN_COMPONENTS).min(rank).min(most)
}

/// The scores of rows.
pub(super) struct Scored {
    rows: usize,
    components: usize,
    file: Mutex<File>,
}

impl Scored {
    /// Computes the scores of all rows.
    pub(super) fn new(opened: &Opened, store: &RowStore) -> anyhow::Result<Self> {
        let rows = store.rows();
        let components = kept_components(opened, rows);
        let opened = opened.with_components(components)?;
        let mut file = temporary()?;
        store.for_each(|first, values| {
            let scores = opened.project(values)?;
            let count = values.dim().0.min(rows.saturating_sub(first));
            for component in 0..components {
                let mut column = internal::column_to_raw(&scores, component);
                column.truncate(4 * count);
                file.seek(SeekFrom::Start(4 * (component * rows + first) as u64))?;
                file.write_all(&column).context("cannot keep the scores in a temporary file")?;
            }
            Ok(())
        })?;
        Ok(Self { rows, components, file: Mutex::new(file) })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of components along which scores are kept.
    pub(super) fn components(&self) -> usize {
        self.components
    }

    /// The scores of all rows along a component, counted from 0.
    pub(super) fn column(&self, component: usize) -> anyhow::Result<Vec<f32>> {
        if component >= self.components {
            let error =
                format!("cannot use component {}: scores are kept along the first {}", component + 1, self.components);
            return Err(Refusal::bad(error, "count components from 1").into());
        }
        let mut bytes = vec![0; 4 * self.rows];
        let mut file = locked(&self.file);
        file.seek(SeekFrom::Start(4 * (component * self.rows) as u64))?;
        file.read_exact(&mut bytes).context("cannot read the temporary file with the scores")?;
        Ok(internal::floats_from_raw(&bytes))
    }

    /// The nearest rows in the space of the first k scores, with their distances.
    pub(super) fn nearest(&self, row: usize, k: usize, most: usize) -> anyhow::Result<Vec<(usize, f64)>> {
        let mut squared = vec![0.0; self.rows];
        for component in 0..k {
            let column = self.column(component)?;
            let Some(&own) = column.get(row) else { return Ok(Vec::new()) };
            internal::add_squared_differences(&mut squared, &column, own);
        }
        Ok(internal::nearest(&squared, row, most))
    }
}

/// T² and Q of all rows.
pub(super) struct Measured {
    k: usize,
    pub(super) t2: Vec<f64>,
    pub(super) q: Vec<f64>,
}

impl Measured {
    pub(super) fn new(opened: &Opened, store: &RowStore) -> anyhow::Result<Self> {
        let (mut t2, mut q) = (Vec::with_capacity(store.rows()), Vec::with_capacity(store.rows()));
        store.for_each(|_, values| {
            let readings = opened.readings(values)?;
            t2.extend(readings.hotelling);
            q.extend(readings.squared_distance);
            Ok(())
        })?;
        Ok(Self { k: opened.model().n_components(), t2, q })
    }

    /// Whether these are the readings of so many rows with k components.
    pub(super) fn is_of(&self, rows: usize, k: usize) -> bool {
        self.t2.len() == rows && self.k == k
    }
}
