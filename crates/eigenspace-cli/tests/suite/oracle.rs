//! The expected results of PCA, computed by plain loops that share no code with the library.

/// Rows of numbers.
pub(crate) type Rows = Vec<Vec<f64>>;

/// Means of the columns, each row as often as its weight says.
pub(crate) fn mean(rows: &Rows, weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    (0..rows[0].len()).map(|j| rows.iter().zip(weights).map(|(row, w)| w * row[j]).sum::<f64>() / total).collect()
}

/// Covariance with the divisor (weight - 1).
pub(crate) fn covariance(rows: &Rows, weights: &[f64]) -> Rows {
    let mean = mean(rows, weights);
    let divisor = weights.iter().sum::<f64>() - 1.0;
    let entry = |i: usize, j: usize| {
        rows.iter().zip(weights).map(|(row, w)| w * (row[i] - mean[i]) * (row[j] - mean[j])).sum::<f64>() / divisor
    };
    (0..mean.len()).map(|i| (0..mean.len()).map(|j| entry(i, j)).collect()).collect()
}

/// Eigenvalues of a symmetric matrix by Jacobi's rotations, largest first.
pub(crate) fn eigenvalues(mut a: Rows) -> Vec<f64> {
    let n = a.len();
    for _ in 0..50 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Variances along the components, and their shares of the whole.
pub(crate) fn variances(rows: &Rows, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let values = eigenvalues(covariance(rows, weights));
    let total: f64 = values.iter().sum();
    let shares = values.iter().map(|value| value / total).collect();
    (values, shares)
}

/// One for each row.
pub(crate) fn ones(rows: &Rows) -> Vec<f64> {
    vec![1.0; rows.len()]
}

/// The worked example of the slides: mean (0.833, 0.690), variances 1.571264 and 0.037871.
pub(crate) const TEN_POINTS: [[f64; 2]; 10] = [
    [0.72, 0.14],
    [0.18, 0.23],
    [2.50, 2.30],
    [0.45, 0.17],
    [0.03, 0.44],
    [0.13, 0.24],
    [0.30, 0.03],
    [2.65, 2.10],
    [0.91, 0.92],
    [0.46, 0.33],
];

/// A table that looks like measurements: `columns` that go together in part, and spread ever less.
pub(crate) fn table(rows: usize, columns: usize, seed: u64) -> Rows {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..rows)
        .map(|_| {
            let common = next();
            // Four digits after the point, so that text, f32 and f64 hold the same numbers to the
            // last bit or nearly.
            (0..columns).map(|j| (1e4 * (3.0 + common + next() / (j + 1) as f64)).round() / 1e4).collect()
        })
        .collect()
}
