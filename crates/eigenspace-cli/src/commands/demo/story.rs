//! The steps of the demo: stream, merge, split, and measure.

use std::path::Path;
use std::time::Instant;

use eigenspace::{EigenspaceModel, FitOptions, Metadata, Method, Truncation};
use ndarray::{Axis, Slice};

use crate::commands::demo::faces::Faces;
use crate::commands::demo::measures::{distance, milliseconds};
use crate::commands::demo::recognizer;
use crate::draw::Drawing;
use crate::opened::Opened;
use crate::output;
use crate::table::percent;

/// Number of components.
const COMPONENTS: usize = 50;
/// Number of directions kept from block to block.
const KEPT: usize = 100;
/// Number of blocks.
const BLOCKS: usize = 20;
/// Number of models fitted separately and merged.
const PARTS: usize = 4;

/// One line of the live table.
pub(super) struct Block {
    pub(super) rows: u64,
    pub(super) rank: usize,
    pub(super) explained: f64,
    pub(super) certificate: String,
    pub(super) distance: f64,
    pub(super) update: f64,
    pub(super) recompute: f64,
}

impl Block {
    pub(super) const HEADINGS: [&str; 8] =
        ["rows", "rank", "explained", "variances", "angle to batch", "update", "batch SVD", "ratio"];

    pub(super) fn cells(&self) -> Vec<String> {
        vec![
            self.rows.to_string(),
            self.rank.to_string(),
            percent(self.explained),
            self.certificate.clone(),
            format!("{:.0e}", self.distance),
            milliseconds(self.update),
            milliseconds(self.recompute),
            format!("{:.1}x", self.recompute / self.update),
        ]
    }
}

/// A number that is 0 or tiny.
fn small(number: f64) -> String {
    if number == 0.0 { "0".into() } else { format!("{number:.0e}") }
}

/// All results.
pub(super) struct Story {
    pub(super) blocks: Vec<Block>,
    pub(super) whole: Opened,
    /// Sentences about the exact stream, merging, splitting and the recognizer.
    pub(super) findings: Vec<(&'static str, String)>,
    /// Held-out faces and their closest matches, if any.
    pub(super) probes: Option<Drawing>,
}

pub(super) fn tell(faces: &Faces, directory: &Path) -> anyhow::Result<Story> {
    let (n, d) = faces.rows.dim();
    let components = COMPONENTS.min(n / 2);
    output::data(&format!(
        "{n} images of {} pixels: {}.\n\n1. They arrive in {BLOCKS} blocks. After each block, the model is read and compared with\n   a batch PCA of all rows so far.\n",
        d, faces.name
    ))?;
    let blocks = stream(faces, components)?;
    let mut findings = Vec::new();
    let mut say = |heading: &'static str, text: String| -> anyhow::Result<()> {
        output::data(&format!("\n{}", wrapped(&format!("{}. {heading}. {text}", findings.len() + 2))))?;
        findings.push((heading, text));
        Ok(())
    };

    let batch = EigenspaceModel::fit(faces.rows.view())?.with_components(components)?;
    let exact = FitOptions::new().components(components).fit(faces.rows.view())?;
    say(
        "Keeping all directions",
        format!(
            "The stream above keeps {KEPT} directions from block to block (the rank in its table includes the last block). Its \
             certificate bounds the resulting error of the variances, relative to the largest. With its default settings, a stream \
             keeps more directions, {} for these {n} images. The certificate of that model is {}, and its \
             first {components} components are {} away from those of the batch PCA.",
            exact.rank(),
            certificate(&exact),
            small(distance(&exact, &batch, components)?)
        ),
    )?;

    let parts = quarters(faces, components)?;
    let start = Instant::now();
    let whole = EigenspaceModel::merge_all(&parts, Truncation::None)?.with_components(components)?;
    let merged = start.elapsed().as_secs_f64();
    say(
        "Merging",
        format!(
            "{PARTS} models, each fitted on a quarter of the people, are merged in {} without their images. The result is \
             {} away from the model of all images.",
            milliseconds(merged),
            small(distance(&whole, &batch, components)?)
        ),
    )?;

