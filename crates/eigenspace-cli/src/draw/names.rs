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
}

impl Names {
    pub(super) fn new(bounds: Area) -> Self {
        Self { bounds, taken: Vec::new() }
    }

    /// Keeps names away from a place.
    pub(super) fn keep_clear(&mut self, centre: Point, radius: f64) {
        let side = 2.0 * radius;
        self.taken.push(Area { left: centre.0 - radius, top: centre.1 - radius, width: side, height: side });
    }

    /// Writes a name next to `at`, preferably in the direction given; leaves it out if no place is
    /// free. Returns whether it was written.
    pub(super) fn write(&mut self, scene: &mut Scene, name: &str, at: Point, towards: Point, fill: Rgb) -> bool {
        let name = font::shorten(name, SIZE, Weight::Regular, ROOM);
        let (width, height) = (font::width(&name, SIZE, Weight::Regular), SIZE + 2.0);
        let first = towards.1.atan2(towards.0);
        // The wanted direction, then further and further to both sides of it, then further out.
        for gap in [7.0, 13.0, 20.0, 28.0] {
            for turn in [0.0, 0.35, -0.35, 0.7, -0.7, 1.2, -1.2, 1.8, -1.8, 2.5, -2.5, 3.1] {
                let (sin, cos) = (first + turn).sin_cos();
                // The box touches the point from outside in that direction.
                let middle = (at.0 + cos * (gap + 0.5 * width), at.1 + sin * (gap + 0.5 * height));
                let place = Area { left: middle.0 - 0.5 * width, top: middle.1 - 0.5 * height, width, height };
                if self.bounds.contains(&place) && !self.taken.iter().any(|other| other.overlaps(&place)) {
                    self.taken.push(place);
                    let text = Text::new(middle.0, middle.1 + 0.36 * SIZE, SIZE, Anchor::Middle, name);
                    scene.text(text.fill(fill).halo());
                    return true;
                }
            }
        }
        false
    }
}
