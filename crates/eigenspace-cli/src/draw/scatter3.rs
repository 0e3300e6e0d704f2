//! A 3D scatter plot, seen from a fixed position a little above and to the side.

use super::Drawing;
use super::axes::{EDGE, HEIGHT, TICK, WIDTH, title};
use super::classes::{Classes, thinning, weight_of};
use super::drawable;
use super::font;
use super::scale::Scale;
use super::scene::{Anchor, Area, Dash, FADED, GRID, Marks, Point, RULE, Scene, Shape, Text, WHITE};
use super::typeface::Weight;

/// Direction of view, in degrees: around the vertical axis, and above the floor.
const AROUND: f64 = -58.0;
const ABOVE: f64 = 22.0;
/// Strength of the perspective; 0 is a view from far away.
const PERSPECTIVE: f64 = 0.10;
/// The shortest side of the box, as a fraction of the longest.
const THINNEST: f64 = 0.3;
/// Points are painted in this many layers, far ones first and paler.
const SHEETS: usize = 10;

/// Points with the titles of their three axes, the third one vertical.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scatter3<'a> {
    pub(crate) title: &'a str,
    pub(crate) points: &'a [[f64; 3]],
    pub(crate) labels: Option<&'a [String]>,
    pub(crate) titles: [&'a str; 3],
}

/// Draws the points in a box; nearer ones are larger and stronger in color.
pub(crate) fn scatter3(s: &Scatter3<'_>) -> Drawing {
    let mut scene = Scene::new(WIDTH, HEIGHT, format!("{}: {} points in 3D", s.title, s.points.len()));
    title(&mut scene, s.title);
    let classes = Classes::new(s.labels, s.points.len());
    let legend = classes.legend();
    let used = if legend.width() > 0.0 { legend.width() + 2.0 * EDGE } else { EDGE };
    legend.draw(&mut scene, WIDTH - used + EDGE, 56.0);
    let usable = |p: &&[f64; 3]| p.iter().all(|v| drawable(*v));
    let mut scales = [0, 1, 2].map(|i| Scale::around(s.points.iter().filter(usable).map(|p| p[i]), 0.05));
    let half = proportions(&mut scales);
    let view = View::new(Area { left: 70.0, top: 56.0, width: WIDTH - 70.0 - used, height: HEIGHT - 116.0 }, half);
    walls(&mut scene, &view, &scales);
    edges(&mut scene, &view, &scales, &s.titles);
    let cube = |p: &[f64; 3]| [0, 1, 2].map(|i| 2.0 * scales[i].share(p[i]) - 1.0);
    let (every, remark) = thinning(s.points.len());
    let kept: Vec<(usize, [f64; 3])> =
        s.points.iter().enumerate().step_by(every).filter(|(_, p)| usable(p)).map(|(i, p)| (i, cube(p))).collect();
    cloud(&mut scene, &view, &kept, &classes);
    classes.footnote(&mut scene);
    scene.footnote(&remark);
    Drawing::new(scene)
}

/// Half the sides of a box with equal units on all axes. A range much shorter than the longest is
/// widened, so that the box does not become flat.
fn proportions(scales: &mut [Scale; 3]) -> [f64; 3] {
    let longest = scales.iter().map(|s| s.high - s.low).fold(0.0, f64::max);
    scales.each_mut().map(|scale| {
        let short = THINNEST * longest - (scale.high - scale.low);
        if short > 0.0 {
            (scale.low, scale.high) = (scale.low - 0.5 * short, scale.high + 0.5 * short);
        }
        (scale.high - scale.low) / longest
    })
}

/// Maps the cube of side 2 around the origin, reduced to a box, to the plot.
struct View {
    half: [f64; 3],
    middle: Point,
    scale: f64,
}

/// Right, up and toward the viewer, before scaling.
fn turned(p: [f64; 3]) -> [f64; 3] {
    let ((sa, ca), (se, ce)) = (AROUND.to_radians().sin_cos(), ABOVE.to_radians().sin_cos());
    let near = ca * p[0] + sa * p[1];
    let depth = ce * near + se * p[2];
    let grow = 1.0 / (1.0 - PERSPECTIVE * depth);
    [grow * (ca * p[1] - sa * p[0]), grow * (ce * p[2] - se * near), depth]
}

impl View {
    /// The largest cube that fits into the area.
    fn new(area: Area, half: [f64; 3]) -> Self {
        let corners: Vec<[f64; 3]> = (0..8)
            .map(|i| turned([0, 1, 2].map(|axis| if i >> axis & 1 == 1 { half[axis] } else { -half[axis] })))
            .collect();
        let span = |axis: usize| corners.iter().fold((f64::MAX, f64::MIN), |s, c| (s.0.min(c[axis]), s.1.max(c[axis])));
        let (across, up) = (span(0), span(1));
        let scale = (area.width / (across.1 - across.0)).min(area.height / (up.1 - up.0));
        let middle = (
            area.left + 0.5 * area.width - 0.5 * scale * (across.0 + across.1),
            area.top + 0.5 * area.height + 0.5 * scale * (up.0 + up.1),
        );
        Self { half, middle, scale }
    }

    fn boxed(&self, p: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|i| self.half[i] * p[i])
    }

    fn at(&self, p: [f64; 3]) -> Point {
        let [across, up, _] = turned(self.boxed(p));
        (self.middle.0 + self.scale * across, self.middle.1 - self.scale * up)
    }
}

