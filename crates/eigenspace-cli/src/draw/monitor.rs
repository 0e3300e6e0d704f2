//! Monitoring plot of rows: the distance inside the subspace of a model (T²) against the distance
//! to it (Q).

use super::axes::{Axes, Frame, HEIGHT, WIDTH};
use super::classes::Classes;
use super::color::{Rgb, VERMILION};
use super::font;
use super::legend::Sample;
use super::names::{Named, Names};
use super::scale::{Scale, extent, thousands};
use super::scatter::points;
use super::scene::{Anchor, Area, Dash, INK, Marker, Marks, Point, Scene, Shape, Text, WHITE};
use super::typeface::Weight;
use super::{Drawing, drawable};

const LIMIT: Rgb = Rgb(0x55, 0x55, 0x55);
/// Largest number of rows beyond a limit that are named.
const NAMED: usize = 8;
/// Up to this many rows beyond a limit, all have a dark rim; otherwise only the named ones.
const RIMMED: usize = 60;
/// The size of the names of the limits.
const SMALL: f64 = 11.5;
/// A larger ratio of the values leads to a logarithmic axis.
const WIDE: f64 = 100.0;
/// Values that are only rounding noise are drawn at the low end of the axis, this many decades
/// down.
const DECADES: f64 = 6.0;

/// T² and Q of every row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Monitor<'a> {
    pub(crate) title: &'a str,
    pub(crate) t2: &'a [f64],
    pub(crate) q: &'a [f64],
    /// The limits of T² and of Q.
    pub(crate) limits: Option<(f64, f64)>,
    /// The confidence of the limits, for example `99 %`.
    pub(crate) level: &'a str,
    /// Classes of the rows, for color.
    pub(crate) labels: Option<&'a [String]>,
    /// Names of the rows; by default rows are counted from 0.
    pub(crate) names: Option<&'a [String]>,
}

/// Draws the rows and the limits, and names the rows farthest beyond them.
pub(crate) fn monitor(m: &Monitor<'_>) -> Drawing {
    let rows: Vec<Point> = m.t2.iter().copied().zip(m.q.iter().copied()).collect();
    let limits = m.limits.filter(|l| drawable(l.0) && drawable(l.1));
    let beyond = beyond(&rows, limits);
    let what = format!("{}: T² and Q of {} rows, {} beyond a limit", m.title, rows.len(), beyond.len());
    let mut scene = Scene::new(WIDTH, HEIGHT, what);
    let classes = match m.labels {
        Some(labels) => Classes::new(Some(labels), rows.len()),
        None => Classes::standing_out(&beyond, rows.len()),
    };
    let mut legend = classes.legend();
    if !beyond.is_empty() {
        let text = format!("beyond: {} of {}", thousands(beyond.len()), thousands(rows.len()));
        legend.push(sample(m.labels.is_some(), beyond.len()), &text);
    }
    let usable = || rows.iter().filter(|r| drawable(r.0) && drawable(r.1));
    let axes = Axes {
        title: m.title,
        x_title: "T²",
        y_title: "Q",
        x: axis(usable().map(|r| r.0), limits.map(|l| l.0)),
        y: axis(usable().map(|r| r.1), limits.map(|l| l.1)),
        equal: false,
        legend,
    };
    let frame = Frame::draw(&mut scene, &axes);
    let mut names = Names::new(frame.area);
    let lifted: Vec<Point> = rows.iter().map(|r| (lift(&frame.x, r.0), lift(&frame.y, r.1))).collect();
    let radius = points(&mut scene, &frame, &lifted, &classes);
    for place in lifted.iter().filter_map(|row| frame.place(row.0, row.1)) {
        names.keep_off(place, radius);
    }
    if let Some(limits) = limits {
        draw_limits(&mut scene, &frame, &mut names, limits, m.level);
    }
    emphasize(&mut scene, &frame, &lifted, &beyond, &classes, names, m);
    Drawing::new(scene)
}

/// The appearance of rows beyond a limit.
fn sample(labeled: bool, beyond: usize) -> Sample {
    match (labeled, beyond <= RIMMED) {
        (true, _) => Sample::Ringed(WHITE),
        (false, true) => Sample::Ringed(VERMILION),
        (false, false) => Sample::Mark(Marker::Disc, VERMILION),
    }
}

