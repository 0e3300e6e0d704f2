//! What the demo does with the faces: stream, merge, split, and measure.

use std::path::Path;
use std::time::Instant;

use eigenspace::io::source::Columns;
use eigenspace::{EigenspaceModel, FitOptions, Method, Truncation, principal_angles};
use ndarray::{ArrayView2, Axis, Slice};

use crate::commands::demo::faces::Faces;
use crate::commands::demo::recognizer;
use crate::draw::Drawing;
use crate::note::Note;
use crate::opened::Opened;
use crate::output;
use crate::table::percent;

/// Components shown.
const SHOWN: usize = 50;
/// Directions kept from batch to batch.
const KEPT: usize = 100;
/// Batches that the faces come in.
const BATCHES: usize = 20;
/// Models that are fitted apart and merged.
const PARTS: usize = 4;

/// One line of the live table.
pub(super) struct Batch {
    pub(super) rows: u64,
    pub(super) rank: usize,
    pub(super) captured: f64,
    pub(super) certificate: String,
    pub(super) distance: f64,
    pub(super) update: f64,
    pub(super) recompute: f64,
}

impl Batch {
    pub(super) const HEADINGS: [&str; 8] =
        ["rows", "rank", "captured", "certificate", "angle to batch", "update", "batch SVD", "ratio"];

    pub(super) fn cells(&self) -> Vec<String> {
        vec![
            self.rows.to_string(),
            self.rank.to_string(),
            percent(self.captured),
            self.certificate.clone(),
            format!("{:.0e}", self.distance),
            milliseconds(self.update),
            milliseconds(self.recompute),
            format!("{:.1}x", self.recompute / self.update),
        ]
    }
}

pub(super) fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", 1e3 * seconds)
}

/// Everything that was found.
pub(super) struct Story {
    pub(super) batches: Vec<Batch>,
    pub(super) whole: Opened,
    /// Sentences about merging, splitting, the lean stream and the recognizer.
    pub(super) findings: Vec<(&'static str, String)>,
    /// Held-out faces and their closest matches, where there are any.
    pub(super) probes: Option<Drawing>,
}

pub(super) fn tell(faces: &Faces, folder: &Path) -> anyhow::Result<Story> {
    let (n, d) = faces.rows.dim();
    let shown = SHOWN.min(n / 2);
    output::data(&format!(
        "{n} pictures of {} pixels: {}.\n\n1. They arrive in {BATCHES} batches. After each the model is read, and set against\n   a batch PCA of all rows so far.\n",
        d, faces.name
    ))?;
    let batches = stream(faces, shown)?;
    let mut findings = Vec::new();
    let mut say = |heading: &'static str, text: String| -> anyhow::Result<()> {
        output::data(&format!("\n{}", wrapped(&format!("{}. {heading}. {text}", findings.len() + 2))))?;
        findings.push((heading, text));
        Ok(())
    };

    let batch = EigenspaceModel::fit(faces.rows.view())?.with_components(shown)?;
    let exact = FitOptions::new().components(shown).fit(faces.rows.view())?;
    say(
        "A stream that keeps everything",
        format!(
            "The stream above goes on with {KEPT} directions from batch to batch (its table counts the last batch too), and its certificate says by how much its \
             variances can be off for that, as a share of the largest. The default \
             keeps everything while that is affordable: of these {n} pictures all {} directions. It calls itself {}, and its \
             first {shown} are {:.0e} away from those of the batch PCA.",
            exact.rank(),
            certificate(&exact),
            distance(&exact, &batch, shown)?
        ),
    )?;

    let parts = quarters(faces, shown)?;
    let start = Instant::now();
    let whole = EigenspaceModel::merge_all(&parts, Truncation::None)?.with_components(shown)?;
    let merged = start.elapsed().as_secs_f64();
    say(
        "Merging",
        format!(
            "{PARTS} models, fitted apart on a quarter of the people each, are merged in {} without their pictures. The result is \
             {:.0e} away from the model of all pictures.",
            milliseconds(merged),
            distance(&whole, &batch, shown)?
        ),
    )?;

    let person = faces.people.last().cloned().unwrap_or_default();
    let first = faces.people.iter().position(|name| *name == person).unwrap_or(0);
    let (others, theirs) = faces.rows.view().split_at(Axis(0), first);
    let part = FitOptions::new().fit(theirs)?;
    let start = Instant::now();
    let rest = whole.split(&part)?;
    let split = start.elapsed().as_secs_f64();
    let without = EigenspaceModel::fit(others)?.with_components(shown)?;
    say(
        "Splitting",
        format!(
            "The {} pictures of {person} are taken out again in {}: what is left is {:.0e} away from a model that never saw them.",
            theirs.nrows(),
            milliseconds(split),
            distance(&rest, &without, shown)?
        ),
    )?;

