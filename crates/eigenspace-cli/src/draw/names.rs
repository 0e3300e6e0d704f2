//! Places names beside points and arrows, inside the frame, without covering marks, arrows or other
//! names.
//!
//! Names are placed one after another, the most important first. Each takes the cheapest free
//! position around its mark. A name that had to move, or that is as near to another mark, gets a
//! line to its own mark. Names in a crowd of marks can block others, so several orders and
//! distances are tried, and the attempt that places the most names is drawn. Names without a
//! position are left out and counted.

use super::color::Rgb;
use super::font;
use super::occupied::Occupied;
use super::scene::{Anchor, Area, Dash, Point, Scene, Shape, Text, WHITE};
use super::typeface::Weight;

const SIZE: f64 = 12.5;
const ROOM: f64 = 150.0;
/// A name further from its mark than this gets a line to it.
const MAX_DISTANCE_WITHOUT_LEADER: f64 = 6.0;
/// Shortest length of such a line.
const MIN_LEADER_LENGTH: f64 = 5.0;
/// Distances between a mark and its name to try, nearest first.
const GAPS: [f64; 14] = [3.0, 6.0, 10.0, 15.0, 21.0, 28.0, 36.0, 46.0, 58.0, 72.0, 90.0, 115.0, 150.0, 200.0];
/// The smallest distance in each attempt.
const TRIES: [f64; 4] = [0.0, 15.0, 28.0, 46.0];
/// Number of attempts at each distance; names without a position come first in the next attempt.
const ORDERS: usize = 3;
/// Number of directions to try at each distance.
const DIRECTIONS: usize = 48;

/// A mark to name.
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    pub(super) at: Point,
    /// The radius of the mark.
    pub(super) radius: f64,
    /// The preferred direction of the name from the mark.
    pub(super) toward: Point,
    pub(super) fill: Rgb,
}

/// The areas that names must avoid.
pub(super) struct Names {
    bounds: Area,
    /// Marks only: a name must be nearer to its own mark than to these.
    marks: Occupied,
    /// Everything that names must not cover: marks, arrows, texts.
    covered: Occupied,
    /// Areas that names should avoid if possible.
    lines: Occupied,
}

/// The position of a name.
struct Place {
    area: Area,
    leader: Option<(Point, Point)>,
    cost: f64,
}

impl Names {
    pub(super) fn new(bounds: Area) -> Self {
        let [marks, covered, lines] = [(); 3].map(|()| Occupied::new(bounds));
        Self { bounds, marks, covered, lines }
    }

    /// Adds a mark that names must not cover.
    pub(super) fn keep_off(&mut self, center: Point, radius: f64) {
        self.marks.disc(center, radius);
        self.covered.disc(center, radius);
    }

    /// Adds a line that names must not cover.
    pub(super) fn keep_off_line(&mut self, from: Point, to: Point) {
        self.covered.line(from, to, 1.0);
    }

    /// Adds a text that names must not cover.
    pub(super) fn keep_off_area(&mut self, area: &Area) {
        self.covered.area(area);
    }

    /// Adds a line that names avoid if there is another position.
    pub(super) fn avoid_line(&mut self, from: Point, to: Point) {
        self.lines.line(from, to, 1.0);
    }

