//! Line plots: one or more quantities over rows, blocks or components.

use super::axes::{Axes, Frame, HEIGHT, WIDTH};
use super::color::{self, Rgb};
use super::legend::{Legend, Sample};
use super::scale::{Scale, extent};
use super::scene::{Dash, Marker, Marks, Point, Scene, Shape};
use super::{Drawing, drawable};

/// One curve, its points in the order they are joined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) dashed: bool,
}

/// Curves over common axes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lines<'a> {
    pub(crate) title: &'a str,
    pub(crate) series: &'a [Series],
    pub(crate) x_title: &'a str,
    pub(crate) y_title: &'a str,
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
}

/// Draws the curves. A point that is not finite, or not positive on a logarithmic axis, makes a
/// gap.
pub(crate) fn lines(l: &Lines<'_>) -> Drawing {
    let mut scene = Scene::new(WIDTH, HEIGHT, format!("{}: {} curves", l.title, l.series.len()));
    let usable = |p: &&(f64, f64)| drawable(p.0) && drawable(p.1) && (!l.log_x || p.0 > 0.0) && (!l.log_y || p.1 > 0.0);
    let all = || l.series.iter().flat_map(|s| &s.points).filter(usable);
    let mut legend = Legend::default();
    for (i, series) in l.series.iter().enumerate().filter(|_| l.series.len() > 1) {
        legend.push(Sample::Line(color::class(i), dash(series)), &series.name);
    }
    let axes = Axes {
        title: l.title,
        x_title: l.x_title,
        y_title: l.y_title,
        x: if l.log_x { Scale::logarithmic(all().map(|p| p.0), 12.0) } else { Scale::around(all().map(|p| p.0), 0.02) },
        y: if l.log_y { Scale::logarithmic(all().map(|p| p.1), 20.0) } else { upright(all().map(|p| p.1)) },
        equal: false,
        legend,
    };
    let frame = Frame::draw(&mut scene, &axes);
    if all().next().is_none() {
        frame.empty(&mut scene);
    }
    for (i, series) in l.series.iter().enumerate() {
        let color = color::class(i);
        for part in series.points.split(|p| !usable(&p)) {
            curve(&mut scene, &frame, part, color, dash(series), series.points.len() <= 40 && !series.dashed);
        }
    }
    Drawing::new(scene)
}

fn dash(series: &Series) -> Dash {
    if series.dashed { Dash::Dashed } else { Dash::Solid }
}

/// Starts at zero if the values are positive and zero is not far below them.
fn upright(values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = extent(values).unwrap_or((0.0, 1.0));
    let mut scale = Scale::around([low, high], 0.05);
    if low >= 0.0 && low < 0.5 * high {
        scale.low = 0.0;
    }
    scale
}

fn curve(scene: &mut Scene, frame: &Frame, part: &[(f64, f64)], stroke: Rgb, dash: Dash, marked: bool) {
    let points: Vec<Point> = part.iter().filter_map(|p| frame.place(p.0, p.1)).collect();
    if points.is_empty() {
        return;
    }
    if marked || points.len() == 1 {
        let at = points.clone();
        scene.add(Shape::Marks(Marks {
            at,
            marker: Marker::Disc,
            radius: 3.2,
            fill: stroke,
            opacity: 1.0,
            edge: None,
        }));
    }
    if points.len() > 1 {
        scene.add(Shape::Line { points, stroke, width: 2.0, dash, class: "series" });
    }
}
