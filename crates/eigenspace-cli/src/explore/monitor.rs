//! T² and Q over the rows, with their limits.

use serde_json::json;

use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply};
use crate::explore::row::CONFIDENCE;
use crate::explore::session::Session;
use crate::explore::shelf::Entry;

/// Largest number of values in an answer.
const MOST: usize = 5000;

/// The Monitor screen. Of more rows than fit, the most unusual one of each stretch is sent.
pub(super) fn monitor(session: &Session, entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let store = session.rows()?;
    let at = entry.at(query.number("k")?)?;
    let confidence = query.number("confidence")?.unwrap_or(CONFIDENCE);
    if !(0.001..1.0).contains(&confidence) {
        return Err(Refusal::bad(format!("invalid confidence {confidence}: expected a share"), "try 0.99").into());
    }
    let measured = entry.measured(&store, at.model().n_components())?;
    // A model of few rows has no limits.
    let limits = at.view().limits(confidence).ok();
    let total = measured.t2.len();
    let first = query.number::<usize>("first")?.unwrap_or(0).min(total);
    let count = query.number::<usize>("count")?.unwrap_or(total).min(total - first);
    let stride = count.div_ceil(MOST).max(1);
    // How far a row is beyond its limits, to choose one of each stretch.
    let excess = |row: &usize| {
        let (t2, q) = (measured.t2[*row], measured.q[*row]);
        limits.map_or(t2.max(q), |limits| limits.excess(t2, q))
    };
    let stretch = |start: usize| start..(start + stride).min(first + count);
    let most_unusual = |start: usize| stretch(start).max_by(|a, b| excess(a).total_cmp(&excess(b))).unwrap_or(start);
    let rows: Vec<usize> = (first..first + count).step_by(stride).map(most_unusual).collect();
    let largest = |values: &[f64], start: usize| stretch(start).map(|row| values[row]).fold(f64::NAN, f64::max);
    let series =
        |values: &[f64]| (first..first + count).step_by(stride).map(|start| largest(values, start)).collect::<Vec<_>>();
    let beyond = limits.map(|limits| limits.shares_beyond(&measured.t2, &measured.q));
    Ok(Reply::Json(json!({
        "revision": entry.revision,
        "n_components": at.model().n_components(),
        "confidence": confidence,
        "t2_limit": limits.map(|limits| limits.hotelling),
        "q_limit": limits.map(|limits| limits.squared_distance),
        "first": first,
        "total": total,
        "stride": stride,
        "rows": (stride > 1).then_some(rows),
        "t2": series(&measured.t2),
        "q": series(&measured.q),
        "beyond_t2": beyond.map(|(t2, _)| t2),
        "beyond_q": beyond.map(|(_, q)| q),
    })))
}
