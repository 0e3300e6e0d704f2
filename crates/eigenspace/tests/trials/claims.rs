//! The claims of a model, each compared with the truth.
//!
//! Every check is strict: the only tolerance is the rounding of the oracle itself.

use eigenspace::{Certificate, EigenspaceModel};

use crate::eigen::{Eigen, eigen, extremes};
use crate::number::{Dd, Number, add_multiple, settle};
use crate::oracle::{ORACLE_ERROR, Truth};

/// `is_exact` promises an error below this share of the largest eigenvalue.
const EXACT_TOLERANCE: f64 = 1e-10;
/// Largest entry of V Vᵀ − I.
const ORTHONORMALITY_TOLERANCE: f64 = 1e-12;
/// Mean and feature scatter, relative to the spread of the feature.
const MOMENT_TOLERANCE: f64 = 1e-10;

/// A claim that is false.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    pub(crate) claim: &'static str,
    pub(crate) detail: String,
    /// By how much, as a share of the largest eigenvalue (or of 1, for what has no unit).
    pub(crate) excess: f64,
}

/// How the certificate compares with the truth, for the table of tightness.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tightness {
    pub(crate) exact: bool,
    /// The bound and the true norm of E, as shares of the largest eigenvalue.
    pub(crate) bound: f64,
    pub(crate) error: f64,
}

/// What a chain has done so far, as far as it widens what may be asked of sums.
#[derive(Debug, Clone)]
pub(crate) struct History {
    /// The largest scatter that each feature ever had, and the largest weight: a split cancels, and
    /// the rounding of the larger sums stays.
    pub(crate) scatter: Vec<f64>,
    /// The same before features were multiplied by scales.
    raw: Vec<f64>,
    pub(crate) weight: f64,
    /// What a mean may be off by relative to itself: no f64 is nearer than this.
    pub(crate) mean: f64,
}

impl History {
    pub(crate) fn of(truth: &Truth) -> Self {
        let scatter: Vec<f64> = (0..truth.features).map(|j| truth.feature_scatter(j).hi).collect();
        Self { raw: scatter.clone(), scatter, weight: truth.weight.hi, mean: 2.0 * f64::EPSILON }
    }

    /// The same for features multiplied by scales, which are themselves good to this relative
    /// error.
    pub(crate) fn scaled(&self, scales: &[Dd], mean: f64) -> Self {
        let scatter = self.scatter.iter().zip(scales).map(|(q, scale)| q * scale.hi * scale.hi).collect();
        Self { scatter, mean, ..self.clone() }
    }

    pub(crate) fn and(&self, other: &Self) -> Self {
        let larger = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a.max(*b)).collect();
        Self {
            scatter: larger(&self.scatter, &other.scatter),
            raw: larger(&self.raw, &other.raw),
            weight: self.weight.max(other.weight),
            mean: self.mean.max(other.mean),
        }
    }

    /// Whether what is left of a feature's forgotten rows is far below any rounding of the others.
    fn has_forgotten(&self, feature: usize) -> bool {
        let largest = self.raw.iter().fold(0.0_f64, |a, b| a.max(*b));
        self.raw[feature] > 0.0 && self.raw[feature] <= 1e-80 * largest
    }
}

/// Collects false claims.
struct Checks {
    violations: Vec<Violation>,
    largest: f64,
}

impl Checks {
    fn that(&mut self, claim: &'static str, holds: bool, excess: f64, detail: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation { claim, detail: detail(), excess });
        }
    }

    /// truth ≤ limit, both in units of the scatter.
    fn at_most(&mut self, claim: &'static str, truth: Dd, limit: f64, slack: f64) {
        let beyond = (truth - Dd::of(limit)).hi;
        let excess = beyond / self.largest;
        self.that(claim, beyond <= slack, excess, || format!("{:e} above {limit:e}, by {excess:.1e} of λ₁", truth.hi));
    }
}

/// All claims of a model of rows whose scatter has these eigenvalues and eigenvectors.
pub(crate) fn check(
    model: &EigenspaceModel,
    truth: &Truth,
    eigen: &Eigen,
    history: &History,
) -> (Vec<Violation>, Option<Tightness>) {
    let mut checks = Checks { violations: Vec::new(), largest: 1.0 };
    if !shape(&mut checks, model, truth, history) {
        return (checks.violations, None);
    }
    moments(&mut checks, model, truth, history);
    let largest = eigen.values.first().map_or(0.0, |value| value.hi);
    checks.largest = if largest > 0.0 { largest } else { f64::MIN_POSITIVE };
    let certificate = model.certificate();
    let tightness = error(&mut checks, &certificate, model, truth);
    eigenvalues(&mut checks, &certificate, eigen, truth);
    angles(&mut checks, &certificate, model, eigen);
    (checks.violations, tightness)
}

