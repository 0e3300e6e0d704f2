//! Random numbers, the same on every machine: one seed, one case.

use std::ops::RangeInclusive;

use eigenspace::internal;

/// The generator of the library, with the choices that trials make.
#[derive(Debug, Clone)]
pub(crate) struct Random(internal::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(internal::Random::new(seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(0x9E37_79B9_7F4A_7C15)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// In [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A power of ten whose exponent is uniform.
    pub(crate) fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.between(low, high))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(crate) fn within(&mut self, range: RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    /// True once in so many times.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        self.0.normal()
    }
}
