//! Settings from Python: numbers, strings, or `None` for the default.

use eigenspace::{Components, EigenspaceModel, Error, FitOptions, Rank, Truncation, WeightKind};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

use crate::errors::{refusal, with_hint};
use crate::rows::checked;

/// An integer of any size from Python. A negative one is an error; one that does not fit is
/// replaced by the largest that does.
pub(crate) fn whole(number: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    whole_or(number, name, "0 or more", "pass a non-negative integer")
}

/// The same with other words for the numbers that are expected, and another hint.
pub(crate) fn whole_or(number: &Bound<'_, PyAny>, name: &str, expected: &str, hint: &str) -> PyResult<usize> {
    match number.extract() {
        Ok(number) => Ok(number),
        Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => {
            if number.lt(0)? {
                let words = format!("invalid {name} {number}: expected {expected}");
                return Err(refusal(number.py(), words, hint));
            }
            Ok(usize::MAX)
        }
        Err(_) => {
            let kind = number.get_type();
            let error = PyTypeError::new_err(format!("invalid {name}: expected an integer, found {kind}"));
            Err(with_hint(number.py(), error, Some(hint)))
        }
    }
}

/// A number of components, or an explained variance ratio to reach.
#[derive(Clone, Copy, FromPyObject)]
pub(crate) enum ComponentsArgument {
    #[pyo3(annotation = "int")]
    Number(usize),
    #[pyo3(annotation = "float")]
    Share(f64),
}

pub(crate) fn components(argument: Option<ComponentsArgument>) -> Components {
    match argument {
        None => Components::All,
        Some(ComponentsArgument::Number(number)) => Components::Number(number),
        Some(ComponentsArgument::Share(share)) => Components::Share(share),
    }
}

/// The `n_components` setting of a model as a Python object.
pub(crate) fn n_components_setting(py: Python<'_>, model: &EigenspaceModel) -> PyResult<Py<PyAny>> {
    Ok(match model.n_components_setting() {
        Components::All => py.None(),
        Components::Number(number) => number.into_pyobject(py)?.into_any().unbind(),
        Components::Share(share) => share.into_pyobject(py)?.into_any().unbind(),
        other => other.to_string().into_pyobject(py)?.into_any().unbind(),
    })
}

/// Parses a truncation rule.
pub(crate) fn truncation(py: Python<'_>, rule: &str) -> PyResult<Truncation> {
    checked(py, rule.parse())
}

/// The settings of a stream, from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    components: Option<ComponentsArgument>,
    max_rank: Option<String>,
    truncation: String,
    engine: String,
    block_rows: Option<usize>,
    forgetting: String,
    missing: String,
    centered: bool,
    standardize: bool,
    weight_kind: String,
    device: String,
}

impl Settings {
    /// Reads the settings from a dictionary.
    pub(crate) fn of(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        settings.extract().map_err(|error| PyTypeError::new_err(format!("invalid settings of a stream: {error}")))
    }

    /// The `n_components` setting.
    pub(crate) fn components(&self) -> Components {
        components(self.components)
    }

    /// The `weight_kind` setting.
    pub(crate) fn weight_kind(&self, py: Python<'_>) -> PyResult<WeightKind> {
        checked(py, self.weight_kind.parse())
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
            .weight_kind(self.weight_kind.parse()?)
            .device(self.device.parse()?);
        if let Some(rank) = self.max_rank {
            options = options.max_rank(rank.parse::<Rank>()?);
        }
        if let Some(rows) = self.block_rows {
            options = options.block_rows(rows);
        }
        Ok(options)
    }
}
