//! Very many points drawn as small cells, darker where there are more points.
//!
//! Every point is counted, unlike with thinning, and a single outlier is still visible as a cell.

use std::collections::BTreeMap;

use super::axes::Frame;
use super::classes::Classes;
use super::color::Rgb;
use super::scene::{Marker, Marks, Point, Scene, Shape, WHITE};

/// The side of a cell.
pub(super) const CELL: f64 = 3.0;
/// Shades of a color; the lightest is one point.
const SHADES: usize = 8;
/// A square marker of radius 1 has sides of 1.8.
const RADIUS: f64 = CELL / 1.8;

/// Draws the points as cells in the color of their most frequent class, with a note about the
/// darkest cell.
pub(super) fn draw(scene: &mut Scene, frame: &Frame, points: &[(f64, f64)], classes: &Classes) {
    let (left, top) = (frame.area.left.floor(), frame.area.top.floor());
    let mut cells: BTreeMap<(i64, i64), BTreeMap<Option<usize>, usize>> = BTreeMap::new();
    for (i, point) in points.iter().enumerate() {
        if let Some((x, y)) = frame.place(point.0, point.1) {
            let cell = (((x - left) / CELL).floor() as i64, ((y - top) / CELL).floor() as i64);
            *cells.entry(cell).or_default().entry(classes.class_of(i)).or_default() += 1;
        }
    }
    let most = cells.values().map(|cell| cell.values().sum::<usize>()).max().unwrap_or(1);
    let mut groups: BTreeMap<(Option<usize>, usize), Vec<Point>> = BTreeMap::new();
    for ((column, row), counts) in &cells {
        let count: usize = counts.values().sum();
        let class = counts.iter().max_by_key(|(_, count)| **count).and_then(|(class, _)| *class);
        let share = if most > 1 { (count as f64).ln() / (most as f64).ln() } else { 0.0 };
        let shade = (share * (SHADES - 1) as f64).round() as usize;
        let middle = (left + CELL * (*column as f64 + 0.5), top + CELL * (*row as f64 + 0.5));
        groups.entry((class, shade)).or_default().push(middle);
    }
    for ((class, shade), at) in groups {
        let fill = shaded(classes.style(class).0, shade as f64 / (SHADES - 1) as f64);
        scene.add(Shape::Marks(Marks { at, marker: Marker::Square, radius: RADIUS, fill, opacity: 1.0, edge: None }));
    }
    let total = super::scale::thousands(points.len());
    scene.footnote(&format!("{total} points in cells: up to {} points in a cell", super::scale::thousands(most)));
}

/// A shade of the color, from pale to dark.
fn shaded(color: Rgb, share: f64) -> Rgb {
    if share < 0.6 { WHITE.mix(color, 0.35 + 0.65 * share / 0.6) } else { color.mix(Rgb(0, 0, 0), share - 0.6) }
}
