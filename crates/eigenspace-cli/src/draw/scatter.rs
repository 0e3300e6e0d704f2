//! Points in the plane, colored by label.

use super::axes::{Axes, Frame, HEIGHT, WIDTH};
use super::classes::{Classes, MOST, thinning, weight_of};
use super::density;
use super::scale::Scale;
use super::scene::{Dash, Marks, RULE, Scene, Shape, WHITE};
use super::{Drawing, drawable};

/// Points with the titles of their axes; see [`super::component_title`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scatter<'a> {
    pub(crate) title: &'a str,
    pub(crate) points: &'a [(f64, f64)],
    /// One label per point, or none.
    pub(crate) labels: Option<&'a [String]>,
    pub(crate) x_title: &'a str,
    pub(crate) y_title: &'a str,
}

/// Draws the points with equal units on both axes. Pairs with a number that is not finite are left
/// out.
pub(crate) fn scatter(s: &Scatter<'_>) -> Drawing {
    let mut scene = Scene::new(WIDTH, HEIGHT, format!("{}: {} points", s.title, s.points.len()));
    cloud(&mut scene, s, &[]);
    Drawing::new(scene)
}

/// Draws frame and points, and returns the radius of the points; `also` are further positions
/// inside the frame.
pub(super) fn cloud(scene: &mut Scene, s: &Scatter<'_>, also: &[(f64, f64)]) -> (Frame, f64) {
    let shown = |p: &&(f64, f64)| drawable(p.0) && drawable(p.1);
    let all = || s.points.iter().chain(also).filter(shown);
    let classes = Classes::new(s.labels, s.points.len());
    let axes = Axes {
        title: s.title,
        x_title: s.x_title,
        y_title: s.y_title,
        x: Scale::around(all().map(|p| p.0), 0.05),
        y: Scale::around(all().map(|p| p.1), 0.05),
        equal: true,
        legend: classes.legend(),
    };
    let frame = Frame::draw(scene, &axes);
    for (vertical, scale) in [(true, frame.x), (false, frame.y)] {
        if scale.low < 0.0 && scale.high > 0.0 {
            frame.across(scene, 0.0, vertical, RULE.mix(WHITE, 0.4), Dash::Solid);
        }
    }
    let radius = points(scene, &frame, s.points, &classes);
    (frame, radius)
}

/// Draws the points class by class, and returns their radius. Very many points are drawn as cells,
/// or thinned if classes differ in shape, which cells cannot show.
pub(super) fn points(scene: &mut Scene, frame: &Frame, points: &[(f64, f64)], classes: &Classes) -> f64 {
    classes.footnote(scene);
    if !points.iter().any(|p| frame.place(p.0, p.1).is_some()) {
        frame.empty(scene);
    }
    if points.len() > MOST && !classes.share_colors() {
        density::draw(scene, frame, points, classes);
        return density::CELL;
    }
    let (every, remark) = thinning(points.len());
    let (radius, opacity) = weight_of(points.len());
    for class in classes.all() {
        let mine = points.iter().enumerate().step_by(every).filter(|(i, _)| classes.class_of(*i) == class);
        let at: Vec<_> = mine.filter_map(|(_, p)| frame.place(p.0, p.1)).collect();
        if !at.is_empty() {
            let (fill, marker) = classes.style(class);
            let edge = (points.len() <= 500).then_some((WHITE, 0.6));
            scene.add(Shape::Marks(Marks { at, marker, radius, fill, opacity, edge }));
        }
    }
    scene.footnote(&remark);
    radius
}