    let recognizer =
        recognizer::show(faces, folder).or_else(|error| match error.downcast::<eigenspace::faces::Error>() {
            // Folders of one's own may hold a picture twice.
            Ok(error @ (eigenspace::faces::Error::Model(_) | eigenspace::faces::Error::File(_))) => Err(error.into()),
            Ok(error) => Ok(recognizer::Shown::refused(&error)),
            Err(error) => Err(error),
        })?;
    for (heading, text) in &recognizer.findings {
        say(heading, text.clone())?;
    }

    let note = Note::of(&Columns { picture: Some(faces.picture), ..Columns::unnamed(d) }, false);
    for (model, name) in [(&whole, "whole"), (&part, "person"), (&rest, "without")] {
        model.save_with_note(folder.join(format!("{name}.safetensors")), &note.to_text())?;
    }
    let whole = Opened::new(&folder.join("whole.safetensors"), whole, note)?;
    Ok(Story { batches, whole, findings, probes: recognizer.probes })
}

/// Lines of at most a hundred characters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() > 96 {
            lines.push(std::mem::take(&mut line));
            line.push_str("  ");
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.join("\n")
}

/// Streams the faces and prints a line for each batch.
fn stream(faces: &Faces, shown: usize) -> anyhow::Result<Vec<Batch>> {
    let (n, d) = faces.rows.dim();
    let rows = n.div_ceil(BATCHES);
    let mut stream = FitOptions::new().components(shown).max_rank(KEPT).block_rows(rows).stream(d)?;
    let widths = [5, 5, 9, 12, 15, 10, 10, 6];
    let line = |cells: &[String]| -> String {
        cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}")).collect::<Vec<_>>().join(" ")
    };
    output::data(&line(&Batch::HEADINGS.map(String::from)))?;
    let mut batches = Vec::new();
    for block in faces.rows.axis_chunks_iter(Axis(0), rows) {
        let start = Instant::now();
        stream.update(block)?;
        let model = stream.model()?;
        let update = start.elapsed().as_secs_f64();
        let so_far = faces.rows.slice_axis(Axis(0), Slice::from(..model.count() as usize));
        let start = Instant::now();
        let batch = EigenspaceModel::fit_by(so_far, Method::Svd, Truncation::None)?;
        let recompute = start.elapsed().as_secs_f64();
        let k = shown.min(model.rank());
        batches.push(Batch {
            rows: model.count(),
            rank: model.rank(),
            captured: model.explained_variance_ratio().sum(),
            certificate: certificate(&model),
            distance: distance(&model, &batch, k)?,
            update,
            recompute,
        });
        if let Some(batch) = batches.last() {
            output::data(&line(&batch.cells()))?;
        }
    }
    output::data(&wrapped(&legend(shown)))?;
    Ok(batches)
}

/// What the columns of the table mean.
pub(super) fn legend(shown: usize) -> String {
    format!(
        "captured: share of the variance in the first {shown} directions. certificate: how far variances can be off, as a share of the \
         largest. angle: sine of the largest angle between those {shown} and the batch's. update: adding the batch and reading the \
         model. ratio: batch SVD over update."
    )
}

fn certificate(model: &EigenspaceModel) -> String {
    let certificate = model.certificate();
    if certificate.is_exact() { "exact".into() } else { format!("within {:.0e}", certificate.relative_error_bound()) }
}

/// A model of the pictures of each quarter of the people.
fn quarters(faces: &Faces, shown: usize) -> anyhow::Result<Vec<EigenspaceModel>> {
    let options = FitOptions::new().components(shown);
    let part = faces.rows.nrows().div_ceil(PARTS);
    Ok(faces.rows.axis_chunks_iter(Axis(0), part).map(|rows| options.fit(rows)).collect::<Result<_, _>>()?)
}

/// The sine of the largest angle between the first k directions.
pub(super) fn distance(a: &EigenspaceModel, b: &EigenspaceModel, k: usize) -> anyhow::Result<f64> {
    fn first(model: &EigenspaceModel, k: usize) -> ArrayView2<'_, f64> {
        model.basis().slice_axis_move(Axis(0), Slice::from(..k))
    }
    Ok(principal_angles(first(a, k), first(b, k))?.iter().copied().fold(0.0, f64::max).sin())
}
