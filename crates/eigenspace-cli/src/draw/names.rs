//! Names beside points and arrows, put where they cover neither each other nor leave the frame.

use super::colour::Rgb;
use super::font::{self, Weight};
use super::scene::{Anchor, Area, Point, Scene, Text};

const SIZE: f64 = 12.5;
const ROOM: f64 = 130.0;

/// The places already taken.
pub(super) struct Names {
    bounds: Area,
    taken: Vec<Area>,
    /// Better left free, but not forbidden.
    shy: Vec<Area>,
    /// Where there are many things to name, a name that would cover a line is left out.
    strict: bool,
}

impl Names {
    pub(super) fn new(bounds: Area) -> Self {
        Self { bounds, taken: Vec::new(), shy: Vec::new(), strict: false }
    }

    pub(super) fn strict(&mut self, strict: bool) {
        self.strict = strict;
    }

    /// Keeps names away from a place.
    pub(super) fn keep_clear(&mut self, centre: Point, radius: f64) {
        self.taken.push(around(centre, radius));
    }

    /// Keeps names off a line as long as there is another place for them.
    pub(super) fn avoid(&mut self, from: Point, to: Point) {
        let steps = ((to.0 - from.0).hypot(to.1 - from.1) / 6.0).min(200.0) as usize;
        let between = |i: usize| {
            let share = i as f64 / steps.max(1) as f64;
            (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
        };
        self.shy.extend((0..=steps).map(|i| around(between(i), 1.5)));
    }

    /// Writes a name next to `at`, preferably in the direction given; leaves it out if no place is
    /// free.
    pub(super) fn write(&mut self, scene: &mut Scene, name: &str, at: Point, towards: Point, fill: Rgb) {
        let name = font::shorten(name, SIZE, Weight::Regular, ROOM);
        let (width, height) = (font::width(&name, SIZE, Weight::Regular), SIZE + 2.0);
        let free = |place: &Area| self.bounds.contains(place) && !self.taken.iter().any(|other| other.overlaps(place));
        let open = |place: &Area| !self.shy.iter().any(|other| other.overlaps(place));
        let places = candidates(at, towards, width, height);
        let best = places.iter().find(|p| free(p) && open(p));
        let chosen = best.or_else(|| places.iter().find(|p| !self.strict && free(p))).copied();
        if let Some(place) = chosen {
            let middle = (place.left + 0.5 * width, place.top + 0.5 * height);
            scene.text(Text::new(middle.0, middle.1 + 0.36 * SIZE, SIZE, Anchor::Middle, name).fill(fill).halo());
            self.taken.push(place);
        }
    }
}

fn around(centre: Point, radius: f64) -> Area {
    let side = 2.0 * radius;
    Area { left: centre.0 - radius, top: centre.1 - radius, width: side, height: side }
}

/// Places for a box beside a point: the wanted direction, then further and further to both sides of
/// it, then the same a little further out.
fn candidates(at: Point, towards: Point, width: f64, height: f64) -> Vec<Area> {
    let first = towards.1.atan2(towards.0);
    let mut places = Vec::new();
    for gap in [7.0, 13.0, 20.0] {
        for turn in [0.0, 0.35, -0.35, 0.7, -0.7, 1.2, -1.2, 1.8, -1.8, 2.5, -2.5] {
            let (sin, cos) = (first + turn).sin_cos();
            let left = at.0 + cos * (gap + 0.5 * width) - 0.5 * width;
            let top = at.1 + sin * (gap + 0.5 * height) - 0.5 * height;
            places.push(Area { left, top, width, height });
        }
    }
    places
}
