//! `eigenspace demo`: the main job in a minute, on faces.

mod faces;
mod page;
mod recognizer;
mod story;
mod synthetic;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueHint};
use eigenspace::io::Error;

use crate::output;

/// Show what eigenspace does: stream 400 faces, merge, split, recognize, and draw.
#[derive(Args)]
pub(crate) struct Demo {
    /// The folder to write pictures, models and the page into.
    #[arg(short, long, value_name = "DIR", default_value = "demo", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    /// A folder of faces to use, one sub-folder per person, instead of the ORL faces.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    faces: Option<PathBuf>,

    /// Use generated faces, without a network.
    #[arg(long, conflicts_with = "faces")]
    synthetic: bool,
}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let start = Instant::now();
        let folder = &self.output;
        make(folder)?;
        let faces = faces::faces(folder, self.faces, self.synthetic)?;
        let story = story::tell(&faces, folder)?;
        let page = page::write(&faces, &story, folder)?;
        output::data(&format!(
            "\nDone in {:.0} s. Open {} in a browser.\n\n{}",
            start.elapsed().as_secs_f64(),
            page.display(),
            next_steps(&faces.folder, folder)
        ))
    }
}

fn make(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|source| Error::Io { action: "make", path: folder.to_owned(), source })
}

/// What to try next, with paths that are there.
fn next_steps(faces: &Path, folder: &Path) -> String {
    let (faces, folder) = (faces.display(), folder.display());
    let here = std::env::current_dir().unwrap_or_default();
    let program = std::env::current_exe().unwrap_or_else(|_| "eigenspace".into());
    let program = program.strip_prefix(&here).unwrap_or(&program).display();
    format!(
        "Try next:
  {program} inspect {folder}/whole.safetensors
  {program} fit {faces} -k 0.9 -o {folder}/my.safetensors
  {program} project {folder}/whole.safetensors {faces} -o {folder}/coordinates.csv
  {program} faces recognize {folder}/people.safetensors {faces}
  {program} plot strip {folder}/whole.safetensors {faces} --row 123 -o {folder}/another.png
  {program} --help
and with a table of yours: fit TABLE.csv --label COLUMN --standardize -o MODEL.safetensors"
    )
}
