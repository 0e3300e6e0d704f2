//! The summary of a recognizer, as text and as JSON.

use std::path::Path;

use eigenspace::faces::{Recognizer, Threshold, Thresholds};
use serde_json::{Value, json};

use crate::output;
use crate::table::{count, counted, facts, number, percent, share, table};

/// Prints the summary of a new or changed recognizer.
pub(super) fn print(path: &Path, recognizer: &Recognizer, as_json: bool) -> anyhow::Result<()> {
    let thresholds = recognizer.matcher()?.thresholds();
    let strangers = recognizer.strangers_accepted(thresholds)?;
    if as_json {
        return output::data(&serde_json::to_string_pretty(&description(path, recognizer, thresholds, strangers))?);
    }
    let (model, options) = (recognizer.model(), recognizer.options());
    let certificate = model.certificate();
    let exact = if certificate.is_exact() {
        "exact: nothing was dropped".to_owned()
    } else {
        format!(
            "eigenvalues are off by at most {} of the largest eigenvalue",
            share(certificate.relative_error_bound())
        )
    };
    let size = options.get_size().map_or_else(String::new, |(width, height)| format!(" of {width}x{height}"));
    let explained: f64 = model.explained_variance_ratio().sum();
    let not_a_face = match threshold(options.get_not_a_face(), thresholds.not_a_face, "from face space") {
        text if thresholds.not_a_face.is_none()
            && options.get_not_a_face() == Threshold::Learned
            && model.count() > 2 =>
        {
            text.replace("too few images to learn from", "nothing is outside face space")
        }
        text => text,
    };
    output::data(&facts(&[
        ("recognizer", path.display().to_string()),
        ("people", count(recognizer.people().len() as u64)),
        ("images", format!("{}{size}", count(model.count()))),
        (
            "components",
            format!("{} reported, {} kept", model.n_components(), counted(model.rank() as u64, "direction")),
        ),
        ("explained", format!("{} of the variance", percent(explained))),
        ("certificate", exact),
        (
            "classifier",
            format!("{}, {} distance, {} pixels", options.get_classifier(), options.get_metric(), options.get_pixels()),
        ),
        ("unknown", threshold(options.get_unknown(), thresholds.unknown, "from the nearest person")),
        ("not a face", not_a_face),
        ("strangers", strangers.map_or_else(|| "not estimated: fewer than 3 people".into(), accepted)),
    ]))
}

/// The share of strangers that pass both thresholds.
fn accepted(share: f64) -> String {
    format!("about {:.0} % accepted, estimated by leaving people out", 100.0 * share)
}

fn threshold(setting: Threshold, value: Option<f64>, from: &str) -> String {
    let learned = if setting == Threshold::Learned { ", learned" } else { "" };
    match value {
        Some(value) => format!("beyond {} {from}{learned}", number(value)),
        None if setting == Threshold::Learned => "never: too few images to learn from".into(),
        None => "never".into(),
    }
}

fn description(path: &Path, recognizer: &Recognizer, thresholds: Thresholds, strangers: Option<f64>) -> Value {
    let (model, options) = (recognizer.model(), recognizer.options());
    let certificate = model.certificate();
    json!({
        "file": path.to_string_lossy(),
        "people": recognizer.people(),
        "images": model.count(),
        "size": options.get_size().map(|(width, height)| [width, height]),
        "n_components": model.n_components(),
        "rank": model.rank(),
        "classifier": options.get_classifier().to_string(),
        "metric": options.get_metric().to_string(),
        "pixels": options.get_pixels().to_string(),
        "unknown": thresholds.unknown,
        "not_a_face": thresholds.not_a_face,
        "strangers_accepted": strangers,
        "exact": certificate.is_exact(),
        "relative_error_bound": certificate.relative_error_bound(),
        "worst_distance": recognizer.worst_distance(),
    })
}

/// Prints the people in a recognizer.
pub(super) fn list(path: &Path, recognizer: &Recognizer, names: bool, as_json: bool) -> anyhow::Result<()> {
    let of = |person: &str| -> Vec<&str> {
        recognizer.images().filter(|(who, _)| *who == person).map(|(_, image)| image).collect()
    };
    if as_json {
        let people: Vec<Value> =
            recognizer.people().into_iter().map(|person| json!({ "person": person, "images": of(person) })).collect();
        let described = json!({ "file": path.to_string_lossy(), "people": people });
        return output::data(&serde_json::to_string_pretty(&described)?);
    }
    let row = |person: &str| {
        let images = of(person);
        let mut cells = vec![person.to_owned(), images.len().to_string()];
        if names {
            cells.push(images.join(" "));
        }
        cells
    };
    let rows: Vec<Vec<String>> = recognizer.people().into_iter().map(row).collect();
    let headings: &[&str] = if names { &["person", "images", "names"] } else { &["person", "images"] };
    output::data(&table(headings, &rows))
}
