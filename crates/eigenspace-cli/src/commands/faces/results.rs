//! The results of `eigenspace faces evaluate`, as tables and as JSON.

use eigenspace::Components;
use eigenspace::faces::{self, FaceOptions, Protocol, Split, Step, Summary};
use eigenspace::internal::People;
use serde_json::{Value, json};

use crate::commands::faces::found::{Found, components};
use crate::commands::faces::strangers;
use crate::output;
use crate::table::{counted, number, percent, table};

/// Shares of known faces rejected, for the table of thresholds.
const REJECTED: [f64; 7] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3];
/// Differences of scores below this are reported as this bound, because their exact size depends on
/// the machine.
const SCORE_TOLERANCE: f64 = 1e-9;
/// Number of confusions listed.
const LISTED: usize = 5;

/// Prints the results of one protocol.
pub(super) fn print(
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

/// Prints the steps of enrolling people one by one.
pub(super) fn print_steps(protocol: Protocol, options: &FaceOptions, steps: &[Step]) -> anyhow::Result<()> {
    let (classifier, metric) = (options.get_classifier(), options.get_metric());
    let mut text = format!("{protocol}: {classifier}, {metric}, people enrolled one by one\n\n");
    let rows: Vec<Vec<String>> = steps.iter().filter(|step| is_listed(step, steps.len())).map(step_cells).collect();
    let headings = ["people", "enrolled", "kept", "tested", "accuracy", "decisions that differ", "scores differ by"];
    text += &table(&headings, &rows);
    output::data(&(text + "\n"))
}

/// The same as JSON.
pub(super) fn described_steps(options: &FaceOptions, steps: &[Step]) -> Value {
    json!({
        "classifier": options.get_classifier().to_string(),
        "metric": options.get_metric().to_string(),
        "n_components": setting(options),
        "steps": steps.iter().map(described_step).collect::<Vec<_>>(),
    })
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

/// The number of components as JSON; `all` is a word.
fn setting(options: &FaceOptions) -> Value {
    match options.get_components() {
        Components::Number(number) => json!(number),
        Components::Share(share) => json!(share),
        _ => json!(components(options)),
    }
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
pub(super) fn split_of(read: &People, split: &Split) -> Value {
    let names = |list: &[usize]| -> Vec<String> {
        list.iter().map(|&i| format!("{}/{}", read.people[i], read.names[i])).collect()
    };
    json!({ "train": names(&split.train), "test": names(&split.test) })
}

/// The results of one protocol, as JSON.
pub(super) fn described(read: &People, protocol: Protocol, splits: &[Split], results: &[Found]) -> Value {
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
            "n_components": setting(options),
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
