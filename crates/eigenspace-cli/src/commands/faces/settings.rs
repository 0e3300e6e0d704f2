//! Settings of a recognizer on the command line.

use clap::Args;
use eigenspace::faces::FaceOptions;

use crate::numbers;

/// How faces are recognized.
#[derive(Args, Clone)]
#[command(next_help_heading = "Recognizer")]
pub(crate) struct Settings {
    /// Number of components: a number, a share of variance such as 0.95, or `all`. By default that
    /// of the recognizer; 40 when training.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Classifier: knn, knn:3, centroid, subspace, svm, svm:10 (C), svm-rbf, svm-rbf:10,0.5 (C, γ),
    /// perceptron, perceptron:50 (epochs) or perceptron:50,3 (epochs, margin).
    #[arg(long, value_name = "NAME")]
    classifier: Option<String>,

    /// Distance between images: euclidean, cosine, mahalanobis or mahalanobis-cosine.
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,

    /// Report a face as unknown beyond this distance to the nearest person: a number, `learned` or
    /// `none`.
    #[arg(long, value_name = "DISTANCE")]
    unknown: Option<String>,

    /// Report an image as not a face beyond this distance to face space: a number, `learned` or
    /// `none`.
    #[arg(long, value_name = "DISTANCE")]
    not_a_face: Option<String>,

    /// Share of new images of known people that learned thresholds accept. By default that of the
    /// recognizer; 0.95 when training.
    #[arg(long, value_name = "SHARE", value_parser = numbers::number)]
    accept: Option<f64>,

    /// Seed for the order of images in perceptron training.
    #[arg(long, value_name = "N", value_parser = numbers::whole_number::<u64>)]
    seed: Option<u64>,
}

impl Settings {
    /// Whether a number of components was given on the command line.
    pub(super) fn requests_components(&self) -> bool {
        self.components.is_some()
    }

    /// Overrides options with those given on the command line.
    pub(super) fn over(&self, mut options: FaceOptions) -> anyhow::Result<FaceOptions> {
        if let Some(text) = &self.components {
            options = options.components(numbers::components(text)?);
        }
        if let Some(text) = &self.classifier {
            options = options.classifier(text.parse()?);
        }
        if let Some(text) = &self.metric {
            options = options.metric(text.parse()?);
        }
        if let Some(text) = &self.unknown {
            options = options.unknown(text.parse()?);
        }
        if let Some(text) = &self.not_a_face {
            options = options.not_a_face(text.parse()?);
        }
        if let Some(share) = self.accept {
            options = options.accept(share);
        }
        if let Some(seed) = self.seed {
            options = options.seed(seed);
        }
        Ok(options)
    }
}
