//! The covered parts of a plot, for finding free positions for names.
//!
//! The plot is divided into cells of one unit. Marks and lines are painted into the cells once.
//! Sums over the cells above and to the left then give the covered part of a rectangle in four
//! additions, for any number of marks.

use super::scene::{Area, Point};

/// The covered cells of an area.
pub(super) struct Occupied {
    bounds: Area,
    columns: usize,
    rows: usize,
    covered: Vec<bool>,
    /// `sums[row][column]`: covered cells above and to the left, one row and one column of zeros
    /// first.
    sums: Option<Vec<u32>>,
}

impl Occupied {
    pub(super) fn new(bounds: Area) -> Self {
        let cells = |length: f64| if length > 0.0 { length.min(4000.0).ceil() as usize } else { 0 };
        let (columns, rows) = (cells(bounds.width), cells(bounds.height));
        Self { bounds, columns, rows, covered: vec![false; columns * rows], sums: None }
    }

    /// Covers a disc.
    pub(super) fn disc(&mut self, center: Point, radius: f64) {
        self.sums = None;
        let (left, right) = self.columns_of(center.0 - radius, center.0 + radius);
        let (top, bottom) = self.rows_of(center.1 - radius, center.1 + radius);
        for row in top..bottom {
            // The point of the cell that is nearest to the center decides.
            let nearest = |low: f64, at: f64| at.clamp(low, low + 1.0) - at;
            let dy = nearest(self.bounds.top + row as f64, center.1);
            for column in left..right {
                let dx = nearest(self.bounds.left + column as f64, center.0);
                if dx.hypot(dy) <= radius {
                    self.covered[row * self.columns + column] = true;
                }
            }
        }
    }

    /// Covers a straight line of the given half width.
    pub(super) fn line(&mut self, from: Point, to: Point, half: f64) {
        let length = (to.0 - from.0).hypot(to.1 - from.1).min(4000.0);
        let steps = length.ceil().max(1.0) as usize;
        for i in 0..=steps {
            let share = i as f64 / steps as f64;
            self.disc((from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1)), half);
        }
    }

    /// Covers a rectangle.
    pub(super) fn area(&mut self, area: &Area) {
        self.sums = None;
        let (left, right) = self.columns_of(area.left, area.right());
        let (top, bottom) = self.rows_of(area.top, area.bottom());
        for row in top..bottom {
            self.covered[row * self.columns + left..row * self.columns + right].fill(true);
        }
    }

    /// The number of covered cells that a rectangle touches.
    pub(super) fn count(&mut self, area: &Area) -> u32 {
        let (left, right) = self.columns_of(area.left, area.right());
        let (top, bottom) = self.rows_of(area.top, area.bottom());
        if left >= right || top >= bottom {
            return 0;
        }
        let (columns, rows, covered) = (self.columns, self.rows, &self.covered);
        let sums = self.sums.get_or_insert_with(|| sums(covered, columns, rows));
        let at = |row: usize, column: usize| sums[row * (columns + 1) + column];
        at(bottom, right) + at(top, left) - at(top, right) - at(bottom, left)
    }

    fn columns_of(&self, from: f64, to: f64) -> (usize, usize) {
        range(from - self.bounds.left, to - self.bounds.left, self.columns)
    }

    fn rows_of(&self, from: f64, to: f64) -> (usize, usize) {
        range(from - self.bounds.top, to - self.bounds.top, self.rows)
    }
}

/// The range of cells between two positions, clipped to the area.
fn range(from: f64, to: f64, count: usize) -> (usize, usize) {
    let end = to.ceil().clamp(0.0, count as f64) as usize;
    (from.floor().clamp(0.0, end as f64) as usize, end)
}

fn sums(covered: &[bool], columns: usize, rows: usize) -> Vec<u32> {
    let mut sums = vec![0; (columns + 1) * (rows + 1)];
    for row in 0..rows {
        let mut along = 0;
        for column in 0..columns {
            along += u32::from(covered[row * columns + column]);
            sums[(row + 1) * (columns + 1) + column + 1] = sums[row * (columns + 1) + column + 1] + along;
        }
    }
    sums
}
