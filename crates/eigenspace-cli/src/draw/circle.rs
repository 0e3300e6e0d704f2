//! The correlation circle: correlations of the features with two components.

use std::f64::consts::TAU;

use super::Drawing;
use super::axes::{Axes, Frame};
use super::biplot::{Arrow, draw_arrows};
use super::color::BLUE;
use super::legend::Legend;
use super::names::Names;
use super::scale::{Format, Scale};
use super::scene::{Dash, RULE, Scene, Shape};

const SIDE: f64 = 700.0;
const NAMED: usize = 20;
/// Number of straight segments that approximate the circle when names are placed.
const STEPS: usize = 180;

/// Arrows `(name, correlation with x, correlation with y)`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Circle<'a> {
    pub(crate) title: &'a str,
    pub(crate) arrows: &'a [(String, f64, f64)],
    pub(crate) x_title: &'a str,
    pub(crate) y_title: &'a str,
}

/// Draws the arrows inside the unit circle, and names the longest as far as there is room.
pub(crate) fn circle<'a>(c: &Circle<'a>) -> Drawing {
    let mut scene = Scene::new(SIDE, SIDE, format!("{}: correlations of {} features", c.title, c.arrows.len()));
    let side = Scale::fixed(-1.12, 1.12, Format::Number);
    let axes = Axes {
        title: c.title,
        x_title: c.x_title,
        y_title: c.y_title,
        x: side,
        y: side,
        equal: true,
        legend: Legend::default(),
    };
    let frame = Frame::draw(&mut scene, &axes);
    frame.across(&mut scene, 0.0, true, RULE, Dash::Solid);
    frame.across(&mut scene, 0.0, false, RULE, Dash::Solid);
    let center = frame.at(0.0, 0.0);
    let radius = frame.at_x(1.0) - center.0;
    scene.add(Shape::Ring { center, radius, stroke: RULE, width: 1.4 });
    let tip = |x: f64, y: f64| (x.abs() <= 1.1 && y.abs() <= 1.1).then(|| frame.at(x, y));
    let arrow = |a: &'a (String, f64, f64)| Some(Arrow { name: &a.0, tip: tip(a.1, a.2)?, length: a.1.hypot(a.2) });
    let arrows = c.arrows.iter().filter_map(arrow).collect();
    let mut names = Names::new(frame.area);
    for i in 0..STEPS {
        let on = |i: usize| {
            let (sin, cos) = (TAU * i as f64 / STEPS as f64).sin_cos();
            (center.0 + radius * cos, center.1 + radius * sin)
        };
        names.avoid_line(on(i), on(i + 1));
    }
    draw_arrows(&mut scene, names, center, arrows, NAMED, BLUE);
    Drawing::new(scene)
}
