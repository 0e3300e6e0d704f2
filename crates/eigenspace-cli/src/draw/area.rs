//! Points and axis-aligned rectangles of a plot.

pub(super) type Point = (f64, f64);

/// An axis-aligned rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right() && other.left < self.right() && self.top < other.bottom() && other.top < self.bottom()
    }

    /// The square around a point.
    pub(super) fn around(center: Point, half: f64) -> Self {
        Self { left: center.0 - half, top: center.1 - half, width: 2.0 * half, height: 2.0 * half }
    }

    /// The rectangle enlarged by this much on every side.
    pub(super) fn grown(&self, by: f64) -> Self {
        let (width, height) = (self.width + 2.0 * by, self.height + 2.0 * by);
        Self { left: self.left - by, top: self.top - by, width, height }
    }

    /// The intersection of two areas.
    pub(super) fn overlap(&self, other: &Area) -> Option<Self> {
        let (left, top) = (self.left.max(other.left), self.top.max(other.top));
        let (right, bottom) = (self.right().min(other.right()), self.bottom().min(other.bottom()));
        (left < right && top < bottom).then_some(Self { left, top, width: right - left, height: bottom - top })
    }

    /// The point of this area that is nearest to another point.
    pub(super) fn nearest(&self, to: Point) -> Point {
        (to.0.max(self.left).min(self.right()), to.1.max(self.top).min(self.bottom()))
    }

    /// Whether the straight line between two points crosses this area.
    pub(super) fn crossed_by(&self, from: Point, to: Point) -> bool {
        // The part of the line, as fractions of its length, between two opposite sides.
        let between = |start: f64, end: f64, low: f64, high: f64| {
            let along = end - start;
            if along == 0.0 {
                return if (low..=high).contains(&start) { (0.0, 1.0) } else { (1.0, 0.0) };
            }
            let (a, b) = ((low - start) / along, (high - start) / along);
            (a.min(b), a.max(b))
        };
        let x = between(from.0, to.0, self.left, self.right());
        let y = between(from.1, to.1, self.top, self.bottom());
        x.0.max(y.0).max(0.0) <= x.1.min(y.1).min(1.0)
    }

    pub(super) fn contains(&self, other: &Area) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && other.right() <= self.right()
            && other.bottom() <= self.bottom()
    }
}
