//! Plots of the results of a recognizer.

use std::path::Path;

use eigenspace::faces::{Evaluation, Recognition, Recognizer, Rejection, Step, Verdict};
use eigenspace::internal::People;
use ndarray::{ArrayView1, ArrayView2};

use crate::commands::faces::found::{Found, components};
use crate::commands::plot::Format;
use crate::draw::{self, Drawing, Gallery, ImageSize, Lines, Range, Series, Tile};

/// Number of mistakes drawn.
const WORST: usize = 12;
/// Number of probes drawn with their matches.
const PROBES: usize = 12;

fn gray((width, height): (usize, usize)) -> ImageSize {
    ImageSize { width, height, channels: 1 }
}

/// Writes a drawing as `name.svg` and `name.png`.
pub(super) fn write(directory: &Path, name: &str, drawing: &Drawing) -> anyhow::Result<()> {
    Format::Svg.write(drawing, &directory.join(format!("{name}.svg")))?;
    Format::Png.write(drawing, &directory.join(format!("{name}.png")))
}

/// Each probe, its reconstruction, and the nearest enrolled images.
pub(crate) fn matches(
    recognizer: &Recognizer,
    rows: ArrayView2<'_, f64>,
    size: (usize, usize),
    found: &[Recognition],
    listed: usize,
) -> anyhow::Result<Drawing> {
    let model = recognizer.model();
    let mut tiles = Vec::new();
    let columns = found.iter().map(|found| found.matches.len().min(listed)).max().unwrap_or(0) + 2;
    for (i, found) in found.iter().enumerate().take(PROBES) {
        let row = rows.row(i);
        let caption = match &found.verdict {
            Verdict::Person(person) => person.clone(),
            Verdict::Unknown => "unknown".into(),
            Verdict::NotAFace => "not a face".into(),
        };
        tiles.push(Tile { pixels: row.to_vec(), caption });
        let row = recognizer.options().get_pixels().apply(row.insert_axis(ndarray::Axis(0)).to_owned());
        let kept = model.reconstruct(model.project(row.view())?.view())?;
        tiles.push(Tile { pixels: kept.iter().copied().collect(), caption: format!("k = {}", model.n_components()) });
        for near in found.matches.iter().take(columns - 2) {
            let pixels = recognizer.image(&near.person, &near.image)?.to_vec();
            tiles.push(Tile { pixels, caption: format!("{}: {}", near.person, short(near.distance)) });
        }
    }
    let size = gray(size);
    Ok(draw::gallery(&Gallery { title: "", tiles: &tiles, size, columns, range: Range::Own }))
}

/// A distance in a caption.
fn short(distance: f64) -> String {
    if distance < 10.0 { format!("{distance:.2}") } else { format!("{distance:.0}") }
}

/// The mistakes with the worst ranks, each above the image it was mistaken for.
pub(super) fn mistakes(read: &People, evaluation: &Evaluation) -> Option<Drawing> {
    let outcomes = evaluation.trials.iter().flat_map(|trial| &trial.outcomes);
    let mut wrong: Vec<(usize, &eigenspace::faces::Outcome)> = outcomes
        .filter_map(|outcome| {
            let place = outcome.ranking.iter().position(|person| *person == read.people[outcome.image])?;
            (place > 0).then_some((place, outcome))
        })
        .collect();
    wrong.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.image.cmp(&b.1.image)));
    // An image may be wrong in several trials; only its worst is drawn.
    let mut seen = std::collections::HashSet::new();
    wrong.retain(|(_, outcome)| seen.insert(outcome.image));
    wrong.truncate(WORST);
    if wrong.is_empty() {
        return None;
    }
    let half = wrong.len().min(WORST / 2);
    let mut tiles = Vec::new();
    let tile = |row: ArrayView1<'_, f64>, caption: String| Tile { pixels: row.to_vec(), caption };
    for line in wrong.chunks(half) {
        for (place, outcome) in line {
            tiles.push(tile(
                read.rows.row(outcome.image),
                format!("{}, rank {}", read.people[outcome.image], place + 1),
            ));
        }
        tiles.extend((line.len()..half).map(|_| Tile::default()));
        for (_, outcome) in line {
            let first = outcome.ranking.first().map_or("", String::as_str);
            tiles.push(tile(read.rows.row(outcome.nearest), format!("mistaken for {first}")));
        }
        tiles.extend((line.len()..half).map(|_| Tile::default()));
    }
    let size = gray(read.size);
    Some(draw::gallery(&Gallery {
        title: "",
        tiles: &tiles,
        size,
        columns: half,
        range: Range::Unit(0.0, read.largest()),
    }))
}

