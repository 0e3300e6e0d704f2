//! `eigenspace faces train`, `enroll`, `forget` and `list`: making a recognizer and changing it.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};
use eigenspace::Rank;
use eigenspace::faces::{FaceOptions, Recognizer};

use crate::commands::faces::settings::Settings;
use crate::commands::faces::{read, report};
use crate::destination::Destination;
use crate::{args, output, rows};

/// Learn faces: a folder with a folder of pictures for each person.
#[derive(Args)]
pub(crate) struct Train {
    /// Folders that hold a folder of pictures for each person.
    #[arg(required = true, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    data: Vec<PathBuf>,

    /// The recognizer to write.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Bring pictures to this size.
    #[arg(long, value_name = "WxH")]
    resize: Option<String>,

    /// What is done to the pixels of each picture first: raw, or standardized (mean 0, deviation 1).
    #[arg(long, value_name = "WAY", default_value = "raw")]
    pixels: String,

    /// Directions to keep; all by default, so that enrolling and forgetting stay exact.
    #[arg(long, value_name = "N")]
    max_rank: Option<String>,

    #[command(flatten)]
    settings: Settings,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Train {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let options = self.settings.over(FaceOptions::default())?;
        let max_rank = args::rank(self.max_rank.as_deref())?.and_then(|rank| match rank {
            Rank::AtMost(rank) => Some(rank),
            _ => None,
        });
        let options = FaceOptions { pixels: self.pixels.parse()?, max_rank, ..options };
        rows::spare_pictures(&self.data, &self.output)?;
        rows::try_output(&self.output)?;
        let read = read::people(&self.data, self.resize.as_deref())?;
        let options =
            FaceOptions { size: Some(read.size), depth: read.depth, resized: self.resize.is_some(), ..options };
        let context = || format!("could not learn the faces in `{}`", self.data[0].display());
        let recognizer = Recognizer::train(read.faces(), options).with_context(context)?;
        recognizer.save(&self.output)?;
        report::print(&self.output, &recognizer, self.json)
    }
}

/// Add pictures of new people, or of known ones, without the old pictures.
#[derive(Args)]
pub(crate) struct Enroll {
    /// The recognizer.
    #[arg(value_name = "RECOGNIZER", value_hint = ValueHint::FilePath)]
    recognizer: PathBuf,

    /// Pictures, or folders of them named as the person, or a folder of such folders.
    #[arg(required = true, value_name = "PICTURES", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// Whose pictures they all are.
    #[arg(long, value_name = "NAME")]
    person: Option<String>,

    /// Bring pictures to this size.
    #[arg(long, value_name = "WxH")]
    resize: Option<String>,

    /// The file to write, instead of replacing the recognizer's.
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
        rows::spare_pictures(&self.data, &path)?;
        rows::try_output(&path)?;
        let read = read::more(&self.data, self.person.as_deref(), self.resize.as_deref(), before.options())?;
        let context = || format!("could not enroll `{}` in `{}`", self.data[0].display(), self.recognizer.display());
        let after = before.enroll(read.faces()).with_context(context)?;
        destination.write(&after.to_bytes())?;
        output::talk(&format!("enrolled {}", pictures(read.names.len())));
        report::print(&path, &after, self.json)
    }
}

/// Take a person out of a recognizer, or one of their pictures, as if they had never been in it.
#[derive(Args)]
pub(crate) struct Forget {
    /// The recognizer.
    #[arg(value_name = "RECOGNIZER", value_hint = ValueHint::FilePath)]
    recognizer: PathBuf,

    /// Who is to be forgotten.
    #[arg(required = true, value_name = "PERSON")]
    people: Vec<String>,

    /// Forget only this picture of the person.
    #[arg(long, value_name = "NAME")]
    picture: Vec<String>,

    /// The file to write, instead of replacing the recognizer's.
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
        rows::try_output(&path)?;
        let mut after = before.clone();
        for person in &self.people {
            let context = || format!("could not forget `{person}` in `{}`", self.recognizer.display());
            if self.picture.is_empty() {
                after = after.forget(person).with_context(context)?;
            }
            for picture in &self.picture {
                after = after.forget_picture(person, picture).with_context(context)?;
            }
        }
        destination.write(&after.to_bytes())?;
        output::talk(&format!("forgot {}", pictures(before.pictures().len() - after.pictures().len())));
        report::print(&path, &after, self.json)
    }
}

/// So many pictures.
fn pictures(count: usize) -> String {
    if count == 1 { "1 picture".into() } else { format!("{count} pictures") }
}

/// List the people in a recognizer, and how many pictures there are of each.
#[derive(Args)]
pub(crate) struct List {
    /// The recognizer.
    #[arg(value_name = "RECOGNIZER", value_hint = ValueHint::FilePath)]
    recognizer: PathBuf,

    /// Name the pictures too.
    #[arg(long)]
    pictures: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let recognizer = Recognizer::load(&self.recognizer)?;
        report::list(&self.recognizer, &recognizer, self.pictures, self.json)
    }
}