    let person = faces.people.last().expect("the demo has faces").clone();
    let first = faces.people.iter().position(|name| *name == person).expect("the name is from this list");
    let (others, theirs) = faces.rows.view().split_at(Axis(0), first);
    let part = FitOptions::new().fit(theirs)?;
    let start = Instant::now();
    let rest = whole.split(&part)?;
    let split = start.elapsed().as_secs_f64();
    let without = EigenspaceModel::fit(others)?.with_components(components)?;
    say(
        "Splitting",
        format!(
            "The {} images of {person} are removed again in {}. The result is {:.0e} away from a model that was fitted without them.",
            theirs.nrows(),
            milliseconds(split),
            distance(&rest, &without, components)?
        ),
    )?;

    let recognizer =
        recognizer::show(faces, directory).or_else(|error| match error.downcast::<eigenspace::faces::Error>() {
            // A directory given by the user may contain an image twice.
            Ok(error @ (eigenspace::faces::Error::Model(_) | eigenspace::faces::Error::File(_))) => Err(error.into()),
            Ok(error) => Ok(recognizer::Shown::refused(&error)),
            Err(error) => Err(error),
        })?;
    for (heading, text) in &recognizer.findings {
        say(heading, text.clone())?;
    }

    let metadata = Metadata::new().with_image(faces.image);
    let [whole, part, rest] = [whole, part, rest].map(|model| model.with_metadata(metadata.clone()));
    let (whole, part, rest) = (whole?, part?, rest?);
    for (model, name) in [(&whole, "whole"), (&part, "person"), (&rest, "without")] {
        model.save(directory.join(format!("{name}.safetensors")))?;
    }
    let whole = Opened::new(&directory.join("whole.safetensors"), whole)?;
    Ok(Story { blocks, whole, findings, probes: recognizer.probes })
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

/// Streams the faces and prints a line for each block.
fn stream(faces: &Faces, components: usize) -> anyhow::Result<Vec<Block>> {
    let (n, d) = faces.rows.dim();
    let rows = n.div_ceil(BLOCKS);
    let mut stream = FitOptions::new().components(components).max_rank(KEPT).block_rows(rows).stream(d)?;
    let widths = [5, 5, 9, 12, 15, 10, 10, 6];
    let line = |cells: &[String]| -> String {
        cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}")).collect::<Vec<_>>().join(" ")
    };
    output::data(&line(&Block::HEADINGS.map(String::from)))?;
    let mut blocks = Vec::new();
    for block in faces.rows.axis_chunks_iter(Axis(0), rows) {
        let start = Instant::now();
        stream.update(block)?;
        let model = stream.model()?;
        let update = start.elapsed().as_secs_f64();
        let so_far = faces.rows.slice_axis(Axis(0), Slice::from(..model.count() as usize));
        let start = Instant::now();
        let batch = EigenspaceModel::fit_with(so_far, Method::Svd, Truncation::None)?;
        let recompute = start.elapsed().as_secs_f64();
        let k = components.min(model.rank());
        blocks.push(Block {
            rows: model.count(),
            rank: model.rank(),
            explained: model.explained_variance_ratio().sum(),
            certificate: certificate(&model),
            distance: distance(&model, &batch, k)?,
            update,
            recompute,
        });
        if let Some(last) = blocks.last() {
            output::data(&line(&last.cells()))?;
        }
    }
    output::data(&wrapped(&legend(components)))?;
    Ok(blocks)
}

/// What the columns of the table mean.
pub(super) fn legend(components: usize) -> String {
    format!(
        "explained: share of the variance along the first {components} components. variances: the certificate, a bound on their \
         errors, relative to the largest. angle to batch: sine of the largest angle between these components and those of the batch PCA. update: time to add the \
         block and read the model. ratio: batch SVD over update."
    )
}

fn certificate(model: &EigenspaceModel) -> String {
    let certificate = model.certificate();
    if certificate.is_exact() { "exact".into() } else { format!("within {:.0e}", certificate.relative_error_bound()) }
}

/// A model of the images of each quarter of the people.
fn quarters(faces: &Faces, components: usize) -> anyhow::Result<Vec<EigenspaceModel>> {
    let options = FitOptions::new().components(components);
    let part = faces.rows.nrows().div_ceil(PARTS);
    Ok(faces.rows.axis_chunks_iter(Axis(0), part).map(|rows| options.fit(rows)).collect::<Result<_, _>>()?)
}
