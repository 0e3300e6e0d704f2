//! The legend for colors and lines, in a column beside the data.

use super::color::Rgb;
use super::font;
use super::scene::{Anchor, Area, Dash, INK, Marker, Marks, Scene, Shape, Text};
use super::typeface::Weight;

const SIZE: f64 = 13.0;
const ROOM: f64 = 190.0;
const STEP: f64 = 22.0;
const SAMPLE: f64 = 18.0;
const INDENT: f64 = SAMPLE + 8.0;

/// The sample drawn before a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample {
    Mark(Marker, Rgb),
    Line(Rgb, Dash),
    Block(Rgb),
    /// A point with a dark rim.
    Ringed(Rgb),
}

/// Names with their samples; empty for a plot without a legend.
#[derive(Debug, Clone, Default)]
pub(super) struct Legend {
    entries: Vec<(Sample, String)>,
}

impl Legend {
    pub(super) fn push(&mut self, sample: Sample, name: &str) {
        self.entries.push((sample, font::shorten(name, SIZE, Weight::Regular, ROOM)));
    }

    /// Zero for an empty legend.
    pub(super) fn width(&self) -> f64 {
        let own = |(_, name): &(Sample, String)| INDENT + font::width(name, SIZE, Weight::Regular);
        self.entries.iter().map(own).fold(0.0, f64::max)
    }

    pub(super) fn height(&self) -> f64 {
        STEP * self.entries.len() as f64
    }

    pub(super) fn draw(&self, scene: &mut Scene, left: f64, top: f64) {
        for (i, (sample, name)) in self.entries.iter().enumerate() {
            let middle = top + STEP * (i as f64 + 0.5);
            let center = (left + 0.5 * SAMPLE, middle);
            match *sample {
                Sample::Mark(marker, fill) => {
                    let marks = Marks { at: vec![center], marker, radius: 4.5, fill, opacity: 1.0, edge: None };
                    scene.add(Shape::Marks(marks));
                }
                Sample::Line(stroke, dash) => {
                    scene.line(vec![(left, middle), (left + SAMPLE + 3.0, middle)], stroke, 2.2, dash);
                }
                Sample::Block(fill) => {
                    let area = Area { left: left + 2.0, top: middle - 6.0, width: 14.0, height: 12.0 };
                    scene.add(Shape::Rect { area, fill, class: "" });
                }
                Sample::Ringed(fill) => {
                    let edge = Some((INK, 1.2));
                    let marks = Marks { at: vec![center], marker: Marker::Disc, radius: 4.5, fill, opacity: 1.0, edge };
                    scene.add(Shape::Marks(marks));
                }
            }
            let x = left + INDENT;
            scene.text(Text::new(x, middle + 4.5, SIZE, Anchor::Start, name.as_str()));
        }
    }
}
