//! Eigenfaces: a recognizer that enrolls and forgets people without retraining.
//!
//! | symbol | in the code | shape |
//! |---|---|---|
//! | μ, V, s | [`Recognizer::model`] | the eigenspace of all enrolled images |
//! | Z | [`Recognizer::scores`] | n × r: the scores of every image in all directions |
//! | k | [`FaceOptions::components`] | the number of scores used for recognition |
//!
//! ```text
//! image x ─► z = V_k (x − μ) ─► classifier ─► a person      unknown if no person is near (`span.rs`)
//!                                                           not a face if Q = ‖x − μ − V_kᵀz‖² is large
//! enroll:  V' from V and the new images,         Z' = Z V V'ᵀ + 1 (μ − μ')ᵀV'ᵀ        (`carry.rs`)
//! forget:  V' from V without the rows μ + zV,    Z' in the same way
//! ```
//!
//! A recognizer is a value: its model, the scores of every enrolled image in *all* directions of
//! the model, and the settings. Classifiers and thresholds are learned from the scores before
//! images are recognized ([`Recognizer::matcher`]) and are never stored. Images are kept in the
//! order of their names. After any sequence of [`enroll`](Recognizer::enroll) and
//! [`forget`](Recognizer::forget), a recognizer is therefore the same as if it had been trained
//! from scratch on the remaining images: equal scores up to sign and rounding, and the same
//! decisions. The old images are neither needed nor kept.
//!
//! | to | use |
//! |---|---|
//! | train, enroll, forget | [`Recognizer::train`], [`enroll`](Recognizer::enroll), [`forget`](Recognizer::forget) |
//! | recognize | [`Recognizer::matcher`], [`Matcher::recognize`] |
//! | store | [`Recognizer::save`], [`Recognizer::load`] |
//! | evaluate | [`Protocol`], [`evaluate()`], with strangers [`evaluate_open`], [`psnr`], [`ssim`] |

mod carry;
mod classify;
mod enroll;
mod error;
mod evaluate;
pub(crate) mod file;
mod matcher;
mod metric;
mod open;
mod options;
mod protocol;
pub(crate) mod quality;
mod rate;
#[cfg(feature = "images")]
pub(crate) mod read;
mod recognizer;
mod settings;
mod span;
mod summary;
mod threshold;

pub use error::Error;
pub use evaluate::{Evaluation, Outcome, Step, Trial, evaluate, incremental};
pub use matcher::{Candidate, Match, Matcher, Recognition, Verdict};
pub use open::{
    OpenEvaluation, OpenOutcome, OpenRates, OpenSplit, OpenTrial, Rejection, evaluate_open, with_strangers,
};
pub use options::FaceOptions;
pub use protocol::{Protocol, Split};
pub use quality::{psnr, ssim};
pub use rate::Rate;
pub use recognizer::{Faces, Recognizer};
pub use settings::{Classifier, Metric, Pixels, Threshold};
pub use summary::Summary;
pub use threshold::Thresholds;
