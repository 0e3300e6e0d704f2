//! Rows, and a slow reference: plain loops for the covariance, Jacobi rotations for its
//! eigenvalues. It shares no code with the library.

use eigenspace::EigenspaceModel;

/// Number of features of the test rows.
pub(crate) const D: usize = 4;

/// Rows with clearly different variances, from a fixed sequence of pseudo-random numbers.
pub(crate) fn rows(count: usize) -> Vec<[f64; D]> {
    let mut state = 12345_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..count)
        .map(|_| {
            let (u, v, w, z) = (8.0 * next(), 3.0 * next(), next(), 0.3 * next());
            [u + v + 10.0, u - v + w, 2.0 * w - 0.5 * u + 1.0, z + 0.25 * v - w]
        })
        .collect()
}

/// The site of row i.
pub(crate) fn site(row: usize) -> &'static str {
    ["north", "south", "south", "west"][row % 4]
}

/// The weight of row i: 0, 1, 2, 0, …
pub(crate) fn weight(row: usize) -> usize {
    row % 3
}

/// Batch PCA by plain loops.
pub(crate) struct Reference {
    pub(crate) count: usize,
    pub(crate) mean: Vec<f64>,
    /// Eigenvalues of the scatter, largest first, and their vectors.
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Vec<Vec<f64>>,
}

impl Reference {
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a [f64; D]>) -> Self {
        let rows: Vec<&[f64; D]> = rows.into_iter().collect();
        let mean: Vec<f64> = (0..D).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / rows.len() as f64).collect();
        let mut scatter = vec![vec![0.0; D]; D];
        for row in &rows {
            for (i, line) in scatter.iter_mut().enumerate() {
                for (j, cell) in line.iter_mut().enumerate() {
                    *cell += (row[i] - mean[i]) * (row[j] - mean[j]);
                }
            }
        }
        let (values, vectors) = jacobi(scatter);
        Self { count: rows.len(), mean, values, vectors }
    }

    /// Checks count, mean, singular values and components, up to the sign of each component.
    pub(crate) fn check(&self, model: &EigenspaceModel) {
        self.check_within(model, 1e-12);
    }

    /// The same with this relative tolerance.
    pub(crate) fn check_within(&self, model: &EigenspaceModel, tolerance: f64) {
        assert_eq!(model.count(), self.count as u64);
        for (found, expected) in model.mean().iter().zip(&self.mean) {
            assert!((found - expected).abs() < tolerance, "mean {found}, expected {expected}");
        }
        assert_eq!(model.all_singular_values().len(), D.min(self.count - 1));
        for (found, expected) in model.all_singular_values().iter().zip(&self.values) {
            // The scatter is computed to about n ε relative to its largest eigenvalue, on both
            // sides.
            assert!((found * found - expected).abs() < tolerance * self.values[0], "{found}² and {expected}");
        }
        for (component, expected) in model.components().outer_iter().zip(&self.vectors) {
            let product: f64 = component.iter().zip(expected).map(|(a, b)| a * b).sum();
            assert!((product.abs() - 1.0).abs() < tolerance, "component {component} and {expected:?}");
        }
    }

    /// The scores of a row along the reference's directions.
    pub(crate) fn scores(&self, row: &[f64; D], k: usize) -> Vec<f64> {
        let along = |vector: &Vec<f64>| (0..D).map(|j| vector[j] * (row[j] - self.mean[j])).sum();
        self.vectors.iter().take(k).map(along).collect()
    }
}

/// Eigenvalues and eigenvectors of a symmetric matrix, largest first, by cyclic Jacobi rotations.
pub(crate) fn jacobi(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (s, c) = angle.sin_cos();
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for k in 0..n {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                    (v[p][k], v[q][k]) = (c * v[p][k] - s * v[q][k], s * v[p][k] + c * v[q][k]);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    (order.iter().map(|&i| a[i][i]).collect(), order.iter().map(|&i| v[i].clone()).collect())
}