/// Rows beyond a limit, the farthest first. Farthest is the largest multiple of either limit.
fn beyond(rows: &[Point], limits: Option<(f64, f64)>) -> Vec<usize> {
    let Some((t2, q)) = limits else { return Vec::new() };
    let excess = |row: &Point| f64::max(row.0 / t2.max(1e-290), row.1 / q.max(1e-290));
    let finite = |row: &Point| drawable(row.0) && drawable(row.1);
    let mut out: Vec<usize> =
        (0..rows.len()).filter(|i| finite(&rows[*i]) && (rows[*i].0 > t2 || rows[*i].1 > q)).collect();
    out.sort_by(|a, b| excess(&rows[*b]).total_cmp(&excess(&rows[*a])).then(a.cmp(b)));
    out
}

fn axis(values: impl Iterator<Item = f64> + Clone, limit: Option<f64>) -> Scale {
    let all = values.chain(limit);
    let positive = extent(all.clone().filter(|v| *v > 0.0));
    if positive.is_some_and(|(low, high)| high > WIDE * low) {
        return Scale::logarithmic(all, DECADES);
    }
    let mut scale = Scale::around(all.chain([0.0]), 0.05);
    if scale.low < 0.0 && positive.is_some_and(|(low, _)| low > 0.0) {
        scale.low = 0.0;
    }
    scale
}

/// On a logarithmic axis, values of zero or less are drawn at the low end.
fn lift(scale: &Scale, value: f64) -> f64 {
    if scale.log && value < scale.low { scale.low } else { value }
}

fn draw_limits(scene: &mut Scene, frame: &Frame, names: &mut Names, (t2, q): (f64, f64), level: &str) {
    let name = |what: &str| font::shorten(&format!("{what} limit {level}"), SMALL, Weight::Regular, 140.0);
    let length = |text: &str| font::width(text, SMALL, Weight::Regular) + 4.0;
    if frame.x.shows(t2) {
        frame.across(scene, t2, true, LIMIT, Dash::Dashed);
        // At the bottom, away from the named rows.
        let (x, y, text) = (frame.at_x(t2), frame.area.bottom() - 4.0, name("T²"));
        names.avoid_line((x, frame.area.top), (x, frame.area.bottom()));
        let height = length(&text);
        names.keep_off_area(&Area { left: x - 6.0 - SMALL, top: y - height, width: SMALL + 4.0, height });
        scene.text(Text::new(x - 6.0, y, SMALL, Anchor::Start, text).fill(LIMIT).turn(-90.0).halo());
    }
    if frame.y.shows(q) {
        frame.across(scene, q, false, LIMIT, Dash::Dashed);
        let (x, y, text) = (frame.area.right() - 4.0, frame.at_y(q), name("Q"));
        names.avoid_line((frame.area.left, y), (frame.area.right(), y));
        let width = length(&text);
        names.keep_off_area(&Area { left: x - width, top: y - 6.0 - SMALL, width, height: SMALL + 4.0 });
        scene.text(Text::new(x, y - 6.0, SMALL, Anchor::End, text).fill(LIMIT).halo());
    }
}

/// Draws the rows beyond a limit again, larger and with a dark rim, and the names of the first few.
/// Of very many rows only the named ones get a rim, because thousands of rims would merge into a
/// black area.
fn emphasize(
    scene: &mut Scene,
    frame: &Frame,
    rows: &[Point],
    beyond: &[usize],
    classes: &Classes,
    mut names: Names,
    m: &Monitor<'_>,
) {
    let rimmed = if beyond.len() > RIMMED { NAMED } else { RIMMED };
    let places: Vec<(usize, Point)> =
        beyond.iter().take(rimmed).filter_map(|i| Some((*i, frame.place(rows[*i].0, rows[*i].1)?))).collect();
    let radius = if rows.len() > 500 { 3.5 } else { 5.0 };
    for class in classes.all() {
        let at: Vec<Point> = places.iter().filter(|p| classes.class_of(p.0) == class).map(|p| p.1).collect();
        if !at.is_empty() {
            let (fill, marker) = classes.style(class);
            scene.add(Shape::Marks(Marks { at, marker, radius, fill, opacity: 1.0, edge: Some((INK, 1.2)) }));
        }
    }
    for (_, place) in &places {
        names.keep_off(*place, radius + 0.6);
    }
    let worst = || places.iter().take(NAMED);
    let name = |row: usize| m.names.and_then(|names| names.get(row)).filter(|name| !name.is_empty()).cloned();
    let written: Vec<String> = worst().map(|p| name(p.0).unwrap_or_else(|| format!("row {}", p.0))).collect();
    let (radius, toward, fill) = (radius + 0.6, (1.0, -0.15), INK);
    let named = worst().zip(&written).map(|(p, name)| Named { name, at: p.1, radius, toward, fill });
    names.write(scene, &named.collect::<Vec<_>>());
}
