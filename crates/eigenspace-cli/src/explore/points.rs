//! Points of the map and their colors, as bytes.
//!
//! ```text
//! "EIGP"  version  n  d  revision (u64)  first  total  flags  0      40 bytes, little-endian, u32 unless said otherwise
//! n · d f32 values    n u32 rows    n u16 classes, if bit 0 of the flags is set
//! ```

use std::collections::HashMap;

use eigenspace::io::source::Values;
use serde_json::{Value, json};

use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply};
use crate::explore::scored::kept_components;
use crate::explore::session::Session;
use crate::explore::shelf::Entry;
use crate::explore::store::{NO_CLASS, RowStore};

/// The media type of points.
const BYTES: &str = "application/octet-stream";

/// Up to this many points are computed at once if the scores of all rows are not there yet.
const SAMPLE: usize = 20_000;

/// Which part of the points was asked for.
struct Part {
    first: usize,
    count: usize,
}

impl Part {
    fn of(query: &Query, total: usize) -> anyhow::Result<Self> {
        let first = query.number::<usize>("first")?.unwrap_or(0).min(total);
        let count = query.number::<usize>("count")?.unwrap_or(total).min(total - first);
        Ok(Self { first, count })
    }

    fn of_order<'a>(&self, order: &'a [u32]) -> Points<'a> {
        Points { rows: &order[self.first..self.first + self.count], first: self.first, total: order.len() }
    }
}

/// The rows of one answer, in the order of the points.
struct Points<'a> {
    rows: &'a [u32],
    first: usize,
    total: usize,
}

/// Scores along two or three components.
pub(super) fn points(session: &Session, entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let store = session.rows()?;
    let axes = query.numbers("axes")?.unwrap_or_else(|| vec![1, 2]);
    entry.fits(&store)?;
    let shown = kept_components(&entry.opened, store.rows());
    if !(2..=3).contains(&axes.len()) || axes.iter().any(|axis| !(1..=shown).contains(axis)) {
        let error = format!("invalid axes: expected two or three components from 1 to {shown}");
        return Err(Refusal::bad(error, "try axes=1,2").into());
    }
    let rows = store.rows();
    let part = Part::of(query, rows)?;
    if part.count <= SAMPLE && part.count < rows && !entry.is_scored(rows) {
        return sample(entry, &store, rows, &axes, &part);
    }
    let scored = entry.scored(&store)?;
    let columns = axes.iter().map(|axis| scored.column(axis - 1)).collect::<Result<Vec<_>, _>>()?;
    let part = Part::of(query, scored.rows())?;
    let order = store.order(scored.rows());
    let signs: Vec<f32> = axes.iter().map(|axis| entry.sign(axis - 1) as f32).collect();
    let value = |row: u32, axis: usize| signs[axis] * columns[axis][row as usize];
    Ok(Reply::Bytes(BYTES, encoded(entry, &store, &part.of_order(&order), axes.len(), value)))
}

/// A few points, while the scores of all rows are not there yet.
fn sample(entry: &Entry, store: &RowStore, rows: usize, axes: &[usize], part: &Part) -> anyhow::Result<Reply> {
    let order = store.order(rows);
    let points = part.of_order(&order);
    let chosen: Vec<usize> = points.rows.iter().map(|row| *row as usize).collect();
    let cells = Values::from(store.select(&chosen)?.0);
    let scores = entry.at(axes.iter().copied().max())?.project(&cells)?.to_f64();
    let places: HashMap<u32, usize> = points.rows.iter().enumerate().map(|(i, row)| (*row, i)).collect();
    let sign = |axis: usize| entry.sign(axes[axis] - 1);
    let value = |row: u32, axis: usize| (sign(axis) * scores[[places[&row], axes[axis] - 1]]) as f32;
    Ok(Reply::Bytes(BYTES, encoded(entry, store, &points, axes.len(), value)))
}

/// One number for each row: a feature, or T² or Q for k components.
pub(super) fn column(session: &Session, entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let store = session.rows()?;
    let scored = entry.scored(&store)?;
    let of = query.get("of").unwrap_or_default();
    let readings = || entry.measured(&store, entry.at(query.number("k")?)?.model().n_components());
    let mut values: Vec<f32> = match (of, of.strip_prefix("feature:").map(str::parse)) {
        ("t2", _) => narrowed(&readings()?.t2),
        ("q", _) => narrowed(&readings()?.q),
        (_, Some(Ok(feature))) if feature < store.features() => feature_of_all(&store, feature)?,
        _ => {
            let error = format!("cannot color by `{of}`: expected feature:N, t2 or q");
            return Err(Refusal::bad(error, "features count from 0").into());
        }
    };
    values.resize(scored.rows(), f32::NAN); // rows may have arrived in between
    let part = Part::of(query, scored.rows())?;
    let order = store.order(scored.rows());
    Ok(Reply::Bytes(BYTES, encoded(entry, &store, &part.of_order(&order), 1, |row, _| values[row as usize])))
}

fn narrowed(values: &[f64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

fn feature_of_all(store: &RowStore, feature: usize) -> anyhow::Result<Vec<f32>> {
    let mut values = Vec::with_capacity(store.rows());
    store.for_each(|_, rows| {
        values.extend(rows.to_f64().column(feature).iter().map(|x| *x as f32));
        Ok(())
    })?;
    Ok(values)
}

/// The answer: `value` gives the number of a row along one of `d` axes.
fn encoded(
    entry: &Entry,
    store: &RowStore,
    points: &Points<'_>,
    d: usize,
    value: impl Fn(u32, usize) -> f32,
) -> Vec<u8> {
    let classes = store.classes();
    let Points { rows, first, total } = *points;
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = Vec::with_capacity(40 + rows.len() * (4 * d + 6));
    bytes.extend(b"EIGP");
    bytes.extend([small(1), small(rows.len()), small(d)].as_flattened());
    bytes.extend(entry.revision.to_le_bytes());
    let flags = usize::from(classes.is_some());
    bytes.extend([small(first), small(total), small(flags), small(0)].as_flattened());
    for &row in rows {
        (0..d).for_each(|axis| bytes.extend(value(row, axis).to_le_bytes()));
    }
    rows.iter().for_each(|row| bytes.extend(row.to_le_bytes()));
    if let Some(classes) = classes {
        rows.iter().for_each(|row| bytes.extend(classes.get(*row as usize).copied().unwrap_or(NO_CLASS).to_le_bytes()));
    }
    bytes
}

/// Rows by their names, labels or numbers.
pub(super) fn search(session: &Session, query: &Query) -> anyhow::Result<Reply> {
    /// Largest number of rows in an answer.
    const MOST: usize = 100;
    let store = session.rows()?;
    let limit = query.number("limit")?.unwrap_or(20).min(MOST);
    let Some(text) = query.get("search") else { return Ok(Reply::Json(json!({ "total": 0, "rows": [] }))) };
    let (total, found) = store.find(text, limit);
    let rows: Vec<Value> = found
        .into_iter()
        .map(|row| {
            let named = store.name_of(row);
            json!({ "row": row, "name": named.name, "label": named.label })
        })
        .collect();
    Ok(Reply::Json(json!({ "total": total, "rows": rows })))
}
