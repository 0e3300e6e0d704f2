//! Split: take a part out of a whole again.
//!
//! | symbol | in the code | shape |
//! |---|---|---|
//! | w₃, μ₃, s₃V₃ | `self` | the whole |
//! | w₂, μ₂, s₂V₂ | `part` | what leaves |
//! | Q | `q` | orthonormal rows that span V₃ and, where it sticks out, [ s₂V₂ ; c ] |
//! | K | `k` | what remains, in coordinates of Q |
//!
//! ```text
//! μ₁ = (w₃ μ₃ − w₂ μ₂) / w₁,   c = √(w₁ w₂ / w₃) (μ₁ − μ₂),   M₁ = M₃ − M₂ − c cᵀ
//! K = diag(s₃²) − P Pᵀ,   P = Q [ s₂V₂ ; c ]ᵀ,   K = Z diag(s₁²) Zᵀ,   V₁ = Zᵀ Q
//! ```
//!
//! When nothing was ever dropped, M₁ lives inside the span of V₃ and Q = V₃. A truncated whole may
//! miss directions of the part; then Q is completed by them, for otherwise the cross terms would be
//! lost, and they are not covered by the bounds of the whole and the part.
//!
//! L₁ = L₃ − L₂ − c cᵀ differs from M₁ by E₃ − E₂, so lost₁ = lost₃ + surplus₂ and surplus₁ = surplus₃ +
//! lost₂. M₁ has no negative eigenvalue, hence L₁ none below −lost₁; one that is clearly below means
//! that the part was never in the whole: an error, not a clamp. Those within the bound are set to
//! zero, which adds their magnitude to surplus₁.
//!
//! Subtraction cancels: the rounding of M₃ stays behind in M₁, as `noise` in its bound. A large part
//! taken out of a small rest leaves a model that knows how little it knows.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, concatenate};

use crate::block::Block;
use crate::certificate::Bound;
use crate::error::Error;
use crate::linalg;
use crate::model::EigenspaceModel;
use crate::moments::Moments;
use crate::reduce::Decomposed;
use crate::truncation::Truncation;

impl EigenspaceModel {
    /// The model of the rows of `self` without those of `part`.
    ///
    /// Undoes [`merge`](Self::merge). Refuses a part that is larger than the whole, or that was
    /// never in it as far as the two models can tell: rows that spread less than the whole in all of
    /// its directions cannot be told from rows that were in it.
    pub fn split(&self, part: &Self) -> Result<Self, Error> {
        self.same_kind(part)?;
        if part.is_empty() {
            return Ok(self.clone());
        }
        let (whole_weight, part_weight) = (self.weight(), part.weight());
        if part.count() > self.count() || part_weight > whole_weight * (1.0 + 1e-9) {
            return Err(Error::SplitTooLarge { whole: self.count(), part: part.count(), whole_weight, part_weight });
        }
        // Rows would remain, but their weight is lost in the rounding of the whole's.
        if part.count() < self.count() && whole_weight - part_weight <= 64.0 * f64::EPSILON * whole_weight {
            return Err(Error::SplitTooLarge { whole: self.count(), part: part.count(), whole_weight, part_weight });
        }
        let everything = part.count() == self.count();
        let (mut moments, c) = if everything {
            let c = (&self.mean() - &part.mean()) * whole_weight.sqrt();
            (Moments::empty(self.features()).about(!self.is_centred()), c)
        } else {
            self.moments.split(&part.moments)
        };

        let leaving = concatenate![Axis(0), part.factor(), c.view().insert_axis(Axis(0))];
        let largest = self.spectrum.largest().max(part.spectrum.largest()).powi(2);
        let rounding = Rounding::of(&self.moments, &part.moments, self.rank() + leaving.nrows());
        let floor = rounding.at(largest, self.moments.varying_mean(), norm(c.view()));
        // Cross terms of what is left outside the span are at most its length times s₁.
        let ignored = if largest > 0.0 { floor / largest.sqrt() } else { 0.0 };
        let q = self.span_with(leaving.view(), ignored)?;
        let p = linalg::cross(q.view(), leaving.view());
        let mut k = -p.dot(&p.t());
        for (i, s) in self.singular_values().iter().enumerate() {
            k[[i, i]] += s * s;
        }
        let (lambda, turn) = linalg::eigh(k.view())?;
        let smallest = lambda.last().copied().unwrap_or(0.0).min(0.0);
        let greatest = lambda.first().copied().unwrap_or(0.0);

        let noise = self.bound.noise + part.bound.noise;
        let bound = Bound {
            lost: self.bound.lost + part.bound.surplus,
            surplus: self.bound.surplus + part.bound.lost,
            noise: noise + floor,
        };
        let allowed = -(bound.lost + bound.noise);
        if smallest < allowed {
            return Err(Error::NotAPart { scatter: smallest, allowed });
        }
        if everything {
            // Nothing remains, so nothing may be left over either.
            let allowed = bound.surplus + bound.noise;
            return if greatest > allowed {
                Err(Error::NotAPart { scatter: -greatest, allowed: -allowed })
            } else {
                Ok(Self { moments, components: self.components, ..Self::empty(self.features()) })
            };
        }
        check_features(&mut moments.scatter, &self.moments, c.view(), &rounding, noise)?;

        let clamped = if -smallest > bound.noise { -smallest } else { 0.0 };
        let bound = Bound { surplus: bound.surplus + clamped, ..bound };
        let decomposed = Decomposed {
            values: lambda.mapv(|value| value.max(0.0).sqrt()),
            directions: linalg::rotate(turn.view(), q.view()),
            beyond: 0.0,
        };
        let reduced = decomposed.cut(Truncation::None, floor.sqrt(), &moments);
        Ok(Self::from_reduced(moments, reduced, bound, self.components))
    }

