//! The list of shapes of a plot, in the order they are painted.
//!
//! Coordinates are units of the plot, x to the right and y downward. A shape with a coordinate that
//! is not finite is dropped when it is added, so that the writers need not handle one.

pub(super) use super::area::{Area, Point};
use super::color::Rgb;
use super::font;
use super::typeface::Weight;

/// Ordinary text.
pub(super) const INK: Rgb = Rgb(0x33, 0x33, 0x33);
/// Secondary text: tick values, notes.
pub(super) const FADED: Rgb = Rgb(0x66, 0x66, 0x66);
/// Lines of the grid.
pub(super) const GRID: Rgb = Rgb(0xe8, 0xe8, 0xe8);
/// Axis lines and dashed references.
pub(super) const RULE: Rgb = Rgb(0x9a, 0x9a, 0x9a);
pub(super) const WHITE: Rgb = Rgb(0xff, 0xff, 0xff);

/// The size of the footnotes below a plot, and the margin beside them.
const FOOTNOTE: f64 = 11.0;
const MARGIN: f64 = 20.0;

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Disc,
    Triangle,
    Square,
}

/// The alignment of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of text; `y` is its baseline.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) weight: Weight,
    pub(super) fill: Rgb,
    /// Degrees, clockwise; -90 reads upward.
    pub(super) turn: f64,
    /// A white rim, for text on top of data.
    pub(super) halo: bool,
    pub(super) content: String,
    pub(super) class: &'static str,
}

impl Text {
    pub(super) fn new(x: f64, y: f64, size: f64, anchor: Anchor, content: impl Into<String>) -> Self {
        let content = content.into();
        Self { x, y, size, anchor, weight: Weight::Regular, fill: INK, turn: 0.0, halo: false, content, class: "" }
    }

    pub(super) fn fill(mut self, fill: Rgb) -> Self {
        self.fill = fill;
        self
    }

    pub(super) fn bold(mut self) -> Self {
        self.weight = Weight::Bold;
        self
    }

    pub(super) fn turn(mut self, degrees: f64) -> Self {
        self.turn = degrees;
        self
    }

    pub(super) fn class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }

    pub(super) fn halo(mut self) -> Self {
        self.halo = true;
        self
    }
}

/// Points with the same color and shape.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    pub(super) at: Vec<Point>,
    pub(super) marker: Marker,
    pub(super) radius: f64,
    pub(super) fill: Rgb,
    pub(super) opacity: f64,
    /// Color and width of an outline.
    pub(super) edge: Option<(Rgb, f64)>,
}

/// The dashes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dash {
    Solid,
    Dashed,
}

/// Eight-bit pixels by rows: one value per pixel for gray, three for color.
#[derive(Debug, Clone)]
pub(super) struct Bitmap {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) gray: bool,
    pub(super) bytes: Vec<u8>,
}

/// Anything that can be painted. `class` names the role of a shape in the SVG.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Rect { area: Area, fill: Rgb, class: &'static str },
    Line { points: Vec<Point>, stroke: Rgb, width: f64, dash: Dash, class: &'static str },
    Polygon { points: Vec<Point>, fill: Rgb, class: &'static str },
    Ring { center: Point, radius: f64, stroke: Rgb, width: f64 },
    Marks(Marks),
    Text(Text),
    Image { area: Area, bitmap: Bitmap },
}

impl Shape {
    fn finite(&self) -> bool {
        let points = |points: &[Point]| points.iter().all(|p| p.0.is_finite() && p.1.is_finite());
        let area = |a: &Area| [a.left, a.top, a.width, a.height].iter().all(|v| v.is_finite());
        match self {
            Self::Rect { area: a, .. } | Self::Image { area: a, .. } => area(a),
            Self::Line { points: p, .. } | Self::Polygon { points: p, .. } => points(p),
            Self::Ring { center, radius, .. } => points(&[*center]) && radius.is_finite(),
            Self::Marks(marks) => points(&marks.at) && marks.radius.is_finite(),
            Self::Text(text) => [text.x, text.y, text.turn].iter().all(|v| v.is_finite()),
        }
    }
}

/// The shapes of one plot.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    /// A description of the plot for screen readers.
    pub(super) description: String,
    pub(super) shapes: Vec<Shape>,
    /// Notes below the plot.
    footnotes: Vec<String>,
}

impl Scene {
    pub(super) fn new(width: f64, height: f64, description: impl Into<String>) -> Self {
        Self { width, height, description: description.into(), shapes: Vec::new(), footnotes: Vec::new() }
    }

    pub(super) fn add(&mut self, shape: Shape) {
        if shape.finite() {
            self.shapes.push(shape);
        }
    }

    pub(super) fn text(&mut self, text: Text) {
        if !text.content.is_empty() {
            self.add(Shape::Text(text));
        }
    }

    /// Adds a footnote below the plot, unless it is already there.
    pub(super) fn footnote(&mut self, remark: &str) {
        if !remark.is_empty() && !self.footnotes.iter().any(|footnote| footnote == remark) {
            self.footnotes.push(remark.to_owned());
        }
    }

    /// Extends the plot at the bottom and writes the footnotes there, one per line.
    pub(super) fn write_footnotes(&mut self) {
        for footnote in std::mem::take(&mut self.footnotes) {
            let text = font::shorten(&footnote, FOOTNOTE, Weight::Regular, self.width - 2.0 * MARGIN);
            let (x, y) = (self.width - MARGIN, self.height);
            self.text(Text::new(x, y, FOOTNOTE, Anchor::End, text).fill(FADED).class("note"));
            self.height += FOOTNOTE + 5.0;
        }
    }

    pub(super) fn line(&mut self, points: Vec<Point>, stroke: Rgb, width: f64, dash: Dash) {
        self.add(Shape::Line { points, stroke, width, dash, class: "" });
    }

    /// A straight arrow with a filled head; a very short arrow is only a line.
    pub(super) fn arrow(&mut self, from: Point, to: Point, stroke: Rgb) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        let head = 9.0_f64.min(0.5 * length);
        if head < 0.5 {
            return;
        }
        let (ux, uy) = (dx / length, dy / length);
        let base = (to.0 - head * ux, to.1 - head * uy);
        let half = 0.38 * head;
        self.add(Shape::Line { points: vec![from, base], stroke, width: 1.6, dash: Dash::Solid, class: "arrow" });
        let points = vec![to, (base.0 - half * uy, base.1 + half * ux), (base.0 + half * uy, base.1 - half * ux)];
        self.add(Shape::Polygon { points, fill: stroke, class: "head" });
    }
}
