//! The faces of the demo: fetched, given, or generated.

use std::path::{Path, PathBuf};

use eigenspace::io::source::{self, Picture, ReadOptions};
use ndarray::{Array2, Axis, concatenate};

use crate::commands::demo::synthetic;
use crate::failure::Failure;
use crate::{data, output};

/// Rows, and who they are.
pub(crate) struct Faces {
    pub(crate) folder: PathBuf,
    /// What to call them in a sentence.
    pub(crate) name: String,
    pub(crate) rows: Array2<f64>,
    pub(crate) people: Vec<String>,
    pub(crate) picture: Picture,
}

/// Takes the folder that was named, or fetches the ORL faces, or generates some if that cannot be.
pub(crate) fn faces(demo: &Path, given: Option<PathBuf>, synthetic: bool) -> anyhow::Result<Faces> {
    if let Some(folder) = given {
        return read(folder, "the faces you named");
    }
    let generated = demo.join("generated_faces");
    if !synthetic {
        let fetched = demo.join("orl_faces");
        match data::orl(&fetched, &mut |line| output::talk(line)) {
            Ok(folder) => return read(folder, "the ORL faces"),
            Err(error) => {
                output::talk(&format!("The ORL faces could not be fetched: {error}"));
                for cause in error.chain().skip(1) {
                    output::talk(&format!("  cause: {cause}"));
                }
                output::talk("So here are generated faces in their place; recognize nobody in them.");
            }
        }
    }
    synthetic::write(&generated)?;
    read(generated, "generated faces, not the ORL faces")
}

fn read(folder: PathBuf, name: &str) -> anyhow::Result<Faces> {
    let mut source = source::open(&[&folder], &ReadOptions::default())?;
    let picture = source.columns().picture.ok_or(Failure::NoPictures)?;
    let (mut blocks, mut people) = (Vec::new(), Vec::new());
    while let Some(block) = source.next_block(400)? {
        blocks.push(block.values.to_f64());
        people.extend(block.labels.unwrap_or_default());
    }
    let views: Vec<_> = blocks.iter().map(|block| block.view()).collect();
    let rows = if views.is_empty() { Array2::zeros((0, 0)) } else { concatenate(Axis(0), &views)? };
    if people.len() != rows.nrows() || people.first() == people.last() || rows.nrows() < 40 {
        return Err(Failure::FewFaces { folder, faces: rows.nrows() }.into());
    }
    Ok(Faces { folder, name: name.into(), rows, people, picture })
}
