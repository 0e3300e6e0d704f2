//! Images from files and directories, and the ORL faces.

use std::path::PathBuf;

use eigenspace::faces::FaceOptions;
use eigenspace::internal::{FaceImages, Owner, People};
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;

use crate::compute::{compute, compute_here};
use crate::recognizer::Recognizer;

/// Images as Python takes them.
#[derive(IntoPyObject)]
pub(crate) struct Images<'py> {
    rows: Bound<'py, PyArray2<f64>>,
    people: Vec<Option<String>>,
    names: Vec<String>,
    size: (usize, usize),
    depth: Option<u8>,
    /// Number of images that were in color.
    colored: usize,
}

/// Width and height.
type Size = Option<(usize, usize)>;

fn owned<'py>(py: Python<'py>, read: People, colored: usize) -> Images<'py> {
    Images {
        rows: read.rows.into_pyarray(py),
        people: read.people.into_iter().map(Some).collect(),
        names: read.names,
        size: read.size,
        depth: read.depth,
        colored,
    }
}

/// Read images; the person of each is the name of its directory, or None for a single file and
/// below more directories.
#[pyfunction]
#[pyo3(signature = (paths, resize=None, known=None))]
pub(crate) fn read_images<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    resize: Size,
    known: Option<&Recognizer>,
) -> PyResult<Images<'py>> {
    let known: Option<&FaceOptions> = known.map(|known| known.options());
    let read = compute_here(py, 0, || FaceImages::read(&paths, resize, known))?;
    let person = |owner: Owner| match owner {
        Owner::Person(person) => Some(person),
        Owner::Nested(_) | Owner::Nobody => None,
    };
    Ok(Images {
        rows: read.rows.into_pyarray(py),
        people: read.owners.into_iter().map(person).collect(),
        names: read.names,
        size: read.size,
        depth: read.depth,
        colored: read.colored,
    })
}

/// Read directories that have a subdirectory of images for each person.
#[pyfunction]
#[pyo3(signature = (paths, resize=None))]
pub(crate) fn read_people<'py>(py: Python<'py>, paths: Vec<PathBuf>, resize: Size) -> PyResult<Images<'py>> {
    let (read, colored) = compute_here(py, 0, || {
        let read = FaceImages::read(&paths, resize, None)?;
        let colored = read.colored;
        Ok::<_, eigenspace::faces::Error>((read.of_people(&paths)?, colored))
    })?;
    Ok(owned(py, read, colored))
}

/// Read more images for a recognizer, of one given person or of the people whose directories they
/// are in.
#[pyfunction]
#[pyo3(signature = (paths, known, person=None, resize=None))]
pub(crate) fn read_more<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    known: &Recognizer,
    person: Option<String>,
    resize: Size,
) -> PyResult<Images<'py>> {
    let options = known.options();
    let (read, colored) = compute_here(py, 0, || {
        let read = FaceImages::read(&paths, resize, Some(options))?;
        let colored = read.colored;
        Ok::<_, eigenspace::faces::Error>((read.of_more(person.as_deref())?, colored))
    })?;
    Ok(owned(py, read, colored))
}

/// Verify that a directory holds the 400 ORL faces.
#[pyfunction]
pub(crate) fn check_orl(py: Python<'_>, directory: PathBuf) -> PyResult<()> {
    compute(py, 0, || eigenspace::internal::check_orl(&directory))
}

/// Fetch the ORL faces into a directory with the pip of this interpreter, unless they are there.
#[pyfunction]
pub(crate) fn fetch_orl(py: Python<'_>, directory: PathBuf, python: &str) -> PyResult<()> {
    compute_here(py, 0, || eigenspace::internal::orl(&directory, &[python], &mut |_| {}))?;
    Ok(())
}
