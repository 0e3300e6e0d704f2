//! Scree plot: explained variance ratio of each component as bars, and the cumulative sum as a
//! line.

use super::Drawing;
use super::axes::{Axes, Frame, HEIGHT, WIDTH};
use super::color::{BLUE, VERMILION};
use super::font;
use super::legend::{Legend, Sample};
use super::occupied::Occupied;
use super::scale::{Format, Scale};
use super::scene::{Anchor, Area, Dash, INK, Marker, Marks, RULE, Scene, Shape, Text, WHITE};
use super::typeface::Weight;

/// More components than this are drawn as one outline, because single bars would be too thin.
const SINGLE_BARS: usize = 300;
/// The size of the numbers at the bars.
const VALUE: f64 = 11.5;

/// Explained variance ratios, largest first, between 0 and 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scree<'a> {
    pub(crate) title: &'a str,
    pub(crate) ratios: &'a [f64],
    /// A lower and an upper bound per component, drawn as whiskers.
    pub(crate) bounds: Option<&'a [(f64, f64)]>,
    /// A number of components to mark, with their cumulative ratio.
    pub(crate) reported: Option<usize>,
}

/// Draws the ratios; those that are not finite are left out, also of the sum.
pub(crate) fn scree(s: &Scree<'_>) -> Drawing {
    let count = s.ratios.len();
    let mut scene = Scene::new(WIDTH, HEIGHT, format!("{}: explained variance of {count} components", s.title));
    let mut legend = Legend::default();
    legend.push(Sample::Block(BLUE), "component");
    legend.push(Sample::Line(VERMILION, Dash::Solid), "cumulative");
    let axes = Axes {
        title: s.title,
        x_title: "component",
        y_title: "explained variance",
        x: Scale::fixed(0.5, count.max(1) as f64 + 0.5, Format::Whole),
        y: Scale::fixed(0.0, 1.0, Format::Percent),
        equal: false,
        legend,
    };
    let frame = Frame::draw(&mut scene, &axes);
    bars(&mut scene, &frame, s.ratios);
    if let Some(bounds) = s.bounds {
        whiskers(&mut scene, &frame, &bounds[..bounds.len().min(count)]);
    }
    let sums = running(s.ratios);
    let mut taken = Occupied::new(frame.area);
    let points: Vec<_> = sums.iter().enumerate().map(|(i, sum)| frame.at(i as f64 + 1.0, *sum)).collect();
    if points.len() <= 40 {
        let marks =
            Marks { at: points.clone(), marker: Marker::Disc, radius: 3.5, fill: VERMILION, opacity: 1.0, edge: None };
        scene.add(Shape::Marks(marks));
    }
    for pair in points.windows(2) {
        taken.line(pair[0], pair[1], 2.0);
    }
    for point in &points {
        taken.disc(*point, 4.5);
    }
    if points.len() > 1 {
        scene.add(Shape::Line { points, stroke: VERMILION, width: 2.0, dash: Dash::Solid, class: "cumulative" });
    }
    if let Some(k) = s.reported.filter(|k| (1..=count).contains(k)) {
        point_out(&mut scene, &frame, &mut taken, k, sums[k - 1]);
    }
    values(&mut scene, &frame, &mut taken, s);
    Drawing::new(scene)
}

/// A ratio clamped to the axis, or `None` if it cannot be drawn.
fn share(ratio: f64) -> Option<f64> {
    ratio.is_finite().then(|| ratio.clamp(0.0, 1.0))
}

fn running(ratios: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut add = |ratio: &f64| {
        sum += share(*ratio).unwrap_or(0.0);
        sum.min(1.0)
    };
    ratios.iter().map(&mut add).collect()
}

fn half_width(frame: &Frame, count: usize) -> f64 {
    (0.38 * frame.area.width / count.max(1) as f64).min(28.0)
}

fn bars(scene: &mut Scene, frame: &Frame, ratios: &[f64]) {
    let floor = frame.area.bottom();
    if ratios.len() > SINGLE_BARS {
        let mut points = vec![(frame.at_x(0.5), floor)];
        for (i, ratio) in ratios.iter().enumerate() {
            let y = frame.at_y(share(*ratio).unwrap_or(0.0));
            points.extend([(frame.at_x(i as f64 + 0.5), y), (frame.at_x(i as f64 + 1.5), y)]);
        }
        points.push((frame.area.right(), floor));
        scene.add(Shape::Polygon { points, fill: BLUE, class: "bars" });
        return;
    }
    let half = half_width(frame, ratios.len());
    for (i, ratio) in ratios.iter().enumerate() {
        if let Some(ratio) = share(*ratio) {
            let (x, top) = frame.at(i as f64 + 1.0, ratio);
            let area = Area { left: x - half, top, width: 2.0 * half, height: floor - top };
            scene.add(Shape::Rect { area, fill: BLUE, class: "bar" });
        }
    }
}

