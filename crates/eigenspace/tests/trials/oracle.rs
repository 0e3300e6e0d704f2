//! The truth about a set of rows: two passes over them in double-double.
//!
//! ```text
//! μ = Σ w x / Σ w        M = Σ w (x − μ)(x − μ)ᵀ        E = M − Vᵀ diag(s²) V
//! ```
//!
//! Weights are double-double too, because those of forgetting are powers. The error of M and E is
//! below 1e-28 of their largest entry for any number of rows tried here.

use eigenspace::EigenspaceModel;
use ndarray::Array2;

use crate::eigen::{Eigen, eigen};
use crate::number::{Dd, Number, add_multiple, fast, settle};

/// Bound on the rounding of the oracle itself, relative to the largest eigenvalue or to the
/// compared number.
pub(crate) const ORACLE_ERROR: f64 = 1e-26;

/// The second word of a double-double below this is not normal.
const SMALLEST_SCATTER: f64 = 1e-270;

/// Which rows of the data a model stands for, and what each weighs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    pub(crate) members: Vec<(usize, Dd)>,
    /// True if the rows are not centered on their mean.
    pub(crate) about_origin: bool,
}

impl Rows {
    pub(crate) fn weigh_less(&mut self, factor: Dd) {
        self.members.iter_mut().for_each(|(_, weight)| *weight = *weight * factor);
    }

    /// The same without those of another set.
    pub(crate) fn without(&self, part: &Self) -> Self {
        let mut members = self.members.clone();
        for (row, _) in &part.members {
            if let Some(at) = members.iter().position(|(other, _)| other == row) {
                members.remove(at);
            }
        }
        Self { members, about_origin: self.about_origin }
    }

    pub(crate) fn and(&self, other: &Self) -> Self {
        let members = [&self.members[..], &other.members].concat();
        Self { members, about_origin: self.about_origin || other.about_origin }
    }
}

/// The truth about those rows.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    pub(crate) features: usize,
    pub(crate) count: u64,
    pub(crate) weight: Dd,
    pub(crate) mean: Vec<Dd>,
    /// D × D.
    pub(crate) scatter: Vec<Dd>,
}

impl Truth {
    pub(crate) fn of(data: &Array2<f64>, rows: &Rows) -> Self {
        let d = data.ncols();
        let weight = rows.members.iter().fold(Dd::ZERO, |sum, (_, w)| sum + *w);
        // Differences of two f64 are exact here, so a constant feature has its mean and no scatter.
        // They are taken from the heaviest row: from one that is nearly forgotten, those of all
        // others would round.
        let heavier = |a: &&(usize, Dd), b: &&(usize, Dd)| a.1.hi.total_cmp(&b.1.hi);
        let heaviest = rows.members.iter().max_by(heavier).filter(|_| !rows.about_origin).map(|(i, _)| *i);
        let near = |j: usize| Dd::of(heaviest.map_or(0.0, |i| data[[i, j]]));
        let mut step = vec![Dd::ZERO; d];
        for (i, w) in rows.members.iter().filter(|_| !rows.about_origin) {
            for (j, sum) in step.iter_mut().enumerate() {
                *sum = *sum + *w * (Dd::of(data[[*i, j]]) - near(j)) / weight;
            }
        }
        let mut scatter = vec![Dd::ZERO; d * d];
        for (i, w) in &rows.members {
            let centered: Vec<Dd> = (0..d).map(|j| (Dd::of(data[[*i, j]]) - near(j)) - step[j]).collect();
            add_outer(&mut scatter, *w, &centered);
        }
        let mean = step.iter().enumerate().map(|(j, step)| near(j) + *step).collect();
        settle(&mut scatter);
        Self { features: d, count: rows.members.len() as u64, weight, mean, scatter }
    }

    pub(crate) fn feature_scatter(&self, j: usize) -> Dd {
        self.scatter[j * (self.features + 1)]
    }

    pub(crate) fn total(&self) -> Dd {
        (0..self.features).fold(Dd::ZERO, |sum, j| sum + self.feature_scatter(j))
    }

    /// The truth about the rows with each feature multiplied by a scale.
    pub(crate) fn scaled(&self, scales: &[Dd]) -> Self {
        let d = self.features;
        let mean = self.mean.iter().zip(scales).map(|(mean, scale)| *mean * *scale).collect();
        let scatter = self.scatter.iter().enumerate().map(|(i, x)| *x * scales[i / d] * scales[i % d]).collect();
        Self { mean, scatter, ..self.clone() }
    }

    /// What standardizing multiplies each feature by: constant ones are left alone. `None` if so
    /// little is left of the rows in which a feature varied that its scatter has lost digits to
    /// underflow.
    pub(crate) fn standard_scales(&self) -> Option<Vec<Dd>> {
        let scale = |j: usize| {
            let q = self.feature_scatter(j);
            match q.hi {
                0.0 => Some(Dd::ONE),
                q if q < SMALLEST_SCATTER => None,
                _ => Some((self.weight / q).sqrt()),
            }
        };
        (0..self.features).map(scale).collect()
    }

    pub(crate) fn eigen(&self) -> Eigen {
        eigen(&self.scatter, self.features)
    }

    /// E, the true scatter minus that of the model.
    pub(crate) fn error_of(&self, model: &EigenspaceModel) -> Vec<Dd> {
        let mut error = self.scatter.clone();
        for (direction, s) in model.basis().rows().into_iter().zip(model.all_singular_values()) {
            let direction: Vec<Dd> = direction.iter().map(|x| Dd::of(*x)).collect();
            add_outer(&mut error, -(Dd::of(*s) * Dd::of(*s)), &direction);
        }
        settle(&mut error);
        error
    }
}

/// `sum += factor x xᵀ`.
fn add_outer(sum: &mut [Dd], factor: Dd, x: &[Dd]) {
    fast(
        #[inline(always)]
        || {
            for (row, along) in sum.chunks_mut(x.len()).zip(x) {
                add_multiple(row, factor * *along, x);
            }
        },
    );
}
