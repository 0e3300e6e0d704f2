//! A slow and simple oracle that shares no code with the library, and test data.

use eigenspace::{EigenspaceModel, FitOptions};
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};
use proptest::prelude::ProptestConfig;

/// Unit roundoff times two.
pub(crate) const EPS: f64 = f64::EPSILON;

/// This many random cases of a law; `cargo xtask soak` multiplies it through `EIGENSPACE_SOAK`.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let factor = std::env::var("EIGENSPACE_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    ProptestConfig { cases: usual * factor, failure_persistence: None, ..ProptestConfig::default() }
}

/// Options for the device that `EIGENSPACE_TEST_DEVICE` names, by default the CPU.
pub(crate) fn options() -> FitOptions {
    let device = std::env::var("EIGENSPACE_TEST_DEVICE").unwrap_or_else(|_| "cpu".into());
    FitOptions::new().device(device.parse().unwrap())
}

/// The results of plain loops for a set of rows.
pub(crate) struct Oracle {
    pub(crate) count: u64,
    pub(crate) weight: f64,
    pub(crate) mean: Array1<f64>,
    /// Σ (x − μ)(x − μ)ᵀ by two passes.
    pub(crate) scatter: Array2<f64>,
    /// Eigenvalues of the scatter, non-increasing, by Jacobi rotations of the centered rows.
    pub(crate) eigenvalues: Vec<f64>,
    /// Right singular vectors of the centered rows, one per row.
    pub(crate) directions: Array2<f64>,
}

/// Two loops for the mean, three for the scatter, plane rotations for the decomposition.
pub(crate) fn oracle(rows: ArrayView2<'_, f64>) -> Oracle {
    weighted_oracle(rows, &vec![1.0; rows.nrows()])
}

/// The same with a weight for each row.
pub(crate) fn weighted_oracle(rows: ArrayView2<'_, f64>, weights: &[f64]) -> Oracle {
    let there: Vec<usize> = (0..rows.nrows()).filter(|&i| weights[i] > 0.0).collect();
    let (n, d) = (there.len(), rows.ncols());
    let weight: f64 = there.iter().map(|&i| weights[i]).sum();
    // Means far from zero: sum the differences from the first row.
    let mut mean = Array1::<f64>::zeros(d);
    for j in 0..d {
        let mut sum = 0.0;
        for &i in &there {
            sum += weights[i] * (rows[[i, j]] - rows[[there[0], j]]);
        }
        mean[j] = rows[[there[0], j]] + sum / weight;
    }
    let centered = Array2::from_shape_fn((n, d), |(i, j)| weights[there[i]].sqrt() * (rows[[there[i], j]] - mean[j]));
    let mut scatter = Array2::<f64>::zeros((d, d));
    for a in 0..d {
        for b in 0..d {
            let mut sum = 0.0;
            for i in 0..n {
                sum += centered[[i, a]] * centered[[i, b]];
            }
            scatter[[a, b]] = sum;
        }
    }
    let (values, directions) = jacobi_svd(centered);
    let eigenvalues = values.iter().map(|s| s * s).collect();
    Oracle { count: n as u64, weight, mean, scatter, eigenvalues, directions }
}

/// Singular values, non-increasing, and right singular vectors (one per row), by one-sided Jacobi
/// rotations: slow, obvious, and accurate to the last digits. (nalgebra's SVD is not: on 3 centered
/// rows of 18 features it was wrong in the third digit.)
pub(crate) fn jacobi_svd(a: Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let (n, d) = a.dim();
    if n > d {
        // Rotate columns instead, and rotate the identity along to collect the right vectors.
        let (mut columns, mut right) = (a.t().to_owned(), Array2::eye(d));
        rotate_until_orthogonal(&mut columns, Some(&mut right));
        let norms: Vec<f64> = columns.rows().into_iter().map(|row| row.dot(&row).sqrt()).collect();
        return sort(norms, right);
    }
    let mut rows = a;
    rotate_until_orthogonal(&mut rows, None);
    let norms: Vec<f64> = rows.rows().into_iter().map(|row| row.dot(&row).sqrt()).collect();
    for (mut row, norm) in rows.rows_mut().into_iter().zip(&norms) {
        row.mapv_inplace(|x| if *norm > 0.0 { x / norm } else { 0.0 });
    }
    sort(norms, rows)
}

