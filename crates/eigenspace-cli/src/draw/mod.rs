//! Plots, galleries of images, and the page that shows them.
//!
//! Every function here is pure: it takes numbers and names and returns a [`Drawing`], and the same
//! input gives the same bytes. This module does not depend on models or files.
//!
//! A plot is first laid out as a [`scene::Scene`], a list of plain shapes in a fixed order. The
//! scene is then written as SVG text ([`svg`]) or as pixels ([`raster`]). Pixels use a built-in
//! typeface, so text is readable on a machine without fonts; only scripts other than Latin, Greek
//! and Cyrillic need system fonts ([`fallback`]). No charting crate is used: the one considered has
//! no image tiles, no correlation circle and no control over the position of names, which are half
//! of what is drawn here.
//!
//! Values that are not finite are left out of a plot; unusual input does not cause errors.

mod area;
mod axes;
mod biplot;
mod circle;
mod classes;
mod color;
mod density;
mod fallback;
mod font;
mod gallery;
mod legend;
mod lines;
mod monitor;
mod names;
mod occupied;
mod page;
mod raster;
mod scale;
mod scatter;
mod scatter3;
mod scene;
mod scree;
mod shaping;
mod strip;
mod svg;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod tile;
mod typeface;

pub(crate) use biplot::{Biplot, biplot};
pub(crate) use circle::{Circle, circle};
pub(crate) use gallery::{Gallery, gallery};
pub(crate) use lines::{Lines, Series, lines};
pub(crate) use monitor::{Monitor, monitor};
pub(crate) use page::Page;
pub(crate) use scatter::{Scatter, scatter};
pub(crate) use scatter3::{Scatter3, scatter3};
pub(crate) use scree::{Scree, scree};
pub(crate) use strip::{Strip, StripRow, strip};
#[cfg(feature = "explore")]
pub(crate) use tile::image_png;
pub(crate) use tile::{ImageSize, Range, Tile};

use std::collections::BTreeSet;

use scene::{Scene, Shape};

/// A finished plot: its SVG text, and the scene for rendering pixels.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    scene: Scene,
    svg: String,
}

impl Drawing {
    fn new(mut scene: Scene) -> Self {
        scene.write_footnotes();
        let svg = svg::write(&scene);
        Self { scene, svg }
    }

    /// The plot as one self-contained SVG element.
    pub(crate) fn svg(&self) -> &str {
        &self.svg
    }

    /// Width and height in the units of the SVG.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (f64, f64) {
        (self.scene.width, self.scene.height)
    }

    /// The plot as a PNG file, with two pixels per unit so that it is sharp in print.
    pub(crate) fn png(&self) -> anyhow::Result<Vec<u8>> {
        raster::png(&self.scene)
    }
}

impl Drawing {
    /// The characters that no installed font has, and fonts that have them. A PNG shows such
    /// characters as boxes with their code points.
    pub(crate) fn missing_characters(&self) -> Option<(Vec<char>, String)> {
        let text = |shape: &Shape| match shape {
            Shape::Text(text) => font::missing(&text.content, text.weight),
            _ => Vec::new(),
        };
        let characters: BTreeSet<char> = self.scene.shapes.iter().flat_map(text).collect();
        let characters: Vec<char> = characters.into_iter().collect();
        (!characters.is_empty()).then(|| (characters.clone(), fallback::advice(&characters)))
    }
}

/// The title of a component's axis, counted from one: `PC 1 (23.4 %)`.
pub(crate) fn component_title(number: usize, share: Option<f64>) -> String {
    match share.filter(|share| share.is_finite()) {
        Some(share) => format!("PC {number} ({:.1} %)", 100.0 * share),
        None => format!("PC {number}"),
    }
}

/// Whether this number can be placed on an axis. The bound keeps differences of two numbers finite.
fn drawable(value: f64) -> bool {
    value.abs() < 1e300
}