/// The floor and the two walls behind the points, with a light grid.
fn walls(scene: &mut Scene, view: &View, scales: &[Scale; 3]) {
    // A wall lies at a fixed end of one axis and spans the other two.
    let walls = [(2, -1.0, 0, 1), (0, -1.0, 1, 2), (1, 1.0, 0, 2)];
    for (fixed, end, first, second) in walls {
        let point = |a: f64, b: f64| {
            let mut p = [0.0; 3];
            (p[fixed], p[first], p[second]) = (end, a, b);
            view.at(p)
        };
        let corners = vec![point(-1.0, -1.0), point(1.0, -1.0), point(1.0, 1.0), point(-1.0, 1.0)];
        let shade = WHITE.mix(GRID, if fixed == 2 { 0.45 } else { 0.15 });
        scene.add(Shape::Polygon { points: corners, fill: shade, class: "wall" });
        for (axis, swap) in [(first, false), (second, true)] {
            for tick in scales[axis].ticks(5) {
                let at = 2.0 * scales[axis].share(tick.at) - 1.0;
                let ends = if swap { [point(-1.0, at), point(1.0, at)] } else { [point(at, -1.0), point(at, 1.0)] };
                scene.line(ends.to_vec(), GRID, 1.0, Dash::Solid);
            }
        }
    }
}

/// The three edges that carry numbers and titles, each on the outline of the box.
fn edges(scene: &mut Scene, view: &View, scales: &[Scale; 3], titles: &[&str; 3]) {
    // The axis, its start and end, and the alignment of its labels.
    let edges = [
        (0, [-1.0, -1.0, -1.0], [1.0, -1.0, -1.0], Anchor::Middle),
        (1, [1.0, -1.0, -1.0], [1.0, 1.0, -1.0], Anchor::Start),
        (2, [-1.0, -1.0, -1.0], [-1.0, -1.0, 1.0], Anchor::End),
    ];
    let center = view.at([0.0; 3]);
    for (axis, from, to, anchor) in edges {
        let (start, end) = (view.at(from), view.at(to));
        let (dx, dy) = (end.0 - start.0, end.1 - start.1);
        let length = dx.hypot(dy);
        let middle = (0.5 * (start.0 + end.0), 0.5 * (start.1 + end.1));
        // The normal that points away from the box.
        let side = if (middle.0 - center.0) * dy - (middle.1 - center.1) * dx < 0.0 { -1.0 } else { 1.0 };
        let out = (side * dy / length, -side * dx / length);
        let away = |p: Point, distance: f64| (p.0 + distance * out.0, p.1 + distance * out.1);
        scene.line(vec![start, end], RULE, 1.2, Dash::Solid);
        let mut widest: f64 = 0.0;
        for tick in scales[axis].ticks(5) {
            let share = scales[axis].share(tick.at);
            let on = view.at([0, 1, 2].map(|i| from[i] + share * (to[i] - from[i])));
            scene.line(vec![on, away(on, 5.0)], RULE, 1.0, Dash::Solid);
            let (x, y) = away(on, if anchor == Anchor::Middle { 17.0 } else { 10.0 });
            widest = widest.max(font::width(&tick.text, TICK, Weight::Regular));
            scene.text(Text::new(x, y + 4.5, TICK, anchor, tick.text).fill(FADED));
        }
        // The title runs along the edge, clear of the widest number.
        let reach = if anchor == Anchor::Middle { 14.0 + 0.5 * widest } else { 10.0 + widest };
        let (x, y) = away(middle, reach * out.0.abs() + 30.0 * out.1.abs() + 16.0);
        let turn = if axis == 2 { -90.0 } else { (dy / dx).atan().to_degrees() };
        let text = font::shorten(titles[axis], 14.0, Weight::Regular, 0.9 * length);
        let baseline = if axis == 2 { 0.0 } else { 5.0 };
        scene.text(Text::new(x, y + baseline, 14.0, Anchor::Middle, text).turn(turn));
    }
}

fn cloud(scene: &mut Scene, view: &View, points: &[(usize, [f64; 3])], classes: &Classes) {
    let (radius, opacity) = weight_of(points.len());
    let depths: Vec<f64> = points.iter().map(|(_, p)| turned(view.boxed(*p))[2]).collect();
    let (far, near) = super::scale::extent(depths.iter().copied()).unwrap_or((0.0, 1.0));
    let sheet = |depth: f64| {
        let share = if near > far { (depth - far) / (near - far) } else { 1.0 };
        ((share * SHEETS as f64) as usize).min(SHEETS - 1)
    };
    for level in 0..SHEETS {
        let nearness = level as f64 / (SHEETS - 1) as f64;
        for class in classes.all() {
            let mine =
                points.iter().zip(&depths).filter(|((i, _), d)| sheet(**d) == level && classes.class_of(*i) == class);
            let at: Vec<Point> = mine.map(|((_, p), _)| view.at(*p)).collect();
            if !at.is_empty() {
                let (color, marker) = classes.style(class);
                let fill = color.mix(WHITE, 0.5 * (1.0 - nearness));
                let radius = radius * (0.7 + 0.5 * nearness);
                let edge = (points.len() <= 500).then_some((WHITE, 0.6));
                scene.add(Shape::Marks(Marks { at, marker, radius, fill, opacity, edge }));
            }
        }
    }
}