fn sort(values: Vec<f64>, directions: Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    (order.iter().map(|&i| values[i]).collect(), directions.select(Axis(0), &order))
}

/// Rotates pairs of rows until all are orthogonal.
fn rotate_until_orthogonal(rows: &mut Array2<f64>, mut along: Option<&mut Array2<f64>>) {
    for _ in 0..60 {
        let mut quiet = true;
        for i in 0..rows.nrows() {
            for j in 0..i {
                let (x, y) = (rows.row(i).to_owned(), rows.row(j).to_owned());
                let (a, b, c) = (x.dot(&x), y.dot(&y), x.dot(&y));
                if c.abs() <= EPS * (a * b).sqrt() || c == 0.0 {
                    continue;
                }
                quiet = false;
                let zeta = (b - a) / (2.0 * c);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let t = if zeta == 0.0 { 1.0 } else { t };
                let cos = 1.0 / (1.0 + t * t).sqrt();
                let sin = cos * t;
                rows.row_mut(i).assign(&(&x * cos - &y * sin));
                rows.row_mut(j).assign(&(&x * sin + &y * cos));
                if let Some(along) = along.as_deref_mut() {
                    let (x, y) = (along.row(i).to_owned(), along.row(j).to_owned());
                    along.row_mut(i).assign(&(&x * cos - &y * sin));
                    along.row_mut(j).assign(&(&x * sin + &y * cos));
                }
            }
        }
        if quiet {
            return;
        }
    }
}

/// Vᵀ diag(s²) V by three loops.
pub(crate) fn scatter_of(model: &EigenspaceModel) -> Array2<f64> {
    let d = model.features();
    let mut m = Array2::<f64>::zeros((d, d));
    for (v, s) in model.basis().rows().into_iter().zip(model.all_singular_values()) {
        for a in 0..d {
            for b in 0..d {
                m[[a, b]] += v[a] * v[b] * s * s;
            }
        }
    }
    m
}

/// The Frobenius norm, which bounds the spectral norm from above.
pub(crate) fn frobenius(a: &Array2<f64>) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Largest sine between the row spaces of orthonormal `a` and `b`, by loops: ‖b − (b aᵀ) a‖_F
/// bounds it from above and is at most √k times as large.
pub(crate) fn sine(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> f64 {
    let mut worst = 0.0;
    for row in b.rows() {
        let mut rest = row.to_owned();
        for _ in 0..2 {
            for direction in a.rows() {
                let along: f64 = direction.iter().zip(&rest).map(|(x, y)| x * y).sum();
                rest.iter_mut().zip(direction).for_each(|(r, v)| *r -= along * v);
            }
        }
        worst += rest.iter().map(|x| x * x).sum::<f64>();
    }
    worst.sqrt()
}

/// How far a model is from the oracle: the largest of four relative errors.
#[derive(Debug)]
pub(crate) struct Distance {
    /// ‖L − M‖_F / λ₁.
    pub(crate) scatter: f64,
    /// |s_i² − λ_i| / λ₁.
    pub(crate) eigenvalues: f64,
    /// |μ − μ'| over the largest magnitude of a mean or a spread.
    pub(crate) mean: f64,
    /// |q − diag M| / max q.
    pub(crate) features: f64,
}

impl Distance {
    pub(crate) fn worst(&self) -> f64 {
        let Self { scatter, eigenvalues, mean, features } = *self;
        // f64::max would ignore a NaN.
        [scatter, eigenvalues, mean, features].into_iter().fold(0.0, |a, b| if a >= b { a } else { b })
    }
}

/// Compares all results of a model with the oracle.
pub(crate) fn distance(model: &EigenspaceModel, truth: &Oracle) -> Distance {
    assert_eq!(model.count(), truth.count);
    assert!((model.weight() - truth.weight).abs() <= 1e-12 * truth.weight, "{} {}", model.weight(), truth.weight);
    let first = truth.eigenvalues.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
    let values: Vec<f64> = model.all_singular_values().iter().map(|s| s * s).collect();
    let eigenvalues = (0..values.len().max(truth.eigenvalues.len()))
        .map(|i| (values.get(i).unwrap_or(&0.0) - truth.eigenvalues.get(i).unwrap_or(&0.0)).abs() / first)
        .fold(0.0, f64::max);
    let size = truth.mean.iter().fold((first / truth.weight).sqrt(), |a, b| a.max(b.abs()));
    let mean = model.mean().iter().zip(&truth.mean).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max);
    let q = model.feature_scatter();
    let largest = truth.scatter.diag().iter().fold(f64::MIN_POSITIVE, |a, b| a.max(*b));
    let features = q.iter().zip(truth.scatter.diag()).map(|(a, b)| (a - b).abs() / largest).fold(0.0, f64::max);
    Distance { scatter: frobenius(&(scatter_of(model) - &truth.scatter)) / first, eigenvalues, mean, features }
}