/// Finite numbers, sorted singular values, an orthonormal basis, the right counts.
fn shape(checks: &mut Checks, model: &EigenspaceModel, truth: &Truth, history: &History) -> bool {
    let numbers = || {
        model.basis().into_iter().chain(model.all_singular_values()).chain(model.mean()).chain(model.feature_scatter())
    };
    let finite = numbers().all(|x| x.is_finite()) && model.weight().is_finite();
    checks.that("finite", finite, 1.0, || "a number that is not finite".to_owned());
    let values = model.all_singular_values();
    let sorted = values.windows(2).into_iter().all(|pair| pair[0] >= pair[1]) && values.iter().all(|s| *s >= 0.0);
    checks.that("sorted", sorted, 1.0, || format!("{values}"));
    checks.that("count", model.count() == truth.count, 1.0, || format!("{} for {}", model.count(), truth.count));
    let off = (model.weight() - truth.weight.hi).abs() / truth.weight.hi.max(f64::MIN_POSITIVE);
    // Weights are summed, and a split subtracts them.
    let sum = (truth.count as f64 + 64.0) * f64::EPSILON;
    let limit = sum * (history.weight / truth.weight.hi.max(f64::MIN_POSITIVE)).max(1.0);
    checks.that("weight", off <= limit, off, || format!("{} for {}", model.weight(), truth.weight.hi));
    let basis = model.basis();
    let product = basis.dot(&basis.t());
    let off = product.indexed_iter().fold(0.0_f64, |worst, ((i, j), x)| {
        let off = (x - f64::from(u8::from(i == j))).abs();
        if off.is_nan() { f64::INFINITY } else { worst.max(off) }
    });
    checks.that("orthonormal", off <= ORTHONORMALITY_TOLERANCE, off, || format!("off by {off:.1e}"));
    finite
}

/// Mean and feature scatter, each feature in units of its own spread.
fn moments(checks: &mut Checks, model: &EigenspaceModel, truth: &Truth, history: &History) {
    if truth.count == 0 {
        return;
    }
    let weight = truth.weight.hi;
    for j in (0..truth.features).filter(|&j| !history.has_forgotten(j)) {
        let mean = truth.mean[j].hi.abs();
        let representable = if history.mean.is_finite() { history.mean * mean } else { f64::INFINITY };
        let spread = (history.scatter[j] / weight).sqrt() * (history.weight / weight).max(1.0);
        let off = (Dd::of(model.mean()[j]) - truth.mean[j]).hi.abs();
        let limit = MOMENT_TOLERANCE * spread + representable;
        checks.that("mean", off <= limit, off / spread, || {
            format!("feature {j}: off by {off:.1e} of {mean:e}, spread {spread:.1e}")
        });
        let off = (Dd::of(model.feature_scatter()[j]) - truth.feature_scatter(j)).hi.abs();
        let limit = MOMENT_TOLERANCE * history.scatter[j] + history.weight * (2.0 * f64::EPSILON * mean).powi(2);
        checks.that("feature scatter", off <= limit, off / history.scatter[j], || {
            format!("feature {j}: off by {off:.1e} of {:e}", history.scatter[j])
        });
    }
}

/// −surplus ≤ E ≤ lost, ‖E‖ ≤ error bound, and what `is_exact` promises.
fn error(checks: &mut Checks, certificate: &Certificate, model: &EigenspaceModel, truth: &Truth) -> Option<Tightness> {
    let error = truth.error_of(model);
    let (mut low, mut high) = extremes(&error, truth.features);
    if high > certificate.lost() || -low > certificate.surplus() {
        // Once more with all digits: one end may be rounding of the other.
        let values = eigen(&error, truth.features).values;
        low = values.iter().fold(f64::INFINITY, |low, value| low.min(value.hi));
        high = values.iter().fold(f64::NEG_INFINITY, |high, value| high.max(value.hi));
    }
    let norm = high.max(-low);
    let slack = |truth: f64| 1e-13 * truth.abs() + ORACLE_ERROR * checks.largest;
    let (for_norm, for_high, for_low) = (slack(norm), slack(high), slack(low));
    checks.at_most("error bound", Dd::of(norm), certificate.error_bound(), for_norm);
    checks.at_most("lost", Dd::of(high), certificate.lost(), for_high);
    checks.at_most("surplus", Dd::of(-low), certificate.surplus(), for_low);
    if certificate.is_exact() {
        checks.at_most("is_exact", Dd::of(norm), EXACT_TOLERANCE * checks.largest, for_norm);
    }
    (checks.largest > f64::MIN_POSITIVE).then(|| Tightness {
        exact: certificate.is_exact(),
        bound: certificate.error_bound() / checks.largest,
        error: norm / checks.largest,
    })
}

