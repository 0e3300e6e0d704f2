//! The faces for the demo: fetched, given, or generated.

use std::path::{Path, PathBuf};

use eigenspace::ImageShape;
use eigenspace::internal::{PYTHONS, orl};
use eigenspace::io::source::{self, ReadOptions};
use ndarray::{Array2, Axis, concatenate};

use crate::commands::demo::synthetic;
use crate::failure::Failure;
use crate::{advice, output};

/// Fewest images that the demo works with.
const MIN_FACES: usize = 40;

/// Images as rows, and their people.
pub(crate) struct Faces {
    pub(crate) directory: PathBuf,
    /// How to refer to them in a sentence.
    pub(crate) name: String,
    pub(crate) rows: Array2<f64>,
    pub(crate) people: Vec<String>,
    pub(crate) image: ImageShape,
}

/// Reads the given directory, or fetches the ORL faces, or generates faces if they cannot be
/// fetched.
pub(crate) fn faces(demo: &Path, given: Option<PathBuf>, synthetic: bool) -> anyhow::Result<Faces> {
    if let Some(directory) = given {
        return read(directory, "your faces");
    }
    let generated = demo.join("generated_faces");
    if !synthetic {
        let fetched = demo.join("orl_faces");
        match orl(&fetched, &PYTHONS, &mut |line| output::message(line)) {
            Ok(directory) => return read(directory, "the ORL faces"),
            Err(error) => {
                output::message(&format!("could not fetch the ORL faces: {error}"));
                for cause in anyhow::Error::from(error).chain().skip(1) {
                    output::message(&format!("  cause: {cause}"));
                }
                output::message("using generated faces instead; they do not show real people");
            }
        }
    }
    synthetic::write(&generated)?;
    read(generated, "generated faces, not the ORL faces")
}

fn read(directory: PathBuf, name: &str) -> anyhow::Result<Faces> {
    let mut source = source::open(&[&directory], &ReadOptions::default()).map_err(|error| {
        let error = error.into();
        let hint = advice::on_people(&error, false);
        Failure::advised(error, hint)
    })?;
    let Some(image) = source.columns().image else {
        return Err(Failure::FewFaces { directory, faces: 0, least: MIN_FACES }.into());
    };
    let (mut blocks, mut people) = (Vec::new(), Vec::new());
    while let Some(block) = source.next_block(400)? {
        blocks.push(block.values.to_f64());
        people.extend(block.labels.unwrap_or_default());
    }
    let views: Vec<_> = blocks.iter().map(|block| block.view()).collect();
    let rows = if views.is_empty() { Array2::zeros((0, 0)) } else { concatenate(Axis(0), &views)? };
    if people.len() != rows.nrows() || people.first() == people.last() || rows.nrows() < MIN_FACES {
        return Err(Failure::FewFaces { directory, faces: rows.nrows(), least: MIN_FACES }.into());
    }
    Ok(Faces { directory, name: name.into(), rows, people, image })
}