/// Relative rounding of a scatter of n rows: sums of n terms, some sixteen steps of the algorithm.
pub(crate) fn allowed(rows: usize, features: usize) -> f64 {
    16.0 * EPS * ((rows + features) as f64).max(16.0)
}

/// Largest entry of |V Vᵀ − I| by loops.
pub(crate) fn orthogonality_loss(v: ArrayView2<'_, f64>) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..v.nrows() {
        for j in 0..=i {
            let dot: f64 = v.row(i).iter().zip(v.row(j)).map(|(a, b)| a * b).sum();
            worst = worst.max((dot - f64::from(u8::from(i == j))).abs());
        }
    }
    worst
}

/// A small generator of numbers, the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub(crate) fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.normal())
    }

    /// Rows with these singular values (before centering) in random directions.
    pub(crate) fn with_spectrum(&mut self, rows: usize, features: usize, spectrum: &[f64]) -> Array2<f64> {
        let k = spectrum.len();
        let left = gram_schmidt(self.matrix(k, rows));
        let right = gram_schmidt(self.matrix(k, features));
        let scaled = left.t().to_owned() * &Array1::from(spectrum.to_vec());
        scaled.dot(&right)
    }
}

/// Orthonormalizes rows, twice.
pub(crate) fn gram_schmidt(mut rows: Array2<f64>) -> Array2<f64> {
    for i in 0..rows.nrows() {
        for _ in 0..2 {
            for j in 0..i {
                let along = rows.row(i).dot(&rows.row(j));
                let other = rows.row(j).to_owned();
                rows.row_mut(i).scaled_add(-along, &other);
            }
        }
        let norm = rows.row(i).dot(&rows.row(i)).sqrt();
        rows.row_mut(i).mapv_inplace(|x| x / norm);
    }
    rows
}

/// The rows of one matrix below those of another.
pub(crate) fn stack(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    concatenate(Axis(0), &[a.view(), b.view()]).unwrap()
}

/// Blocks of the given lengths, repeated until the rows are used up.
pub(crate) fn cut<'a>(rows: &'a Array2<f64>, lengths: &'a [usize]) -> impl Iterator<Item = ArrayView2<'a, f64>> {
    let mut start = 0;
    let mut turn = 0;
    std::iter::from_fn(move || {
        if start >= rows.nrows() {
            return None;
        }
        let end = rows.nrows().min(start + lengths[turn % lengths.len()].max(1));
        let block = rows.slice_axis(Axis(0), (start..end).into());
        (start, turn) = (end, turn + 1);
        Some(block)
    })
}
