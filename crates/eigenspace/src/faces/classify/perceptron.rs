//! The averaged multi-class perceptron with a margin.
//!
//! ```text
//! q = argmax_{p ≠ who} w_pᵀx;   if w_whoᵀx − w_qᵀx ≤ m:   w_who += x,  w_q −= x;       score_p = w̄_pᵀx
//! ```
//!
//! Without the margin m, training would stop as soon as the images are separated, however narrowly.
//! With it, training continues until they are separated well (Krauth & Mézard, *Learning algorithms
//! with optimal stability in neural networks*, J. Phys. A 20, 1987). m is a multiple of the mean
//! ‖x‖². w̄ is the mean of w over all steps (Freund & Schapire, *Large margin classification using
//! the perceptron algorithm*, Machine Learning 37, 1999; Collins, EMNLP 2002), which is more stable
//! than the last w. x ends with a 1, for the offset. Each pass takes the images in another random
//! order.

use ndarray::{Array2, ArrayView1, Axis};

use crate::faces::classify::Gallery;
use crate::linalg::random::Random;

pub(crate) struct Perceptron {
    /// One row per person, the offset last.
    weights: Array2<f64>,
    unit: f64,
}

impl Perceptron {
    pub(crate) fn new(gallery: &Gallery<'_>, epochs: usize, margin: f64, seed: u64, unit: f64) -> Self {
        let (n, k) = gallery.features.dim();
        let mut rows = Array2::ones((n, k + 1));
        rows.slice_axis_mut(Axis(1), ndarray::Slice::from(..k)).assign(&(gallery.features / unit));
        let mut weights = Array2::<f64>::zeros((gallery.people, k + 1));
        // The sum over updates of the number of steps before the update times the update: w̄ = w −
        // early / steps.
        let mut early = weights.clone();
        let margin = margin * rows.iter().map(|x| x * x).sum::<f64>() / (n as f64).max(1.0);
        let mut random = Random::new(seed);
        let mut order: Vec<usize> = (0..n).collect();
        let mut step = 0.0;
        for _ in 0..epochs {
            random.shuffle(&mut order);
            for &i in &order {
                let (x, who) = (rows.row(i), gallery.person[i]);
                let scores = weights.dot(&x);
                let others = scores.iter().enumerate().filter(|(person, _)| *person != who);
                let Some((rival, score)) = first_largest(others) else { continue };
                if scores[who] - score <= margin {
                    for (person, sign) in [(who, 1.0), (rival, -1.0)] {
                        weights.row_mut(person).scaled_add(sign, &x);
                        early.row_mut(person).scaled_add(sign * step, &x);
                    }
                }
                step += 1.0;
            }
        }
        early /= f64::max(step, 1.0);
        Self { weights: weights - early, unit }
    }

    pub(crate) fn scores(&self, x: ArrayView1<'_, f64>) -> Vec<f64> {
        let k = x.len();
        let score = |row: ArrayView1<'_, f64>| {
            row.iter().zip(x).map(|(w, x)| w * x / self.unit).sum::<f64>() + row.get(k).copied().unwrap_or(0.0)
        };
        self.weights.rows().into_iter().map(score).collect()
    }
}

fn first_largest<'a>(values: impl Iterator<Item = (usize, &'a f64)>) -> Option<(usize, f64)> {
    values.fold(None, |best, (i, &value)| match best {
        Some((_, largest)) if largest >= value => best,
        _ => Some((i, value)),
    })
}
