//! The factor of two models together, which is not written down.
//!
//! ```text
//! A = ⎡ s₁ V₁ ⎤      A Aᵀ = ⎡ s₁²                          ⎤      U A = (U₁ s₁) V₁ + (U₂ s₂) V₂ + u c
//!     ⎢ s₂ V₂ ⎥             ⎢ s₂ V₂V₁ᵀ s₁   s₂²            ⎥
//!     ⎣   c   ⎦             ⎣  c V₁ᵀ s₁    c V₂ᵀ s₂   c cᵀ ⎦
//! ```
//!
//! Only V₂V₁ᵀ, V₁c, V₂c and the rotation are products over D; the singular values scale the small
//! matrices.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, concatenate};

use crate::linalg;
use crate::model::decompose::{Decomposed, Reduced, Route, Stacked, Turn, fill_constant, is_small, reduce};
use crate::model::moments::Moments;
use crate::model::truncation::{Rank, Truncation};

/// The rows of two models and the step between their means: A = [ s₁V₁ ; s₂V₂ ; c ].
pub(crate) struct Combined<'a> {
    /// V₁ and s₁.
    pub(crate) one: (ArrayView2<'a, f64>, ArrayView1<'a, f64>),
    /// V₂ and s₂.
    pub(crate) two: (ArrayView2<'a, f64>, ArrayView1<'a, f64>),
    pub(crate) c: ArrayView1<'a, f64>,
}

impl Combined<'_> {
    /// The rows themselves.
    fn written(&self) -> Array2<f64> {
        let scaled =
            |(directions, s): (ArrayView2<'_, f64>, ArrayView1<'_, f64>)| &directions * &s.insert_axis(Axis(1));
        concatenate![Axis(0), scaled(self.one), scaled(self.two), self.c.insert_axis(Axis(0))]
    }
}

/// The eigenspace of the rows of two models, which have these moments together.
pub(crate) fn reduce_combined(a: &Combined<'_>, truncation: Truncation, moments: &Moments) -> Reduced {
    let (one, two) = (a.one.1.len(), a.two.1.len());
    if is_small(one + two + 1, a.c.len()) {
        return reduce(Stacked { rows: a.written(), groups: &[one, two] }, Route::Auto, truncation, moments);
    }
    linalg::inside(|| by_combined_products(a, truncation.rank_limit(), moments.scatter().view()))
        .cut(truncation, moments)
}

/// The leading `limit` directions, by products.
fn by_combined_products(a: &Combined<'_>, limit: Rank, q: ArrayView1<'_, f64>) -> Decomposed {
    let ((one, s_one), (two, s_two), c) = (a.one, a.two, a.c.insert_axis(Axis(0)));
    let s: Vec<f64> = s_one.iter().chain(s_two).copied().chain([1.0]).collect();
    let (split, last) = (one.nrows(), s.len() - 1);
    let (beside, of_one, of_two) = (linalg::cross(two, one), linalg::cross(c, one), linalg::cross(c, two));
    let length = linalg::squared_lengths(c)[0];
    let gram = Array2::from_shape_fn((s.len(), s.len()), |(i, j)| match (i, j) {
        _ if i == j => s[i] * s[j] * if i == last { length } else { 1.0 },
        _ if i == last => s[j] * if j < split { of_one[[0, j]] } else { of_two[[0, j - split]] },
        _ if i >= split && j < split => s[i] * s[j] * beside[[i - split, j]],
        _ => 0.0,
    });
    let turn = Turn::of(gram.view(), limit);
    let u = &turn.u * &Array1::from(s);
    let ((u_one, rest), bases) = (u.view().split_at(Axis(1), split), [one, two, c]);
    let (u_two, u_c) = rest.split_at(Axis(1), last - split);
    let mut f = linalg::rotate_stacked(&[u_one, u_two, u_c], &bases);
    fill_constant(&mut f, q);
    turn.decomposed(f, q)
}

#[cfg(test)]
mod tests;
