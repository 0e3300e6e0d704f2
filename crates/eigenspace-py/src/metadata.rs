//! Metadata of a model: names, standardization, image shape, labels and values.

use std::collections::BTreeMap;

use eigenspace::ImageShape;
use pyo3::exceptions::{PyNotImplementedError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is known about the rows of a model besides their values.
///
/// Parameters
/// ----------
/// feature_names : the name of each feature, or None
/// standardize : whether the command, Dask, Spark and estimators made by ``from_model`` report the model standardized; the model itself is in the original units
/// image : width, height, channels and bits of the image that a row holds, or None
/// component_labels : labels of the first components
/// values : any other strings, each stored under a key
#[pyclass(frozen, eq, module = "eigenspace")]
#[derive(Clone, PartialEq)]
pub(crate) struct Metadata(eigenspace::Metadata);

/// The positional argument of the constructor.
type Names = (Option<Vec<String>>,);
/// Width, height, channels and depth of an image.
type Image = (usize, usize, usize, Option<u8>);

impl From<&eigenspace::Metadata> for Metadata {
    fn from(metadata: &eigenspace::Metadata) -> Self {
        Self(metadata.clone())
    }
}

/// Names or labels. Some sequences, such as a memoryview of several dimensions, cannot be iterated.
fn strings(sequence: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    sequence.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyNotImplementedError>(sequence.py()) {
            PyTypeError::new_err("expected a list of strings")
        } else {
            error
        }
    })
}

impl Metadata {
    pub(crate) fn of_library(&self) -> eigenspace::Metadata {
        self.0.clone()
    }
}

#[pymethods]
impl Metadata {
    #[new]
    #[pyo3(signature = (feature_names=None, *, standardize=false, image=None, component_labels=None, values=None))]
    fn new(
        #[pyo3(from_py_with = strings)] feature_names: Option<Vec<String>>,
        standardize: bool,
        image: Option<Image>,
        #[pyo3(from_py_with = strings)] component_labels: Option<Vec<String>>,
        values: Option<BTreeMap<String, String>>,
    ) -> Self {
        let shape = |(width, height, channels, depth)| ImageShape::new(width, height, channels).with_depth(depth);
        let metadata = eigenspace::Metadata::new()
            .with_feature_names(feature_names)
            .with_standardize(standardize)
            .with_image(image.map(shape))
            .with_component_labels(component_labels.unwrap_or_default())
            .with_values(values.unwrap_or_default());
        Self(metadata)
    }

    /// The name of each feature, or None.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.0.feature_names().map(<[String]>::to_vec)
    }

    /// Whether the command, Dask, Spark and estimators made by ``from_model`` report the model standardized.
    #[getter]
    fn standardize(&self) -> bool {
        self.0.standardize()
    }

    /// Width, height, channels and bits of the image that a row holds, or None.
    #[getter]
    fn image(&self) -> Option<Image> {
        self.0.image().map(|image| (image.width(), image.height(), image.channels(), image.depth()))
    }

    /// Labels of the first components.
    #[getter]
    fn component_labels(&self) -> Vec<String> {
        self.0.component_labels().to_vec()
    }

    /// Any other strings, each stored under a key.
    #[getter]
    fn values(&self) -> BTreeMap<String, String> {
        self.0.values().clone()
    }

    /// The arguments of the constructor, for pickling.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Names, Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("standardize", self.standardize())?;
        named.set_item("image", self.image())?;
        named.set_item("component_labels", self.component_labels())?;
        named.set_item("values", self.values())?;
        Ok(((self.feature_names(),), named))
    }

    fn __repr__(&self) -> String {
        let Self(metadata) = self;
        let names = metadata.feature_names().map_or("no".into(), |names| names.len().to_string());
        let standardized = if metadata.standardize() { ", standardized" } else { "" };
        let image = metadata.image().map(|image| format!(", images of {}x{}", image.width(), image.height()));
        format!("Metadata({names} feature names{standardized}{})", image.unwrap_or_default())
    }
}