/// Both limits of every eigenvalue, and of the share that the first j hold together.
fn eigenvalues(checks: &mut Checks, certificate: &Certificate, eigen: &Eigen, truth: &Truth) {
    let slack = ORACLE_ERROR * checks.largest;
    let total = truth.total();
    let mut held = Dd::ZERO;
    for (i, value) in eigen.values.iter().enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        checks.at_most("eigenvalue below", *value, high, slack);
        checks.at_most("eigenvalue above", -*value, -low, slack);
        held = held + *value;
        if total.hi > 0.0 {
            let (low, high) = certificate.captured_bounds(i + 1);
            let share = held / total;
            let off = (share - Dd::of(high)).hi.max((Dd::of(low) - share).hi);
            checks.that("captured", off <= ORACLE_ERROR, off, || {
                format!("{} directions hold {}, not within {low} and {high}", i + 1, share.hi)
            });
        }
    }
}

/// The angle bound for every k: sin ∠ = ‖V[..k] Uᵀ[k..]‖ with U the true eigenvectors.
fn angles(checks: &mut Checks, certificate: &Certificate, model: &EigenspaceModel, eigen: &Eigen) {
    let (r, d) = (model.rank(), model.features());
    // V Uᵀ, row by row: a column of U belongs to a feature.
    let columns: Vec<Vec<Dd>> = (0..d).map(|j| (0..d).map(|i| eigen.vectors[i * d + j]).collect()).collect();
    let mut across = vec![Dd::ZERO; r * d];
    for (out, direction) in across.chunks_mut(d).zip(model.basis().rows()) {
        direction.iter().zip(&columns).for_each(|(x, column)| add_multiple(out, Dd::of(*x), column));
    }
    settle(&mut across);
    for k in 1..=d {
        let bound = certificate.angle_bound(k);
        checks.that("angle", bound >= 0.0, 1.0, || format!("angle bound {bound}"));
        if bound >= 1.0 || k > r || k == d {
            checks.that("angle", k <= r || bound >= 1.0, 1.0, || format!("a bound of {bound} for more than the rank"));
            continue;
        }
        let gap = (eigen.values[k - 1] - eigen.values[k]).hi;
        checks.that("angle", gap > ORACLE_ERROR * checks.largest, 1.0, || {
            format!("{bound:e} for k = {k}, but there is no gap")
        });
        let outside: Vec<f64> = (0..k).flat_map(|i| across[i * d + k..(i + 1) * d].iter().map(|x| x.hi)).collect();
        let frobenius = outside.iter().map(|x| x * x).sum::<f64>().sqrt();
        let slack = 1e-12 * frobenius + ORACLE_ERROR * checks.largest / gap.max(f64::MIN_POSITIVE);
        if frobenius <= bound {
            continue;
        }
        let sine = norm(&outside, k, d - k);
        checks.that("angle", sine <= bound + slack, sine - bound, || {
            format!("sine {sine:e} above {bound:e} for k = {k}")
        });
    }
}

/// The spectral norm of a matrix.
fn norm(a: &[f64], rows: usize, columns: usize) -> f64 {
    let largest = a.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 || columns == 0 {
        return 0.0;
    }
    let mut gram = vec![Dd::ZERO; rows * rows];
    for i in 0..rows {
        for j in 0..rows {
            let pairs = a[i * columns..(i + 1) * columns].iter().zip(&a[j * columns..(j + 1) * columns]);
            gram[i * rows + j] = Dd::of(pairs.map(|(x, y)| (x / largest) * (y / largest)).sum());
        }
    }
    extremes(&gram, rows).1.max(0.0).sqrt() * largest
}
