//! `eigenspace faces evaluate`: recognition accuracy on new images, and error rates with strangers.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::Context;
use clap::{Args, ValueHint};
use eigenspace::faces::{self, Classifier, FaceOptions, Metric, Pixels, Protocol, Split};
use eigenspace::internal::People;
use eigenspace::io::Error;
use serde_json::{Value, json};

use crate::commands::faces::found::Found;
use crate::commands::faces::{plots, quality, read, results};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{numbers, output};

/// Number of ranks reported.
const RANKS: usize = 5;
/// Shares of known faces rejected, for the plotted curve.
const PLOTTED: [f64; 11] = [0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3];

/// Measure recognition accuracy on images that were not used for training.
#[derive(Args)]
#[command(after_help = "Protocols:
  first-N        train on the first N images of each person, test on the others
  random-N       train on N random images of each person, test on the others, --repeats times
  leave-one-out  test each image with a recognizer trained on all others
  incremental    enroll people one by one, with 5 images each (incremental-N: N images)

The model is fitted on the training images only. Standard deviations over the repeats have the
divisor (repeats - 1).

first-N and random-N also measure strangers. A quarter of the people at a time is left out of both
the model and the recognizer. The learned thresholds are then applied to images of these strangers
and to new images of the enrolled people. Intervals are 95 % confidence intervals over people.")]
pub(crate) struct Evaluate {
    /// Directories with a subdirectory of images for each person.
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    data: Vec<PathBuf>,

    /// Protocols to run.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "first-5,random-5,random-9")]
    protocol: Vec<String>,

