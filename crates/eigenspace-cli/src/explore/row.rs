//! One row: its scores and distances, its reconstruction from k components, and what its features
//! contribute.

use eigenspace::faces::{Pixels, psnr};
use eigenspace::io::source::Values;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use serde_json::{Value, json};

use crate::explore::images;
use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply};
use crate::explore::session::Session;
use crate::explore::shelf::Entry;
use crate::opened::Opened;

/// Rows with more features than this are not listed.
const LISTED: usize = 4096;
/// Number of nearest rows.
const NEAREST: usize = 8;
/// Share of normal rows below the limits.
pub(super) const CONFIDENCE: f64 = 0.99;

/// A row of the session, as the model takes it.
struct Chosen {
    row: usize,
    values: Values,
}

impl Chosen {
    fn new(session: &Session, entry: &Entry, row: usize) -> anyhow::Result<Self> {
        let store = session.rows()?;
        entry.fits(&store)?;
        let values = store.row(row)?;
        Ok(Self { row, values: entry.opened.preprocessed(&values).into_owned() })
    }

    fn cells(&self) -> Array2<f64> {
        self.values.to_f64()
    }
}

/// The limits of T² and Q; nothing if the model has too few rows for so many components.
pub(super) fn limits(opened: &Opened, confidence: f64) -> [Option<f64>; 2] {
    let limits = opened.view().limits(confidence).ok();
    [limits.map(|limits| limits.hotelling), limits.map(|limits| limits.squared_distance)]
}

/// The numbers of a row, unless there are too many or they are pixels.
fn listed(opened: &Opened, values: ArrayView1<'_, f64>) -> Option<Vec<f64>> {
    (opened.metadata().image().is_none() && values.len() <= LISTED).then(|| values.to_vec())
}

/// The Row inspector.
pub(super) fn row(session: &Session, entry: &Entry, row: usize, query: &Query) -> anyhow::Result<Reply> {
    let (chosen, store) = (Chosen::new(session, entry, row)?, session.rows()?);
    let opened = &entry.at(query.number("k")?)?;
    let cells = chosen.cells();
    let scores = opened.view().project(&cells)?;
    let cosines = opened.view().squared_cosines(&cells)?;
    let readings = opened.view().readings(&cells).ok();
    let [t2_limit, q_limit] = limits(opened, CONFIDENCE);
    let named = store.name_of(chosen.row);
    let scored = entry.scored(&store)?;
    let nearest_k = scored.components().min(opened.model().n_components());
    let nearest: Vec<Value> = scored
        .nearest(row, nearest_k, NEAREST)?
        .into_iter()
        .map(|(row, distance)| {
            let named = store.name_of(row);
            json!({ "row": row, "name": named.name, "label": named.label, "distance": distance })
        })
        .collect();
    Ok(Reply::Json(json!({
        "revision": entry.revision,
        "row": row,
        "n_components": opened.model().n_components(),
        "name": named.name,
        "label": named.label,
        "values": listed(opened, cells.row(0)),
        "scores": scores.row(0).iter().enumerate().map(|(i, score)| entry.sign(i) * score).collect::<Vec<_>>(),
        "t2": readings.as_ref().map(|readings| readings.hotelling[0]),
        "q": readings.as_ref().map(|readings| readings.squared_distance[0]),
        "t2_limit": t2_limit,
        "q_limit": q_limit,
        "cos2": cosines.row(0).to_vec(),
        "nearest": nearest,
        "nearest_k": nearest_k,
    })))
}

/// A row rebuilt from k scores.
struct Rebuilt {
    at: Opened,
    original: Array1<f64>,
    again: Array1<f64>,
    residual: Array1<f64>,
}

impl Rebuilt {
    fn new(session: &Session, entry: &Entry, row: usize, query: &Query) -> anyhow::Result<Self> {
        let chosen = Chosen::new(session, entry, row)?;
        let at = entry.at(query.number("k")?)?;
        let cells = chosen.cells();
        let scores = at.view().project(&cells)?;
        let again = at.view().reconstruct(&scores)?.index_axis_move(Axis(0), 0);
        let residual = at.view().residuals(&cells)?.index_axis_move(Axis(0), 0);
        let original = cells.index_axis_move(Axis(0), 0);
        Ok(Self { at, original, again, residual })
    }
}

/// The reconstruction of a row from k components.
pub(super) fn reconstruction(session: &Session, entry: &Entry, row: usize, query: &Query) -> anyhow::Result<Reply> {
    let Rebuilt { at, original, again, residual } = Rebuilt::new(session, entry, row, query)?;
    let q = at.view().squared_distance(original.view().insert_axis(Axis(0)))?[0];
    let quality = |image| psnr(original.view(), again.view(), images::white(image));
    Ok(Reply::Json(json!({
        "revision": entry.revision,
        "n_components": at.model().n_components(),
        "q": q,
        "psnr": at.metadata().image().map(quality),
        "values": listed(&at, again.view()),
        "residual": listed(&at, residual.view()),
    })))
}

/// The row, its reconstruction or its residual as an image.
pub(super) fn image(session: &Session, entry: &Entry, row: usize, what: &str, query: &Query) -> anyhow::Result<Reply> {
    let shape = images::shape(&entry.opened)?;
    if what == "original" {
        // As it was read, before a recognizer transforms its pixels.
        let store = session.rows()?;
        entry.fits(&store)?;
        return images::photograph(shape, &store.row(row)?.to_f64().row(0).to_vec(), Pixels::Raw);
    }
    let rebuilt = Rebuilt::new(session, entry, row, query)?;
    match what {
        "residual" => images::difference(shape, &rebuilt.residual.to_vec()),
        _ => images::photograph(shape, &rebuilt.again.to_vec(), entry.opened.pixels()),
    }
}

/// What the features contribute to T² and Q.
pub(super) fn contributions(session: &Session, entry: &Entry, row: usize, query: &Query) -> anyhow::Result<Reply> {
    let chosen = Chosen::new(session, entry, row)?;
    let at = entry.at(query.number("k")?)?;
    let top = query.number("top")?.unwrap_or(20).clamp(1, LISTED);
    let cells = chosen.cells();
    let readings = at.view().readings(&cells)?;
    let [t2, q] = [readings.hotelling[0], readings.squared_distance[0]];
    let found = at.view().contributions(&cells)?;
    let (to_t2, to_q) = (found.hotelling.row(0), found.squared_distance.row(0));
    let largest = found.largest(top).into_iter().next().ok_or_else(Refusal::internal)?;
    let names = at.metadata().feature_names();
    let features: Vec<Value> = largest
        .features
        .iter()
        .map(|&j| {
            json!({
                "feature": j,
                "name": names.map(|names| &names[j]),
                "t2": to_t2[j],
                "q": to_q[j],
                "value": cells[[0, j]],
                "mean": at.raw().mean()[j],
            })
        })
        .collect();
    Ok(Reply::Json(json!({
        "revision": entry.revision,
        "row": row,
        "n_components": at.model().n_components(),
        "t2": t2,
        "q": q,
        "features": features,
        "rest": { "t2": largest.other_hotelling, "q": largest.other_squared_distance },
    })))
}
