//! One-sided Jacobi rotations: slow, always convergent, and accurate for every feature.
//!
//! ```text
//! J A = diag(s) V        J orthogonal, found by rotating two rows at a time until all are orthogonal
//! ```
//!
//! Every step mixes two rows and never two columns, so the error of a column is relative to its own
//! length, however short it is compared with the others. If the features have different units, the
//! small ones keep all their digits (J. Demmel and K. Veselić, *Jacobi's method is more accurate
//! than QR*, SIAM J. Matrix Anal. Appl. 13(4), 1992). Rows are sorted by length first, and the
//! longer one stays in front (P. P. M. de Rijk, 1989), so that a few sweeps are enough. This is the
//! fallback of every decomposition here.

use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Rows count as orthogonal if the cosine of their angle is below this.
const COSINE_TOLERANCE: f64 = 4.0 * f64::EPSILON;
/// Far more sweeps than needed: convergence is quadratic and takes six to ten.
const MAX_SWEEPS: usize = 60;
/// Rows shorter than this count as zero, because their squares underflow.
const NEGLIGIBLE_LENGTH: f64 = 1e-150;

/// Rotates rows until they are orthogonal, and sorts them by length. Afterward they are diag(s) V.
/// Returns s.
pub(crate) fn orthogonalize(rows: &mut Array2<f64>) -> Array1<f64> {
    if !rows.is_standard_layout() {
        *rows = rows.as_standard_layout().into_owned();
    }
    sort(rows);
    let (count, width) = rows.dim();
    let cosine = COSINE_TOLERANCE * (1.0 + (width as f64).sqrt() / 8.0);
    let cells = rows.as_slice_mut().expect("the rows were made contiguous");
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        let mut squares: Vec<f64> = cells.chunks_exact(width.max(1)).map(|row| dot(row, row)).collect();
        for i in 0..count {
            for j in i + 1..count {
                rotated |= rotate_pair(cells, width, &mut squares, i, j, cosine);
            }
        }
        if !rotated {
            break;
        }
    }
    sort(rows)
}

/// Makes rows i and j orthogonal, the longer one first. Returns false if they already were.
fn rotate_pair(cells: &mut [f64], width: usize, squares: &mut [f64], i: usize, j: usize, cosine: f64) -> bool {
    let (head, tail) = cells.split_at_mut(j * width);
    let (x, y) = (&mut head[i * width..(i + 1) * width], &mut tail[..width]);
    let (a, b) = (squares[i], squares[j]);
    if a.max(b) < NEGLIGIBLE_LENGTH * NEGLIGIBLE_LENGTH {
        return false;
    }
    let c = dot(x, y);
    // Orthogonal rows are not exchanged if their lengths differ only by rounding.
    if c.abs() <= cosine * a.sqrt() * b.sqrt() && a >= b * (1.0 - cosine) {
        return false;
    }
    let (cos, sin) = rotation(a, b, c);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (x, y) in x.iter_mut().zip(y.iter_mut()) {
                (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x);
            }
        },
    );
    (squares[i], squares[j]) = (dot(x, x), dot(y, y));
    true
}

/// Cosine and sine that make rows of squared lengths a, b and product c orthogonal, the longer one
/// first.
fn rotation(a: f64, b: f64, c: f64) -> (f64, f64) {
    if c == 0.0 {
        return (0.0, 1.0);
    }
    let zeta = (a - b) / (2.0 * c);
    let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    // The small angle keeps the order of the lengths; the large one also exchanges the rows.
    let tangent = if a >= b { tangent } else { -1.0 / tangent };
    if !tangent.is_finite() {
        return (0.0, 1.0);
    }
    let cos = 1.0 / tangent.hypot(1.0);
    (cos, cos * tangent)
}

/// The dot product of two rows, in independent lanes.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    const LANES: usize = 16;
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (ys, y_rest) = y.as_chunks::<LANES>();
    let mut sums = [0.0_f64; LANES];
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (x, y) in xs.iter().zip(ys) {
                for lane in 0..LANES {
                    sums[lane] += x[lane] * y[lane];
                }
            }
        },
    );
    sums.iter().sum::<f64>() + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// Sorts rows by length, the longest first; returns the lengths.
fn sort(rows: &mut Array2<f64>) -> Array1<f64> {
    let lengths: Vec<f64> =
        rows.rows().into_iter().map(|row| length(row.to_slice().expect("rows are contiguous"))).collect();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    if !order.is_sorted() {
        *rows = rows.select(Axis(0), &order);
    }
    order.into_iter().map(|i| lengths[i]).collect()
}

fn length(row: &[f64]) -> f64 {
    dot(row, row).sqrt()
}

/// Singular values, non-increasing, and right singular vectors, one per row, of a matrix with no
/// more rows than columns. A row of zeros has no direction; its vector is zero.
pub(crate) fn svd(rows: ArrayView2<'_, f64>) -> (Array1<f64>, Array2<f64>) {
    let mut rows = rows.to_owned();
    let values = orthogonalize(&mut rows);
    for (mut row, value) in rows.rows_mut().into_iter().zip(&values) {
        row.mapv_inplace(|x| if *value > 0.0 { x / value } else { 0.0 });
    }
    (values, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_unlike_units_keeps_the_digits_of_every_feature() {
        // Three features in units 1e10 apart; the second is twice the first plus an independent
        // part, in its units.
        let independent = [[3.0, 1.0, 0.5], [0.0, 2.0, -1.0], [0.0, 0.0, 1.5]];
        let units = [1e10, 1.0, 1e-10];
        let mut rows = Array2::from_shape_fn((3, 3), |(i, j)| independent[i][j] * units[j]);
        orthogonalize(&mut rows);
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| rows[[k, i]] * rows[[k, j]]).sum();
                let truth: f64 = (0..3).map(|k| independent[k][i] * independent[k][j]).sum();
                assert!((product / (units[i] * units[j]) - truth).abs() < 1e-14 * 10.0, "{i}, {j}");
            }
        }
    }

    #[test]
    fn equal_and_zero_rows_converge() {
        for count in [1, 2, 7, 40] {
            let rows = Array2::from_shape_fn((count, 50), |(i, j)| if i % 3 == 0 { 0.0 } else { (j % 5) as f64 });
            let (values, directions) = svd(rows.view());
            let squared: f64 = rows.iter().map(|x| x * x).sum();
            assert!((values.iter().map(|s| s * s).sum::<f64>() - squared).abs() <= 1e-12 * squared);
            assert!(values.iter().skip(1).all(|s| *s <= 1e-14 * values[0]), "{values}");
            assert!(directions.iter().all(|x| x.is_finite()));
        }
    }
}
