//! A scatter plot with the original features as arrows.

use super::Drawing;
use super::axes::{HEIGHT, WIDTH};
use super::color::Rgb;
use super::drawable;
use super::names::{Named, Names};
use super::scale::extent;
use super::scatter::{Scatter, cloud};
use super::scene::{Point, Scene, WHITE};

/// If there are more than twice this many arrows, only this many of the longest are named.
const NAMED: usize = 12;
/// Distance of a name from the tip of its arrow.
const TIP: f64 = 2.0;
const ARROW: Rgb = Rgb(0x40, 0x40, 0x40);

/// A scatter plot, and arrows `(name, x, y)` from the origin.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Biplot<'a> {
    pub(crate) scatter: Scatter<'a>,
    pub(crate) arrows: &'a [(String, f64, f64)],
}

/// Draws points and arrows. All arrows are scaled by one factor so that they reach as far as the
/// points, and the factor is written below the plot.
pub(crate) fn biplot<'a>(b: &Biplot<'a>) -> Drawing {
    let s = &b.scatter;
    let what = format!("{}: {} points and {} arrows", s.title, s.points.len(), b.arrows.len());
    let mut scene = Scene::new(WIDTH, HEIGHT, what);
    let factor = stretch(s.points, b.arrows);
    let tips: Vec<Point> = b.arrows.iter().map(|a| (factor * a.1, factor * a.2)).chain([(0.0, 0.0)]).collect();
    let also: Vec<Point> =
        if b.arrows.is_empty() { Vec::new() } else { tips.iter().map(|t| (1.12 * t.0, 1.12 * t.1)).collect() };
    let (frame, radius) = cloud(&mut scene, s, &also);
    let mut names = Names::new(frame.area);
    for place in s.points.iter().filter_map(|p| frame.place(p.0, p.1)) {
        names.keep_off(place, radius);
    }
    let arrow = |(arrow, tip): (&'a (String, f64, f64), &Point)| {
        Some(Arrow { name: &arrow.0, tip: frame.place(tip.0, tip.1)?, length: arrow.1.hypot(arrow.2) })
    };
    let arrows = b.arrows.iter().zip(&tips).filter_map(arrow).collect();
    draw_arrows(&mut scene, names, frame.at(0.0, 0.0), arrows, NAMED, ARROW);
    if !b.arrows.is_empty() {
        scene.footnote(&format!("arrows × {factor:.3}"));
    }
    Drawing::new(scene)
}

/// An arrow ready to be drawn: its tip in the plot, and its length in data units.
pub(super) struct Arrow<'a> {
    pub(super) name: &'a str,
    pub(super) tip: Point,
    pub(super) length: f64,
}

/// Draws all arrows and names them, longest first. Of many arrows only `named` get a name, and the
/// others are pale.
pub(super) fn draw_arrows<'a>(
    scene: &mut Scene,
    mut names: Names,
    origin: Point,
    mut arrows: Vec<Arrow<'a>>,
    named: usize,
    fill: Rgb,
) {
    arrows.sort_by(|a, b| b.length.total_cmp(&a.length));
    let many = arrows.len() > 2 * named;
    for (i, arrow) in arrows.iter().enumerate().rev() {
        let pale = many && i >= named;
        scene.arrow(origin, arrow.tip, if pale { fill.mix(WHITE, 0.6) } else { fill });
        names.keep_off_line(origin, arrow.tip);
        names.keep_off(arrow.tip, TIP);
    }
    if many {
        arrows.truncate(named);
    }
    let toward = |arrow: &Arrow<'_>| (arrow.tip.0 - origin.0, arrow.tip.1 - origin.1);
    arrows.retain(|arrow| toward(arrow).0.hypot(toward(arrow).1) > 4.0);
    let named = |arrow: &Arrow<'a>| Named { name: arrow.name, at: arrow.tip, radius: TIP, toward: toward(arrow), fill };
    names.write(scene, &arrows.iter().map(named).collect::<Vec<_>>());
}

/// The factor with which the arrows fill four fifths of the extent of the points.
fn stretch(points: &[Point], arrows: &[(String, f64, f64)]) -> f64 {
    let reach =
        |values: &mut dyn Iterator<Item = f64>| extent(values).map_or(0.0, |(low, high)| low.abs().max(high.abs()));
    let mut factor = f64::INFINITY;
    let mut fit = |room: f64, arrow: f64| {
        if room > 0.0 && arrow > 0.0 {
            factor = factor.min(0.8 * room / arrow);
        }
    };
    fit(reach(&mut points.iter().map(|p| p.0)), reach(&mut arrows.iter().map(|a| a.1)));
    fit(reach(&mut points.iter().map(|p| p.1)), reach(&mut arrows.iter().map(|a| a.2)));
    if drawable(factor) && factor > 0.0 { factor } else { 1.0 }
}
