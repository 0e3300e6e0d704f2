//! Eigenvalues and eigenvectors of a symmetric matrix, accurate to about 28 digits of the largest
//! eigenvalue.
//!
//! ```text
//! Q from Jacobi's rotations in f64  →  Q made orthonormal in double-double  →  rotations of Q M Qᵀ in double-double
//! ```
//!
//! Rotations are slow and simple, and always converge, also for equal and zero eigenvalues.

use crate::number::{Dd, Number, add_multiple, fast, settle};

/// Rotations end when every entry off the diagonal is below this share of the largest entry.
const F64_TOLERANCE: f64 = 1e-16;
const DD_TOLERANCE: f64 = 1e-31;
/// Largest number of sweeps; ten are usual.
const SWEEPS: usize = 80;

/// Eigenvalues, largest first, and the eigenvectors as rows.
pub(crate) struct Eigen {
    pub(crate) values: Vec<Dd>,
    pub(crate) vectors: Vec<Dd>,
}

/// The decomposition of an n × n matrix.
pub(crate) fn eigen(m: &[Dd], n: usize) -> Eigen {
    let scale = scale_of(m);
    let mut a: Vec<f64> = m.iter().map(|x| (x.hi / scale) + (x.lo / scale)).collect();
    let mut q = identity::<f64>(n);
    rotate_until_diagonal(&mut a, &mut q, n, F64_TOLERANCE);
    let q = orthonormal(&q.iter().map(|x| Dd::of(*x)).collect::<Vec<_>>(), n);
    let scaled: Vec<Dd> = m.iter().map(|x| *x / Dd::of(scale)).collect();
    let mut a = times_transposed(&times(&q, &scaled, n), &q, n);
    let mut q = q;
    rotate_until_diagonal(&mut a, &mut q, n, DD_TOLERANCE);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| {
        a[j * n + j].hi.total_cmp(&a[i * n + i].hi).then(a[j * n + j].lo.total_cmp(&a[i * n + i].lo))
    });
    let values = order.iter().map(|&i| a[i * n + i] * Dd::of(scale)).collect();
    let vectors = order.iter().flat_map(|&i| q[i * n..(i + 1) * n].to_vec()).collect();
    Eigen { values, vectors }
}

/// The smallest and the largest eigenvalue in f64, to some 1e-15 of the larger magnitude.
pub(crate) fn extremes(m: &[Dd], n: usize) -> (f64, f64) {
    let scale = scale_of(m);
    let mut a: Vec<f64> = m.iter().map(|x| x.hi / scale).collect();
    rotate_until_diagonal(&mut a, &mut [], n, F64_TOLERANCE);
    let diagonal = || (0..n).map(|i| a[i * n + i] * scale);
    (diagonal().fold(f64::INFINITY, f64::min), diagonal().fold(f64::NEG_INFINITY, f64::max))
}

/// A power of two near the largest magnitude, so that dividing by it is exact.
fn scale_of(m: &[Dd]) -> f64 {
    let largest = m.iter().fold(0.0_f64, |largest, x| largest.max(x.hi.abs()));
    if largest > 0.0 { largest.log2().floor().exp2() } else { 1.0 }
}

pub(crate) fn identity<T: Number>(n: usize) -> Vec<T> {
    (0..n * n).map(|i| T::of(f64::from(u8::from(i % (n + 1) == 0)))).collect()
}

/// A B.
fn times(a: &[Dd], b: &[Dd], n: usize) -> Vec<Dd> {
    let mut product = vec![Dd::ZERO; n * n];
    fast(
        #[inline(always)]
        || {
            for (out, row) in product.chunks_mut(n).zip(a.chunks(n)) {
                row.iter().zip(b.chunks(n)).for_each(|(x, other)| add_multiple(out, *x, other));
            }
        },
    );
    settle(&mut product);
    product
}

/// A Bᵀ.
fn times_transposed(a: &[Dd], b: &[Dd], n: usize) -> Vec<Dd> {
    let transposed: Vec<Dd> = (0..n * n).map(|i| b[(i % n) * n + i / n]).collect();
    times(a, &transposed, n)
}

/// One step of Newton's: rows orthonormal to 1e-15 become so to 1e-29.
fn orthonormal(q: &[Dd], n: usize) -> Vec<Dd> {
    let mut gap = times_transposed(q, q, n);
    for (i, x) in gap.iter_mut().enumerate() {
        *x = (Dd::of(f64::from(u8::from(i % (n + 1) == 0))) - *x) * Dd::of(0.5);
    }
    q.iter().zip(times(&gap, q, n)).map(|(x, step)| *x + step).collect()
}

/// Jacobi's rotations on a symmetric matrix, all pairs in order; the rows of `vectors` turn along.
fn rotate_until_diagonal<T: Number>(a: &mut [T], vectors: &mut [T], n: usize, tolerance: f64) {
    fast(
        #[inline(always)]
        || {
            let largest = a.iter().fold(0.0_f64, |largest, x| largest.max(x.to_f64().abs()));
            for _ in 0..SWEEPS {
                let mut turned = false;
                for p in 0..n {
                    for q in p + 1..n {
                        if a[p * n + q].to_f64().abs() > tolerance * largest {
                            turned = true;
                            rotate(a, vectors, n, p, q);
                        }
                    }
                }
                if !turned {
                    return;
                }
            }
        },
    );
}

#[inline(always)]
fn rotate<T: Number>(a: &mut [T], vectors: &mut [T], n: usize, p: usize, q: usize) {
    let (one, beside) = (T::of(1.0), a[p * n + q]);
    let theta = (a[q * n + q] - a[p * n + p]) / (beside + beside);
    let size = if theta.to_f64() < 0.0 { -theta } else { theta };
    let root = if size.to_f64() > 1e60 { size } else { (size * size + one).sqrt() };
    let t = if theta.to_f64() < 0.0 { -one / (size + root) } else { one / (size + root) };
    let c = one / (t * t + one).sqrt();
    let s = t * c;
    let (first, second) = (a[p * n + p] - t * beside, a[q * n + q] + t * beside);
    turn(a, n, p, q, c, s);
    for k in 0..n {
        a[k * n + p] = a[p * n + k];
        a[k * n + q] = a[q * n + k];
    }
    a[p * n + p] = first;
    a[q * n + q] = second;
    a[p * n + q] = T::of(0.0);
    a[q * n + p] = T::of(0.0);
    if !vectors.is_empty() {
        turn(vectors, n, p, q, c, s);
    }
}

/// Turns row p, with p < q, into c p − s q and row q into s p + c q.
#[inline(always)]
fn turn<T: Number>(rows: &mut [T], n: usize, p: usize, q: usize, c: T, s: T) {
    let (above, below) = rows.split_at_mut(q * n);
    for (x, y) in above[p * n..(p + 1) * n].iter_mut().zip(&mut below[..n]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}
