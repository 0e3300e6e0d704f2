//! `eigenspace faces evaluate`: recognition accuracy on new images, and error rates with strangers.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::Context;
use clap::{Args, ValueHint};
use eigenspace::faces::{
    self, Classifier, Evaluation, FaceOptions, Metric, OpenEvaluation, Pixels, Protocol, Split, Step, Summary,
};
use eigenspace::internal::People;
use eigenspace::io::Error;
use serde_json::{Value, json};

use crate::commands::faces::{plots, quality, read, strangers};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{counted, number, percent, table};
use crate::{args, numbers, output};

/// Number of ranks reported.
const RANKS: usize = 5;
/// Shares of known faces rejected, for the table of thresholds.
const REJECTED: [f64; 7] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3];
/// Shares of known faces rejected, for the plotted curve.
const PLOTTED: [f64; 11] = [0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3];
/// Differences of scores below this are reported as this bound, because their exact size depends on the machine.
const SCORE_TOLERANCE: f64 = 1e-9;
/// Number of confusions listed.
const LISTED: usize = 5;

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

    /// Also measure denoising of noise with this deviation in gray values; 25 if no value is given.
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

/// The results of one setting under one protocol.
pub(super) struct Found {
    pub(super) options: FaceOptions,
    evaluation: Evaluation,
    pub(super) summary: Summary,
    /// Results with strangers, if they were measured.
    pub(super) open: Option<OpenEvaluation>,
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
            let context = || format!("cannot run the protocol {protocol} on `{}`", self.data[0].display());
            let splits = protocol.splits(&read.people, self.repeats.into(), self.seed).with_context(context)?;
            first.get_or_insert_with(|| splits[0].clone());
            if let Protocol::Incremental(_) = protocol {
                described.push(self.incremental(&read, protocol, &splits[0], &settings)?);
            } else {
                described.push(self.run_one(&read, protocol, &splits, &settings)?);
            }
        }
        let (directory, split) = (self.output.as_deref(), first.unwrap_or_default());
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
                            .components(args::components(k)?)
                            .metric(metric.parse::<Metric>()?)
                            .classifier(classifier.parse::<Classifier>()?)
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
            return Ok(described(read, protocol, splits, &results));
        }
        print_results(read, protocol, splits, &results, best)?;
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
                described.push(json!({
                    "classifier": options.get_classifier().to_string(),
                    "metric": options.get_metric().to_string(),
                    "k": components(options),
                    "steps": steps.iter().map(described_step).collect::<Vec<_>>(),
                }));
            } else {
                let (classifier, metric) = (options.get_classifier(), options.get_metric());
                let mut text = format!("{protocol}: {classifier}, {metric}, people enrolled one by one\n\n");
                let rows: Vec<Vec<String>> =
                    steps.iter().filter(|step| is_listed(step, steps.len())).map(step_cells).collect();
                let headings =
                    ["people", "enrolled", "kept", "tested", "accuracy", "decisions that differ", "scores differ by"];
                text += &table(&headings, &rows);
                output::data(&(text + "\n"))?;
            }
            curves.push((format!("{} {}", options.get_classifier(), options.get_metric()), steps));
        }
        if let Some(directory) = &self.output {
            plots::write(directory, &protocol.to_string(), &plots::arrivals(&curves))?;
        }
        Ok(json!({ "protocol": protocol.to_string(), "splits": [split_of(read, split)], "settings": described }))
    }
}

fn repeats(text: &str) -> Result<u16, String> {
    numbers::whole_number_in(text, 1..=1000)
}

/// Prints the results of one protocol.
fn print_results(
    read: &People,
    protocol: Protocol,
    splits: &[Split],
    results: &[Found],
    best: Option<&Found>,
) -> anyhow::Result<()> {
    let (times, first) = (splits.len(), &splits[0]);
    let repeated = if times > 1 { format!(", {times} trials") } else { String::new() };
    let (learned, tested) = (first.train.len(), first.test.len());
    let (learned, tested) = (counted(learned as u64, "training image"), counted(tested as u64, "test image"));
    let mut text = format!("{protocol}: {learned}, {tested}{repeated}\n\n");
    let row = |result: &Found| {
        let Found { options, summary, .. } = result;
        let mut cells = vec![
            options.get_classifier().to_string(),
            options.get_metric().to_string(),
            components(options),
            percent(summary.accuracy),
            deviation(splits, summary),
        ];
        cells.extend(summary.ranks.iter().skip(1).map(|rank| percent(*rank)));
        cells
    };
    let rows: Vec<Vec<String>> = results.iter().map(row).collect();
    let headings = ["classifier", "metric", "k", "accuracy", "deviation", "rank 2", "rank 3", "rank 4", "rank 5"];
    text += &table(&headings, &rows);
    text += &strangers::text(read, results);
    if let Some(best) = best {
        text += &of_the_best(read, best);
    }
    output::data(&text)
}

