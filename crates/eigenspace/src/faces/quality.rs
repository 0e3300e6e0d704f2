//! Similarity of two images.
//!
//! ```text
//! PSNR = 10 log₁₀( L² / mean (x − y)² )                             L: the range of the values, 255 for 8 bits
//! SSIM = mean over positions of  (2 m_x m_y + c₁)(2 s_xy + c₂) / ((m_x² + m_y² + c₁)(s_x² + s_y² + c₂))
//! ```
//!
//! The means m, variances s² and covariance s_xy are those of a window of 7 × 7 pixels, with
//! divisor 48, at every position where the window fits; c₁ = (0.01 L)² and c₂ = (0.03 L)². (Wang,
//! Bovik, Sheikh & Simoncelli, *Image quality assessment*, IEEE TIP 13(4), 2004. They use a
//! weighted window; ours is uniform, as in scikit-image.)

use ndarray::{Array2, ArrayView1};

use crate::linalg::random::Random;

/// Width and height of the window.
const WINDOW: usize = 7;

/// The peak signal-to-noise ratio in decibels; infinite for equal images.
pub fn psnr(x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>, range: f64) -> f64 {
    let mean = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>() / (x.len() as f64).max(1.0);
    10.0 * (range * range / mean).log10()
}

/// The structural similarity of two gray images of this width; 1 for equal images, NaN if they are
/// smaller than 7 × 7.
pub fn ssim(x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>, width: usize, range: f64) -> f64 {
    let height = x.len() / width.max(1);
    if width < WINDOW || height < WINDOW || x.len() != y.len() {
        return f64::NAN;
    }
    // Sums over windows, computed from sums over everything above and to the left.
    let sums = |value: &dyn Fn(usize) -> f64| {
        let mut sums = Array2::<f64>::zeros((height + 1, width + 1));
        for i in 0..height {
            for j in 0..width {
                sums[[i + 1, j + 1]] = value(i * width + j) + sums[[i, j + 1]] + sums[[i + 1, j]] - sums[[i, j]];
            }
        }
        sums
    };
    let [xs, ys] = [sums(&|i| x[i]), sums(&|i| y[i])];
    let [xx, yy, xy] = [sums(&|i| x[i] * x[i]), sums(&|i| y[i] * y[i]), sums(&|i| x[i] * y[i])];
    let n = (WINDOW * WINDOW) as f64;
    let (c1, c2) = ((0.01 * range).powi(2), (0.03 * range).powi(2));
    let (mut total, mut positions) = (0.0, 0.0);
    for i in 0..=height - WINDOW {
        for j in 0..=width - WINDOW {
            let mean = |s: &Array2<f64>| {
                let (down, right) = (i + WINDOW, j + WINDOW);
                (s[[down, right]] - s[[i, right]] - s[[down, j]] + s[[i, j]]) / n
            };
            let (mx, my) = (mean(&xs), mean(&ys));
            let unbiased = n / (n - 1.0);
            let (vx, vy) = (unbiased * (mean(&xx) - mx * mx), unbiased * (mean(&yy) - my * my));
            let cov = unbiased * (mean(&xy) - mx * my);
            total += (2.0 * mx * my + c1) * (2.0 * cov + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2));
            positions += 1.0;
        }
    }
    total / positions
}

/// Adds normal noise with this standard deviation to every pixel; the same seed adds the same
/// noise.
pub fn add_noise(rows: &mut Array2<f64>, deviation: f64, seed: u64) {
    let mut random = Random::new(seed);
    rows.iter_mut().for_each(|pixel| *pixel += deviation * random.normal());
}
