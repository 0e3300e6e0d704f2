//! The bytes of a recognizer: a model file with additional tensors.
//!
//! | tensor | type | shape | |
//! |---|---|---|---|
//! | `faces.coordinates` | F64 | n, r | scores of each image in all directions |
//! | `faces.digest` | U64 | n | digest of the pixels of each image, to find images that are enrolled twice |
//! | `faces.outside` | F64 | n | largest possible distance of each image to its scores |
//! | `faces.person` | U64 | n | index of the person in each image, in increasing order from 0 |
//!
//! The shape of the images is in the metadata of the model. The header (`io/header.rs`) has one more key:
//!
//! ```text
//! "faces": {"version": 1, "people": ["s1", …], "images": ["1.pgm", …], "classifier": "knn", "metric": "cosine", "pixels": "raw",
//!           "unknown": "learned", "not_a_face": "learned", "accept": 0.95, "max_rank": null, "seed": 0, "depth": 8, "resized": false}
//! ```
//!
//! The checksum of the model file includes everything. Readers of models can read a recognizer as the model of all its
//! images.

use std::path::Path;

use ndarray::Array2;
use safetensors::tensor::Dtype;
use serde_json::{Value, json};

use crate::faces::error::Error;
use crate::faces::options::FaceOptions;
use crate::faces::recognizer::{Enrolled, Recognizer};
use crate::faces::settings::Pixels;
use crate::io::FormatError;
use crate::io::atomic::AtomicFile;
use crate::io::file;
use crate::io::format;
use crate::io::tensors::{Tensor, floats, floats_of, integers_of, shape_of};
use crate::model::eigenspace_model::EigenspaceModel;

/// The version that is written.
const VERSION: u64 = 1;

impl Recognizer {
    /// The recognizer as bytes: the content of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let n = self.images.len();
        let whole =
            |values: &mut dyn Iterator<Item = u64>| values.flat_map(u64::to_le_bytes).collect::<Vec<u8>>().into();
        let persons = self.persons();
        let more: Vec<Tensor<'_>> = vec![
            ("faces.coordinates", Dtype::F64, vec![n, self.coordinates.ncols()], floats(self.coordinates.iter())),
            ("faces.digest", Dtype::U64, vec![n], whole(&mut self.images.iter().map(|p| p.digest))),
            ("faces.outside", Dtype::F64, vec![n], floats(self.images.iter().map(|p| &p.outside))),
            ("faces.person", Dtype::U64, vec![n], whole(&mut persons.iter().map(|&person| person as u64))),
        ];
        let o = &self.options;
        let faces = json!({
            "version": VERSION,
            "people": self.people(),
            "images": self.images.iter().map(|p| &p.name).collect::<Vec<_>>(),
            "classifier": o.classifier.to_string(),
            "metric": o.metric.to_string(),
            "pixels": o.pixels.to_string(),
            "unknown": o.unknown.to_string(),
            "not_a_face": o.not_a_face.to_string(),
            "accept": o.accept,
            "max_rank": o.max_rank,
            "seed": o.seed,
            "depth": o.depth,
            "resized": o.resized,
        });
        self.model.to_bytes_with(Some(faces), more)
    }

    /// The recognizer in these bytes, after all checks.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(parse(bytes).map_err(crate::io::Error::Format)?)
    }

    /// Writes the file atomically, as [`EigenspaceModel::save`](crate::EigenspaceModel::save) does.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(AtomicFile::write(path, &self.to_bytes())?)
    }

    /// Reads a recognizer file and checks it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let broken = |source| crate::io::Error::File { path: path.into(), source };
        Ok(parse(&file::read(path, "recognizer")?).map_err(broken)?)
    }
}

