//! Rates of strangers accepted and known people rejected at the learned thresholds, as text and as
//! JSON.

use eigenspace::faces::{OpenEvaluation, OpenRates, OpenSplit, Rate};
use eigenspace::internal::People;
use serde_json::{Value, json};

use crate::commands::faces::found::{Found, components};
use crate::table::{counted, table};

/// The table of rates for every setting.
pub(super) fn text(read: &People, results: &[Found]) -> String {
    let Some(first) = results.iter().find_map(|result| result.open.as_ref()) else { return String::new() };
    let (enrolled, outside) = sizes(read, &first.trials[0].split);
    let people = if enrolled == 1 { "person" } else { "people" };
    let trials = counted(first.trials.len() as u64, "trial");
    let mut text = format!(
        "\nWith strangers: {enrolled} {people} enrolled, {outside} left out, {trials}; 95 % intervals over people.\n\n"
    );
    let row = |result: &Found| {
        let Found { options, open, .. } = result;
        let rates = open.as_ref()?.rates(&read.people);
        let mut cells =
            vec![options.get_classifier().to_string(), options.get_metric().to_string(), components(options)];
        cells.extend([rates.false_accepts, rates.false_rejects, rates.identified].iter().map(rate));
        Some(cells)
    };
    let rows: Vec<Vec<String>> = results.iter().filter_map(row).collect();
    text += &table(&["classifier", "metric", "k", "strangers accepted", "known rejected", "known identified"], &rows);
    text
}

/// The numbers of people enrolled and of strangers.
fn sizes(read: &People, split: &OpenSplit) -> (usize, usize) {
    let people = |list: &[usize]| list.iter().map(|&i| &read.people[i]).collect::<std::collections::HashSet<_>>().len();
    (people(&split.train), people(&split.strangers))
}

fn rate(rate: &Rate) -> String {
    let ends = [rate.low, rate.high].map(|end| format!("{:.1}", 100.0 * end));
    format!("{:.1} % ({} of {}; {} to {})", 100.0 * rate.share(), rate.count, rate.tested, ends[0], ends[1])
}

/// The rates as JSON.
pub(super) fn described(read: &People, open: &OpenEvaluation) -> Value {
    let rate = |rate: &Rate| json!({ "count": rate.count, "tested": rate.tested, "share": rate.share(), "low": rate.low, "high": rate.high });
    let OpenRates { false_accepts, false_rejects, identified, misidentified, .. } = open.rates(&read.people);
    let (enrolled, strangers) = sizes(read, &open.trials[0].split);
    json!({
        "trials": open.trials.len(),
        "enrolled": enrolled,
        "strangers": strangers,
        "false_accepts": rate(&false_accepts),
        "false_rejects": rate(&false_rejects),
        "identified": rate(&identified),
        "misidentified": rate(&misidentified),
        "thresholds": open.trials.iter().map(|trial| trial.thresholds.unknown).collect::<Vec<_>>(),
    })
}
