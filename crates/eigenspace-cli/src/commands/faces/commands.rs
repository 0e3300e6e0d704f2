//! `eigenspace faces train`, `enroll`, `forget` and `list`: create and change a recognizer.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};
use eigenspace::Rank;
use eigenspace::faces::{FaceOptions, Recognizer};

use crate::commands::faces::settings::Settings;
use crate::commands::faces::{read, report};
use crate::destination::Destination;
use crate::failure::Failure;
use crate::table::counted;
use crate::{destination, numbers, output, warn};

/// Train a recognizer on a directory with a subdirectory of images for each person.
#[derive(Args)]
pub(crate) struct Train {
    /// Directories with a subdirectory of images for each person.
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    data: Vec<PathBuf>,

    /// Recognizer file to write.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Resize images to this size.
    #[arg(long, value_name = "WxH")]
    resize: Option<String>,

    /// Pixel values: raw, or standardized to mean 0 and deviation 1 in each image.
    #[arg(long, value_name = "KIND", default_value = "raw")]
    pixels: String,

    /// Number of directions to keep; all by default, so that enrolling and forgetting stay exact.
    #[arg(long, value_name = "N")]
    max_rank: Option<String>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: Settings,
}

impl Train {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let options = self.settings.over(FaceOptions::default())?;
        let max_rank = numbers::rank(self.max_rank.as_deref())?.unwrap_or(Rank::All);
        let options = options.pixels(self.pixels.parse()?).max_rank(max_rank);
        destination::spare_images(&self.data, &self.output)?;
        destination::try_model_or_recognizer(&self.output)?;
        let read = read::people(&self.data, self.resize.as_deref())?;
        let options = read.described(options, self.resize.is_some());
        let context = || format!("cannot learn the faces in `{}`", self.data[0].display());
        let recognizer = Recognizer::train(read.faces(), options).with_context(context)?;
        recognizer.save(&self.output)?;
        if self.settings.requests_components() {
            warn::of_fewer_components(recognizer.model());
        }
        report::print(&self.output, &recognizer, self.json)
    }
}

/// Add images of new or known people, without the old images.
#[derive(Args)]
pub(crate) struct Enroll {
    /// Recognizer file.
    #[arg(value_name = "RECOGNIZER", value_hint = ValueHint::FilePath)]
    recognizer: PathBuf,

    /// Images, directories of images named after the person, or a directory of such directories.
    #[arg(required = true, value_name = "IMAGES", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// Name of the person in all of these images.
    #[arg(long, value_name = "NAME")]
    person: Option<String>,

    /// Resize images to this size.
    #[arg(long, value_name = "WxH")]
    resize: Option<String>,

    /// File to write; by default the recognizer file is replaced.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Enroll {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let path = self.output.unwrap_or_else(|| self.recognizer.clone());
        let destination = Destination::new(&path, &[&self.recognizer])?;
        let before = Recognizer::load(&self.recognizer)?;
        destination::spare_images(&self.data, &path)?;
        destination::try_output(&path)?;
        let read = read::more(&self.data, self.person.as_deref(), self.resize.as_deref(), before.options())?;
        let context = || format!("cannot enroll `{}` in `{}`", self.data[0].display(), self.recognizer.display());
        let after = before.enroll(read.faces()).with_context(context)?;
        destination.write(&after.to_bytes())?;
        output::message(&format!("enrolled {}", counted(read.names.len() as u64, "image")));
        report::print(&path, &after, self.json)
    }
}

/// Remove people, or single images of them, from a recognizer, as if they had never been enrolled.
#[derive(Args)]
pub(crate) struct Forget {
    /// Recognizer file.
    #[arg(value_name = "RECOGNIZER", value_hint = ValueHint::FilePath)]
    recognizer: PathBuf,

    /// People to forget.
    #[arg(required = true, value_name = "PERSON")]
    people: Vec<String>,

    /// Forget only this image of the person.
    #[arg(long, value_name = "NAME")]
    image: Vec<String>,

    /// File to write; by default the recognizer file is replaced.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Forget {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let path = self.output.unwrap_or_else(|| self.recognizer.clone());
        let destination = Destination::new(&path, &[&self.recognizer])?;
        let before = Recognizer::load(&self.recognizer)?;
        destination::try_output(&path)?;
        check_once(&self.people, "person")?;
        check_once(&self.image, "image")?;
        let mut after = before.clone();
        for person in &self.people {
            let context = || format!("cannot remove `{person}` from `{}`", self.recognizer.display());
            if self.image.is_empty() {
                after = after.forget(person).with_context(context)?;
            }
            for image in &self.image {
                after = after.forget_image(person, image).with_context(context)?;
            }
        }
        destination.write(&after.to_bytes())?;
        let forgotten = before.images().len() - after.images().len();
        output::message(&format!("forgot {}", counted(forgotten as u64, "image")));
        report::print(&path, &after, self.json)
    }
}

/// Rejects a name that was given twice.
fn check_once(names: &[String], what: &'static str) -> Result<(), Failure> {
    match names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        Some((_, name)) => Err(Failure::ForgottenTwice { name: name.clone(), what }),
        None => Ok(()),
    }
}

/// List the people in a recognizer and the number of images of each.
#[derive(Args)]
pub(crate) struct List {
    /// Recognizer file.
    #[arg(value_name = "RECOGNIZER", value_hint = ValueHint::FilePath)]
    recognizer: PathBuf,

    /// Also list the names of the images.
    #[arg(long)]
    images: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let recognizer = Recognizer::load(&self.recognizer)?;
        report::list(&self.recognizer, &recognizer, self.images, self.json)
    }
}
