//! The averaged perceptron for many people.
//!
//! ```text
//! q = argmax_p w_pᵀx;   if q is not who it shows:   w_who += x,  w_q −= x;       score_p = w̄_pᵀx
//! ```
//!
//! w̄ is the mean of w over all steps (Freund & Schapire, *Large margin classification using the perceptron algorithm*, Machine Learning 37,
//! 1999; Collins, EMNLP 2002), which is steadier than the last w. x has a 1 at its end, for the offset. Each pass takes the
//! pictures in another order, drawn from a seed.

use ndarray::{Array2, ArrayView1, Axis};

use crate::faces::classify::Gallery;
use crate::faces::random::Random;

pub(crate) struct Perceptron {
    /// One row per person, the offset last.
    weights: Array2<f64>,
    unit: f64,
}

impl Perceptron {
    pub(crate) fn new(gallery: &Gallery<'_>, epochs: usize, seed: u64, unit: f64) -> Self {
        let (n, k) = gallery.features.dim();
        let mut rows = Array2::ones((n, k + 1));
        rows.slice_axis_mut(Axis(1), ndarray::Slice::from(..k)).assign(&(gallery.features / unit));
        let mut weights = Array2::<f64>::zeros((gallery.people, k + 1));
        // Σ over updates of (steps before it) times the update: w̄ = w − that / steps.
        let mut early = weights.clone();
        let mut random = Random::new(seed);
        let mut order: Vec<usize> = (0..n).collect();
        let mut step = 0.0;
        for _ in 0..epochs {
            random.shuffle(&mut order);
            for &i in &order {
                let (x, who) = (rows.row(i), gallery.person[i]);
                let found = first_largest(weights.dot(&x).iter());
                if found != who {
                    for (person, sign) in [(who, 1.0), (found, -1.0)] {
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

fn first_largest<'a>(values: impl Iterator<Item = &'a f64>) -> usize {
    let larger = |best: (usize, f64), (i, &value): (usize, &f64)| if value > best.1 { (i, value) } else { best };
    values.enumerate().fold((0, f64::NEG_INFINITY), larger).0
}
