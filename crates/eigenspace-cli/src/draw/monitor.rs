//! Which rows do not fit a model: the distance inside its subspace (T²) against the distance to it (Q).

use super::axes::{Axes, Frame, HEIGHT, WIDTH};
use super::classes::Classes;
use super::colour::{Rgb, VERMILION};
use super::font::{self, Weight};
use super::legend::Sample;
use super::names::Names;
use super::scale::{Scale, extent};
use super::scatter::points;
use super::scene::{Anchor, Dash, INK, Marks, Point, Scene, Shape, Text, WHITE};
use super::{Drawing, drawable};

const LIMIT: Rgb = Rgb(0x55, 0x55, 0x55);
/// Only this many of the rows beyond a limit are named.
const NAMED: usize = 8;
/// A larger ratio of the values asks for a logarithmic axis.
const WIDE: f64 = 100.0;
/// Rounding noise next to nothing is drawn at the low end of the axis, this many decades down.
const DECADES: f64 = 6.0;

/// T² and Q of every row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Monitor<'a> {
    pub(crate) title: &'a str,
    pub(crate) t2: &'a [f64],
    pub(crate) q: &'a [f64],
    /// The limits of T² and of Q.
    pub(crate) limits: Option<(f64, f64)>,
    /// What the limits are, for example `99 %`.
    pub(crate) level: &'a str,
    /// Classes of the rows, for colour.
    pub(crate) labels: Option<&'a [String]>,
    /// Names of the rows; without them rows are counted from one.
    pub(crate) names: Option<&'a [String]>,
}

/// Draws the rows, the limits, and names the rows furthest beyond them.
pub(crate) fn monitor(m: &Monitor<'_>) -> Drawing {
    let rows: Vec<Point> = m.t2.iter().copied().zip(m.q.iter().copied()).collect();
    let limits = m.limits.filter(|l| drawable(l.0) && drawable(l.1));
    let beyond = beyond(&rows, limits);
    let what = format!("{}: T² and Q of {} rows, {} beyond a limit", m.title, rows.len(), beyond.len());
    let mut scene = Scene::new(WIDTH, HEIGHT, what);
    let classes = Classes::new(m.labels, rows.len());
    let mut legend = classes.legend();
    if !beyond.is_empty() {
        let fill = if m.labels.is_some() { WHITE } else { VERMILION };
        legend.push(Sample::Ringed(fill), &format!("beyond: {} of {}", beyond.len(), rows.len()));
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
    if let Some(limits) = limits {
        draw_limits(&mut scene, &frame, limits, m.level);
    }
    let lifted: Vec<Point> = rows.iter().map(|r| (lift(&frame.x, r.0), lift(&frame.y, r.1))).collect();
    points(&mut scene, &frame, &lifted, &classes);
    emphasise(&mut scene, &frame, &lifted, &beyond, &classes, m);
    Drawing::new(scene)
}

/// Rows beyond a limit, the furthest first. Furthest is the largest multiple of either limit.
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

/// Zero and less stand at the low end of a logarithmic axis rather than nowhere.
fn lift(scale: &Scale, value: f64) -> f64 {
    if scale.log && value < scale.low { scale.low } else { value }
}

fn draw_limits(scene: &mut Scene, frame: &Frame, (t2, q): (f64, f64), level: &str) {
    let name = |what: &str| font::shorten(&format!("{what} limit {level}"), 11.5, Weight::Regular, 140.0);
    if frame.x.shows(t2) {
        frame.across(scene, t2, true, LIMIT, Dash::Dashed);
        // At the foot, where the named rows are not.
        let at = (frame.at_x(t2) - 6.0, frame.area.bottom() - 4.0);
        scene.text(Text::new(at.0, at.1, 11.5, Anchor::Start, name("T²")).fill(LIMIT).turn(-90.0).halo());
    }
    if frame.y.shows(q) {
        frame.across(scene, q, false, LIMIT, Dash::Dashed);
        let at = (frame.area.right() - 4.0, frame.at_y(q) - 6.0);
        scene.text(Text::new(at.0, at.1, 11.5, Anchor::End, name("Q")).fill(LIMIT).halo());
    }
}

/// The rows beyond, again, larger and with a dark rim, and the names of the first few.
fn emphasise(scene: &mut Scene, frame: &Frame, rows: &[Point], beyond: &[usize], classes: &Classes, m: &Monitor<'_>) {
    let places: Vec<(usize, Point)> =
        beyond.iter().filter_map(|i| Some((*i, frame.place(rows[*i].0, rows[*i].1)?))).collect();
    let radius = if rows.len() > 500 { 3.5 } else { 5.0 };
    for class in classes.all() {
        let at: Vec<Point> = places.iter().filter(|p| classes.of(p.0) == class).map(|p| p.1).collect();
        if !at.is_empty() {
            let (colour, marker) = classes.look(class);
            let fill = if m.labels.is_some() { colour } else { VERMILION };
            scene.add(Shape::Marks(Marks { at, marker, radius, fill, opacity: 1.0, edge: Some((INK, 1.2)) }));
        }
    }
    let mut names = Names::new(frame.area);
    for (_, place) in places.iter().take(2 * NAMED) {
        names.keep_clear(*place, radius);
    }
    for (row, place) in places.iter().take(NAMED) {
        let name = m.names.and_then(|names| names.get(*row)).filter(|name| !name.is_empty());
        let name = name.cloned().unwrap_or_else(|| format!("row {}", row + 1));
        names.write(scene, &name, *place, (1.0, -0.15), INK);
    }
}
