//! The face recognizer. It is immutable: every operation returns a new one.

use std::sync::{Arc, OnceLock};

use eigenspace::Rank;
use eigenspace::faces::{self, FaceOptions, Faces, Recognition, Threshold, Verdict};
use numpy::{PyArray2, ToPyArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::compute::compute;
use crate::memory::{self, affordable, decomposition};
use crate::model::{Model, to_python};
use crate::options::{ComponentsArgument, components, n_components_setting};
use crate::rows::{checked, matrix};

/// Copies of the rows that training and enrolling hold at a time, about.
const COPIES: usize = 4;

/// Settings of a recognizer, from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    components: Option<ComponentsArgument>,
    classifier: String,
    metric: String,
    pixels: String,
    unknown: String,
    not_a_face: String,
    accept: f64,
    max_rank: Option<usize>,
    seed: u64,
    size: Option<(usize, usize)>,
    depth: Option<u8>,
    resized: bool,
}

impl Settings {
    /// Reads the settings from a dictionary.
    pub(crate) fn of(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        settings.extract().map_err(|error| PyTypeError::new_err(format!("invalid settings of a recognizer: {error}")))
    }

    pub(crate) fn options(self, py: Python<'_>) -> PyResult<FaceOptions> {
        checked(py, self.parsed())
    }

    fn parsed(self) -> Result<FaceOptions, faces::Error> {
        let mut options = FaceOptions::new()
            .components(components(self.components))
            .classifier(self.classifier.parse()?)
            .metric(self.metric.parse()?)
            .pixels(self.pixels.parse()?)
            .unknown(self.unknown.parse()?)
            .not_a_face(self.not_a_face.parse()?)
            .accept(self.accept)
            .seed(self.seed)
            .resized(self.resized);
        if let Some(rank) = self.max_rank {
            options = options.max_rank(rank);
        }
        if let Some(size) = self.size {
            options = options.size(size);
        }
        if let Some(depth) = self.depth {
            options = options.depth(depth);
        }
        Ok(options)
    }
}

/// The settings as Python reads them.
#[derive(IntoPyObject)]
struct Described {
    components: Py<PyAny>,
    classifier: String,
    metric: String,
    pixels: String,
    unknown: String,
    not_a_face: String,
    accept: f64,
    max_rank: Option<usize>,
    seed: u64,
    size: Option<(usize, usize)>,
    depth: Option<u8>,
    resized: bool,
}