    /// Classifiers to try, separated by spaces or semicolons; see `eigenspace faces train --help`.
    #[arg(
        long,
        value_name = "NAME;…",
        value_delimiter = ';',
        default_value = "knn;centroid;subspace;svm;svm-rbf;perceptron"
    )]
    classifier: Vec<String>,

    /// Metrics to try.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "cosine")]
    metric: Vec<String>,

    /// Numbers of components to try.
    #[arg(short = 'k', long, value_name = "K,…", value_delimiter = ',', default_value = "40")]
    components: Vec<String>,

    /// Pixel values: raw, or standardized to mean 0 and deviation 1 in each image.
    #[arg(long, value_name = "KIND", default_value = "raw")]
    pixels: String,

    /// Number of times to run a random protocol.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = repeats)]
    repeats: u16,

    /// Seed for the random splits and for the order of images in perceptron training.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::whole_number::<u64>)]
    seed: u64,

    /// Resize images to this size.
    #[arg(long, value_name = "WxH")]
    resize: Option<String>,

    /// Also measure compression: bytes per face compared with PGM, and similarity to the original.
    #[arg(long)]
    compression: bool,

    /// Also measure how well noise is removed; its deviation in gray values is 25 if no value is
    /// given.
    #[arg(long, value_name = "DEVIATION", num_args = 0..=1, default_missing_value = "25", value_parser = numbers::number)]
    denoising: Option<f64>,

    /// Share of new images of known people that learned thresholds accept.
    #[arg(long, value_name = "SHARE", default_value_t = FaceOptions::default().get_accept(), value_parser = numbers::number)]
    accept: f64,

    /// Directory for plots of curves and of the worst mistakes.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,

    /// Print the result as JSON, with the splits and every mistake.
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let settings = self.settings()?;
        let protocols: Vec<Protocol> = self.protocol.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
        if let Some(deviation) = self.denoising.filter(|deviation| !(*deviation >= 0.0 && deviation.is_finite())) {
            return Err(Failure::Noise { deviation }.into());
        }
        if let Some(directory) = &self.output {
            let failed = |source| Error::Io { action: "create", path: directory.clone(), source };
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let read = read::people(&self.data, self.resize.as_deref())?;
        let mut described = Vec::new();
        let mut first: Option<Split> = None;
        for protocol in protocols {
            let context = || format!("cannot evaluate recognition on `{}`", self.data[0].display());
            let splits = protocol.splits(&read.people, self.repeats.into(), self.seed).with_context(context)?;
            first.get_or_insert_with(|| splits[0].clone());
            if let Protocol::Incremental(_) = protocol {
                described.push(self.incremental(&read, protocol, &splits[0], &settings)?);
            } else {
                described.push(self.run_one(&read, protocol, &splits, &settings)?);
            }
        }
        let (directory, split) = (self.output.as_deref(), first.expect("there is at least one protocol"));
        let compression = match self.compression {
            true => quality::compression(&read, &split, directory, self.json)?,
            false => Value::Null,
        };
        let denoising = match self.denoising {
            Some(deviation) => quality::denoising(&read, &split, deviation, self.seed, directory, self.json)?,
            None => Value::Null,
        };
        if let Some(directory) = directory {
            output::message(&format!("wrote plots to `{}`", directory.display()));
        }
        if self.json {
            let described = json!({
                "seed": self.seed,
                "images": read.rows.nrows(),
                "protocols": described,
                "compression": compression,
                "denoising": denoising,
            });
            output::data(&serde_json::to_string_pretty(&described)?)?;
        }
        Ok(())
    }

    fn settings(&self) -> anyhow::Result<Vec<FaceOptions>> {
        let pixels: Pixels = self.pixels.parse()?;
        if self.classifier.iter().all(|list| list.trim().is_empty()) {
            return Err(Failure::NothingNamed { what: "classifier" }.into());
        }
        let mut settings = Vec::new();
        for k in &self.components {
            for metric in &self.metric {
                for classifier in self.classifier.iter().flat_map(|list| list.split_whitespace()) {
                    settings.push(
                        FaceOptions::new()
                            .components(numbers::components(k)?)
                            .metric(metric.parse::<Metric>()?)
                            .classifier(parsed(classifier)?)
                            .pixels(pixels)
                            .accept(self.accept)
                            .seed(self.seed),
                    );
                }
            }
        }
        Ok(settings)
    }

    fn run_one(
        &self,
        read: &People,
        protocol: Protocol,
        splits: &[Split],
        settings: &[FaceOptions],
    ) -> anyhow::Result<Value> {
        // Every split of leave-one-out tests one image, which is too little to evaluate thresholds.
        let open_splits = match protocol {
            Protocol::LeaveOneOut => Vec::new(),
            _ => faces::with_strangers(splits, &read.people, self.seed),
        };
        let trials = (splits.len() + open_splits.len()) as u64;
        let progress = Mutex::new(Progress::of("trials", &protocol.to_string(), 0, Some(trials)));
        let done = || {
            if let Ok(mut progress) = progress.lock() {
                progress.add(1);
            }
        };
        let evaluations = faces::evaluate(read.faces(), splits, settings, &done)?;
        let open = faces::evaluate_open(read.faces(), &open_splits, settings, &done)?;
        if let Ok(progress) = progress.into_inner() {
            progress.finish();
        }
        let results: Vec<Found> = settings
            .iter()
            .cloned()
            .zip(evaluations)
            .zip(open)
            .map(|((options, evaluation), open)| {
                let summary = evaluation.summary(&read.people, RANKS);
                Found { options, evaluation, summary, open: (!open.trials.is_empty()).then_some(open) }
            })
            .collect();
        let best = results.iter().reduce(|a, b| if b.summary.accuracy > a.summary.accuracy { b } else { a });
        if let (Some(directory), Some(best)) = (&self.output, best) {
            plots::write(directory, &format!("{protocol}-ranks"), &plots::ranks(&results))?;
            if let Some(open) = &best.open {
                let curve = open.rejections(&read.people, &PLOTTED);
                plots::write(directory, &format!("{protocol}-reject"), &plots::rejections(&curve))?;
            }
            if let Some(drawing) = plots::mistakes(read, &best.evaluation) {
                plots::write(directory, &format!("{protocol}-mistakes"), &drawing)?;
            }
        }
        if self.json {
            return Ok(results::described(read, protocol, splits, &results));
        }
        results::print(read, protocol, splits, &results, best)?;
        Ok(Value::Null)
    }

    fn incremental(
        &self,
        read: &People,
        protocol: Protocol,
        split: &Split,
        settings: &[FaceOptions],
    ) -> anyhow::Result<Value> {
        let (mut described, mut curves) = (Vec::new(), Vec::new());
        for options in settings {
            let people = read.people.iter().collect::<std::collections::HashSet<_>>().len() as u64;
            let progress = Mutex::new(Progress::of("people", &protocol.to_string(), 0, Some(people)));
            let done = || {
                if let Ok(mut progress) = progress.lock() {
                    progress.add(1);
                }
            };
            let steps = faces::incremental(read.faces(), split, options, &done)?;
            if let Ok(progress) = progress.into_inner() {
                progress.finish();
            }
            if self.json {
                described.push(results::described_steps(options, &steps));
            } else {
                results::print_steps(protocol, options, &steps)?;
            }
            curves.push((format!("{} {}", options.get_classifier(), options.get_metric()), steps));
        }
        if let Some(directory) = &self.output {
            plots::write(directory, &protocol.to_string(), &plots::arrivals(&curves))?;
        }
        Ok(
            json!({ "protocol": protocol.to_string(), "splits": [results::split_of(read, split)], "settings": described }),
        )
    }
}

fn repeats(text: &str) -> Result<u16, String> {
    numbers::whole_number_in(text, 1..=1000)
}

/// A classifier. Several that are separated by commas get a hint of their own, because commas
/// separate settings.
fn parsed(text: &str) -> anyhow::Result<Classifier> {
    text.parse().map_err(|error: eigenspace::faces::Error| {
        let several = text.contains(',') && text.split(',').all(|name| name.parse::<Classifier>().is_ok());
        let hint = || format!("separate classifiers by semicolons: --classifier '{}'", text.replace(',', ";"));
        Failure::advised(error.into(), several.then(hint))
    })
}
