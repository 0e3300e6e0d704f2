//! A vote of the k nearest images.
//!
//! ```text
//! score_p = (number of p's images among the k nearest) + 1 / (1 + d_p)        d_p: distance to p's nearest image
//! ```
//!
//! The second term is at most 1, so it only decides ties, in favor of the nearer person; with k = 1
//! it ranks all others. Images at the same distance are taken in the order of the gallery.

use crate::faces::classify::Gallery;

pub(crate) struct Knn {
    pub(crate) k: usize,
}

impl Knn {
    pub(crate) fn scores(&self, distances: &[f64], gallery: &Gallery<'_>) -> Vec<f64> {
        let mut order: Vec<usize> = (0..distances.len()).collect();
        order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        let mut nearest = vec![f64::INFINITY; gallery.people];
        let mut votes = vec![0.0; gallery.people];
        for (rank, &i) in order.iter().enumerate() {
            let person = gallery.person[i];
            nearest[person] = nearest[person].min(distances[i]);
            if rank < self.k {
                votes[person] += 1.0;
            }
        }
        votes.iter().zip(&nearest).map(|(votes, nearest)| votes + 1.0 / (1.0 + nearest)).collect()
    }
}
