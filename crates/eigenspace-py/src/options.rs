//! Settings as Python writes them: numbers, words, or `None` for the default.

use eigenspace::{Components, EigenspaceModel, Error, FitOptions, Truncation};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

use crate::errors::refusal;
use crate::rows::checked;

/// A whole number from Python, of any size: a negative one is refused by its name, a very large one is the largest.
pub(crate) fn whole(number: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    match number.extract() {
        Ok(number) => Ok(number),
        Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => {
            if number.lt(0)? {
                let words = format!("{name} is {number}: expected 0 or more");
                return Err(refusal(number.py(), words, "pass a whole number that is not negative"));
            }
            Ok(usize::MAX)
        }
        Err(_) => {
            let kind = number.get_type();
            Err(PyTypeError::new_err(format!("{name} must be a whole number, and this is {kind}")))
        }
    }
}

/// `None` for all, a whole number, or a share of variance.
#[derive(Clone, Copy, FromPyObject)]
pub(crate) enum Shown {
    #[pyo3(annotation = "int")]
    Number(usize),
    #[pyo3(annotation = "float")]
    Share(f64),
}

pub(crate) fn components(shown: Option<Shown>) -> Components {
    match shown {
        None => Components::All,
        Some(Shown::Number(number)) => Components::Number(number),
        Some(Shown::Share(share)) => Components::Share(share),
    }
}

/// The setting of a model, the way it came.
pub(crate) fn shown(py: Python<'_>, model: &EigenspaceModel) -> PyResult<Py<PyAny>> {
    Ok(match model.components_setting() {
        Components::All => py.None(),
        Components::Number(number) => number.into_pyobject(py)?.into_any().unbind(),
        Components::Share(share) => share.into_pyobject(py)?.into_any().unbind(),
    })
}

/// A rank to keep, or a rule in words.
pub(crate) fn truncation(py: Python<'_>, rule: &str) -> PyResult<Truncation> {
    checked(py, rule.parse())
}

/// The options of a stream, from the keywords of its constructor.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    components: Option<Shown>,
    max_rank: Option<usize>,
    truncation: String,
    engine: String,
    block_rows: Option<usize>,
    forgetting: String,
    missing: String,
    centered: bool,
    standardize: bool,
    weight_kind: String,
}

impl Settings {
    /// From a dictionary.
    pub(crate) fn of(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        settings.extract().map_err(|error| PyTypeError::new_err(format!("settings of a stream: {error}")))
    }

    /// The components to be shown.
    pub(crate) fn components(&self) -> Components {
        components(self.components)
    }

    pub(crate) fn options(self, py: Python<'_>) -> PyResult<FitOptions> {
        checked(py, self.parsed())
    }

    fn parsed(self) -> Result<FitOptions, Error> {
        let mut options = FitOptions::new()
            .components(components(self.components))
            .truncation(self.truncation.parse()?)
            .engine(self.engine.parse()?)
            .forgetting(self.forgetting.parse()?)
            .missing(self.missing.parse()?)
            .centered(self.centered)
            .standardize(self.standardize)
            .weights(self.weight_kind.parse()?);
        if let Some(rank) = self.max_rank {
            options = options.max_rank(rank);
        }
        if let Some(rows) = self.block_rows {
            options = options.block_rows(rows);
        }
        Ok(options)
    }
}