/// The share of images whose person is among the first j candidates.
pub(super) fn ranks(results: &[Found]) -> Drawing {
    let series: Vec<Series> = results
        .iter()
        .map(|found| Series {
            name: name_of(found, results),
            points: found.summary.ranks.iter().enumerate().map(|(i, share)| ((i + 1) as f64, 100.0 * share)).collect(),
            dashed: false,
        })
        .collect();
    let titles = ("rank", "person among the first candidates, %");
    draw::lines(&Lines { series: &series, x_title: titles.0, y_title: titles.1, ..Lines::default() })
}

/// The shortest name that distinguishes the settings.
fn name_of(found: &Found, all: &[Found]) -> String {
    let mut name = found.options.get_classifier().to_string();
    if all.iter().any(|other| other.options.get_metric() != found.options.get_metric()) {
        name += &format!(" {}", found.options.get_metric());
    }
    if all.iter().any(|other| other.options.get_components() != found.options.get_components()) {
        name += &format!(" {}", components(&found.options));
    }
    name
}

/// The effect of a threshold on known people and on strangers.
pub(super) fn rejections(curve: &[Rejection]) -> Drawing {
    let line = |name: &str, value: fn(&Rejection) -> f64, dashed| Series {
        name: name.into(),
        points: curve.iter().map(|point| (100.0 * point.rejected, 100.0 * value(point))).collect(),
        dashed,
    };
    let series = [
        line("known, identified", |point| point.accuracy, false),
        line("strangers accepted", |point| point.strangers, true),
    ];
    let titles = ("known people rejected, %", "share, %");
    draw::lines(&Lines { series: &series, x_title: titles.0, y_title: titles.1, ..Lines::default() })
}

/// Accuracy as people are enrolled.
pub(super) fn arrivals(all: &[(String, Vec<Step>)]) -> Drawing {
    let point = |step: &Step| (step.people as f64, 100.0 * step.correct as f64 / (step.tested as f64).max(1.0));
    let series: Vec<Series> = all
        .iter()
        .map(|(name, steps)| Series { name: name.clone(), points: steps.iter().map(point).collect(), dashed: false })
        .collect();
    let titles = ("people enrolled", "accuracy, %");
    draw::lines(&Lines { series: &series, x_title: titles.0, y_title: titles.1, ..Lines::default() })
}

/// A name, points over the number of components, and whether the line is dashed.
pub(super) type Curve<'a> = (&'a str, Vec<(f64, f64)>, bool);

/// Curves over the number of components.
pub(super) fn over_k(curves: &[Curve<'_>], title: &str) -> Drawing {
    let series: Vec<Series> = curves
        .iter()
        .map(|(name, points, dashed)| Series { name: (*name).into(), points: points.clone(), dashed: *dashed })
        .collect();
    draw::lines(&Lines { series: &series, x_title: "components", y_title: title, log_x: true, ..Lines::default() })
}

/// From this PSNR on, an image is reported as exact.
const EXACT_PSNR: f64 = 100.0;

/// A PSNR in a table.
pub(super) fn decibels(value: f64) -> String {
    if value < EXACT_PSNR { format!("{value:.1}") } else { "exact".into() }
}

/// A PSNR in a plot, which leaves out exact images.
pub(super) fn drawn(value: f64) -> f64 {
    if value < EXACT_PSNR { value } else { f64::NAN }
}
