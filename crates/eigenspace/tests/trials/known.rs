//! Rows for which a certificate was wrong once, found by other means than these trials.

use eigenspace::{Block, EigenspaceModel, Method, Truncation};
use ndarray::{Array2, array};

use crate::claims::{History, check};
use crate::number::{Dd, Number};
use crate::oracle::{Rows, Truth};

/// Features with spreads from 1e-8 to 1e6 and one row with nearly all of the weight: the weak
/// features are computed from strong directions that nearly cancel in them.
fn unlike_units() -> (Array2<f64>, Vec<f64>) {
    let rows = array![
        [
            27561592.234937128,
            3.711286634500484e-05,
            13.489436090096564,
            195145.3937581224,
            107937200049.23317,
            11145.19671225666,
            2564.5911245023267,
            38791423.578971274
        ],
        [
            27441032.975675825,
            3.741176369831995e-05,
            13.499618596842682,
            195174.0683503428,
            107928869872.16681,
            11129.63730384273,
            2564.5911079886037,
            38759319.86619814
        ],
        [
            27404507.520531002,
            3.741790936571983e-05,
            13.480753804559766,
            195088.74608465756,
            107934791377.44012,
            11098.333253025941,
            2564.5911417821744,
            38774047.30056995
        ]
    ];
    (rows, vec![322.09061913095707, 0.001315380652485967, 0.00480373465819475])
}

#[test]
fn weak_features_of_weighted_rows_stay_within_the_bound() {
    let (rows, weights) = unlike_units();
    let members = weights.iter().map(|w| Dd::of(*w)).enumerate().collect();
    let truth = Truth::of(&rows, &Rows { members, about_origin: false });
    let scales = truth.standard_scales().expect("every feature varies");
    let standard = truth.scaled(&scales);
    for method in [Method::Gram, Method::Svd, Method::Covariance, Method::Auto] {
        let block = Block::from(rows.view()).weighted(&weights);
        let model = EigenspaceModel::fit_with(block, method, Truncation::None).expect("finite rows");
        let (raw, _) = check(&model, &truth, &truth.eigen(), &History::of(&truth));
        assert!(raw.is_empty(), "{method:?}: {raw:?}");
        let view = model.standardize().expect("every feature varies");
        let history = History::of(&truth).scaled(&scales, f64::INFINITY);
        let (standardized, _) = check(view.model(), &standard, &standard.eigen(), &history);
        assert!(standardized.is_empty(), "{method:?}: {standardized:?}");
    }
}