    /// Writes the names, and notes below the plot how many had no room.
    pub(super) fn write(mut self, scene: &mut Scene, named: &[Named<'_>]) {
        let names: Vec<String> = named.iter().map(|n| font::shorten(n.name, SIZE, Weight::Regular, ROOM)).collect();
        let mut best: Vec<Option<Place>> = Vec::new();
        let placed = |places: &[Option<Place>]| places.iter().flatten().count();
        let mut order: Vec<usize> = (0..named.len()).collect();
        for least in TRIES.into_iter().flat_map(|least| [least; ORDERS]) {
            let places = self.place_all(named, &names, &order, least);
            order.sort_by_key(|i| places[*i].is_some());
            if best.is_empty() || placed(&places) > placed(&best) {
                best = places;
            }
            if placed(&best) == named.len() {
                break;
            }
        }
        for ((named, name), place) in named.iter().zip(names).zip(&best) {
            if let Some(Place { area, leader, .. }) = place {
                if let Some((from, to)) = *leader {
                    let (points, dash, class) = (vec![from, to], Dash::Solid, "leader");
                    scene.add(Shape::Line { points, stroke: named.fill.mix(WHITE, 0.35), width: 0.8, dash, class });
                }
                let (x, y) = (area.left + 0.5 * area.width, area.top + 0.5 * area.height + 0.36 * SIZE);
                scene.text(Text::new(x, y, SIZE, Anchor::Middle, name).fill(named.fill).halo().class("name"));
            }
        }
        match named.len() - placed(&best) {
            0 => {}
            1 => scene.footnote("1 name left out for lack of room"),
            more => scene.footnote(&format!("{more} names left out for lack of room")),
        }
    }

    /// A position for each name if there is one, none nearer than `least`.
    fn place_all(&mut self, named: &[Named<'_>], names: &[String], order: &[usize], least: f64) -> Vec<Option<Place>> {
        let mut places: Vec<Option<Place>> = named.iter().map(|_| None).collect();
        for &i in order {
            let named = &named[i];
            let (width, height) = (font::width(&names[i], SIZE, Weight::Regular), SIZE + 2.0);
            let mut best: Option<Place> = None;
            for area in candidates(named, width, height, least) {
                let place = self.judge(named, area, &places);
                if let Some(place) = place.filter(|p| best.as_ref().is_none_or(|best| p.cost < best.cost)) {
                    best = Some(place);
                }
            }
            places[i] = best;
        }
        places
    }

    /// The cost of a position; `None` if it is occupied.
    fn judge(&mut self, named: &Named<'_>, area: Area, before: &[Option<Place>]) -> Option<Place> {
        let before = || before.iter().flatten();
        let leaders = || before().filter_map(|place| place.leader);
        if !self.bounds.contains(&area)
            || before().any(|other| other.area.grown(2.0).overlaps(&area))
            || leaders().any(|(from, to)| area.grown(1.0).crossed_by(from, to))
            || self.covered.count(&area) > 0
        {
            return None;
        }
        let near = area.nearest(named.at);
        let away = (near.0 - named.at.0, near.1 - named.at.1);
        let distance = away.0.hypot(away.1);
        let gap = distance - named.radius;
        let own = Area::around(named.at, named.radius + 1.0);
        let around = area.grown(gap.max(0.0));
        let shared = around.overlap(&own).map_or(0, |part| self.marks.count(&part));
        let misread = self.marks.count(&around) > shared;
        let mut cost = gap + 5.0 * angle(away, named.toward);
        cost += if self.lines.count(&area) > 0 { 20.0 } else { 0.0 };
        if gap <= MAX_DISTANCE_WITHOUT_LEADER && !misread {
            return Some(Place { area, leader: None, cost });
        }
        let share = named.radius / distance;
        let start = (named.at.0 + share * away.0, named.at.1 + share * away.1);
        if gap < MIN_LEADER_LENGTH || before().any(|other| other.area.grown(1.0).crossed_by(start, near)) {
            return None;
        }
        let crossed = leaders().filter(|other| segments_meet((start, near), *other)).count();
        cost += 40.0 * crossed as f64 + 8.0 + 1.5 * self.covered_between(named, near);
        Some(Place { area, leader: Some((start, near)), cost })
    }

    /// The number of steps of the line from a mark to its name that cross other marks.
    fn covered_between(&mut self, named: &Named<'_>, to: Point) -> f64 {
        let (dx, dy) = (to.0 - named.at.0, to.1 - named.at.1);
        let length = dx.hypot(dy);
        let mut along = named.radius + 2.0;
        let mut covered = 0;
        while along < length {
            let at = (named.at.0 + along / length * dx, named.at.1 + along / length * dy);
            covered += self.covered.count(&Area::around(at, 0.4)).min(1);
            along += 1.0;
        }
        f64::from(covered)
    }
}

/// Positions for a box around a mark, at each of the distances from `least` on.
fn candidates(named: &Named<'_>, width: f64, height: f64, least: f64) -> impl Iterator<Item = Area> {
    let (at, radius, toward) = (named.at, named.radius, named.toward);
    let first = toward.1.atan2(toward.0);
    GAPS.into_iter().filter(move |gap| *gap >= least).flat_map(move |gap| {
        (0..DIRECTIONS).map(move |i| {
            let (sin, cos) = (first + std::f64::consts::TAU * i as f64 / DIRECTIONS as f64).sin_cos();
            let reach = (0.5 * width / cos.abs().max(1e-9)).min(0.5 * height / sin.abs().max(1e-9));
            let out = radius + gap + reach;
            Area { left: at.0 + cos * out - 0.5 * width, top: at.1 + sin * out - 0.5 * height, width, height }
        })
    })
}

/// The angle between two directions; zero if one has no length.
fn angle(a: Point, b: Point) -> f64 {
    (a.0 * b.1 - a.1 * b.0).atan2(a.0 * b.0 + a.1 * b.1).abs()
}

fn segments_meet(a: (Point, Point), b: (Point, Point)) -> bool {
    let side = |p: Point, q: Point, r: Point| (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
    side(a.0, a.1, b.0) * side(a.0, a.1, b.1) < 0.0 && side(b.0, b.1, a.0) * side(b.0, b.1, a.1) < 0.0
}
