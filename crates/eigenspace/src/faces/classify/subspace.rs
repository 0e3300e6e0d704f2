//! The nearest span: every person has an eigenspace of their own.
//!
//! ```text
//! score_p = − ‖ (I − B_pᵀB_p)(x − m_p) ‖         m_p the mean, B_p orthonormal rows that span p's pictures about it
//! ```
//!
//! A face between two known pictures of a person is then as near as they are. With one picture of each it is the
//! nearest mean.

use ndarray::{Array1, ArrayView1};

use crate::faces::classify::Gallery;

/// What is left of a picture after taking off the earlier ones counts as a direction if it is longer than this share.
const DEPENDENT: f64 = 1e-8;

pub(crate) struct Subspace {
    people: Vec<(Array1<f64>, Vec<Array1<f64>>)>,
}

impl Subspace {
    pub(crate) fn new(gallery: &Gallery<'_>) -> Self {
        let people = (0..gallery.people).map(|person| {
            let mean = Array1::from(gallery.mean_of(person));
            let mut basis: Vec<Array1<f64>> = Vec::new();
            for row in gallery.of(person) {
                let mut rest = &row - &mean;
                let length = rest.dot(&rest).sqrt();
                // Gram and Schmidt, twice.
                for _ in 0..2 {
                    remove(&mut rest, &basis);
                }
                let left = rest.dot(&rest).sqrt();
                if left > DEPENDENT * length {
                    basis.push(rest / left);
                }
            }
            (mean, basis)
        });
        Self { people: people.collect() }
    }

    pub(crate) fn scores(&self, x: ArrayView1<'_, f64>) -> Vec<f64> {
        let distance = |(mean, basis): &(Array1<f64>, Vec<Array1<f64>>)| {
            let mut rest = &x - mean;
            remove(&mut rest, basis);
            -rest.dot(&rest).sqrt()
        };
        self.people.iter().map(distance).collect()
    }
}

/// Takes off what lies along orthonormal directions.
fn remove(rest: &mut Array1<f64>, basis: &[Array1<f64>]) {
    for direction in basis {
        let along = direction.dot(rest);
        rest.scaled_add(-along, direction);
    }
}
