//! The numbers a row may be made of, and the precision they are worked on in.
//!
//! ```text
//! f64 → f64        f32 → f32 in streams and projections, f64 wherever a problem is small
//! ```

use crate::linalg::Real;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// An element of a row: `f64` or `f32`.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The precision in which large products of such rows are computed.
    type Work: Real;
    /// The value, without loss.
    fn to_f64(self) -> f64;
    /// The value in its working precision, without loss.
    fn to_work(self) -> Self::Work;
}

impl Element for f64 {
    type Work = f64;
    fn to_f64(self) -> f64 {
        self
    }
    fn to_work(self) -> f64 {
        self
    }
}

impl Element for f32 {
    type Work = f32;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn to_work(self) -> f32 {
        self
    }
}
