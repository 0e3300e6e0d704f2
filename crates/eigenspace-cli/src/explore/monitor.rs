//! T² and Q over the rows, with their limits.

use serde_json::json;

use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply};
use crate::explore::row::{CONFIDENCE, limits};
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
    let [t2_limit, q_limit] = limits(&at, confidence);
    let total = measured.t2.len();
    let first = query.number::<usize>("first")?.unwrap_or(0).min(total);
    let count = query.number::<usize>("count")?.unwrap_or(total).min(total - first);
    let stride = count.div_ceil(MOST).max(1);
    // How far a row is beyond its limits, to choose one of each stretch.
    let excess = |row: &usize| {
        let over = |value: f64, limit: Option<f64>| value / limit.filter(|limit| *limit > 0.0).unwrap_or(1.0);
        over(measured.t2[*row], t2_limit).max(over(measured.q[*row], q_limit))
    };
    let stretch = |start: usize| start..(start + stride).min(first + count);
    let most_unusual = |start: usize| stretch(start).max_by(|a, b| excess(a).total_cmp(&excess(b))).unwrap_or(start);
    let rows: Vec<usize> = (first..first + count).step_by(stride).map(most_unusual).collect();
    let largest = |values: &[f64], start: usize| stretch(start).map(|row| values[row]).fold(f64::NAN, f64::max);
    let series =
        |values: &[f64]| (first..first + count).step_by(stride).map(|start| largest(values, start)).collect::<Vec<_>>();
    let beyond = |values: &[f64], limit: Option<f64>| {
        limit.map(|limit| values.iter().filter(|value| **value > limit).count() as f64 / total.max(1) as f64)
    };
    Ok(Reply::Json(json!({
        "revision": entry.revision,
        "k": at.model().n_components(),
        "confidence": confidence,
        "t2_limit": t2_limit,
        "q_limit": q_limit,
        "first": first,
        "total": total,
        "stride": stride,
        "rows": (stride > 1).then_some(rows),
        "t2": series(&measured.t2),
        "q": series(&measured.q),
        "beyond_t2": beyond(&measured.t2, t2_limit),
        "beyond_q": beyond(&measured.q, q_limit),
    })))
}
