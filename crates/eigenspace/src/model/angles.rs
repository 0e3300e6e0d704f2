//! Principal angles between subspaces.
//!
//! ```text
//! cos θ_i = σ_i(A Bᵀ)        sin θ_i = σ_i(B − (B Aᵀ) A)        A, B orthonormal rows
//! ```
//!
//! The cosine is not precise for angles below √ε, and the sine is not precise near a right angle,
//! so each angle is computed from the one that is precise there (Björck & Golub 1973; Knyazev &
//! Argentati 2002). If the spaces have different dimensions, the number of angles is the smaller
//! dimension.

use ndarray::{Array1, Array2, ArrayView2};

use crate::error::Error;
use crate::linalg;
use crate::linalg::orthogonality_loss;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::rows::block;

/// Rows are orthonormalized first if an entry of V Vᵀ − I is larger than this.
const LARGEST_LOSS_AFTER_ROUNDING: f64 = 1e-14;

/// The principal angles, in radians and increasing, between the spaces spanned by the rows of two
/// matrices.
///
/// ```
/// use eigenspace::principal_angles;
/// use ndarray::array;
///
/// let floor = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// let tilted = array![[1.0, 0.0, 0.0], [0.0, 1.0, 1e-9]];
/// let angles = principal_angles(floor.view(), tilted.view())?;
/// assert!(angles[0] < 1e-15 && (angles[1] - 1e-9).abs() < 1e-15);
/// # Ok::<(), eigenspace::Error>(())
/// ```
pub fn principal_angles(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Result<Array1<f64>, Error> {
    if a.ncols() != b.ncols() {
        return Err(Error::FeatureMismatch { left: a.ncols(), right: b.ncols() });
    }
    let (a, b) = (orthonormal(a)?, orthonormal(b)?);
    if a == b {
        return Ok(Array1::zeros(a.nrows())); // the angle of a space with itself, without rounding
    }
    let (large, small) = if a.nrows() >= b.nrows() { (a, b) } else { (b, a) };
    if small.nrows() == 0 {
        return Ok(Array1::zeros(0));
    }
    let inside = linalg::cross(small.view(), large.view());
    let (cosines, _) = linalg::thin_svd(inside.view());
    let outside = &small - &linalg::rotate(inside.view(), large.view());
    let (mut sines, _) = linalg::thin_svd(outside.view());
    sines.invert_axis(ndarray::Axis(0));
    let angle = |(cosine, sine): (&f64, &f64)| {
        if *sine < std::f64::consts::FRAC_1_SQRT_2 { sine.asin() } else { cosine.clamp(0.0, 1.0).acos() }
    };
    Ok(cosines.iter().zip(&sines).map(angle).collect())
}

/// The sine of the largest principal angle: 0 for equal spaces, 1 if one has a direction orthogonal
/// to the other.
pub fn subspace_distance(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Result<f64, Error> {
    Ok(principal_angles(a, b)?.last().map_or(0.0, |angle| angle.sin()))
}

impl EigenspaceModel {
    /// The principal angles between the reported components of two models.
    pub fn angles(&self, other: &Self) -> Result<Array1<f64>, Error> {
        principal_angles(self.components(), other.components())
    }

    /// The principal angles between the first k directions of two models. A model that keeps fewer
    /// is compared with all of its directions.
    pub fn angles_of_first(&self, other: &Self, k: usize) -> Result<Array1<f64>, Error> {
        let first = |model: &Self| linalg::rows_of(model.basis(), 0..k.min(model.rank())).to_owned();
        principal_angles(first(self).view(), first(other).view())
    }

    /// The sine of the largest angle between the reported components of two models.
    pub fn subspace_distance(&self, other: &Self) -> Result<f64, Error> {
        subspace_distance(self.components(), other.components())
    }
}

/// The sign, 1 or −1, by which to multiply each direction of `next` so that it points to the same
/// side as the direction of `previous` with the same number, which is multiplied by `signs`.
/// Directions that `previous` lacks have the sign 1.
pub fn signs_like(previous: ArrayView2<'_, f64>, signs: &[f64], next: ArrayView2<'_, f64>) -> Vec<f64> {
    let sign = |(i, row): (usize, ndarray::ArrayView1<'_, f64>)| match signs.get(i) {
        Some(sign) if i < previous.nrows() && previous.row(i).dot(&row) * sign < 0.0 => -1.0,
        _ => 1.0,
    };
    next.rows().into_iter().enumerate().map(sign).collect()
}

fn orthonormal(rows: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    block::check(rows, rows.ncols())?;
    if orthogonality_loss(rows) <= LARGEST_LOSS_AFTER_ROUNDING {
        return Ok(rows.to_owned());
    }
    let (values, directions) = linalg::thin_svd(rows);
    let floor = values.first().copied().unwrap_or(0.0) * f64::EPSILON * rows.ncols() as f64;
    let rank = values.iter().take_while(|&&s| s > floor).count();
    Ok(linalg::rows_of(directions.view(), 0..rank).to_owned())
}
