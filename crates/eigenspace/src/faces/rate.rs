//! A share of tests, with a confidence interval over people.
//!
//! ```text
//! p = Σ e_i / Σ t_i                    e_i errors among t_i tests of person i
//! v = P / (P − 1) Σ (e_i − p t_i)² / (Σ t_i)²
//! n = min(p (1 − p) / v, images)       the number of independent tests that would determine p equally well
//! Wilson's interval of p and n, 95 %
//! ```
//!
//! Errors on images of one person are correlated, and repeated splits test the same image several
//! times. Counting every test as independent would make the interval far too narrow. So people are
//! the unit, like clusters in a survey (n is the effective sample size of Korn & Graubard, *Survey
//! Methodology* 24(2), 1998, with Wilson's interval instead of Clopper and Pearson's). If all tests
//! are errors, or none, v is zero, and every person counts as one test.

use std::collections::{BTreeMap, HashSet};

/// The standard normal quantile of 97.5 %.
const Z: f64 = 1.959_963_984_540_054;

/// A share of tests, with its 95 % confidence interval over people.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Rate {
    /// Number of tests that count.
    pub count: usize,
    /// Number of all tests; an image may be tested several times.
    pub tested: usize,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Rate {
    /// The share itself; 0 if nothing was tested.
    pub fn share(&self) -> f64 {
        self.count as f64 / (self.tested as f64).max(1.0)
    }

    /// The rate of tests. Each test has a person, an image, and whether it counts.
    pub(crate) fn of<'a>(tests: impl Iterator<Item = (&'a str, usize, bool)>) -> Self {
        // Sorted, so that the sum over people has the same bits in every run.
        let mut people: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        let mut images = HashSet::new();
        let (mut count, mut tested) = (0, 0);
        for (person, image, counts) in tests {
            let own = people.entry(person).or_default();
            own.0 += f64::from(u8::from(counts));
            own.1 += 1.0;
            images.insert(image);
            count += usize::from(counts);
            tested += 1;
        }
        if tested == 0 {
            return Self { count, tested, low: 0.0, high: 1.0 };
        }
        let (p, clusters) = (count as f64 / tested as f64, people.len() as f64);
        let squares: f64 = people.values().map(|(errors, tests)| (errors - p * tests).powi(2)).sum();
        let variance = clusters / (clusters - 1.0).max(1.0) * squares / (tested as f64).powi(2);
        let effective = if count == 0 || count == tested || people.len() == 1 {
            clusters
        } else {
            (p * (1.0 - p) / variance).min(images.len() as f64).max(1.0)
        };
        let (low, high) = wilson(p, effective);
        Self { count, tested, low, high }
    }
}

/// Wilson's interval of a share p of n tests.
fn wilson(p: f64, n: f64) -> (f64, f64) {
    let shrink = 1.0 + Z * Z / n;
    let center = (p + Z * Z / (2.0 * n)) / shrink;
    let half = Z / shrink * (p * (1.0 - p) / n + (Z / (2.0 * n)).powi(2)).sqrt();
    ((center - half).max(0.0), (center + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::{Rate, Z, wilson};

    /// By its definition: an end x of the interval is where the score test of p against x is on the
    /// edge of its level, (p − x)² = z² x (1 − x) / n.
    #[test]
    fn the_interval_is_that_of_wilson() {
        for (p, n) in [(0.0, 10.0), (0.3, 10.0), (0.5, 7.0), (0.99, 400.0), (1.0, 3.0)] {
            let (low, high) = wilson(p, n);
            assert!(low <= p && p <= high, "{p} in {low} to {high}");
            for x in [low, high] {
                let gap = (p - x) * (p - x) - Z * Z * x * (1.0 - x) / n;
                assert!(gap.abs() < 1e-15, "{p} of {n}: {gap:e} at {x}");
            }
        }
        assert!((Z - 1.959_964).abs() < 1e-6, "the level is 95 %");
    }

    #[test]
    fn people_who_always_fail_together_count_once() {
        // Ten people with twenty tests each; three of the people always fail.
        let names: Vec<String> = (0..10).map(|i| format!("p{i}")).collect();
        let tests = || (0..200).map(|i| (names[i / 20].as_str(), i, i / 20 < 3));
        let rate = Rate::of(tests());
        assert_eq!((rate.count, rate.tested), (60, 200));
        // As good as nine independent tests: the divisor of a variance of ten people.
        let (low, high) = wilson(0.3, 9.0);
        assert!((rate.low - low).abs() < 1e-12 && (rate.high - high).abs() < 1e-12);
        // The same number of errors, shared evenly, is known better, but no better than so many
        // images allow.
        let even = Rate::of((0..200).map(|i| (names[i / 20].as_str(), i, i % 20 < 6)));
        let (low, high) = wilson(0.3, 200.0);
        assert!((even.low - low).abs() < 1e-12 && (even.high - high).abs() < 1e-12);
        let again = Rate::of(tests().chain(tests()));
        assert!((again.low - rate.low).abs() < 1e-12, "testing the same images again says nothing new");
    }

    #[test]
    fn the_same_tests_give_the_same_bits() {
        let names: Vec<String> = (0..40).map(|i| format!("p{i}")).collect();
        // Different people have different rates, so their squares round differently in another order.
        let person = |i: usize| (i * 13 % 97) % 40;
        let rate = || Rate::of((0..1000).map(|i| (names[person(i)].as_str(), i, i % 17 < person(i) % 13)));
        let first = rate();
        for _ in 0..200 {
            assert_eq!(rate(), first);
        }
    }

    #[test]
    fn without_an_error_every_person_counts_once() {
        let rate = Rate::of((0..50).map(|i| (["a", "b", "c", "d", "e"][i / 10], i, false)));
        let (low, high) = wilson(0.0, 5.0);
        assert_eq!((rate.share(), rate.low, rate.high), (0.0, low, high));
        assert_eq!(Rate::of(std::iter::empty()), Rate { count: 0, tested: 0, low: 0.0, high: 1.0 });
    }
}