/// A person who may be in an image: name, score, distance, and name of the nearest image.
type Candidate = (String, f64, f64, String);
/// An enrolled image near an image: person, name and distance.
type Match = (String, String, f64);
/// The verdict, the person, the distances to people and to the space of faces, candidates and
/// matches.
type Found = (&'static str, Option<String>, f64, f64, Vec<Candidate>, Vec<Match>);

/// A model of faces and the people in it.
#[pyclass(frozen, eq, module = "eigenspace._core")]
pub(crate) struct Recognizer {
    inner: Arc<faces::Recognizer>,
    /// The same with the thresholds as numbers, once they are learned, so that they are learned
    /// only once.
    ready: OnceLock<faces::Recognizer>,
}

impl PartialEq for Recognizer {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl From<faces::Recognizer> for Recognizer {
    fn from(inner: faces::Recognizer) -> Self {
        Self { inner: Arc::new(inner), ready: OnceLock::new() }
    }
}

impl Recognizer {
    /// The settings.
    pub(crate) fn options(&self) -> &FaceOptions {
        self.inner.options()
    }

    /// Cells of a recognizer: its model and its scores.
    fn cells(&self) -> usize {
        let scores = memory::matrix(self.inner.scores().nrows(), self.inner.scores().ncols());
        memory::model(self.inner.model()).saturating_add(scores)
    }

    fn cells_with(&self, rows: usize) -> usize {
        let features = self.inner.model().features();
        let all = rows.saturating_add(self.inner.model().rank());
        decomposition(all, features).saturating_add(self.cells().saturating_mul(COPIES))
    }

    /// The recognizer with learned thresholds.
    fn ready(&self) -> Result<&faces::Recognizer, faces::Error> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let thresholds = self.inner.matcher()?.thresholds();
        let fixed = |threshold: Option<f64>| threshold.map_or(Threshold::None, Threshold::Fixed);
        let options = self.inner.options().clone();
        let options = options.unknown(fixed(thresholds.unknown)).not_a_face(fixed(thresholds.not_a_face));
        let ready = self.inner.with_options(options)?;
        Ok(self.ready.get_or_init(|| ready))
    }
}

#[pymethods]
impl Recognizer {
    /// Train a recognizer on images, one per row.
    #[staticmethod]
    fn train(
        py: Python<'_>,
        rows: &Bound<'_, PyArray2<f64>>,
        people: Vec<String>,
        images: Vec<String>,
        settings: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let options = Settings::of(settings)?.options(py)?;
        let rows = matrix(rows)?;
        let rows = rows.as_array();
        let cells = decomposition(rows.nrows(), rows.ncols()).saturating_mul(2);
        Ok(compute(py, cells, || faces::Recognizer::train(Faces::new(rows, &people, &images), options))?.into())
    }

    /// Read a recognizer from bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Ok(compute(py, memory::model_of_bytes(data.len() as u64), || faces::Recognizer::from_bytes(data))?.into())
    }

    /// Read a recognizer file.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        // If the length cannot be read, reading the file reports the error.
        let length = std::fs::metadata(&path).map_or(0, |file| file.len());
        Ok(compute(py, memory::model_of_bytes(length), || faces::Recognizer::load(path))?.into())
    }

    /// Return the bytes of the recognizer file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let cells = self.cells().saturating_mul(5);
        let bytes = compute(py, cells, || Ok::<_, eigenspace::Error>(self.inner.to_bytes()))?;
        to_python(py, &bytes)
    }

    /// Write the recognizer file, completely or not at all.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        compute(py, self.cells().saturating_mul(5), || self.inner.save(path))
    }

    /// Enroll images and return the new recognizer.
    fn enroll(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyArray2<f64>>,
        people: Vec<String>,
        images: Vec<String>,
    ) -> PyResult<Self> {
        let rows = matrix(rows)?;
        let rows = rows.as_array();
        let faces = Faces::new(rows, &people, &images);
        Ok(compute(py, self.cells_with(rows.nrows()), || self.inner.enroll(faces))?.into())
    }

    /// Forget a person, or one image of a person, and return the new recognizer.
    #[pyo3(signature = (person, image=None))]
    fn forget(&self, py: Python<'_>, person: &str, image: Option<&str>) -> PyResult<Self> {
        let rows = self.inner.images().len();
        let forget = || match image {
            Some(image) => self.inner.forget_image(person, image),
            None => self.inner.forget(person),
        };
        Ok(compute(py, self.cells_with(rows), forget)?.into())
    }

    /// Change settings and return the new recognizer.
    fn with_settings(&self, py: Python<'_>, settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = Settings::of(settings)?.options(py)?;
        Ok(compute(py, self.cells(), || self.inner.with_options(options))?.into())
    }

    /// Recognize images, one per row, with at most this many matches each.
    fn recognize(&self, py: Python<'_>, rows: &Bound<'_, PyArray2<f64>>, matches: usize) -> PyResult<Vec<Found>> {
        let rows = matrix(rows)?;
        let rows = rows.as_array();
        let cells = memory::matrix(rows.nrows(), rows.ncols()).saturating_mul(3).saturating_add(self.cells());
        let found = compute(py, cells, || self.ready()?.matcher()?.recognize(rows))?;
        Ok(found.into_iter().map(|found| described(found, matches)).collect())
    }

    /// Return the distances above which a face is unknown and an image is not a face; None: never.
    fn thresholds(&self, py: Python<'_>) -> PyResult<(Option<f64>, Option<f64>)> {
        let thresholds = compute(py, self.cells(), || Ok::<_, faces::Error>(self.ready()?.matcher()?.thresholds()))?;
        Ok((thresholds.unknown, thresholds.not_a_face))
    }

    /// Return the estimated share of strangers that the thresholds accept, or None for fewer than
    /// three people.
    fn strangers_accepted(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        compute(py, self.cells().saturating_mul(COPIES), || {
            self.inner.strangers_accepted(self.ready()?.matcher()?.thresholds())
        })
    }

    /// Return an enrolled image, reconstructed from its scores.
    fn image<'py>(&self, py: Python<'py>, person: &str, image: &str) -> PyResult<Bound<'py, numpy::PyArray1<f64>>> {
        let cells = memory::model(self.inner.model());
        Ok(numpy::IntoPyArray::into_pyarray(compute(py, cells, || self.inner.image(person, image))?, py))
    }

    /// The people, in the order of their names.
    #[getter]
    fn people(&self) -> Vec<String> {
        self.inner.people().into_iter().map(str::to_owned).collect()
    }

    /// Person and name of every enrolled image, in order.
    #[getter]
    fn images(&self) -> Vec<(String, String)> {
        self.inner.images().map(|(person, image)| (person.to_owned(), image.to_owned())).collect()
    }

    /// The scores of every enrolled image in all directions of the model.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        affordable(py, self.cells())?;
        Ok(self.inner.scores().to_pyarray(py))
    }

    /// The model of all enrolled images.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        affordable(py, memory::model(self.inner.model()))?;
        Ok(self.inner.model().clone().into())
    }

    /// Number of pixels of an image.
    #[getter]
    fn features(&self) -> usize {
        self.inner.model().features()
    }

    /// The largest distance between an enrolled image and its reconstruction.
    #[getter]
    fn worst_distance(&self) -> f64 {
        self.inner.worst_distance()
    }

    /// The settings.
    #[getter]
    fn settings(&self, py: Python<'_>) -> PyResult<Described> {
        let options = self.inner.options();
        Ok(Described {
            components: n_components_setting(py, self.inner.model())?,
            classifier: options.get_classifier().to_string(),
            metric: options.get_metric().to_string(),
            pixels: options.get_pixels().to_string(),
            unknown: options.get_unknown().to_string(),
            not_a_face: options.get_not_a_face().to_string(),
            accept: options.get_accept(),
            max_rank: match options.get_max_rank() {
                Rank::AtMost(rank) => Some(rank),
                _ => None,
            },
            seed: options.get_seed(),
            size: options.get_size(),
            depth: options.get_depth(),
            resized: options.get_resized(),
        })
    }
}

fn described(found: Recognition, matches: usize) -> Found {
    let (verdict, person) = match found.verdict {
        Verdict::Person(person) => ("person", Some(person)),
        Verdict::Unknown => ("unknown", None),
        Verdict::NotAFace => ("not a face", None),
    };
    let candidates = found.candidates.into_iter().map(|one| (one.person, one.score, one.distance, one.image));
    let near = found.matches.into_iter().take(matches).map(|near| (near.person, near.image, near.distance));
    (verdict, person, found.distance, found.face_distance, candidates.collect(), near.collect())
}
