//! Normally distributed numbers from a fixed seed: the same on every run and for any number of threads.
//!
//! ```text
//! s ← s + φ,   u = mix(s)          (splitmix64: Steele, Lea & Flood, OOPSLA 2014)
//! g = √(−2 ln u₁) cos 2πu₂         (Box & Muller 1958)
//! ```

use ndarray::Array2;

/// A pseudorandom generator of normally distributed numbers.
pub(crate) struct Normal(u64);

impl Normal {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((mixed >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A matrix of independent standard normal numbers.
    pub(crate) fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        let mut matrix = Array2::zeros((rows, columns));
        let mut spare = None;
        for cell in &mut matrix {
            *cell = spare.take().unwrap_or_else(|| {
                let radius = (-2.0 * self.uniform().ln()).sqrt();
                let (sine, cosine) = (std::f64::consts::TAU * self.uniform()).sin_cos();
                spare = Some(radius * sine);
                radius * cosine
            });
        }
        matrix
    }
}