/// The deviation over trials; a single trial has none.
fn deviation(splits: &[Split], summary: &Summary) -> String {
    if splits.len() > 1 { percent(summary.deviation) } else { "-".into() }
}

/// Whether to list a step: every step if there are few, otherwise some.
fn is_listed(step: &Step, steps: usize) -> bool {
    steps <= 12 || step.people == 1 || step.people.is_multiple_of(5) || step.people == steps
}

fn step_cells(step: &Step) -> Vec<String> {
    vec![
        step.people.to_string(),
        step.enrolled.to_string(),
        step.rank.to_string(),
        step.tested.to_string(),
        percent(step.correct as f64 / (step.tested as f64).max(1.0)),
        step.differing.to_string(),
        if step.difference < SCORE_TOLERANCE {
            format!("at most {SCORE_TOLERANCE:e}")
        } else {
            format!("{:.0e}", step.difference)
        },
    ]
}

fn described_step(step: &Step) -> Value {
    json!({
        "people": step.people,
        "enrolled": step.enrolled,
        "rank": step.rank,
        "tested": step.tested,
        "correct": step.correct,
        "differing": step.differing,
        "difference": step.difference,
    })
}

pub(super) fn components(options: &FaceOptions) -> String {
    options.get_components().to_string()
}

/// Confusions and rejection rates of the best setting.
fn of_the_best(read: &People, best: &Found) -> String {
    let Found { options, summary, open, .. } = best;
    let mut text = format!(
        "\nBest: {}, {}, k = {}: {} of {} correct.\n",
        options.get_classifier(),
        options.get_metric(),
        components(options),
        summary.correct,
        summary.tested
    );
    if !summary.confusions.is_empty() {
        let most = summary.confusions.iter().take(LISTED);
        let list: Vec<String> = most.map(|(who, whom, times)| format!("{who} as {whom} ({times})")).collect();
        text += &format!("Most frequent confusions: {}.\n", list.join(", "));
    }
    let Some(open) = open else { return text + "\n" };
    let row = |r: &faces::Rejection| {
        vec![percent(r.rejected), number(r.threshold), percent(r.accuracy), percent(r.strangers)]
    };
    let rows: Vec<Vec<String>> = open.rejections(&read.people, &REJECTED).iter().map(row).collect();
    text += "\nWith other thresholds (--unknown):\n\n";
    text += &table(&["known rejected", "threshold", "accuracy of the others", "strangers accepted"], &rows);
    text += "\n";
    text
}

/// The names of the training and test images.
fn split_of(read: &People, split: &Split) -> Value {
    let names = |list: &[usize]| -> Vec<String> {
        list.iter().map(|&i| format!("{}/{}", read.people[i], read.names[i])).collect()
    };
    json!({ "train": names(&split.train), "test": names(&split.test) })
}

fn described(read: &People, protocol: Protocol, splits: &[Split], results: &[Found]) -> Value {
    let name = |i: usize| format!("{}/{}", read.people[i], read.names[i]);
    let result = |result: &Found| {
        let Found { options, evaluation, summary, open } = result;
        let trial = |trial: &faces::Trial| {
            let right = trial.outcomes.iter().filter(|o| o.ranking.first() == Some(&read.people[o.image])).count();
            let mistakes: Vec<Value> = trial
                .outcomes
                .iter()
                .filter(|o| o.ranking.first() != Some(&read.people[o.image]))
                .map(|o| json!({ "image": name(o.image), "taken_for": o.ranking.first(), "distance": o.distance }))
                .collect();
            json!({ "accuracy": right as f64 / (trial.outcomes.len() as f64).max(1.0), "mistakes": mistakes })
        };
        let rejections: Vec<Value> = open
            .iter()
            .flat_map(|open| open.rejections(&read.people, &REJECTED))
            .map(|r| json!({ "threshold": r.threshold, "rejected": r.rejected, "accuracy": r.accuracy, "strangers": r.strangers }))
            .collect();
        json!({
            "classifier": options.get_classifier().to_string(),
            "metric": options.get_metric().to_string(),
            "pixels": options.get_pixels().to_string(),
            "k": components(options),
            "accuracy": summary.accuracy,
            "deviation": summary.deviation,
            "tested": summary.tested,
            "correct": summary.correct,
            "ranks": summary.ranks,
            "confusions": summary.confusions.iter().map(|(a, b, n)| json!([a, b, n])).collect::<Vec<_>>(),
            "open": open.as_ref().map(|open| strangers::described(read, open)),
            "rejections": rejections,
            "trials": evaluation.trials.iter().map(trial).collect::<Vec<_>>(),
        })
    };
    // The splits of leave-one-out follow from their number.
    let splits: Vec<Value> = match protocol {
        Protocol::LeaveOneOut => Vec::new(),
        _ => splits.iter().map(|split| split_of(read, split)).collect(),
    };
    json!({
        "protocol": protocol.to_string(),
        "splits": splits,
        "settings": results.iter().map(result).collect::<Vec<_>>(),
    })
}
