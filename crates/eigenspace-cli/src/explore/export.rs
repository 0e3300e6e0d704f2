//! Downloads: plots as `eigenspace plot` draws them, and tables.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use eigenspace::internal::CsvSink;
use eigenspace::io::sink::RowSink;

use crate::draw::Drawing;
use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply};
use crate::explore::session::Session;
use crate::explore::shelf::Entry;
use crate::explore::spectrum;
use crate::failure::Failure;
use crate::{plots, rows};

const CSV: &str = "text/csv; charset=utf-8";

/// A plot, with the same bytes as the file of `eigenspace plot`.
pub(super) fn plot(session: &Session, entry: &Entry, kind: &str, query: &Query) -> anyhow::Result<Reply> {
    let unknown = || Refusal::missing(format!("there is no plot `{kind}`"), "");
    let (kind, format) = kind.rsplit_once('.').ok_or_else(unknown)?;
    let k = query.number("k")?;
    let axes: Vec<usize> = query.numbers("axes")?.unwrap_or_else(|| vec![1, 2]);
    // The page shows components beyond those that the model reports.
    let shown = axes.iter().copied().max().filter(|_| matches!(kind, "circle" | "scatter" | "biplot"));
    let opened = entry.at(k.max(shown.filter(|last| *last > entry.opened.model().n_components())))?;
    let stored = || -> anyhow::Result<_> {
        let store = session.rows()?;
        entry.fits(&store)?;
        Ok(plots::Rows::stored(move || store.source()))
    };
    let drawing = match kind {
        "scree" => plots::scree(&opened, k.is_some(), "")?,
        "gallery" => plots::gallery(&opened, 16, "")?,
        "circle" => plots::circle(&opened, &axes, "")?,
        "scatter" => plots::scatter(&opened, &stored()?, &axes, "")?,
        "biplot" => plots::biplot(&opened, &stored()?, &axes, "")?,
        "strip" => {
            plots::strip(&opened, &stored()?, query.number("row")?.unwrap_or(0), &[5, 10, 20, 50, 100, 200], "")?
        }
        "monitor" => plots::monitor(&opened, &stored()?, query.number("confidence")?.unwrap_or(0.99), "")?,
        _ => return Err(unknown().into()),
    };
    encoded(&drawing, format).ok_or_else(unknown)?
}

fn encoded(drawing: &Drawing, format: &str) -> Option<anyhow::Result<Reply>> {
    match format {
        "svg" => Some(Ok(Reply::Bytes("image/svg+xml", drawing.svg().as_bytes().to_vec()))),
        "png" => Some(drawing.png().map(|bytes| Reply::Bytes("image/png", bytes))),
        _ => None,
    }
}

/// A name for a download.
fn named(entry: &Entry, what: &str) -> String {
    let plain: String =
        entry.name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    format!("{plain}{what}")
}

/// The scores of all rows, as `eigenspace project` writes them.
pub(super) fn scores(session: &Session, entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let store = session.rows()?;
    entry.fits(&store)?;
    if entry.opened.model().rank() == 0 {
        return Err(Failure::NoVariance { path: entry.opened.path.clone() }.into());
    }
    let name = named(entry, "-scores.csv");
    let opened = entry.at(query.number("k")?)?;
    let write = move |out: &mut dyn Write| {
        let names: Vec<String> = (1..=opened.model().n_components()).map(|i| format!("PC{i}")).collect();
        let labels = store.labels().is_some() || store.has_names();
        let mut sink = Box::new(CsvSink::to_writer(out, Path::new("scores.csv"), &names, labels));
        rows::for_each_quietly(store.source(), |block| {
            let scores = opened.project(&block.values)?;
            Ok(sink.write(&scores, block.labels.as_deref().or(block.origin.names.as_deref()))?)
        })?;
        Ok(sink.finish()?)
    };
    Ok(Reply::Download { kind: CSV, name, write: Box::new(write) })
}

/// A table as text.
fn table(entry: &Entry, what: &str, lines: Vec<Vec<String>>) -> Reply {
    let write = move |out: &mut dyn Write| {
        let mut writer = csv::Writer::from_writer(out);
        lines.iter().try_for_each(|line| writer.write_record(line))?;
        Ok(writer.flush()?)
    };
    Reply::Download { kind: CSV, name: named(entry, what), write: Box::new(write) }
}

/// The mean of each feature and its loadings.
pub(super) fn loadings(entry: &Entry, query: &Query) -> anyhow::Result<Reply> {
    let opened = entry.at(query.number("k")?)?;
    let loadings = opened.view().loadings()?;
    let heading = ["feature".to_owned(), "mean".to_owned()].into_iter();
    let mut lines = vec![heading.chain((1..=loadings.ncols()).map(|i| format!("PC{i}"))).collect::<Vec<_>>()];
    let names = opened.metadata().names_or_numbers(opened.raw().features());
    for (j, name) in names.into_iter().enumerate() {
        let numbers = std::iter::once(opened.raw().mean()[j]).chain(loadings.row(j).to_vec());
        lines.push(std::iter::once(name).chain(numbers.map(|x| format!("{x:?}"))).collect());
    }
    Ok(table(entry, "-loadings.csv", lines))
}

/// The variances with their bounds.
pub(super) fn variance(entry: &Entry) -> anyhow::Result<Reply> {
    let heading = [
        "component",
        "explained_variance",
        "explained_variance_low",
        "explained_variance_high",
        "explained_variance_ratio",
        "cumulative",
        "cumulative_low",
        "cumulative_high",
        "angle_bound",
    ];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for (i, c) in spectrum::components(entry, usize::MAX)?.into_iter().enumerate() {
        let [low, value, high] = c.explained_variance;
        let [least, held, greatest] = c.cumulative;
        let numbers = [value, low, high, c.explained_variance_ratio, held, least, greatest, c.angle_bound];
        let numbers = numbers.map(|x| format!("{x:?}"));
        lines.push(std::iter::once((i + 1).to_string()).chain(numbers).collect());
    }
    Ok(table(entry, "-variance.csv", lines))
}

/// The model file.
pub(super) fn model(entry: &Arc<Entry>) -> Reply {
    let name = if entry.name.ends_with(".safetensors") { named(entry, "") } else { named(entry, ".safetensors") };
    let entry = Arc::clone(entry);
    let write = move |out: &mut dyn Write| Ok(out.write_all(&entry.opened.raw().to_bytes())?);
    Reply::Download { kind: "application/octet-stream", name, write: Box::new(write) }
}