/// Reads the model in a file and, if the file is a recognizer, how it transforms the pixels of images.
pub fn load_model(path: impl AsRef<Path>) -> Result<(EigenspaceModel, Option<Pixels>), Error> {
    let path = path.as_ref();
    let broken = |source| crate::io::Error::File { path: path.into(), source };
    let bytes = file::read(path, "model")?;
    let (model, faces, _) = format::parse(&bytes).map_err(broken)?;
    let pixels = |faces: Value| faces["pixels"].as_str().and_then(|text| text.parse().ok());
    let pixels = faces.map(|faces| pixels(faces).ok_or(FormatError::Metadata { key: "pixels" }));
    Ok((model, pixels.transpose().map_err(broken)?))
}

fn parse(bytes: &[u8]) -> Result<Recognizer, FormatError> {
    let (model, faces, file) = format::parse(bytes)?;
    let faces = &faces.ok_or(FormatError::NoRecognizer)?;
    let found = faces["version"].as_u64().ok_or(FormatError::Metadata { key: "faces.version" })?;
    if found > VERSION || found == 0 {
        return Err(FormatError::Version { found, supported: VERSION });
    }
    let size = model.metadata().image().map(|image| (image.width(), image.height()));
    let options = FaceOptions { components: model.n_components_setting(), size, ..options(faces)? };
    options.check().map_err(|_| FormatError::Inconsistent { what: "the settings and their valid ranges" })?;

    let (people, names) = (names(faces, "people")?, names(faces, "images")?);
    let n = names.len();
    let coordinates = floats_of(&file, "faces.coordinates", &[n, model.rank()], false)?;
    let wrong = |what| FormatError::Inconsistent { what };
    let coordinates = Array2::from_shape_vec((n, model.rank()), coordinates)
        .map_err(|_| wrong("the shape and the length of the scores"))?;
    let digests = integers_of(&file, "faces.digest", shape_of(&file, "faces.digest", 1)?[0])?;
    let persons = integers_of(&file, "faces.person", n)?;
    let outside = floats_of(&file, "faces.outside", &[n], true)?;
    if digests.len() != n || model.count() != n as u64 {
        return Err(wrong("the numbers of images"));
    }
    let mut images = Vec::with_capacity(n);
    for (i, name) in names.into_iter().enumerate() {
        let person = usize::try_from(persons[i]).ok().and_then(|person| people.get(person)).cloned();
        let person = person.ok_or(wrong("the numbers of people"))?;
        images.push(Enrolled { person, name, digest: digests[i], outside: outside[i] });
    }
    let recognizer = Recognizer { model, options, images, coordinates };
    let ordered = recognizer.images.windows(2).all(|pair| pair[0].order(&pair[1]).is_lt());
    if !ordered || recognizer.people() != people || n == 0 {
        return Err(wrong("the names of people and images"));
    }
    Ok(recognizer)
}

/// The settings, except k and the image size, which are in the model.
fn options(faces: &Value) -> Result<FaceOptions, FormatError> {
    fn text<T: std::str::FromStr>(faces: &Value, key: &'static str) -> Result<T, FormatError> {
        faces[key].as_str().and_then(|text| text.parse().ok()).ok_or(FormatError::Metadata { key })
    }
    Ok(FaceOptions {
        classifier: text(faces, "classifier")?,
        metric: text(faces, "metric")?,
        pixels: text(faces, "pixels")?,
        unknown: text(faces, "unknown")?,
        not_a_face: text(faces, "not_a_face")?,
        accept: faces["accept"].as_f64().ok_or(FormatError::Metadata { key: "accept" })?,
        max_rank: faces["max_rank"].as_u64().and_then(|rank| usize::try_from(rank).ok()),
        seed: faces["seed"].as_u64().ok_or(FormatError::Metadata { key: "seed" })?,
        resized: faces["resized"].as_bool().unwrap_or(false),
        depth: faces["depth"]
            .as_u64()
            .and_then(|depth| u8::try_from(depth).ok())
            .filter(|depth| [8, 16].contains(depth)),
        ..FaceOptions::default()
    })
}

fn names(faces: &Value, key: &'static str) -> Result<Vec<String>, FormatError> {
    let list = faces[key].as_array().ok_or(FormatError::Metadata { key })?;
    let name = |name: &Value| name.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    list.iter().map(name).collect::<Option<_>>().ok_or(FormatError::Metadata { key })
}
