//! Functions of a model and rows. x is one column of lists, or several columns of numbers, as in
//! `pca`.
//!
//! | function | result |
//! |---|---|
//! | `pca_project(model, x)` | the scores z = V_k (x − μ) |
//! | `pca_reconstruct(model, z)` | the row μ + V_kᵀ z |
//! | `pca_t2(model, x)` | Hotelling's T², the distance within the components |
//! | `pca_q(model, x)` | Q, the squared distance from the components |
//!
//! Rows with the same model are computed together.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Float64Array, ListBuilder};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use eigenspace::{EigenspaceModel, View};
use ndarray::{Array2, Axis};

use super::by_columns;
use crate::error::{Error, hint_of};
use crate::models::{Models, check_type};
use crate::rows::{Rows, check_types};

/// What is computed from a model and a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Measure {
    Project,
    Q,
    Reconstruct,
    T2,
}

impl Measure {
    pub(crate) const ALL: [Self; 4] = [Self::Project, Self::Q, Self::Reconstruct, Self::T2];

    fn name(self) -> &'static str {
        match self {
            Self::Project => "pca_project",
            Self::Q => "pca_q",
            Self::Reconstruct => "pca_reconstruct",
            Self::T2 => "pca_t2",
        }
    }

    fn is_list(self) -> bool {
        matches!(self, Self::Project | Self::Reconstruct)
    }

    fn data_type(self) -> DataType {
        if self.is_list() { DataType::new_list(DataType::Float64, true) } else { DataType::Float64 }
    }

    /// One row of results for each row.
    fn of(self, view: &View, rows: &Array2<f64>) -> Result<Array2<f64>, eigenspace::Error> {
        Ok(match self {
            Self::Project => view.project(rows.view())?,
            Self::Reconstruct => view.reconstruct(rows.view())?,
            Self::Q => view.squared_distance(rows.view())?.insert_axis(Axis(1)),
            Self::T2 => view.hotelling(rows.view())?.insert_axis(Axis(1)),
        })
    }

    /// Refuses columns whose names are those of the model in another order.
    fn check_order(self, model: &EigenspaceModel, columns: &[FieldRef]) -> Result<(), Error> {
        let names: Vec<String> = columns.iter().map(|field| field.name().clone()).collect();
        let sorted = |names: &[String]| {
            let mut sorted = names.to_vec();
            sorted.sort_unstable();
            sorted
        };
        let same = model.metadata().feature_names().is_some_and(|known| sorted(known) == sorted(&names));
        if !same || self == Self::Reconstruct {
            return Ok(());
        }
        model.metadata().check_feature_names(&names).map_err(|error| Error::of(self.name(), &error))
    }
}

/// Which rows a message counts.
const COUNTED: &str = "(rows are counted from 0 within their batch)";

/// An error of the library about some rows of a batch, with the number of the row in the batch.
fn refused(name: &str, mut error: eigenspace::Error, rows: &[usize]) -> Error {
    let (eigenspace::Error::NonFinite { row, .. } | eigenspace::Error::TooLarge { row, .. }) = &mut error else {
        return Error::of(name, &error);
    };
    *row = rows.get(*row).copied().unwrap_or(*row);
    let hint = hint_of(&error);
    let shown = Error::new(format!("{name}: {error} {COUNTED}"));
    match hint {
        Some(hint) => shown.hint(hint),
        None => shown,
    }
}

/// Where the result of a row is: the index of its model, and its position among the rows of that
/// model.
type Places = Vec<Option<(usize, usize)>>;

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct OfRows {
    measure: Measure,
    signature: Signature,
}

impl OfRows {
    pub(crate) fn new(measure: Measure) -> Self {
        Self { measure, signature: Signature::variadic_any(Volatility::Immutable) }
    }

    /// The results of each model, and where those of each row are.
    fn results(&self, columns: &[ArrayRef], count: usize, fields: &[FieldRef]) -> Result<(Vec<Array2<f64>>, Places)> {
        let name = self.measure.name();
        let models = Models::new(name, &columns[0], count)?;
        let mut places = vec![None; count];
        if columns[1].data_type() == &DataType::Null {
            return Ok((Vec::new(), places));
        }
        let rows = Rows::new(&columns[1..])?;
        let mut results = Vec::with_capacity(models.distinct.len());
        for (index, model) in models.distinct.iter().enumerate() {
            self.measure.check_order(model, fields)?;
            let own: Vec<usize> = models.rows_of(index).filter(|&row| !rows.is_null(row)).collect();
            own.iter().enumerate().for_each(|(position, &row)| places[row] = Some((index, position)));
            let matrix = rows.matrix(own.iter().copied()).map_err(|(row, problem)| {
                Error::new(format!("{name}: {} {COUNTED}", problem.message(row, None))).hint(problem.hint())
            })?;
            if own.is_empty() {
                results.push(Array2::default((0, 0)));
                continue;
            }
            let view = View::new(Arc::clone(model)).and_then(|view| self.measure.of(&view, &matrix));
            results.push(view.map_err(|error| refused(name, error, &own))?);
        }
        Ok((results, places))
    }
}

impl ScalarUDFImpl for OfRows {
    fn name(&self) -> &str {
        self.measure.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let name = self.measure.name();
        match types {
            [model, DataType::Null] => check_type(name, model)?,
            [model, columns @ ..] => {
                check_type(name, model)?;
                check_types(name, columns)?;
            }
            [] => return Err(Error::new(format!("{name}: there are no arguments")).into()),
        }
        Ok(self.measure.data_type())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        by_columns(&arguments, |columns, rows| {
            let (results, places) = self.results(columns, rows, &arguments.arg_fields[1..])?;
            if !self.measure.is_list() {
                let values = places.iter().map(|place| place.map(|(model, row)| results[model][[row, 0]]));
                return Ok(Arc::new(Float64Array::from_iter(values)));
            }
            let mut builder = ListBuilder::new(Float64Array::builder(0));
            for place in places {
                if let Some((model, row)) = place {
                    results[model].row(row).iter().for_each(|&value| builder.values().append_value(value));
                }
                builder.append(place.is_some());
            }
            Ok(Arc::new(builder.finish()))
        })
    }
}
