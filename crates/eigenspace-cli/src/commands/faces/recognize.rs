//! `eigenspace faces recognize`: names the people in images.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueHint};
use eigenspace::faces::{Recognition, Recognizer, Verdict};
use serde_json::{Value, json};

use crate::commands::faces::settings::Settings;
use crate::commands::faces::{plots, read};
use crate::commands::plot::Format;
use crate::table::{number, table};
use crate::{destination, numbers, output, warn};

/// Recognize the people in images.
#[derive(Args)]
#[command(
    after_help = "An image that is far from every face is reported as `not a face`, one that is far from every known person as \
`unknown`. `distance` is the distance to the nearest person, that is, to the span of their images."
)]
pub(crate) struct Recognize {
    /// Recognizer file.
    #[arg(value_name = "RECOGNIZER", value_hint = ValueHint::FilePath)]
    recognizer: PathBuf,

    /// Images, directories of images, or patterns.
    #[arg(required = true, value_name = "IMAGES", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// Resize images to this size.
    #[arg(long, value_name = "WxH")]
    resize: Option<String>,

    /// Number of closest matches to list for each image, up to 10.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = matches)]
    matches: u16,

    /// Draw the images with their closest matches, as .svg or .png.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: Settings,
}

impl Recognize {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let listed = usize::from(self.matches);
        let format = self.output.as_deref().map(Format::of).transpose()?;
        let recognizer = Recognizer::load(&self.recognizer)?;
        if let Some(output) = &self.output {
            destination::spare_images(&self.data, output)?;
            destination::spare_images(std::slice::from_ref(&self.recognizer), output)?;
            destination::try_output(output)?;
        }
        let options = self.settings.over(recognizer.options().clone())?;
        let recognizer = recognizer.with_options(options)?;
        if self.settings.requests_components() {
            warn::of_fewer_components(recognizer.model());
        }
        let read = read::images(&self.data, self.resize.as_deref(), Some(recognizer.options()))?;
        let matcher = recognizer.matcher()?;
        let context = || format!("cannot recognize `{}`", self.data[0].display());
        let found = matcher.recognize(read.rows.view()).with_context(context)?;
        if let (Some(format), Some(path)) = (format, &self.output) {
            let drawing = plots::matches(&recognizer, read.rows.view(), read.size, &found, listed)?;
            format.write(&drawing, path)?;
            output::message(&format!("wrote `{}`", path.display()));
        }
        if self.json {
            let thresholds = matcher.thresholds();
            let rows = read.paths.iter().zip(&found).map(|(path, found)| described(path, found, listed));
            return output::data(&serde_json::to_string_pretty(&json!({
                "recognizer": self.recognizer.to_string_lossy(),
                "unknown": thresholds.unknown,
                "not_a_face": thresholds.not_a_face,
                "images": rows.collect::<Vec<_>>(),
            }))?);
        }
        let rows: Vec<Vec<String>> =
            read.paths.iter().zip(&found).map(|(path, found)| cells(path, found, listed)).collect();
        output::data(&table(&["image", "person", "score", "distance", "to face space", "closest matches"], &rows))
    }
}

fn matches(text: &str) -> Result<u16, String> {
    numbers::whole_number_in(text, 0..=10)
}

fn verdict(found: &Recognition) -> &str {
    match &found.verdict {
        Verdict::Person(person) => person,
        Verdict::Unknown => "unknown",
        Verdict::NotAFace => "not a face",
    }
}

fn cells(path: &Path, found: &Recognition, matches: usize) -> Vec<String> {
    let best = found.candidates.first();
    let near = found.matches.iter().take(matches).map(|near| format!("{}/{}", near.person, near.image));
    vec![
        path.display().to_string(),
        verdict(found).to_owned(),
        best.map_or_else(String::new, |best| number(best.score)),
        number(found.distance),
        number(found.face_distance),
        near.collect::<Vec<_>>().join(" "),
    ]
}

fn described(path: &Path, found: &Recognition, matches: usize) -> Value {
    let candidate = |c: &eigenspace::faces::Candidate| json!({ "person": c.person, "score": c.score, "distance": c.distance, "image": c.image });
    let near = |m: &eigenspace::faces::Match| json!({ "person": m.person, "image": m.image, "distance": m.distance });
    json!({
        "image": path.to_string_lossy(),
        "person": found.person(),
        "verdict": match found.verdict {
            Verdict::Person(_) => "person",
            Verdict::Unknown => "unknown",
            Verdict::NotAFace => "not a face",
        },
        "distance": found.distance,
        "face_distance": found.face_distance,
        "candidates": found.candidates.iter().take(matches.max(1)).map(candidate).collect::<Vec<_>>(),
        "matches": found.matches.iter().take(matches).map(near).collect::<Vec<_>>(),
    })
}
