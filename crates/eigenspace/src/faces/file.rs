//! The bytes of a recognizer: a model file with additional tensors.
//!
//! | tensor | type | shape | |
//! |---|---|---|---|
//! | `faces.digest` | U64 | n | digest of the pixels of each image, to find images that are enrolled twice |
//! | `faces.outside` | F64 | n | largest possible distance of each image to its scores |
//! | `faces.person` | U64 | n | index of the person in each image, in increasing order from 0 |
//! | `faces.scores` | F64 | n, r | scores of each image along all directions |
//!
//! The shape of the images is in the metadata of the model. The header (`io/header.rs`) has one
//! more key:
//!
//! ```text
//! "faces": {"version": 2, "people": ["s1", …], "images": ["1.pgm", …], "classifier": "knn", "metric": "cosine", "pixels": "raw",
//!           "unknown": "learned", "not_a_face": "learned", "accept": 0.95, "max_rank": null, "seed": 0, "depth": 8, "resized": false}
//! ```
//!
//! The checksum of the model file includes everything. Readers of models can read a recognizer as
//! the model of all its images.

use std::path::Path;

use ndarray::Array2;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::faces::error::Error;
use crate::faces::options::FaceOptions;
use crate::faces::recognizer::{Enrolled, Recognizer};
use crate::faces::settings::{Classifier, Metric, Pixels, Threshold};
use crate::io::FormatError;
use crate::io::atomic::AtomicFile;
use crate::io::file;
use crate::io::format;
use crate::io::tensors::{Tensor, floats, floats_of, integers_of, shape_of};
use crate::model::eigenspace_model::EigenspaceModel;

/// The version that is written, and the only one that is read.
const VERSION: u64 = 2;

impl Recognizer {
    /// The recognizer as bytes: the content of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let n = self.images.len();
        let whole =
            |values: &mut dyn Iterator<Item = u64>| values.flat_map(u64::to_le_bytes).collect::<Vec<u8>>().into();
        let persons = self.persons();
        let more: Vec<Tensor<'_>> = vec![
            ("faces.scores", Dtype::F64, vec![n, self.scores.ncols()], floats(self.scores.iter())),
            ("faces.digest", Dtype::U64, vec![n], whole(&mut self.images.iter().map(|p| p.digest))),
            ("faces.outside", Dtype::F64, vec![n], floats(self.images.iter().map(|p| &p.outside))),
            ("faces.person", Dtype::U64, vec![n], whole(&mut persons.iter().map(|&person| person as u64))),
        ];
        let faces = serde_json::to_value(Header::of(self)).expect("names and settings are always JSON");
        self.model.to_bytes_with(Some(faces), more)
    }

    /// The recognizer in these bytes, after all checks.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(parse(bytes).map_err(crate::io::Error::Format)?)
    }

    /// Writes the file atomically, as [`EigenspaceModel::save`](crate::EigenspaceModel::save) does.
    /// It may replace a model or another recognizer.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        file::check_replaceable(path)?;
        Ok(AtomicFile::write(path, &self.to_bytes())?)
    }

    /// Reads a recognizer file and checks it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let broken = |source| crate::io::Error::File { path: path.into(), source };
        Ok(parse(&file::read(path, "recognizer")?).map_err(broken)?)
    }
}

/// What a recognizer adds to the header of its model file.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u64,
    people: Vec<String>,
    images: Vec<String>,
    #[serde(with = "as_text")]
    classifier: Classifier,
    #[serde(with = "as_text")]
    metric: Metric,
    #[serde(with = "as_text")]
    pixels: Pixels,
    #[serde(with = "as_text")]
    unknown: Threshold,
    #[serde(with = "as_text")]
    not_a_face: Threshold,
    accept: f64,
    max_rank: Option<usize>,
    seed: u64,
    depth: Option<u8>,
    #[serde(default)]
    resized: bool,
}

/// The part of it that says how other versions differ.
#[derive(Deserialize)]
struct Version {
    version: u64,
}

