//! The element types of rows, and the precision in which each is projected.
//!
//! | element | projected in | |
//! |---|---|---|
//! | `f64`, `i32` | f64 | |
//! | `f32`, `u8`, `u16` | f32 | every such number is an f32 without loss |
//!
//! Models are always computed in f64.

use ndarray::{ArrayBase, ArrayView2, Ix2, ViewRepr};

use crate::linalg::Real;

pub(crate) use crate::error::LARGEST_MAGNITUDE;

mod sealed {
    pub trait Sealed {}
}

/// An [`ArrayView2`], written out so that a longer lifetime can stand for a shorter one in types
/// that contain it. (The alias names the element as a projection of the view, which would make such
/// types invariant.)
type View<'a, E> = ArrayBase<ViewRepr<&'a E>, Ix2, E>;

/// Dense rows by element type.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Dense<'a> {
    F64(View<'a, f64>),
    F32(View<'a, f32>),
    U8(View<'a, u8>),
    U16(View<'a, u16>),
    I32(View<'a, i32>),
}

/// An element of a row: `f64`, `f32`, `u8`, `u16` or `i32`.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The precision in which such rows are projected.
    type Work: Real;
    /// The value, without loss.
    fn to_f64(self) -> f64;
    #[doc(hidden)]
    fn to_work(self) -> Self::Work;
    /// The rows without a copy, if they already have the working precision.
    #[doc(hidden)]
    fn as_work(rows: ArrayView2<'_, Self>) -> Option<ArrayView2<'_, Self::Work>>;
    /// The rows by element type.
    #[doc(hidden)]
    fn dense(rows: ArrayView2<'_, Self>) -> Dense<'_>;
}

macro_rules! element {
    ($($element:ty => $work:ty, $variant:ident, $rows:pat => $as_work:expr;)*) => {$(
        impl sealed::Sealed for $element {}
        impl Element for $element {
            type Work = $work;
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn to_work(self) -> $work {
                <$work>::from(self)
            }
            fn as_work($rows: ArrayView2<'_, Self>) -> Option<ArrayView2<'_, $work>> {
                $as_work
            }
            fn dense(rows: ArrayView2<'_, Self>) -> Dense<'_> {
                Dense::$variant(rows)
            }
        }
    )*};
}

element! {
    f64 => f64, F64, rows => Some(rows);
    f32 => f32, F32, rows => Some(rows);
    u8 => f32, U8, _ => None;
    u16 => f32, U16, _ => None;
    i32 => f64, I32, _ => None;
}
