//! The two precisions, f32 and f64, and the only call of faer's matrix product.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Par};
use faer_ext::IntoFaer;
use ndarray::{ArrayView2, ArrayViewMut2, CowArray, Ix2};

mod sealed {
    pub trait Sealed {}
}

/// A precision that rows are projected in: f32 or f64.
pub trait Real: sealed::Sealed + ndarray::LinalgScalar + PartialOrd + Send + Sync {
    /// Converts to f64, without loss.
    fn widen(self) -> f64;
    /// Rounds to this precision.
    fn narrow(value: f64) -> Self;
    /// A matrix in this precision, copied only if it has another one.
    #[doc(hidden)]
    fn narrowed(a: ArrayView2<'_, f64>) -> CowArray<'_, Self, Ix2>;
    /// The same matrix if its precision is f64, otherwise `None`.
    #[doc(hidden)]
    fn wide(a: ArrayViewMut2<'_, Self>) -> Option<ArrayViewMut2<'_, f64>>;
    /// `out = A B`, or `out += A B`, on one core. Of a symmetric product only the lower triangle is
    /// computed.
    #[doc(hidden)]
    fn multiply_into(
        out: ArrayViewMut2<'_, Self>,
        add: bool,
        a: ArrayView2<'_, Self>,
        b: ArrayView2<'_, Self>,
        symmetric: bool,
    );
}

macro_rules! real {
    ($($real:ty, $a:ident => $narrowed:expr, $wide:expr;)*) => {$(
        impl sealed::Sealed for $real {}

        impl Real for $real {
            fn widen(self) -> f64 {
                f64::from(self)
            }

            fn narrow(value: f64) -> Self {
                value as $real
            }

            fn narrowed($a: ArrayView2<'_, f64>) -> CowArray<'_, Self, Ix2> {
                $narrowed
            }

            fn wide($a: ArrayViewMut2<'_, Self>) -> Option<ArrayViewMut2<'_, f64>> {
                $wide
            }

            fn multiply_into(
                out: ArrayViewMut2<'_, Self>,
                add: bool,
                a: ArrayView2<'_, Self>,
                b: ArrayView2<'_, Self>,
                symmetric: bool,
            ) {
                let whole = BlockStructure::Rectangular;
                let shape = if symmetric { BlockStructure::TriangularLower } else { whole };
                let accumulate = if add { Accum::Add } else { Accum::Replace };
                let (out, a, b) = (out.into_faer(), a.into_faer(), b.into_faer());
                triangular::matmul(out, shape, accumulate, a, whole, b, whole, 1.0, Par::Seq);
            }
        }
    )*};
}

real! {
    f32, a => a.mapv(Self::narrow).into(), { let _ = a; None };
    f64, a => a.into(), Some(a);
}