/// The part of it that readers of the model need.
#[derive(Deserialize)]
struct Transformed {
    #[serde(with = "as_text")]
    pixels: Pixels,
}

/// Settings as they are written on the command line.
mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<T: Display, S: Serializer>(setting: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(setting)
    }

    pub(super) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        String::deserialize(from)?.parse().map_err(|_| D::Error::custom("unknown setting"))
    }
}

impl Header {
    fn of(recognizer: &Recognizer) -> Self {
        let o = &recognizer.options;
        Self {
            version: VERSION,
            people: recognizer.people().into_iter().map(String::from).collect(),
            images: recognizer.images.iter().map(|image| image.name.clone()).collect(),
            classifier: o.classifier,
            metric: o.metric,
            pixels: o.pixels,
            unknown: o.unknown,
            not_a_face: o.not_a_face,
            accept: o.accept,
            max_rank: o.max_rank,
            seed: o.seed,
            depth: o.depth,
            resized: o.resized,
        }
    }

    fn read(json: &Value) -> Result<Self, FormatError> {
        let wrong = |key: &'static str| FormatError::Metadata { key };
        let Version { version: found } = Version::deserialize(json).map_err(|_| wrong("faces.version"))?;
        if found != VERSION {
            return Err(FormatError::Version { found, supported: VERSION });
        }
        let header = Self::deserialize(json).map_err(|_| wrong("faces"))?;
        let complete = |names: &[String]| !names.iter().any(String::is_empty);
        if complete(&header.people) && complete(&header.images) { Ok(header) } else { Err(wrong("faces")) }
    }

    /// The settings, except k and the image size, which are in the model.
    fn options(&self) -> FaceOptions {
        FaceOptions {
            classifier: self.classifier,
            metric: self.metric,
            pixels: self.pixels,
            unknown: self.unknown,
            not_a_face: self.not_a_face,
            accept: self.accept,
            max_rank: self.max_rank,
            seed: self.seed,
            resized: self.resized,
            depth: self.depth.filter(|depth| [8, 16].contains(depth)),
            ..FaceOptions::default()
        }
    }
}

/// Reads the model in a file and, if the file is a recognizer, how it transforms the pixels of
/// images.
pub fn load_model(path: impl AsRef<Path>) -> Result<(EigenspaceModel, Option<Pixels>), Error> {
    let path = path.as_ref();
    let broken = |source| crate::io::Error::File { path: path.into(), source };
    let bytes = file::read(path, "model")?;
    let (model, faces, _) = format::parse(&bytes).map_err(broken)?;
    let pixels = |faces| serde_json::from_value(faces).map(|Transformed { pixels }| pixels);
    let pixels = faces.map(pixels).transpose().map_err(|_| broken(FormatError::Metadata { key: "pixels" }))?;
    Ok((model, pixels))
}

fn parse(bytes: &[u8]) -> Result<Recognizer, FormatError> {
    let (model, faces, file) = format::parse(bytes)?;
    let header = Header::read(&faces.ok_or(FormatError::NoRecognizer)?)?;
    let size = model.metadata().image().map(|image| (image.width(), image.height()));
    let options = FaceOptions { components: model.n_components_setting(), size, ..header.options() };
    options.check().map_err(|_| FormatError::Inconsistent { what: "the settings and their valid ranges" })?;

    let Header { people, images: names, .. } = header;
    let n = names.len();
    let scores = floats_of(&file, "faces.scores", &[n, model.rank()], false)?;
    let wrong = |what| FormatError::Inconsistent { what };
    let scores = Array2::from_shape_vec((n, model.rank()), scores)
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
    let recognizer = Recognizer { model, options, images, scores };
    let ordered = recognizer.images.windows(2).all(|pair| pair[0].order(&pair[1]).is_lt());
    if !ordered || recognizer.people() != people || n == 0 {
        return Err(wrong("the names of people and images"));
    }
    Ok(recognizer)
}
