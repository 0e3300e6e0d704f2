//! Pseudorandom numbers that are the same on every machine, on every run, and for any number of
//! threads.
//!
//! ```text
//! s ← s + φ,   u = mix(s)          (splitmix64: Steele, Lea & Flood, OOPSLA 2014)
//! g = √(−2 ln u₁) cos 2πu₂         (Box & Muller 1958)
//! ```

use ndarray::Array2;

/// A pseudorandom generator.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "there is no end to iterate to")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by the method of Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Below `bound`, which must not be 0. The bias is below bound / 2⁶⁴.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Shuffles by the method of Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
    /// A matrix of independent standard normal numbers.
    pub(crate) fn normal_matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        // In (0, 1], for the logarithm.
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        let mut matrix = Array2::zeros((rows, columns));
        let mut spare = None;
        for cell in &mut matrix {
            *cell = spare.take().unwrap_or_else(|| {
                let radius = (-2.0 * (self.uniform() + STEP).ln()).sqrt();
                let (sine, cosine) = (std::f64::consts::TAU * (self.uniform() + STEP)).sin_cos();
                spare = Some(radius * sine);
                radius * cosine
            });
        }
        matrix
    }
}
