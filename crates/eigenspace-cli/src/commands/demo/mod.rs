//! `eigenspace demo`: the main features in a minute, on faces.

mod faces;
mod measures;
mod page;
mod recognizer;
mod story;
mod synthetic;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueHint};
use eigenspace::io::Error;

use crate::output;

/// Run a demo on 400 faces: stream, merge, split, recognize and plot.
#[derive(Args)]
pub(crate) struct Demo {
    /// Directory for plots, models and a web page.
    #[arg(short, long, value_name = "DIR", default_value = "demo", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    /// Directory of faces to use instead of the ORL faces, with a subdirectory for each person.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    faces: Option<PathBuf>,

    /// Use generated faces, without a network connection.
    #[arg(long, conflicts_with = "faces")]
    synthetic: bool,
}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let start = Instant::now();
        let directory = &self.output;
        let is_new = !directory.exists();
        make(directory)?;
        let faces = faces::faces(directory, self.faces, self.synthetic).inspect_err(|_| {
            if is_new {
                let _ = std::fs::remove_dir(directory); // only if it is empty
            }
        })?;
        let story = story::tell(&faces, directory)?;
        let page = page::write(&faces, &story, directory)?;
        output::data(&format!(
            "\nDone in {:.0} s. Open {} in a browser.\n\n{}",
            start.elapsed().as_secs_f64(),
            page.display(),
            next_steps(&faces.directory, directory)
        ))
    }
}

fn make(directory: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(directory).map_err(|source| Error::Io {
        action: "create",
        path: directory.to_owned(),
        source,
    })
}

/// Commands to try next, with existing paths.
fn next_steps(faces: &Path, directory: &Path) -> String {
    let (faces, directory) = (faces.display(), directory.display());
    let here = std::env::current_dir().unwrap_or_default();
    let program = std::env::current_exe().unwrap_or_else(|_| "eigenspace".into());
    let program = program.strip_prefix(&here).unwrap_or(&program).display();
    let explore = match cfg!(feature = "explore") {
        true => format!(
            "\nSee the models and the faces in your browser: {program} explore {directory}/people.safetensors {directory}/whole.safetensors {faces}"
        ),
        false => String::new(),
    };
    format!(
        "Try next:
  {program} inspect {directory}/whole.safetensors
  {program} fit {faces} -k 0.9 -o {directory}/my.safetensors
  {program} project {directory}/whole.safetensors {faces} -o {directory}/scores.csv
  {program} faces recognize {directory}/people.safetensors {faces}
  {program} plot strip {directory}/whole.safetensors {faces} --row 123 -o {directory}/another.png
  {program} --help
With your own table: {program} fit TABLE.csv --label COLUMN --standardize -o MODEL.safetensors{explore}"
    )
}
