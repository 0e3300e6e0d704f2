//! Bounds for rows that are merged, removed or absorbed: those of both, and of their means.

use ndarray::Array1;

use super::{Bound, KNOWN_MEAN_TOLERANCE, Rounding, UNIT, varying};
use crate::model::moments::{Absorbed, Moments};

impl Bound {
    /// The bound for two sets of rows together, whose means differ by the row c; q is their
    /// scatter.
    pub(crate) fn combined(&self, other: &Self, weights: (f64, f64), q: &Array1<f64>, c: &Array1<f64>) -> Self {
        let total = weights.0 + weights.1;
        let (one, two) = ((weights.0 / total).sqrt(), (weights.1 / total).sqrt());
        // The step between the means, the share of it that the mean moves, and their product round.
        let rounded = c.mapv(|c| 4.0 * UNIT * c.abs());
        let off = &self.mean_noise * two + &other.mean_noise * one + &rounded;
        let combined = Self {
            lost: &self.lost + &other.lost,
            surplus: &self.surplus + &other.surplus,
            noise: self.noise + other.noise,
            feature_noise: &self.feature_noise + &other.feature_noise,
            mean_noise: &self.mean_noise * one + &other.mean_noise * two + &rounded,
            scatter_noise: &self.scatter_noise + &other.scatter_noise + &(q * (4.0 * UNIT)),
            failure_probability: (self.failure_probability + other.failure_probability).min(1.0),
        };
        combined.shifted(c, &off, q)
    }

    /// The bound for the rows that remain without those of a part, if the means of all and of the
    /// part differ by the row c; q is the scatter of all. `weights`: those of the part, of the rows
    /// that remain, and of all.
    pub(crate) fn without(&self, part: &Self, weights: (f64, f64, f64), q: &Array1<f64>, c: &Array1<f64>) -> Self {
        let (leaving, left, whole) = weights;
        // c = √(w₂ w₃ / w₁) (μ₃ − μ₂), and μ₁ = μ₃ + (w₂ / w₁) (μ₃ − μ₂).
        let (one, two) = ((leaving / left).sqrt(), (whole / left).sqrt());
        let rounded = c.mapv(|c| 8.0 * UNIT * c.abs());
        let off = &self.mean_noise * one + &part.mean_noise * two + &rounded;
        let bound = Self {
            lost: &self.lost + &part.surplus,
            surplus: &self.surplus + &part.lost,
            noise: self.noise + part.noise,
            feature_noise: &self.feature_noise + &part.feature_noise,
            // √w₁ δμ₁ = √w₁ (w₃ δμ₃ + w₂ δμ₂) / w₁
            mean_noise: &self.mean_noise * two + &part.mean_noise * one + rounded,
            scatter_noise: &self.scatter_noise + &part.scatter_noise + q.mapv(|q| 8.0 * UNIT * q),
            failure_probability: (self.failure_probability + part.failure_probability).min(1.0),
        };
        // The three scatters that are subtracted are also sums for each feature.
        bound.shifted(c, &off, q).summed(8.0 * UNIT, q).summed_by_feature()
    }

    /// Adds an error `off` of the row c of a difference of means.
    pub(crate) fn shifted(mut self, c: &Array1<f64>, off: &Array1<f64>, q: &Array1<f64>) -> Self {
        let length = |x: &Array1<f64>| x.dot(x).sqrt();
        let (c_length, off_length) = (length(c), length(off));
        self.noise += off_length * (2.0 * c_length + off_length);
        // 2 (c·x)(δ·x) ≤ θ (c·x)² + (δ·x)² / θ, so that a feature whose mean is hardly known does
        // not affect others.
        let share = |off: &f64, q: &f64| if *q > 0.0 { off / q.sqrt() } else { 0.0 };
        let shares = off.iter().zip(q).map(|(off, q)| share(off, q));
        let theta = shares.filter(|share| *share <= KNOWN_MEAN_TOLERANCE).fold(64.0 * UNIT, f64::max);
        let features = varying(q);
        for ((own, c), off) in self.scatter_noise.iter_mut().zip(c).zip(off) {
            *own += off * (2.0 * c.abs() + off);
        }
        for ((own, c), (off, q)) in self.feature_noise.iter_mut().zip(c).zip(off.iter().zip(q)) {
            if *q > 0.0 || *off > 0.0 {
                *own += features.max(1.0) * (theta * c * c + off / theta * off + off * off);
            }
        }
        self
    }

    /// The bound for the rows before a block together with the block.
    pub(crate) fn absorbed(&self, before: &Moments, block: &Absorbed) -> Self {
        let (after, step, c, roundings) = (block.moments(), block.step(), block.c(), block.roundings());
        let added = after.weight().minus(before.weight()).value();
        if added <= 0.0 {
            return self.clone();
        }
        let mut own = Self::exact(after.features());
        // The squared differences are rounded twice and summed like the mean.
        own.scatter_noise = (after.scatter() - before.scatter()).mapv(|q| (roundings + 8.0) * UNIT * q.abs());
        let squares = (after.scatter() - before.scatter()).mapv(|q| q.max(0.0));
        own.underflowed(&squares, step, added);
        if !after.is_about_origin() {
            // The squares of differences from the point that the block was summed around.
            let spread = &squares + &(step * step * added);
            own.mean_noise = spread.mapv(|spread| roundings * UNIT * spread.sqrt());
        }
        // t lies between the two means; its error is relative to its distance from the old mean.
        let off = step.mapv(|step| 4.0 * UNIT * added.sqrt() * step.abs());
        let combined =
            self.combined(&own, (before.weight().value(), added), after.scatter(), c).shifted(c, &off, after.scatter());
        // x − t is rounded twice, and multiplied by the root of a weight.
        let rounding = Rounding::of_columns(4.0 * UNIT, usize::MAX);
        combined.rounded(rounding, &squares, squares.sum())
    }
}
