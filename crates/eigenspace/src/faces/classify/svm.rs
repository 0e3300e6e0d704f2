//! Support vector machines, one for every pair of people.
//!
//! ```text
//! score_p = (number of q with f_pq(x) > 0) + t / (3 (|t| + 1)),     t = Σ_q f_pq(x)
//! ```
//!
//! The score counts the pairs that a person wins; the sum of the margins only decides ties.
//! Features are divided by their root mean square, one number for all, so that C and γ have the
//! same effect for pixels of 0 … 255 and of 0 … 1.

use ndarray::{Array2, ArrayView1, Axis};

use crate::faces::classify::{Gallery, Kernel, Machine, machine};

/// The machine for two people: its support vectors and offset.
struct Pair {
    people: (usize, usize),
    support: Vec<(usize, f64)>,
    rho: f64,
}

pub(crate) struct Svm {
    features: Array2<f64>,
    pairs: Vec<Pair>,
    kernel: Kernel,
    unit: f64,
    people: usize,
}

impl Svm {
    pub(crate) fn new(gallery: &Gallery<'_>, kernel: Kernel, c: f64, unit: f64) -> Self {
        let features = gallery.features / unit;
        let mut own = vec![Vec::new(); gallery.people];
        for (i, &person) in gallery.person.iter().enumerate() {
            own[person].push(i);
        }
        let mut pairs = Vec::new();
        for p in 0..gallery.people {
            for q in p + 1..gallery.people {
                let both: Vec<usize> = own[p].iter().chain(&own[q]).copied().collect();
                let y: Vec<f64> = (0..both.len()).map(|i| if i < own[p].len() { 1.0 } else { -1.0 }).collect();
                let rows = features.select(Axis(0), &both);
                let matrix = Array2::from_shape_fn((y.len(), y.len()), |(a, b)| kernel.value(rows.row(a), rows.row(b)));
                let Machine { coefficients, rho } = machine(&matrix, &y, c);
                let support = both.into_iter().zip(coefficients).filter(|(_, b)| *b != 0.0).collect();
                pairs.push(Pair { people: (p, q), support, rho });
            }
        }
        Self { features, pairs, kernel, unit, people: gallery.people }
    }

    pub(crate) fn scores(&self, x: ArrayView1<'_, f64>) -> Vec<f64> {
        let x = &x / self.unit;
        let kernel: Vec<f64> = self.features.rows().into_iter().map(|row| self.kernel.value(row, x.view())).collect();
        let (mut won, mut margin) = (vec![0.0; self.people], vec![0.0; self.people]);
        for Pair { people: (p, q), support, rho } in &self.pairs {
            let value = support.iter().map(|(i, b)| b * kernel[*i]).sum::<f64>() - rho;
            won[if value > 0.0 { *p } else { *q }] += 1.0;
            margin[*p] += value;
            margin[*q] -= value;
        }
        won.iter().zip(&margin).map(|(won, t)| won + t / (3.0 * (t.abs() + 1.0))).collect()
    }
}
