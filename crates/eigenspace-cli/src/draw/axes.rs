//! The frame of a plot: title, grid, tick labels, and titles of the axes.

use super::color::Rgb;
use super::font;
use super::legend::Legend;
use super::scale::{Format, Scale, Tick};
use super::scene::{Anchor, Area, Dash, FADED, GRID, Point, RULE, Scene, Text};
use super::typeface::Weight;

pub(super) const WIDTH: f64 = 800.0;
pub(super) const HEIGHT: f64 = 600.0;
pub(super) const TITLE: f64 = 17.0;
const AXIS_TITLE: f64 = 14.0;
pub(super) const TICK: f64 = 12.5;
pub(super) const EDGE: f64 = 20.0;
/// Smallest width and height of a plot with equal units, so that it has room for names.
const LEAST_WIDTH: f64 = 420.0;
const LEAST_HEIGHT: f64 = 280.0;

/// The input for drawing a frame.
pub(super) struct Axes<'a> {
    pub(super) title: &'a str,
    pub(super) x_title: &'a str,
    pub(super) y_title: &'a str,
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Whether one unit has the same length on both axes.
    pub(super) equal: bool,
    pub(super) legend: Legend,
}

/// A drawn frame, which maps pairs of numbers to positions.
pub(super) struct Frame {
    pub(super) area: Area,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

/// The title of a plot, in the upper left corner.
pub(super) fn title(scene: &mut Scene, title: &str) {
    let title = font::shorten(title, TITLE, Weight::Bold, scene.width - 2.0 * EDGE);
    scene.text(Text::new(EDGE, 32.0, TITLE, Anchor::Start, title).bold());
}

impl Frame {
    /// Draws everything around the data, with the legend to the right.
    pub(super) fn draw(scene: &mut Scene, axes: &Axes<'_>) -> Self {
        let top = if axes.title.is_empty() { EDGE } else { 52.0 };
        let bottom = scene.height - if axes.x_title.is_empty() { 40.0 } else { 62.0 };
        let legend = axes.legend.width();
        let mut right = scene.width - if legend > 0.0 { legend + 2.0 * EDGE } else { EDGE + 4.0 };
        let widest = axes.y.ticks(6).iter().map(|t| font::width(&t.text, TICK, Weight::Regular)).fold(0.0, f64::max);
        let left = EDGE + widest + 10.0 + if axes.y_title.is_empty() { 0.0 } else { 24.0 };
        let area = Area { left, top, width: right - left, height: bottom - top };
        let mut frame = Self { area, x: axes.x, y: axes.y };
        if axes.equal {
            frame.fit(LEAST_WIDTH, axes.legend.height().max(LEAST_HEIGHT));
            scene.width -= area.width - frame.area.width;
            scene.height -= area.height - frame.area.height;
            right = frame.area.right();
            frame.equalize();
        }
        title(scene, axes.title);
        frame.grid(scene);
        frame.titles(scene, axes.x_title, axes.y_title);
        axes.legend.draw(scene, right + EDGE, top + 4.0);
        frame
    }

    /// Shrinks the area if equal units would leave a part of it empty.
    fn fit(&mut self, least_width: f64, least_height: f64) {
        let (across, up) = (self.x.high - self.x.low, self.y.high - self.y.low);
        let wanted = (self.area.height * across / up, self.area.width * up / across);
        // By whole units, so that the image has whole pixels.
        let shorter = |length: f64, wanted: f64, least: f64| length - (length - wanted.max(least)).max(0.0).floor();
        self.area.width = shorter(self.area.width, wanted.0, least_width);
        self.area.height = shorter(self.area.height, wanted.1, least_height);
    }