fn whiskers(scene: &mut Scene, frame: &Frame, bounds: &[(f64, f64)]) {
    let half = (0.5 * half_width(frame, bounds.len())).min(6.0);
    for (i, (low, high)) in bounds.iter().enumerate() {
        if let (Some(low), Some(high)) = (share(*low), share(*high)) {
            let (x, low) = frame.at(i as f64 + 1.0, low);
            let high = frame.at_y(high);
            let stroke = INK;
            let points =
                vec![(x - half, low), (x + half, low), (x, low), (x, high), (x - half, high), (x + half, high)];
            scene.add(Shape::Line { points, stroke, width: 1.2, dash: Dash::Solid, class: "whisker" });
        }
    }
}

/// Writes the ratio of each component in percent above its bar, or inside it if the curve is in the
/// way. If not all of them fit side by side, none is written.
fn values(scene: &mut Scene, frame: &Frame, taken: &mut Occupied, s: &Scree<'_>) {
    let pitch = frame.area.width / s.ratios.len().max(1) as f64;
    let text = |ratio: f64| format!("{:.1} %", 100.0 * ratio);
    let width = |text: &str| font::width(text, VALUE, Weight::Regular);
    let drawn = || s.ratios.iter().enumerate().filter_map(|(i, ratio)| Some((i, share(*ratio)?)));
    if drawn().any(|(_, ratio)| width(&text(ratio)) > pitch - 2.0) {
        return;
    }
    let half = half_width(frame, s.ratios.len());
    for (i, ratio) in drawn() {
        let text = text(ratio);
        let width = width(&text);
        let (x, top) = frame.at(i as f64 + 1.0, ratio);
        // The number must not touch the whisker.
        let (lower, upper) = s.bounds.and_then(|bounds| bounds.get(i).copied()).unwrap_or((ratio, ratio));
        let (lower, upper) = (share(lower).unwrap_or(ratio), share(upper).unwrap_or(ratio));
        let place = |top: f64| Area { left: x - 0.5 * width, top, width, height: VALUE + 2.0 };
        let above = place(frame.at_y(upper).min(top) - VALUE - 6.0);
        let inside = place(frame.at_y(lower).max(top) + 5.0);
        // The width has a margin of a tenth.
        let in_bar = width <= 2.2 * half && inside.bottom() + 3.0 < frame.area.bottom();
        let (area, fill) = match () {
            () if frame.area.contains(&above) && taken.count(&above) == 0 => (above, INK),
            () if in_bar && taken.count(&inside) == 0 => (inside, WHITE),
            () => continue,
        };
        taken.area(&area);
        let baseline = area.top + 0.5 * area.height + 0.36 * VALUE;
        scene.text(Text::new(x, baseline, VALUE, Anchor::Middle, text).fill(fill).class("value"));
    }
}

/// A dashed line after component `k`, with the cumulative ratio up to it.
fn point_out(scene: &mut Scene, frame: &Frame, taken: &mut Occupied, k: usize, sum: f64) {
    let x = frame.at_x(k as f64 + 0.5);
    scene.line(vec![(x, frame.area.top), (x, frame.area.bottom())], RULE, 1.3, Dash::Dashed);
    let text = format!("k = {k}: {:.1} %", 100.0 * sum);
    // The text goes into the emptier half: below the curve if that is high.
    let y = if sum > 0.5 { frame.area.top + 0.55 * frame.area.height } else { frame.area.top + 24.0 };
    let left_side = x > frame.area.left + 0.7 * frame.area.width;
    let (x, anchor) = if left_side { (x - 8.0, Anchor::End) } else { (x + 8.0, Anchor::Start) };
    let width = font::width(&text, 13.0, Weight::Regular);
    let left = if anchor == Anchor::End { x - width } else { x };
    taken.area(&Area { left, top: y - 12.0, width, height: 16.0 });
    scene.text(Text::new(x, y, 13.0, anchor, text).halo());
}
