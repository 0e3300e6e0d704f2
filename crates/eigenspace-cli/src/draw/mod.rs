//! Pictures from numbers: charts, galleries of images, and the page that holds them.
//!
//! Every function here is pure: numbers and names go in, a [`Drawing`] comes out, and the same
//! numbers give the same bytes. Nothing in this module knows a model or a file.
//!
//! A chart is first laid out as a [`scene::Scene`], a short list of plain shapes in a fixed order.
//! The scene is then written twice: as SVG text ([`svg`]), and as pixels ([`raster`]) with a typeface
//! that is part of the program, so a machine without fonts still gets readable text; only other
//! scripts than Latin, Greek and Cyrillic need fonts of the machine ([`fallback`]). A charting crate
//! was looked at and left out: it has no tiles of images, no correlation circle and no control over
//! where a name goes, and these are half of what is drawn here.
//!
//! Values that are not finite are left out of a chart; nothing here fails on strange input.

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
pub(crate) use tile::{PictureSize, Range, Tile};

use std::collections::BTreeSet;

use scene::{Scene, Shape};

/// A finished picture: its SVG text, and what is needed to make pixels of it.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    scene: Scene,
    svg: String,
}

impl Drawing {
    fn new(mut scene: Scene) -> Self {
        scene.write_notes();
        let svg = svg::write(&scene);
        Self { scene, svg }
    }

    /// The picture as one self-contained SVG element.
    pub(crate) fn svg(&self) -> &str {
        &self.svg
    }

    /// Width and height in the units of the SVG.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (f64, f64) {
        (self.scene.width, self.scene.height)
    }

    /// The picture as a PNG file, two pixels per unit so that it is sharp on paper.
    pub(crate) fn png(&self) -> anyhow::Result<Vec<u8>> {
        raster::png(&self.scene)
    }
}

impl Drawing {
    /// The characters that no font on this machine has, and fonts that have them. A PNG shows them as
    /// boxes with their code points.
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

/// Can this number be placed on an axis? The bound keeps differences of two numbers finite.
fn drawable(value: f64) -> bool {
    value.abs() < 1e300
}
