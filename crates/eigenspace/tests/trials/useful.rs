//! Bounds must not only hold, but also be useful: what they must guarantee if nothing was dropped.

use eigenspace::EigenspaceModel;

use crate::claims::Violation;
use crate::generators::{Family, Twist};
use crate::number::Dd;
use crate::oracle::Truth;

/// A certificate of rows that were all kept says at least this much.
const USEFUL_BOUND: f64 = 1e-6;
/// A direction with this share of the largest eigenvalue is never missing where all were to be
/// kept.
const REAL_DIRECTION: f64 = 1e-10;

/// Rows whose differences are below the last digits of their means.
fn hopeless(family: Family, twist: Twist) -> bool {
    family == Family::NearDuplicates || twist == Twist::FarOffset
}

pub(crate) fn raw(
    model: &EigenspaceModel,
    truth: &Truth,
    values: &[Dd],
    lossless: bool,
    family: Family,
    twist: Twist,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let bound = model.certificate().relative_error_bound();
    if lossless && !hopeless(family, twist) {
        if bound > USEFUL_BOUND {
            violations.push(Violation {
                claim: "useful",
                detail: format!("relative bound {bound:.1e}"),
                excess: bound,
            });
        }
        let largest = values.first().map_or(0.0, |value| value.hi);
        let real = values.iter().filter(|value| value.hi > REAL_DIRECTION * largest).count();
        if model.rank() < real {
            let detail = format!("{} of {real} directions", model.rank());
            violations.push(Violation { claim: "rank", detail, excess: values[model.rank()].hi / largest });
        }
    }
    // A sample variance of weights that sum to one is a division by rounding.
    if truth.count > 1 && (truth.weight.hi - 1.0).abs() < 1e-9 && model.explained_variance(1.0).is_ok() {
        let detail = format!("a sample variance of weight {}", model.weight());
        violations.push(Violation { claim: "divisor", detail, excess: 1.0 });
    }
    violations
}

pub(crate) fn standardized(model: &EigenspaceModel, lossless: bool, family: Family, twist: Twist) -> Vec<Violation> {
    let bound = model.certificate().relative_error_bound();
    let asked = lossless && !hopeless(family, twist) && !matches!(twist, Twist::NearlyConstant | Twist::Offset);
    if asked && bound > USEFUL_BOUND {
        let detail = format!("relative bound {bound:.1e}");
        return vec![Violation { claim: "useful standardized", detail, excess: bound }];
    }
    Vec::new()
}
