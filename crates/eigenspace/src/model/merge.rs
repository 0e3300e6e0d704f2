//! Merge: computes the eigenspace of two sets of rows from their two eigenspaces alone.
//!
//! | symbol | in the code | shape |
//! |---|---|---|
//! | w₁, w₂ | `self.weight()`, `other.weight()` | 1 |
//! | μ₁, μ₂ | `self.mean()`, `other.mean()` | D |
//! | V₁, V₂ | `self.basis()`, `other.basis()` | r₁ × D, r₂ × D |
//! | s₁, s₂ | `self.all_singular_values()`, `other.all_singular_values()` | r₁, r₂ |
//! | c | `c` | D |
//!
//! The scatters are added, with one rank-one term for the difference between the means:
//!
//! ```text
//! M₃ = M₁ + M₂ + c cᵀ,   c = √(w₁ w₂ / w₃) (μ₁ − μ₂)       so   M₃ = AᵀA,   A = [ s₁V₁ ; s₂V₂ ; c ]
//! ```
//!
//! The row space of A is Hall, Marshall and Martin's sufficient spanning set (*Merging and
//! splitting eigenspace models*, IEEE TPAMI 22(9), 2000). If covariances are normalized by 1/N, as
//! in the first source document, the last factor is N₁N₂/N₃², not N₁N₂/N₃ as printed there.
//!
//! Cost: O(D (r₁ + r₂ + 1)²). Exact if nothing is truncated; lost₃ = lost₁ + lost₂ + what this step
//! drops.

use std::cmp::Ordering;

use ndarray::ArrayView1;

use crate::error::Error;
use crate::model::combined::{Combined, reduce_combined};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::truncation::Truncation;

impl EigenspaceModel {
    /// The model of the rows of both.
    ///
    /// Commutative; associative as long as nothing is dropped; [`EigenspaceModel::empty`] is
    /// neutral. The result reports as many components as `self`, or as `other` if `self` is empty.
    /// It keeps the [metadata](Self::metadata) that both share.
    pub fn merge(&self, other: &Self, truncation: Truncation) -> Result<Self, Error> {
        self.same_kind(other)?;
        let truncation = truncation.check()?;
        if other.is_empty() {
            return self.truncate(truncation);
        }
        if self.is_empty() {
            return other.truncate(truncation);
        }
        // The model with the larger weight comes first, so that merging commutes to the last bit.
        let (one, two) = if self.comes_first(other) { (self, other) } else { (other, self) };
        let (moments, c) = one.moments.merge(&two.moments)?;
        let a = Combined {
            one: (one.basis(), one.all_singular_values()),
            two: (two.basis(), two.all_singular_values()),
            c: c.view(),
        };
        let reduced = reduce_combined(&a, truncation, &moments);
        let bound = one.bound.combined(&two.bound, (one.weight(), two.weight()), moments.scatter(), &c);
        let metadata = self.metadata.shared_with(&other.metadata);
        Ok(Self::from_reduced(moments, reduced, bound, self.components).carrying(&metadata))
    }

    /// An order of models that does not depend on which one is `self`.
    fn comes_first(&self, other: &Self) -> bool {
        let compare = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| {
            a.iter().zip(b).map(|(a, b)| b.total_cmp(a)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let by_weight = other.weight().total_cmp(&self.weight());
        let by_mean = || compare(self.mean(), other.mean());
        let by_spectrum = || compare(self.all_singular_values(), other.all_singular_values());
        let by_scatter = || compare(self.feature_scatter(), other.feature_scatter());
        let by_basis = || {
            let rows = self.basis().into_iter().zip(other.basis());
            rows.map(|(a, b)| b.total_cmp(a)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        by_weight.then_with(by_mean).then_with(by_spectrum).then_with(by_scatter).then_with(by_basis).is_le()
    }

    /// The model of the rows of all models, merged as a balanced tree: neighbors in pairs, then
    /// pairs of pairs. The truncation rule is applied at every node.
    pub fn merge_all<'a>(models: impl IntoIterator<Item = &'a Self>, truncation: Truncation) -> Result<Self, Error> {
        let mut level: Vec<Self> = models.into_iter().cloned().collect();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| match pair {
                    [one, two] => one.merge(two, truncation),
                    rest => Ok(rest[0].clone()),
                })
                .collect::<Result<_, _>>()?;
        }
        level.pop().ok_or(Error::NoModels)?.truncate(truncation)
    }
}