    /// The model without these rows, which must have been absorbed before, with the same weights.
    pub fn remove<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Self, Error> {
        let block = rows.into();
        block.check(self.features())?;
        self.split(&Self::batch(block)?)
    }

    /// The model in which `new` rows stand in the place of `old` ones: a step of a sliding window.
    pub fn replace<'a, 'b>(
        &self,
        old: impl Into<Block<'a>>,
        new: impl Into<Block<'b>>,
        truncation: Truncation,
    ) -> Result<Self, Error> {
        let old = old.into();
        old.check(self.features())?;
        self.update(new, Truncation::None)?.remove(old)?.truncate(truncation)
    }

    /// Orthonormal rows that span the basis and, where they stick out of it, these rows too.
    fn span_with(&self, rows: ArrayView2<'_, f64>, floor: f64) -> Result<Array2<f64>, Error> {
        let basis = self.basis();
        let outside = outside_of(basis, rows);
        if outside.rows().into_iter().all(|row| row.dot(&row) <= floor * floor) {
            return Ok(basis.to_owned());
        }
        let (values, directions) = linalg::thin_svd(outside.view())?;
        let live = values.iter().take_while(|&&s| s > floor).count().min(self.features() - self.rank());
        let mut more = outside_of(basis, linalg::rows_of(directions.view(), 0..live));
        for mut row in more.rows_mut() {
            let norm = row.dot(&row).sqrt();
            row /= norm;
        }
        Ok(concatenate![Axis(0), basis, more])
    }
}

/// What of these rows lies outside a basis.
fn outside_of(basis: ArrayView2<'_, f64>, rows: ArrayView2<'_, f64>) -> Array2<f64> {
    let inside = linalg::cross(rows, basis);
    &rows - &linalg::rotate(inside.view(), basis)
}

/// How much a difference of two scatters can be off by rounding alone.
struct Rounding {
    /// Relative error of the scatters: they are sums over all the rows.
    relative: f64,
    /// Relative error of a mean, as it appears in c after the division by what remains.
    mean: f64,
}

impl Rounding {
    fn of(whole: &Moments, part: &Moments, size: usize) -> Self {
        let left = if whole.count > part.count { whole.weight - part.weight } else { 1.0 };
        Self {
            relative: 4.0 * f64::EPSILON * (size as f64 + 16.0 + (whole.count as f64).sqrt()),
            mean: 4.0 * f64::EPSILON * (part.weight * whole.weight / left).sqrt(),
        }
    }

    /// Of a scatter of this size, when means of this length were subtracted and c is this long.
    fn at(&self, scatter: f64, mean: f64, c: f64) -> f64 {
        let shift = self.mean * mean;
        self.relative * scatter + shift * (2.0 * c + shift)
    }
}

/// Refuses a per-feature scatter that became clearly negative, and clears its rounding.
fn check_features(
    scatter: &mut Array1<f64>,
    whole: &Moments,
    c: ArrayView1<'_, f64>,
    rounding: &Rounding,
    noise: f64,
) -> Result<(), Error> {
    for (((q, before), mean), c) in scatter.iter_mut().zip(&whole.scatter).zip(&whole.mean).zip(c) {
        let allowed = -rounding.at(*before, mean.abs(), c.abs()) - noise;
        if *q < allowed {
            return Err(Error::NotAPart { scatter: *q, allowed });
        }
        *q = q.max(0.0);
    }
    Ok(())
}

fn norm(x: ArrayView1<'_, f64>) -> f64 {
    x.dot(&x).sqrt()
}