    /// Widens one of the two ranges until a unit has the same length on both axes.
    fn equalize(&mut self) {
        let per_x = (self.x.high - self.x.low) / self.area.width;
        let per_y = (self.y.high - self.y.low) / self.area.height;
        let per = per_x.max(per_y);
        for (scale, length) in [(&mut self.x, self.area.width), (&mut self.y, self.area.height)] {
            let middle = 0.5 * scale.low + 0.5 * scale.high;
            (scale.low, scale.high) = (middle - 0.5 * per * length, middle + 0.5 * per * length);
        }
    }

    pub(super) fn at_x(&self, value: f64) -> f64 {
        self.area.left + self.area.width * self.x.share(value)
    }

    pub(super) fn at_y(&self, value: f64) -> f64 {
        self.area.bottom() - self.area.height * self.y.share(value)
    }

    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        (self.at_x(x), self.at_y(y))
    }

    /// The position of a pair, or `None` if it cannot be drawn.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<Point> {
        (self.x.shows(x) && self.y.shows(y)).then(|| self.at(x, y))
    }

    /// A line across the whole area at one value of an axis.
    pub(super) fn across(&self, scene: &mut Scene, value: f64, vertical: bool, stroke: Rgb, dash: Dash) {
        let points = if vertical {
            let x = self.at_x(value);
            vec![(x, self.area.top), (x, self.area.bottom())]
        } else {
            let y = self.at_y(value);
            vec![(self.area.left, y), (self.area.right(), y)]
        };
        scene.line(points, stroke, if dash == Dash::Solid { 1.0 } else { 1.3 }, dash);
    }

    /// Writes that there is nothing to draw, because an empty frame would look like an error.
    pub(super) fn empty(&self, scene: &mut Scene) {
        let middle = (self.area.left + 0.5 * self.area.width, self.area.top + 0.5 * self.area.height);
        scene.text(Text::new(middle.0, middle.1, 14.0, Anchor::Middle, "nothing to draw").fill(FADED).halo());
    }

    fn grid(&self, scene: &mut Scene) {
        let (bottom, left) = (self.area.bottom(), self.area.left);
        for tick in self.apart(self.x.ticks(if self.x.format == Format::Whole { 15 } else { 8 })) {
            self.across(scene, tick.at, true, GRID, Dash::Solid);
            let x = self.at_x(tick.at);
            scene.text(Text::new(x, bottom + 19.0, TICK, Anchor::Middle, tick.text).fill(FADED));
        }
        for tick in self.y.ticks(6) {
            self.across(scene, tick.at, false, GRID, Dash::Solid);
            let y = self.at_y(tick.at);
            scene.text(Text::new(left - 8.0, y + 4.5, TICK, Anchor::End, tick.text).fill(FADED));
        }
        scene.line(vec![(left, self.area.top), (left, bottom), (self.area.right(), bottom)], RULE, 1.0, Dash::Solid);
    }

    /// Leaves out ticks whose labels would touch the previous one.
    fn apart(&self, ticks: Vec<Tick>) -> Vec<Tick> {
        let mut free = f64::NEG_INFINITY;
        let fits = |tick: &Tick| {
            let half = 0.5 * font::width(&tick.text, TICK, Weight::Regular);
            let middle = self.at_x(tick.at);
            let fits = middle - half > free;
            if fits {
                free = middle + half + 8.0;
            }
            fits
        };
        ticks.into_iter().filter(fits).collect()
    }

    fn titles(&self, scene: &mut Scene, x_title: &str, y_title: &str) {
        let x_title = font::shorten(x_title, AXIS_TITLE, Weight::Regular, self.area.width);
        let middle = self.area.left + 0.5 * self.area.width;
        scene.text(Text::new(middle, scene.height - 17.0, AXIS_TITLE, Anchor::Middle, x_title));
        let y_title = font::shorten(y_title, AXIS_TITLE, Weight::Regular, self.area.height);
        let middle = self.area.top + 0.5 * self.area.height;
        scene.text(Text::new(EDGE + 8.0, middle, AXIS_TITLE, Anchor::Middle, y_title).turn(-90.0));
    }
}
