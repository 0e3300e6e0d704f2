//! Settings of a recognizer on the command line.

use clap::Args;
use eigenspace::faces::{FaceOptions, Threshold};

use crate::args;

/// How faces are told apart.
#[derive(Args, Clone)]
#[command(next_help_heading = "Recognizer")]
pub(crate) struct Settings {
    /// Components to look at: a number, a share of variance such as 0.95, or `all`; 40 for a new recognizer.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Who a picture shows: knn, knn:3, centroid, subspace, svm, svm:10 (C), svm-rbf, svm-rbf:10,0.5 (C, γ), perceptron or
    /// perceptron:50 (epochs).
    #[arg(long, value_name = "NAME")]
    classifier: Option<String>,

    /// How far pictures are apart: euclidean, cosine, mahalanobis or mahalanobis-cosine.
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,

    /// The distance from the nearest person beyond which a face is unknown: a number, `learned` or `none`.
    #[arg(long, value_name = "DISTANCE")]
    unknown: Option<String>,

    /// The distance to face space beyond which a picture is not a face: a number, `learned` or `none`.
    #[arg(long, value_name = "DISTANCE")]
    not_a_face: Option<String>,

    /// The share of new pictures of known people that learned thresholds accept; 0.95 for a new recognizer.
    #[arg(long, value_name = "SHARE")]
    accept: Option<f64>,

    /// Orders the pictures for the perceptron.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Settings {
    /// Puts what was said in the place of what there is.
    pub(super) fn over(&self, mut options: FaceOptions) -> anyhow::Result<FaceOptions> {
        if let Some(text) = &self.components {
            options.components = args::components(text)?;
        }
        if let Some(text) = &self.classifier {
            options.classifier = text.parse()?;
        }
        if let Some(text) = &self.metric {
            options.metric = text.parse()?;
        }
        let threshold = |text: &Option<String>, old: Threshold| match text {
            Some(text) => text.parse::<Threshold>(),
            None => Ok(old),
        };
        options.unknown = threshold(&self.unknown, options.unknown)?;
        options.not_a_face = threshold(&self.not_a_face, options.not_a_face)?;
        options.accept = self.accept.unwrap_or(options.accept);
        options.seed = self.seed.unwrap_or(options.seed);
        Ok(options)
    }
}
