//! Double-double numbers: the unevaluated sum of two f64, about 32 digits.
//!
//! ```text
//! a + b = s + e exactly (two_sum)        a b = p + e exactly (two_product, by one fused multiply-add)
//! ```
//!
//! After T. J. Dekker, *A floating-point technique for extending the available precision*, 1971.
//! The relative error of one operation is at most a few times 2⁻¹⁰⁴. [`Number`] lets the rotations
//! of `eigen.rs` run on f64 and on these.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// What the oracle needs of a number.
pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn sqrt(self) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
}

/// hi + lo, with |lo| at most half a unit in the last place of hi.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Dd {
    pub(crate) hi: f64,
    pub(crate) lo: f64,
}

impl Dd {
    pub(crate) const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    pub(crate) const ONE: Self = Self { hi: 1.0, lo: 0.0 };

    /// `self^exponent` by repeated squaring.
    pub(crate) fn power(self, mut exponent: u64) -> Self {
        let (mut square, mut product) = (self, Self::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                product = product * square;
            }
            square = square * square;
            exponent >>= 1;
        }
        product
    }

    /// The n-th root of a number near one half, by Newton's steps from the f64 root.
    pub(crate) fn root(self, n: u64) -> Self {
        let mut y = Self::of(self.hi.powf(1.0 / n as f64));
        for _ in 0..3 {
            let below = y.power(n - 1);
            y = y - (below * y - self) / (below * Self::of(n as f64));
        }
        y
    }
}

#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let part = s - a;
    (s, (a - (s - part)) + (b - part))
}

#[inline(always)]
fn quick_two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    Dd { hi, lo: b - (hi - a) }
}

#[inline(always)]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    (p, a.mul_add(b, -p))
}

impl Number for Dd {
    #[inline(always)]
    fn of(value: f64) -> Self {
        Self { hi: value, lo: 0.0 }
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.hi
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::ZERO;
        }
        let near = Self::of(self.hi.sqrt());
        near + Self::of((self - near * near).hi / (2.0 * near.hi))
    }
}

impl Add for Dd {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (s, e) = two_sum(self.hi, other.hi);
        let (t, f) = two_sum(self.lo, other.lo);
        let first = quick_two_sum(s, e + t);
        quick_two_sum(first.hi, first.lo + f)
    }
}

impl Neg for Dd {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for Dd {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Dd {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (p, e) = two_product(self.hi, other.hi);
        quick_two_sum(p, e + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Dd {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::of(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Self::of(second);
        Self::of(first) + Self::of(second) + Self::of(rest.hi / other.hi)
    }
}

impl PartialOrd for Dd {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (*self - *other).hi.partial_cmp(&0.0)
    }
}

/// `sum += factor · row`, with the small parts gathered apart; [`settle`] makes proper numbers of
/// the sums.
#[inline(always)]
pub(crate) fn add_multiple(sum: &mut [Dd], factor: Dd, row: &[Dd]) {
    for (sum, x) in sum.iter_mut().zip(row) {
        let (p, e) = two_product(factor.hi, x.hi);
        let (s, f) = two_sum(sum.hi, p);
        *sum = Dd { hi: s, lo: sum.lo + (f + (e + (factor.hi * x.lo + factor.lo * x.hi))) };
    }
}

/// Brings the small parts of sums back under the large ones.
pub(crate) fn settle(sums: &mut [Dd]) {
    for sum in sums {
        let (hi, lo) = two_sum(sum.hi, sum.lo);
        *sum = Dd { hi, lo };
    }
}

/// Runs a loop with the widest vector instructions, and the fused multiply-add, that the machine
/// has.
#[inline(always)]
pub(crate) fn fast<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
