//! PCA models that you can add rows to, merge, take apart again and trust, without the old data.
//!
//! # Conventions
//! * A block has one observation per row: n × D.
//! * A model stores the *scatter* Σ (x − μ)(x − μ)ᵀ, a sum, so merging adds. Variances are views that
//!   take their divisor as an argument: `weight − ddof`.
#![forbid(unsafe_code)]

mod angles;
mod basis;
mod batch;
mod block;
mod certificate;
mod disk;
mod distance;
mod element;
mod error;
mod factor;
mod file;
mod fit;
mod linalg;
mod merge;
mod model;
mod moments;
mod plan;
mod project;
mod reduce;
mod scatter;
mod spectrum;
mod split;
mod stream;
mod truncation;
mod update;
mod variance;

pub use angles::{principal_angles, subspace_distance};
pub use batch::Method;
pub use certificate::Certificate;
pub use distance::ReconstructionError;
pub use element::Element;
pub use error::{Error, FormatError};
pub use fit::FitOptions;
pub use model::EigenspaceModel;
pub use plan::{Engine, Plan};
pub use stream::EigenspaceStream;
pub use truncation::{Components, Truncation};
