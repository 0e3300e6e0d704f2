//! Eigenfaces: a recognizer that enrolls and forgets people without training again.
//!
//! | symbol | in the code | shape |
//! |---|---|---|
//! | μ, V, s | [`Recognizer::model`] | the eigenspace of all enrolled pictures |
//! | Z | [`Recognizer::coordinates`] | n × r, all directions |
//! | k | [`FaceOptions::components`] | how many of them are looked at |
//!
//! ```text
//! picture x ─► z = V_k (x − μ) ─► classifier ─► a person      unknown if no person is near (`span.rs`)
//!                                                             not a face if Q = ‖x − μ − V_kᵀz‖² is large
//! enroll:  V' from V and the new pictures,   Z' = Z V V'ᵀ + 1 (μ − μ')ᵀV'ᵀ        (`carry.rs`)
//! forget:  V' = V without their rows μ + zV,  the same for the others
//! ```
//!
//! A recognizer is a value: its model, the coordinates of every enrolled picture in *all* the model's directions, and the
//! settings. Classifiers and thresholds are learned from that when pictures are to be recognized ([`Recognizer::matcher`]) and are never
//! stored. Pictures stand in the order of their names, so after any sequence of
//! [`enroll`](Recognizer::enroll) and [`forget`](Recognizer::forget) a recognizer is the one that training from scratch on what is left gives:
//! coordinates up to sign and rounding, the same decisions. The old pictures are not needed for it, and not kept.
//!
//! | to | use |
//! |---|---|
//! | train, enroll, forget | [`Recognizer::train`], [`enroll`](Recognizer::enroll), [`forget`](Recognizer::forget) |
//! | recognize | [`Recognizer::matcher`], [`Matcher::recognize`] |
//! | keep | [`Recognizer::save`], [`Recognizer::load`] |
//! | measure | [`Protocol`], [`evaluate()`], with strangers [`evaluate_open`], [`psnr`], [`ssim`] |

mod carry;
mod classify;
mod enroll;
mod error;
mod evaluate;
mod file;
mod matcher;
mod metric;
mod open;
mod options;
mod protocol;
pub(crate) mod quality;
pub(crate) mod random;
mod rate;
mod recognizer;
mod span;
mod summary;
mod threshold;

pub use error::Error;
pub use evaluate::{Evaluation, Outcome, Step, Trial, evaluate, incremental};
pub use matcher::{Candidate, Match, Matcher, Recognition, Verdict};
pub use open::{
    OpenEvaluation, OpenOutcome, OpenRates, OpenSplit, OpenTrial, Rejection, evaluate_open, with_strangers,
};
pub use options::{Classifier, FaceOptions, Metric, Pixels, Threshold};
pub use protocol::{Protocol, Split};
pub use quality::{psnr, ssim};
pub use rate::Rate;
pub use recognizer::{Faces, Recognizer};
pub use summary::Summary;
pub use threshold::Thresholds;
