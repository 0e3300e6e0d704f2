//! What an evaluation has found for one setting.

use eigenspace::faces::{Evaluation, FaceOptions, OpenEvaluation, Summary};

/// The results of one setting under one protocol.
pub(super) struct Found {
    pub(super) options: FaceOptions,
    pub(super) evaluation: Evaluation,
    pub(super) summary: Summary,
    /// Results with strangers, if they were measured.
    pub(super) open: Option<OpenEvaluation>,
}

/// The number of components of a setting, as it was given.
pub(super) fn components(options: &FaceOptions) -> String {
    options.get_components().to_string()
}
