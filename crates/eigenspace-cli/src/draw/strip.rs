//! A table of images: rows such as original, reconstruction and residual, columns such as `k = 5,
//! 10, 20`.

use super::Drawing;
use super::axes::{EDGE, title};
use super::font;
use super::gallery::{GAP, least_width, put};
use super::scene::{Anchor, Area, FADED, Scene, Shape, Text};
use super::tile::{ImageSize, Range, bitmap, bounds};
use super::typeface::Weight;

const HEADING: f64 = 13.0;
const BAR: f64 = 120.0;
const STEPS: usize = 120;

/// The images of one row. A row shorter than the others leaves its last columns empty.
#[derive(Debug, Clone)]
pub(crate) struct StripRow {
    pub(crate) heading: String,
    pub(crate) tiles: Vec<Vec<f64>>,
    /// A signed range without a bound uses the largest magnitude in the whole row, so that
    /// residuals that shrink from column to column look smaller.
    pub(crate) range: Range,
}

/// Rows of images under common column headings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strip<'a> {
    pub(crate) title: &'a str,
    pub(crate) columns: &'a [String],
    pub(crate) rows: &'a [StripRow],
    pub(crate) size: ImageSize,
}

/// Draws the table, and a color scale for the first signed row.
pub(crate) fn strip(s: &Strip<'_>) -> Drawing {
    let (width, height) = s.size.shown();
    let cell = (width.max(52.0) + GAP, height + GAP);
    let columns = s.rows.iter().map(|row| row.tiles.len()).max().unwrap_or(0).max(s.columns.len());
    let left = EDGE + s.rows.iter().map(|row| heading_width(&row.heading)).fold(0.0, f64::max) + 12.0;
    let top = if s.title.is_empty() { EDGE } else { 52.0 } + 22.0;
    let signed = s.rows.iter().find_map(|row| match common(row) {
        Range::Signed(Some(size)) if s.size.channels != 3 => Some(size),
        _ => None,
    });
    let foot = if signed.is_some() { 48.0 } else { EDGE - GAP };
    let wanted = left + columns as f64 * cell.0 - GAP + EDGE;
    let wide = wanted.max(least_width(s.title)).max(left + BAR + EDGE).ceil();
    let what = format!("{}: {} rows and {columns} columns of images", s.title, s.rows.len());
    let mut scene = Scene::new(wide, (top + s.rows.len() as f64 * cell.1 + foot).ceil(), what);
    title(&mut scene, s.title);
    for (i, heading) in s.columns.iter().enumerate() {
        let text = font::shorten(heading, HEADING, Weight::Regular, cell.0 - 4.0);
        let middle = left + i as f64 * cell.0 + 0.5 * (cell.0 - GAP);
        scene.text(Text::new(middle, top - 9.0, HEADING, Anchor::Middle, text));
    }
    for (i, row) in s.rows.iter().enumerate() {
        let y = top + i as f64 * cell.1;
        let text = font::shorten(&row.heading, HEADING, Weight::Regular, 150.0);
        scene.text(Text::new(left - 12.0, y + 0.5 * height + 4.5, HEADING, Anchor::End, text));
        for (j, pixels) in row.tiles.iter().enumerate() {
            let x = left + j as f64 * cell.0 + 0.5 * (cell.0 - GAP - width);
            put(&mut scene, (x, y), pixels, s.size, common(row));
        }
    }
    if let Some(size) = signed {
        color_scale(&mut scene, left, top + s.rows.len() as f64 * cell.1 + 2.0, size);
    }
    Drawing::new(scene)
}

fn heading_width(heading: &str) -> f64 {
    let text = font::shorten(heading, HEADING, Weight::Regular, 150.0);
    font::width(&text, HEADING, Weight::Regular)
}

/// The range of a row, with a common bound for all its images.
fn common(row: &StripRow) -> Range {
    match row.range {
        Range::Signed(None) => {
            let size = row.tiles.iter().flatten().copied().filter(|v| v.is_finite()).map(f64::abs).fold(0.0, f64::max);
            Range::Signed(Some(bounds(&[], Range::Signed(Some(size))).1))
        }
        range => range,
    }
}

/// The color scale of signed images: a bar with labels at both ends and at zero.
fn color_scale(scene: &mut Scene, left: f64, top: f64, size: f64) {
    let values: Vec<f64> = (0..=STEPS).map(|i| 2.0 * i as f64 / STEPS as f64 - 1.0).collect();
    let form = ImageSize { width: values.len(), height: 1, channels: 1 };
    let area = Area { left: left.round(), top: top.round(), width: BAR, height: 10.0 };
    scene.add(Shape::Image { area, bitmap: bitmap(&values, form, Range::Signed(Some(1.0))) });
    let written = match size {
        100.0..10_000.0 => format!("{size:.0}"),
        0.01..100.0 => format!("{size:.2}"),
        _ => format!("{size:.1e}"),
    };
    let texts = [
        (0.0, Anchor::Start, format!("−{written}")),
        (0.5, Anchor::Middle, "0".to_owned()),
        (1.0, Anchor::End, format!("+{written}")),
    ];
    for (share, anchor, text) in texts {
        scene.text(Text::new(left + share * BAR, top + 24.0, 11.0, anchor, text).fill(FADED));
    }
}
