//! A grid of images with captions.

use super::Drawing;
use super::axes::{EDGE, title};
use super::font;
use super::scene::{Anchor, Area, FADED, Point, Scene, Shape, Text};
use super::tile::{ImageSize, Range, Tile, bitmap};
use super::typeface::Weight;

const CAPTION: f64 = 12.0;
pub(super) const GAP: f64 = 10.0;

/// Images of one size, row by row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gallery<'a> {
    pub(crate) title: &'a str,
    pub(crate) tiles: &'a [Tile],
    pub(crate) size: ImageSize,
    pub(crate) columns: usize,
    pub(crate) range: Range,
}

/// Draws the images in the given number of columns, but no more columns than images.
pub(crate) fn gallery(g: &Gallery<'_>) -> Drawing {
    let columns = g.columns.min(g.tiles.len()).max(1);
    let rows = g.tiles.len().div_ceil(columns);
    let (width, height) = g.size.shown();
    let captions = g.tiles.iter().any(|tile| !tile.caption.is_empty());
    let cell = (width.max(40.0) + GAP, height + if captions { CAPTION + 2.0 * GAP } else { GAP });
    let top = if g.title.is_empty() { EDGE } else { 52.0 };
    let wanted = columns as f64 * cell.0 - GAP + 2.0 * EDGE;
    let total = (wanted.max(least_width(g.title)), top + rows as f64 * cell.1 + EDGE - GAP);
    let mut scene =
        Scene::new(total.0.ceil(), total.1.ceil().max(80.0), format!("{}: {} images", g.title, g.tiles.len()));
    title(&mut scene, g.title);
    for (i, tile) in g.tiles.iter().enumerate() {
        let left = EDGE + (i % columns) as f64 * cell.0;
        let corner = (left + 0.5 * (cell.0 - GAP - width), top + (i / columns) as f64 * cell.1);
        put(&mut scene, corner, &tile.pixels, g.size, g.range);
        let caption = font::shorten(&tile.caption, CAPTION, Weight::Regular, cell.0 - 4.0);
        let below = corner.1 + height + CAPTION + 2.0;
        scene.text(Text::new(left + 0.5 * (cell.0 - GAP), below, CAPTION, Anchor::Middle, caption).fill(FADED));
    }
    Drawing::new(scene)
}

/// One image with its upper left corner at the given position.
pub(super) fn put(scene: &mut Scene, corner: Point, pixels: &[f64], size: ImageSize, range: Range) {
    if size.width == 0 || size.height == 0 {
        return;
    }
    let (width, height) = size.shown();
    // On whole units, so that the pixels of the image align with those of the PNG.
    let area = Area { left: corner.0.round(), top: corner.1.round(), width, height };
    scene.add(Shape::Image { area, bitmap: bitmap(pixels, size, range) });
}

/// The width that a title needs, up to a limit.
pub(super) fn least_width(title: &str) -> f64 {
    let title = font::shorten(title, super::axes::TITLE, Weight::Bold, 560.0);
    (font::width(&title, super::axes::TITLE, Weight::Bold) + 2.0 * EDGE + 2.0).max(160.0)
}
